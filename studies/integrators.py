# SPDX-License-Identifier: Apache-2.0
"""
Order, energy and cost of every time step on three machines without friction.

``python -m studies.integrators [--steps N] [--output FOLDER]``: a body of M = diag(1, 2, 3) that
spins at (1, 2, 3) rad/s; a double pendulum let go from the side, which turns over and is chaotic;
the shipped differential drive, rolling, its arm swinging without weight. Textbook Euler, speeds
first, is beside them: `semi_implicit` was that before it was leapfrog. Orders are those of the
ends of 0.2 s at h, h/2, h/4; with springs on joints as a held effort law, and inside the stages.
Energy: the largest change of T + V over all steps, of the largest T. Cost: processor time of a
compiled step, of Euler's.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.simulation.integrators import INTEGRATORS, Dynamics
from kane_dynamics.typing import Floats
from studies import report
from studies.report import Table

STEP, COARSE = 1e-3, 0.004  # [s]
PIECE = 10_000  # steps in one call
WHEELS = ('wheel_left_joint', 'wheel_right_joint')


def euler(dynamics: Dynamics, q: Any, v: Any, tau: Any, t: Any, h: Any) -> tuple[Any, Any]:
    """Return the state after h [s] by Euler's method, speeds first."""
    v_end = dynamics.impulse(q, v, v, tau, t + h, h)
    return dynamics.retract(q, v_end, h), v_end


def springs(t: Any, q: Any, v: Any) -> list[Any]:
    """Return efforts of springs on the last two or five joints."""
    count = min(5, len(q))
    return [0.0] * (len(q) - count) + [-4.0 * x for x in q[-count:]]


def turned_back(t: Any, q: Any, v: Any) -> list[Any]:
    """Return the torque of a spring on a ball joint."""
    return [-8.0 * x for x in q[1:]]


@dataclass(frozen=True)
class Machine:
    """A machine, what holds it, its state at first, and a spring."""

    name: str
    robot: kd.Robot
    rows: tuple[Any, ...]
    q: Floats
    v: Floats
    spring: Callable[..., Any] = springs

    def compiled(self, **law: Callable[..., Any]) -> Any:
        """Return it as machine code."""
        return kd.compile(self.robot, self.rows, cache=False, **law)


def machines() -> list[Machine]:
    """Return the three machines."""
    solid = kd.Inertia(1.0, (0, 0, 0), np.diag([1.0, 2.0, 3.0]))
    ball = kd.Body('body', '', kd.Joint('ball', kd.Spherical()), inertia=solid)
    rod = kd.Inertia(2.0, (0.5, 0, 0), np.diag([0.0, 0.2, 0.2]))
    hinge = kd.Revolute((0.0, 0.0, 1.0))
    elbow = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (1.0, 0, 0))
    upper = kd.Body('upper', '', kd.Joint('shoulder', hinge), inertia=rod)
    fore = kd.Body('fore', 'upper', kd.Joint('elbow', hinge), elbow, rod)
    whole = kd.load_robot('nonholonomic')
    rolling = kd.Robot(
        'rolling',
        [replace(b, joint=replace(b.joint, damping=0.0, friction=0.0)) for b in whole.bodies],
        (0, 0, 0),
    )
    rows = (kd.constraints.differential_drive(rolling, *WHEELS, radius=0.1),)
    known = np.zeros(rolling.nv)
    known[0], known[2], known[-5:] = 0.3, 0.6, (0.4, -0.3, 0.5, 0.2, -0.6)
    v = kd.dynamics(rolling, rows).consistent_velocity(rolling.neutral(), known)
    pendulum = kd.Robot('pendulum', [upper, fore], (0, -9.81, 0))
    spinning = kd.Robot('spinning', [ball], (0, 0, 0))
    spin = np.array([1.0, 2.0, 3.0])
    return [
        Machine('spinning body', spinning, (), spinning.neutral(), spin, turned_back),
        Machine('double pendulum', pendulum, (), np.array([0.3, 0.4]), np.zeros(2)),
        Machine('rolling robot', rolling, rows, rolling.neutral(), v),
    ]


def order(machine: Machine, dynamics: Any, integrator: str) -> str:
    """Return the order of convergence."""
    runs = [
        dynamics.simulate(machine.q, machine.v, 0.2, step=COARSE / n, integrator=integrator)
        for n in (1, 2, 4)
    ]
    ends = [np.r_[run.q[-1], run.v[-1]] for run in runs]
    coarse, fine = (np.linalg.norm(a - b) for a, b in itertools.pairwise(ends))
    return f'{np.log2(coarse / fine):.1f}'


def energy(machine: Machine, fast: Any, integrator: str, steps: int) -> tuple[str, float]:
    """Return the largest change of energy, of the largest T, and the time of a step [s]."""
    q, v, spent = machine.q, machine.v, np.inf
    start, worst, most = None, 0.0, 0.0
    for done in range(0, steps, PIECE):
        began = time.process_time()
        try:
            run = fast.simulate(q, v, PIECE * STEP, step=STEP, integrator=integrator)
        except KaneDynamicsError:
            return f'diverged after {done * STEP:.0f} s', spent
        spent = min(spent, (time.process_time() - began) / PIECE)
        kinetic = fast.kinetic_energy(run.q, run.v)
        total = kinetic + fast.potential_energy(run.q)
        start = total[0] if start is None else start
        worst, most = max(worst, np.abs(total - start).max()), max(most, kinetic.max())
        q, v = run.q[-1], run.v[-1]
    return f'{worst / most:.1e}', spent


def study(machine: Machine, steps: int) -> Table:
    """Return the table of one machine."""
    columns = ('integrator', 'order', 'spring held', 'spring passive', 'energy', 'us', 'cost')
    table = Table(f'{machine.name}, {steps} steps of {STEP * 1e3:g} ms', columns)
    fast = machine.compiled()
    held = machine.compiled(effort=machine.spring)
    passive = machine.compiled(passive_force=machine.spring)
    base = None
    for integrator in ('euler', *(name for name in INTEGRATORS if name != 'euler')):
        orders = [order(machine, each, integrator) for each in (fast, held, passive)]
        change, spent = energy(machine, fast, integrator, steps)
        base = base or spent
        table.add(integrator, *orders, change, f'{spent * 1e6:.2f}', f'{spent / base:.2f}')
    return table


def main() -> None:
    """Print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--steps', type=int, default=1_000_000)
    report.add_output(parser)
    options = parser.parse_args()
    INTEGRATORS['euler'] = euler
    console, results = report.begin()
    tables = [study(machine, options.steps) for machine in machines()]
    report.finish(console, options.output, 'integrators', results, tables)


if __name__ == '__main__':
    main()
