# SPDX-License-Identifier: Apache-2.0
"""One call from Python: inverse and forward dynamics, free and constrained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.typing import Floats
from studies import robots
from studies.peers.mujoco_twin import MujocoTwin
from studies.peers.pinocchio_twin import PinocchioTwin, urdf_model
from studies.speed.rows import TIME, Row
from studies.speed.timing import Contender, Effort, race
from studies.speed.without_python import NoProgramError, Program, Work

OURS, OUT = 'ours', 'ours, out='
_FOR_NOTHING = 'ours called from Python, theirs in a loop of C++: no call, no result is made'


class Opponent(NamedTuple):
    """
    Who ours is compared with.

    Parameters
    ----------
    contender : Contender
        A call from Python.
    result : ndarray
        What it gives, in our order.
    work : Work, optional
        The same call for a program without Python.

    """

    contender: Contender
    result: Floats
    work: Work | None = None


def compare(
    work: str,
    ours: Callable[..., Any],
    inputs: tuple[Floats, ...],
    opponent: Opponent,
    effort: Effort,
    **target: Any,
) -> Iterator[Row]:
    """
    Yield the rows of a call.

    One that makes its result, one that writes into an array, and the first beside a program
    without Python where there is one.
    """
    theirs, result = opponent.contender, ours(*inputs)
    names = dict(zip('xyz', inputs, strict=False)) | {'f': ours, 'r': np.empty_like(result)}
    arguments = ', '.join('xyz'[: len(inputs)])
    mine = Contender(OURS, f'f({arguments})', names)
    into = Contender(OUT, f'f({arguments}, out=r)', names)
    program, missing = _program(opponent.work)
    times = race([mine, into, theirs, *([program] if program else [])], effort)
    agreement = difference(result, opponent.result)
    median = {name: 1e6 * timing.median for name, timing in times.items()}
    first, other = median[OURS], median[theirs.name]
    yield Row(work, TIME, first, theirs.name, other, agreement=agreement, **target)
    yield Row(f'{work}, out=', TIME, median[OUT], theirs.name, other, agreement=agreement)
    if program:
        program.close()
        agreement, other = difference(result, program.result), median[program.name]
        yield Row(work, TIME, first, program.name, other, agreement=agreement, note=_FOR_NOTHING)
    elif missing:
        yield Row(work, TIME, first, 'C++ without Python: NOT MEASURED', note=missing)


def _program(work: Work | None) -> tuple[Program | None, str]:
    """Return the program of a work, or None and why there is none."""
    if work is None:
        return None, ''
    try:
        return Program(work), ''
    except NoProgramError as error:
        return None, str(error)


def difference(a: Floats, b: Floats) -> float:
    """Return the largest difference of two arrays relative to the largest entry."""
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300))


def rnea(peer: PinocchioTwin, case: robots.Case) -> Opponent:
    """Return Pinocchio's inverse dynamics; friction, which it leaves out, is added afterwards."""
    x, v, a = peer.coordinates(case.q), peer.speeds(case.v), peer.speeds(case.a)
    names = {'f': pin.rnea, 'm': peer.model, 'd': peer.data, 'q': x, 'v': v, 'a': a}

    def in_our_order(tau: Floats) -> Floats:
        return peer.our_order(tau) + kd.friction_force(case.robot, case.v)

    return Opponent(
        Contender('pinocchio.rnea', 'f(m, d, q, v, a)', names),
        in_our_order(pin.rnea(peer.model, peer.data, x, v, a)),
        Work('rnea', peer.model, x, v, a, in_our_order),
    )


