# SPDX-License-Identifier: Apache-2.0
"""
What straight-line code is too large for: matrices column by column, dense solves.

Recursions are linear in the number of joints; as loops over bodies they are machine code for
robots of any size. Column k of M is one run of inverse dynamics at rest, without gravity, with
unit acceleration k (Silva et al., section 6), column k of C one run of C x with unit speed k, all
as one batch. Under constraints, or with joints that follow others, the solves are LAPACK's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kane_dynamics.algorithms.udwadia_kalaba import Motion, solve_motion
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.reference import ReferenceDynamics
from kane_dynamics.dynamics.table import FUNCTIONS, ON_DEMAND
from kane_dynamics.formulations.problem import Terms
from kane_dynamics.robot.gravity_and_payloads import GravityAndPayloads
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import Floats

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


def not_compiled(robot: Robot, methods: bool) -> tuple[str, ...]:
    """Return the functions that are straight-line code only: of larger robots they are numpy."""
    if not too_large(robot):
        return ()
    rows = [x.name for x in FUNCTIONS.values() if x.compiled == ON_DEMAND and x.text]
    others = 'constrained_inverse_dynamics', 'frame_effort', 'switched'
    names = ('forward_dynamics', *rows, 'inverse_dynamics(external_wrenches=)', *others)
    terms = [f'forward_dynamics(method={x!r})' for x in ('gibbs_appell', 'lagrange')]
    return (*names, *terms) if methods else names


def as_loops(robot: Robot, constraints: Sequence[Constraint], whole_graphs: bool) -> bool:
    """Return whether a robot's kernels are loops over bodies."""
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


class LargeDynamics(ReferenceDynamics):
    """The reference on compiled recursions."""

    def __init__(
        self,
        load: GravityAndPayloads,
        constraints: Sequence[Constraint],
        frames: Sequence[str],
        recursions: Mapping[str, Callable[..., Any]],
    ) -> None:
        super().__init__(load, constraints, frames)
        self._recursions = recursions

    def at_state(self, name: str, choices: tuple[Any, ...], *state: Floats) -> Any:
        """Return what a function of the table gives at one state of finite numbers."""
        if name in self._recursions:
            return self._recursions[name](*state)
        return super().at_state(name, choices, *state)

    def _step_terms(self) -> Terms:
        return self

    def motion_at(self, q: Floats, v: Floats, tau: Floats, t: float = START, *how: Any) -> Motion:
        if how:
            return super().motion_at(q, v, tau, t, *how)
        q, v = np.array(q), np.array(v)
        rows, mass = self.constraint_rows(q, v, t), self.mass_matrix(q)
        return solve_motion(self.robot, rows, mass, self.bias_force(q, v), v, tau)
