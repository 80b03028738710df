# SPDX-License-Identifier: Apache-2.0
"""
What straight-line code is too large for: matrices column by column, dense solves.

Recursions are linear in the number of joints; as loops over bodies they are machine code for
robots of any size. Column k of M is one run of inverse dynamics at rest, without gravity, with
unit acceleration k (Silva et al., section 6), column k of C one run of C x with unit speed k, all
as one batch. Under constraints, or with joints that follow others, the solves are LAPACK's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algorithms.forward_dynamics import solve_motion
from kane_dynamics.algorithms.methods import Motion
from kane_dynamics.constraints.base import Constraint, constraint_rows
from kane_dynamics.model.arguments import Arguments, as_output, fill_rows
from kane_dynamics.model.load import Load
from kane_dynamics.model.robot import WORLD, Robot
from kane_dynamics.model.state import checked_coordinates, checked_speeds

Floats = NDArray[np.float64]

# Bounds on a graph of about 25,000 operations; see doc/kernels.md. Forward dynamics of a chain has
# some 80 for each coupled pair of speeds (nonzeros in half of M; a chain of 24 has 300), C of (47)
# up to 25 for each squared number of speeds that move a body.
MOST_COUPLED_PAIRS = 300
# Loops solve free trees as fast from about 14 joints on, and are compiled in a second.
MOST_FREE_PAIRS = 100
MOST_SQUARED_DEPTHS = 1000


def too_large(robot: Robot) -> bool:
    """Return whether a robot's solves are too large for straight-line code."""
    return _coupled_pairs(robot) > MOST_COUPLED_PAIRS


def as_loops(robot: Robot, constraints: Sequence[Constraint], whole_graphs: bool) -> bool:
    """
    Return whether a robot's kernels are loops over bodies.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Its constraints.
    whole_graphs : bool
        Whether kernels are asked for that are straight-line code only.

    """
    if whole_graphs or not solved_by_loops(robot, constraints):
        return too_large(robot)
    return _coupled_pairs(robot) > min(MOST_COUPLED_PAIRS, MOST_FREE_PAIRS)


def _coupled_pairs(robot: Robot) -> int:
    """Return the number of nonzeros in half of M."""
    return sum(
        (index.v.stop - index.v.start) * depth
        for index, depth in zip(robot.indices, _depths(robot), strict=True)
    )


def solved_by_loops(robot: Robot, constraints: Sequence[Constraint]) -> bool:
    """Return whether articulated bodies solve a robot: each joint moves one body, and freely."""
    return not constraints and all(body.mimic is None for body in robot.bodies)


def coriolis_too_large(robot: Robot) -> bool:
    """Return whether C of (47) is too large for straight-line code."""
    return sum(depth**2 for depth in _depths(robot)) > MOST_SQUARED_DEPTHS


def _depths(robot: Robot) -> list[int]:
    """Return how many speeds move each body."""
    speeds = [index.v.stop - index.v.start for index in robot.indices]
    depths: list[int] = []
    for body, parent in enumerate(robot.parents):
        depths.append(speeds[body] + (0 if parent == WORLD else depths[parent]))
    return depths


def coriolis_by_columns(robot: Robot, effort: Callable[..., Any]) -> Callable[..., Floats]:
    """Return C from compiled products C x."""

    def coriolis(q: Floats, v: Floats) -> Floats:
        checked_coordinates(robot, q)
        columns: Floats = effort(q, v, np.eye(robot.nv))
        return columns.T

    nq, nv = robot.nq, robot.nv
    arguments = Arguments('coriolis_matrix', ('q', 'v'), (nq, nv), {})
    return over_rows(arguments, coriolis, (nv, nv))


@dataclass(frozen=True, eq=False)
class GenericTerms:
    """M and C v + g from compiled recursions; see `simulation.reference.Terms`."""

    load: Load
    inertial_effort: Callable[..., Any]
    bias: Callable[..., Any]

    @property
    def robot(self) -> Robot:
        """Return the robot with the present payloads."""
        return self.load.robot

    def mass_matrix(self, q: Floats) -> Floats:
        """Return M, shape (nv, nv)."""
        columns: Floats = self.inertial_effort(q, np.eye(self.robot.nv))
        return 0.5 * (columns + columns.T)

    def bias_force(self, q: Floats, v: Floats) -> Floats:
        """Return C v + g, shape (nv,)."""
        force: Floats = self.bias(q, v)
        return force

    def motion(
        self,
        constraints: Sequence[Constraint],
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        t: float,
    ) -> Motion:
        """Return accelerations and multipliers under constraints."""
        coordinates, speeds = checked_coordinates(self.robot, q), checked_speeds(self.robot, v)
        efforts = np.array(checked_speeds(self.robot, tau, 'tau'))
        at_q, at_v = np.array(coordinates), np.array(speeds)
        mass, bias = self.mass_matrix(at_q), self.bias_force(at_q, at_v)
        rows = constraint_rows(self.robot, constraints, coordinates, speeds, t)
        return solve_motion(self.robot, rows, mass, bias, at_v, efforts)

    def functions(self, constraints: Sequence[Constraint]) -> dict[str, Callable[..., Floats]]:
        """Return what a compiled robot offers, one state or rows of states."""
        robot, nq, nv = self.robot, self.robot.nq, self.robot.nv

        def acceleration(q: Floats, v: Floats, tau: Floats, time: Floats) -> Floats:
            return self.motion(constraints, q, v, tau, float(time[0])).acceleration

        def mass(q: Floats) -> Floats:
            checked_coordinates(robot, q)
            return self.mass_matrix(q)

        state, clock = ('q', 'v', 'tau', 'time'), {'time': np.zeros(1)}
        forward = Arguments('forward_dynamics', state, (nq, nv, nv, 1), clock)
        return {
            'mass_matrix': over_rows(Arguments('mass_matrix', ('q',), (nq,), {}), mass, (nv, nv)),
            'forward_dynamics': over_rows(forward, acceleration, (nv,)),
        }


def over_rows(
    arguments: Arguments, function: Callable[..., Floats], shape: tuple[int, ...]
) -> Callable[..., Floats]:
    """Return a function of one state as one of a state or of rows of states, with ``out``."""

    def call(*inputs: Any, out: Floats | None = None, **named: Any) -> Floats:
        arrays, out, count = arguments.gathered(inputs, named, out)
        if count is None:
            result = as_output(shape, out)
            finite = all(np.isfinite(x).all() for x in arrays)
            result[...] = function(*arrays) if finite else np.nan
            return result
        result = as_output((count, *shape), out)
        full = [np.broadcast_to(x, (count, x.shape[-1])) for x in arrays]
        fill_rows(function, full, result, range(count))
        return result

    return call
