# SPDX-License-Identifier: Apache-2.0
"""
Closed-loop simulation of the nonholonomic robot, Runge-Kutta of order 4, against MuJoCo's.

Ours satisfies the constraint exactly and projects drift away after each step; MuJoCo's rolling is
soft (see `mujoco_twin`). A joint-space PD law moves wheels and arm: traced into our step, as
actuators in MuJoCo's model, so that both run whole trajectories in machine code; or as numpy code
before each step, called from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.typing import Floats
from studies import robots
from studies.peers.mujoco_twin import MujocoTwin
from studies.speed.rows import Row
from studies.speed.timing import Contender, Effort, race

STEPS, STEP = 1000, 0.001  # steps in a call, [s]
GAINS = (5.0, 0.05)  # of the control law [N m/rad], [N m s/rad]
_RATE = 'steps/s'
_SOFT = 'mujoco.mj_step, soft contact'


def closed_loop_rows(effort: Effort) -> Iterator[Row]:
    """Yield the robot with locked wheels (8 speeds, one row), then with wheels (10, three)."""
    cases = (
        ('8 speeds, no side slip', robots.nonholonomic(wheels=False), {'skid': True}),
        ('10 speeds, rolling wheels', robots.nonholonomic(), {'wheels': robots.WHEELS}),
    )
    for name, case, ground in cases:
        yield from _in_machine_code(name, case, ground, effort)
        yield _from_python(name, case, ground, effort)


def _goal(case: robots.Case) -> Floats:
    return case.q + 0.3


def _law(case: robots.Case) -> Callable[[Any, Any, Any], list[Any]]:
    """Return the PD law, for numbers and for tracing."""
    names, goal = case.robot.velocity_names, _goal(case).tolist()

    def effort(t: Any, q: Any, v: Any) -> list[Any]:
        return [
            0.0 if name.startswith('base') else GAINS[0] * (goal[k] - q[k]) - GAINS[1] * v[k]
            for k, name in enumerate(names)
        ]

    return effort


def _in_machine_code(
    name: str, case: robots.Case, ground: dict[str, Any], effort: Effort
) -> Iterator[Row]:
    """Yield one call for all steps against MuJoCo with contact, and without any constraint."""
    fast = kd.compile(case.robot, case.constraints, effort=_law(case))

    def ours() -> kd.simulation.Trajectory:
        return fast.simulate(case.q, case.v, STEPS * STEP, step=STEP, integrator='rk4')

    contenders, models = [Contender('ours', 'f()', {'f': ours})], {}
    kinds = {'contact': ground, 'noslip': ground | {'noslip': True}, 'free': {}}
    for kind, options in kinds.items():
        models[kind] = MujocoTwin(case.robot, step=STEP, gains=GAINS, **options)
        contenders.append(Contender(kind, 'f()', {'f': _theirs(models[kind], case)}))
    times = race(contenders, effort)
    rates = {kind: STEPS / time.median for kind, time in times.items()}
    end = ours()
    note = (
        f'slip at the end {_slip(case, end.q[-1], end.v[-1]):.0e} m/s; MuJoCo has the law in each '
        'stage of a step, ours holds it over the step'
    )
    work = f'closed loop in one call, RK4, {name}'
    yield Row(work, _RATE, rates['ours'], _SOFT, rates['contact'], least_ratio=3.0, note=note)
    peer = 'mujoco.mj_step, noslip, impratio 10'
    yield Row(work, _RATE, rates['ours'], peer, rates['noslip'], least_ratio=3.0)
    free = 'mujoco.mj_step, no ground'
    note = 'no ground: not the same motion; how fast MuJoCo is where nothing holds the base'
    yield Row(work, _RATE, rates['ours'], free, rates['free'], note=note)


def _theirs(model: MujocoTwin, case: robots.Case) -> Callable[[], None]:
    """Return all steps of MuJoCo from the state of the case."""
    nothing = np.zeros_like(case.v)
    model.data.ctrl[:] = _goal(case)[[not n.startswith('base') for n in case.robot.velocity_names]]

    def run() -> None:
        model.set_state(case.q, case.v, nothing)
        mujoco.mj_step(model.model, model.data, STEPS)

    return run


def _from_python(name: str, case: robots.Case, ground: dict[str, Any], effort: Effort) -> Row:
    """Return steps from Python, each after the control law in numpy."""
    fast = kd.compile(case.robot, case.constraints)
    engine = fast.engine('rk4')
    simulation = kd.simulation.Simulation(
        case.robot, case.constraints, step=STEP, integrator='rk4', engine=engine
    )
    model = MujocoTwin(case.robot, step=STEP, **ground)
    data, nothing = model.data, np.zeros_like(case.v)
    model.set_state(case.q, case.v, nothing)
    actuated = np.array([not n.startswith('base') for n in case.robot.velocity_names])
    stiffness, damping = (gain * actuated for gain in GAINS)
    goal = _goal(case)
    order = [case.robot.velocity_index(model.model.joint(k).name) for k in range(case.robot.nv)]
    their_goal, their_stiffness, their_damping = (x[order] for x in (goal, stiffness, damping))

    def ours() -> None:
        simulation.reset(case.q, case.v)
        for _ in range(STEPS):
            simulation.step(stiffness * (goal - simulation.q) - damping * simulation.v)

    def theirs() -> None:
        model.set_state(case.q, case.v, nothing)
        for _ in range(STEPS):
            data.qfrc_applied[:] = (
                their_stiffness * (their_goal - data.qpos) - their_damping * data.qvel
            )
            mujoco.mj_step(model.model, data)

    contenders = [Contender('ours', 'f()', {'f': ours}), Contender('peer', 'f()', {'f': theirs})]
    rates = {kind: STEPS / time.median for kind, time in race(contenders, effort).items()}
    work = f'closed loop step by step from Python, RK4, {name}'
    ours()
    theirs()
    q, v = model.state()
    note = (
        f'includes the law in numpy; after {STEPS * STEP:g} s coordinates differ by '
        f'{np.abs(q - simulation.q).max():.0e}, slip of MuJoCo {_slip(case, q, v):.0e} m/s'
    )
    return Row(work, _RATE, rates['ours'], _SOFT, rates['peer'], note=note)


def _slip(case: robots.Case, q: Floats, v: Floats) -> float:
    """Return the largest |A v|."""
    rows = ConstraintSet(case.robot, case.constraints).rows(q.tolist(), v.tolist(), 0.0)
    return float(np.abs(rows.matrix.astype(float) @ v).max())
