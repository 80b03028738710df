# SPDX-License-Identifier: Apache-2.0
"""
The way to the shelf by crocoddyl: the same dynamics in an action model, solved by BoxFDDP.

A step is implicit Euler (order 1) in the minimal speeds of `shelf.py`: its efforts are those of
`shelf.drives`, so wheels roll exactly here too. CasADi solves the step by Newton's method and
differentiates it by the implicit function theorem. The duration is given; obstacles and the end
are penalties, efforts are bounded.

crocoddyl is not among the extras of the package, for it brings its own Pinocchio:
``python -m venv ocp && ocp/bin/pip install crocoddyl==3.2.1 kane_dynamics``, then
``ocp/bin/python examples/optimal_control/with_crocoddyl.py``.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import casadi as ca
import crocoddyl
import numpy as np
import shelf

DURATION, NEAR = 2.5, 0.03  # [s], [m]
EFFORT, RATE = 0.3, 0.1  # weights of efforts, in parts of their limits, and of speeds [s/rad]
APART, END = 300.0, (300.0, 300.0, 30.0)  # of what is too near [1/m]; place, level, speed
SIZE = len(shelf.START)


def step_graph(step: float) -> ca.Function:
    """Return (x, efforts) -> x a step later, with both Jacobians; x is (q, u)."""
    drives = shelf.drives()
    x, effort, rate = ca.SX.sym('x', SIZE + 7), ca.SX.sym('effort', 7), ca.SX.sym('rate', 7)
    q, u = x[:SIZE], x[SIZE:]
    balance = drives(q, u + step * rate, rate)[1] - effort
    law = ca.Function('balance', [rate, x, effort], [balance])
    options = {
        'error_on_fail': False,
        'abstol': 1e-9,
        'max_iter': 30,
    }  # wild trials are refused
    solve = ca.rootfinder('solve', 'newton', law, options)
    X, efforts = ca.MX.sym('x', SIZE + 7), ca.MX.sym('effort', 7)
    after = X[SIZE:] + step * solve(np.zeros(7), X, efforts)
    then = ca.vertcat(X[:SIZE] + step * drives(X[:SIZE], after, np.zeros(7))[0], after)
    both = [ca.jacobian(then, X), ca.jacobian(then, efforts)]
    return ca.Function('step', [X, efforts], [then, *both])


def cost_graph(last: bool) -> ca.Function:
    """Return (x, efforts) -> residuals whose half square is the cost, with both Jacobians."""
    x, effort = ca.SX.sym('x', SIZE + 7), ca.SX.sym('effort', 7)
    q, u = x[:SIZE], x[SIZE:]
    apart, height = shelf.clearances()(q)
    least = np.tile(shelf.RADII + NEAR, 2)
    deck = shelf.DECK + shelf.RADII[shelf.ON_ARM]
    parts = [APART * ca.fmax(ca.vertcat(least - ca.vec(apart), deck - height), 0.0)]
    if last:
        ends = shelf.spheres()(q)
        parts += [END[0] * (ends[shelf.OBJECT, :].T - shelf.PLACE), END[2] * u]
        parts += [END[1] * (ends[shelf.OBJECT, 2] - ends[shelf.HAND, 2])]
    else:
        parts += [EFFORT * effort / shelf.limits()[1], RATE * u]
    r = ca.vertcat(*parts)
    both = [ca.jacobian(r, x), ca.jacobian(r, effort)]
    return ca.Function('cost', [x, effort], [r, *both])


class Action(crocoddyl.ActionModelAbstract):
    """A step of the robot, or where it ends, `step` None."""

    def __init__(self, step: ca.Function | None, cost: ca.Function) -> None:
        super().__init__(crocoddyl.StateVector(SIZE + 7), 7 if step else 0)
        self._step, self._cost = step, cost
        if step:
            self.u_ub = shelf.limits()[1]
            self.u_lb = -self.u_ub

    def calc(self, data: Any, x: Any, u: Any = None) -> None:
        """Set the next state and the cost."""
        effort = np.zeros(7) if u is None else u
        data.cost = 0.5 * float(ca.sumsqr(self._cost(x, effort)[0]))
        data.xnext = np.array(self._step(x, effort)[0]).ravel() if self._step else x

    def calcDiff(self, data: Any, x: Any, u: Any = None) -> None:  # noqa: N802 - crocoddyl's name
        """Set the derivatives; those of second order by Gauss and Newton."""
        effort = np.zeros(7) if u is None else u
        r, r_x, r_u = (np.array(value) for value in self._cost(x, effort))
        data.Lx, data.Lxx = (r_x.T @ r).ravel(), r_x.T @ r_x
        if self._step:
            data.Lu, data.Luu, data.Lxu = (r_u.T @ r).ravel(), r_u.T @ r_u, r_x.T @ r_u
            _, data.Fx, data.Fu = (np.array(value) for value in self._step(x, effort))


def solve(steps: int, most: int) -> tuple[crocoddyl.SolverBoxFDDP, tuple[float, float]]:
    """Return the solver after at most so many iterations; how long, wall and processor [s]."""
    step = DURATION / steps
    moving, end = Action(step_graph(step), cost_graph(False)), Action(None, cost_graph(True))
    start = np.concatenate([shelf.START, np.zeros(7)])
    problem = crocoddyl.ShootingProblem(start, [moving] * steps, end)
    solver = crocoddyl.SolverBoxFDDP(problem)
    way = [start + k / steps * np.r_[shelf.READY - shelf.START, np.zeros(7)] for k in range(steps)]
    guess = [*way, np.r_[shelf.READY, np.zeros(7)]]
    drives = shelf.drives()
    held = [np.array(drives(x[:SIZE], np.zeros(7), np.zeros(7))[1]).ravel() for x in way]
    wall, cpu = time.perf_counter(), time.process_time()
    solver.solve(guess, held, most, False)
    return solver, (time.perf_counter() - wall, time.process_time() - cpu)


def main(arguments: list[str] | None = None) -> None:
    """Solve and print how it went."""
    parser = argparse.ArgumentParser(description='to a shelf with crocoddyl')
    parser.add_argument('--steps', type=int, default=50)
    parser.add_argument('--iterations', type=int, default=200)
    chosen = parser.parse_args(arguments)
    solver, seconds = solve(chosen.steps, chosen.iterations)
    q, efforts = np.array(solver.xs)[:, :SIZE], np.array(solver.us)
    off = np.linalg.norm(shelf.objects(q[-1:])[0] - shelf.PLACE)
    wall, cpu = (1e3 * x / solver.iter for x in seconds)
    print(f'{solver.iter} iterations of BoxFDDP')
    print(f'time an iteration: {wall:.1f} ms wall, {cpu:.1f} ms processor')
    print(f'object {1e3 * off:.1f} mm from its place')
    print(f'efforts up to {np.abs(efforts / shelf.limits()[1]).max():.2f} of their limits')
    print(f'clearance at the steps: {1e3 * shelf.least_clearance(q):.1f} mm')


if __name__ == '__main__':
    main()
