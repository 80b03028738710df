# SPDX-License-Identifier: Apache-2.0
"""The reference engine: the formulas of the table in numpy, state by state."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from kane_dynamics.algorithms.newton_euler import ExternalWrenches, external_force
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.dynamics.base import Arrays, Choices, Out
from kane_dynamics.dynamics.constrained import GAUSS, START
from kane_dynamics.dynamics.interface import Dynamics
from kane_dynamics.dynamics.table import FUNCTIONS
from kane_dynamics.formulations import ReferenceTerms, solve_by
from kane_dynamics.formulations.problem import Terms
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.gravity_and_payloads import GravityAndPayloads
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.simulation.reference import ReferenceEngine
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.typing import ArrayLike, Floats

_AS_LISTS = {'v', 'a', 'reference'}  # recursions are quicker on floats


class ReferenceDynamics(Dynamics):
    """The reference engine: the algorithms of the papers in numpy, state by state."""

    wrenches: ExternalWrenches = None  # on links, of functions under constraints

    def _call(self, name: str, arrays: Arrays, choices: Choices = (), out: Out = None) -> Floats:
        function = partial(self.at_state, name, choices)
        return self._by_states(name, function, arrays, out)

    def at_state(self, name: str, choices: tuple[Any, ...], *state: Floats) -> Any:
        """Return what a function of the table gives at one state of finite numbers."""
        row = FUNCTIONS[name]
        inputs = [self._scalars(*pair) for pair in zip(row.inputs, state, strict=False)]
        return row.formula(self, *inputs, *choices)

    def _scalars(self, name: str, x: Floats) -> Any:
        if name == 'q':
            return checked_coordinates(self.robot, x)
        if name == 'time':
            return float(x[0])
        return x.tolist() if name in _AS_LISTS else x

    def motion_at(self, q: Floats, v: Floats, tau: Floats, t: float = START, *how: Any) -> Motion:
        method, speeds = how or (GAUSS, None)
        terms = ReferenceTerms(self.robot, self.constraints)
        place = checked_coordinates(self.robot, q)
        efforts = tau + external_force(self.robot, place, self.wrenches)
        state = np.array(place), np.array(v), efforts
        return solve_by(method, self.robot, terms, *state, t, speeds)

    def _rows(self, q: ArrayLike, v: ArrayLike, time: float) -> ConstraintRows:
        t = as_number('time [s]', time)
        state = checked_coordinates(self.robot, q), checked_speeds(self.robot, v)
        return self.constraints.rows(*state, t)

    def _engine(self, integrator: str, projection: bool, halvings: int) -> Engine:
        steps = integrator, projection, self._step_terms(), halvings
        return ReferenceEngine(self._load, self.constraints, *steps)

    def _step_terms(self) -> Terms | None:
        """Return where time steps get M and C v + g from, if not from the reference."""
        return None


def dynamics(
    robot: Robot, constraints: Sequence[Constraint] = (), *, frames: Sequence[str] | None = None
) -> Dynamics:
    """Return the dynamics of a robot under constraints by the reference algorithms."""
    return ReferenceDynamics(GravityAndPayloads(checked_robot(robot)), constraints, frames)
