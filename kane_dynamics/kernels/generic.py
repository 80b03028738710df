# SPDX-License-Identifier: Apache-2.0
"""
Robots too large for straight-line solves: compiled recursions, dense numpy solves.

The recursion of inverse dynamics is linear in the number of joints and stays machine code. Column
k of M is one run of it at rest, without gravity, with unit acceleration k (Silva et al., section
6), all as one batch; the solves are LAPACK's. C is the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algorithms.dynamics import coriolis_matrix
from kane_dynamics.algorithms.forward_dynamics import solve_motion
from kane_dynamics.algorithms.methods import Motion
from kane_dynamics.constraints.base import Constraint, constraint_rows
from kane_dynamics.model.arguments import Arguments, as_output, fill_rows
from kane_dynamics.model.load import Load
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.state import checked_coordinates, checked_speeds

Floats = NDArray[np.float64]

# Above this many coupled pairs of speeds (nonzeros in half of M; a chain of 24 has 300) the
# straight-line solves take minutes to compile; see doc/kernels.md.
MOST_COUPLED_PAIRS = 300


def too_large(robot: Robot) -> bool:
    """Return whether a robot's solves are too large for straight-line code."""
    speeds = [index.v.stop - index.v.start for index in robot.indices]
    pairs = sum(
        speeds[body] * sum(speeds[ancestor] for ancestor in robot.ancestors(body))
        for body in range(len(robot.bodies))
    )
    return pairs > MOST_COUPLED_PAIRS


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

        def coriolis(q: Floats, v: Floats) -> Floats:
            return coriolis_matrix(self.robot, q, v)

        state, clock = ('q', 'v', 'tau', 'time'), {'time': np.zeros(1)}
        forward = Arguments('forward_dynamics', state, (nq, nv, nv, 1), clock)
        return {
            'mass_matrix': over_rows(Arguments('mass_matrix', ('q',), (nq,), {}), mass, (nv, nv)),
            'coriolis_matrix': over_rows(
                Arguments('coriolis_matrix', ('q', 'v'), (nq, nv), {}), coriolis, (nv, nv)
            ),
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