def forward(peer: PinocchioTwin, case: robots.Case) -> Opponent:
    """Return Pinocchio's forward dynamics, with the rows A a = b of the case where it has some."""
    x, v = peer.coordinates(case.q), peer.speeds(case.v)
    tau = peer.speeds(case.tau - kd.friction_force(case.robot, case.v))
    names = {'m': peer.model, 'd': peer.data, 'q': x, 'v': v, 'u': tau}
    if not case.constraints:
        a = pin.aba(peer.model, peer.data, x, v, tau)
        names['f'] = pin.aba
        return Opponent(
            Contender('pinocchio.aba', 'f(m, d, q, v, u)', names),
            peer.our_order(a),
            Work('aba', peer.model, x, v, tau, peer.our_order),
        )
    rows = ConstraintSet(case.robot, case.constraints).rows(case.q.tolist(), case.v.tolist(), 0.0)
    # J a + gamma = 0, hence gamma = -b; column-major arrays reach Eigen without a copy
    J = np.asfortranarray(peer.speeds(rows.matrix.astype(float)))
    gamma = -np.array(rows.acceleration, dtype=float)
    a = pin.forwardDynamics(peer.model, peer.data, x, v, tau, J, gamma)
    names |= {'f': pin.forwardDynamics, 'J': J, 'g': gamma}
    return Opponent(
        Contender('pinocchio.forwardDynamics', 'f(m, d, q, v, u, J, g)', names),
        peer.our_order(a),
        Work('forwardDynamics', peer.model, x, v, tau, peer.our_order, J, gamma),
    )


def tiago_rows(effort: Effort) -> Iterator[Row]:
    """Yield TIAGo without hand on a planar base."""
    case = robots.tiago()
    fast = kd.compile(case.robot, case.constraints)
    peer = PinocchioTwin(case.robot, urdf_model(case.path, case.robot.base))
    state = (case.q, case.v, case.a)
    name = 'TIAGo, planar base (nv 15)'
    note = 'ours adds joint friction, which rnea leaves out'
    yield from compare(
        f'inverse dynamics, {name}',
        fast.inverse_dynamics,
        state,
        rnea(peer, case),
        effort,
        least_ratio=3.0,
        note=note,
    )
    yield from compare(
        f'constrained forward dynamics, {name}, 3 rows',
        fast.acceleration,
        (case.q, case.v, case.tau),
        forward(peer, case),
        effort,
        least_ratio=3.0,
        note='ours also computes A and b, which forwardDynamics is given',
    )


def chain_rows(effort: Effort) -> Iterator[Row]:
    """Yield the chain of 9 joints."""
    case = robots.chain(9)
    fast = kd.compile(case.robot)
    peer = PinocchioTwin(case.robot)
    simulator = MujocoTwin(case.robot)
    state, efforts = (case.q, case.v, case.a), (case.q, case.v, case.tau)
    yield from compare(
        'inverse dynamics, chain of 9', fast.inverse_dynamics, state, rnea(peer, case), effort
    )
    yield from compare(
        'inverse dynamics, chain of 9',
        fast.inverse_dynamics,
        state,
        Opponent(*simulator.inverse(*state)),
        effort,
    )
    yield from compare(
        'forward dynamics, chain of 9',
        fast.acceleration,
        efforts,
        forward(peer, case),
        effort,
        least_ratio=3.0,
    )
    yield from compare(
        'forward dynamics, chain of 9',
        fast.acceleration,
        efforts,
        Opponent(*simulator.forward(*efforts)),
        effort,
    )


def mobile_arm_rows(effort: Effort) -> Iterator[Row]:
    """Yield an arm on a platform that must not slip sideways: 9 speeds, one row."""
    case = robots.mobile_arm()
    fast = kd.compile(case.robot, case.constraints)
    yield from compare(
        'constrained forward dynamics, platform with arm (nv 9), one row',
        fast.acceleration,
        (case.q, case.v, case.tau),
        forward(PinocchioTwin(case.robot), case),
        effort,
        least_ratio=5.0,
    )


def long_chain_rows(effort: Effort) -> Iterator[Row]:
    """Yield the chain of 50 joints, whose kernels are loops over bodies."""
    case = robots.chain(50)
    fast, peer = kd.compile(case.robot), PinocchioTwin(case.robot)
    yield from compare(
        'inverse dynamics, chain of 50',
        fast.inverse_dynamics,
        (case.q, case.v, case.a),
        rnea(peer, case),
        effort,
        least_ratio=5.0,
    )
    yield from compare(
        'forward dynamics, chain of 50',
        fast.acceleration,
        (case.q, case.v, case.tau),
        forward(peer, case),
        effort,
        least_ratio=3.0,
    )
