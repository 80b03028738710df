# SPDX-License-Identifier: Apache-2.0
"""
Simulation of the nonholonomic robot, Runge-Kutta of order 4, against MuJoCo's.

Ours satisfies the constraint exactly and projects drift away after each step; MuJoCo's rolling is
soft (see `mujoco_model`). Both step inside machine code, from one call; or step by step from
Python under a control law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from benchmark import robots
from benchmark.mujoco_model import MujocoModel
from benchmark.report import Row
from benchmark.timing import Contender, Effort, race
from kane_dynamics.constraints.base import constraint_rows

Floats = NDArray[np.float64]
STEPS, STEP = 200, 0.001  # steps in a call, [s]
_STEPS_RATE = 'steps/s'
_STIFFNESS, _DAMPING = 10.0, 0.2  # of the control law [N m/rad], [N m s/rad]


def closed_loop_rows(effort: Effort) -> Iterator[Row]:
    """Yield the robot with locked wheels (8 speeds, one row), then with wheels (10, three)."""
    cases = (
        ('8 speeds, no side slip', robots.nonholonomic(wheels=False), {'skid': True}),
        ('10 speeds, rolling wheels', robots.nonholonomic(), {'wheels': robots.WHEELS}),
    )
    for name, case, ground in cases:
        fast = kd.compile(case.robot, case.constraints)
        yield from _in_machine_code(name, case, fast, ground, effort)
        yield _from_python(name, case, fast, MujocoModel(case.robot, step=STEP, **ground), effort)


def _in_machine_code(
    name: str, case: robots.Case, fast: kd.CompiledRobot, ground: dict, effort: Effort
) -> Iterator[Row]:
    """Yield one call for all steps against MuJoCo with contact, and without any constraint."""
    tau = 0.1 * case.tau * np.array([not n.startswith('base') for n in case.robot.velocity_names])
    ours = {
        'f': lambda: fast.simulate(
            case.q, case.v, STEPS * STEP, effort=tau, step=STEP, integrator='rk4'
        )
    }
    models = {
        kind: MujocoModel(case.robot, step=STEP, **options)
        for kind, options in (('contact', ground), ('free', {}))
    }
    contenders = [Contender('ours', 'f()', ours)]
    for kind, model in models.items():
        names = {'set': _starter(model, case, tau), 'f': mujoco.mj_step}
        names |= {'m': model.model, 'd': model.data}
        contenders.append(Contender(kind, f'set(); f(m, d, {STEPS})', names))
    times = race(contenders, effort)
    rates = {kind: STEPS / time.median for kind, time in times.items()}
    end = fast.simulate(case.q, case.v, STEPS * STEP, effort=tau, step=STEP)
    _starter(models['contact'], case, tau)()
    mujoco.mj_step(models['contact'].model, models['contact'].data, STEPS)
    q, v = models['contact'].state()
    note = (
        f'after {STEPS * STEP:g} s coordinates differ by {np.abs(q - end.q[-1]).max():.0e}; slip '
        f'ours {_slip(case, end.q[-1], end.v[-1]):.0e} m/s, MuJoCo {_slip(case, q, v):.0e} m/s'
    )
    work = f'simulation in one call, RK4, {name}'
    peer = 'mujoco.mj_step, soft contact'
    yield Row(work, _STEPS_RATE, rates['ours'], peer, rates['contact'], least_ratio=3.0, note=note)
    free = 'mujoco.mj_step, no ground'
    note = 'not the same motion: how fast MuJoCo is where nothing holds the base'
    yield Row(work, _STEPS_RATE, rates['ours'], free, rates['free'], note=note)


def _from_python(
    name: str, case: robots.Case, fast: kd.CompiledRobot, model: MujocoModel, effort: Effort
) -> Row:
    """Return steps from Python, each under a control law in numpy."""
    simulation = kd.simulation.Simulation(
        case.robot,
        case.constraints,
        step=STEP,
        integrator='rk4',
        engine=fast.engine('rk4'),
    )
    actuated = np.array([not n.startswith('base') for n in case.robot.velocity_names])
    gains = actuated * _STIFFNESS, actuated * _DAMPING

    def ours() -> None:
        simulation.reset(case.q, case.v)
        for _ in range(STEPS):
            simulation.step(gains[0] * (case.q - simulation.q) - gains[1] * simulation.v)

    start = _starter(model, case, np.zeros_like(case.tau))
    data = model.data
    model.set_state(case.q, case.v, np.zeros_like(case.tau))
    order = _order(model, case)
    goal, theirs_gains = data.qpos.copy(), [gain[order] for gain in gains]

    def theirs() -> None:
        start()
        for _ in range(STEPS):
            data.qfrc_applied[:] = theirs_gains[0] * (goal - data.qpos)
            data.qfrc_applied[:] -= theirs_gains[1] * data.qvel
            mujoco.mj_step(model.model, data)

    contenders = [Contender('ours', 'f()', {'f': ours}), Contender('peer', 'f()', {'f': theirs})]
    rates = {kind: STEPS / time.median for kind, time in race(contenders, effort).items()}
    work = f'closed loop from Python, RK4, {name}'
    note = 'a joint-space PD law in numpy before each step, the same for both'
    peer = 'mujoco.mj_step, soft contact'
    return Row(work, _STEPS_RATE, rates['ours'], peer, rates['peer'], least_ratio=3.0, note=note)


def _starter(model: MujocoModel, case: robots.Case, tau: Floats) -> Callable[[], None]:
    return lambda: model.set_state(case.q, case.v, tau)


def _order(model: MujocoModel, case: robots.Case) -> list[int]:
    """Return which of our speeds each of MuJoCo's is."""
    names = [model.model.joint(k).name for k in range(model.model.njnt)]
    return [case.robot.velocity_index(name) for name in names]


def _slip(case: robots.Case, q: Floats, v: Floats) -> float:
    """Return the largest |A v|."""
    rows = constraint_rows(case.robot, case.constraints, q.tolist(), v.tolist(), 0.0)
    return float(np.abs(rows.matrix.astype(float) @ v).max())
