# SPDX-License-Identifier: Apache-2.0
"""The reference engine: `Dynamics` by the algorithms of the papers in numpy, state by state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.algorithms.constrained_inverse import (
    ConstrainedEffort,
    checked_weights,
    term_switches,
)
from kane_dynamics.algorithms.forward_dynamics import Motion
from kane_dynamics.algorithms.kinematics import forward_kinematics
from kane_dynamics.algorithms.newton_euler import TERMS, ExternalWrenches
from kane_dynamics.algorithms.task_space_law import (
    REPORTED,
    FrameEffort,
    TaskSpaceLaw,
    checked_law,
)
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import AT_START, ConstraintSubsetDynamics, Dynamics
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.formulations.problem import Terms
from kane_dynamics.functions import terms as functions
from kane_dynamics.functions.consistent import consistent_acceleration, consistent_velocity
from kane_dynamics.functions.constrained import constrained_inverse_dynamics, forward_dynamics
from kane_dynamics.functions.frame_effort import frame_effort_numbers
from kane_dynamics.robot.checks import as_choice, as_number, as_times
from kane_dynamics.robot.gravity_and_payloads import GravityAndPayloads
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import (
    checked_coordinates,
    checked_robot,
)
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.simulation.reference import ReferenceEngine
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.simulation.step_checks import check_halvings
from kane_dynamics.typing import Floats


class ReferenceDynamics(Dynamics):
    """The reference engine: the algorithms of the papers in numpy, state by state."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_wrenches: ExternalWrenches = None,
        out: Floats | None = None,
    ) -> Floats:
        def efforts(q: Floats, v: Floats, a: Floats) -> Floats:
            return functions.inverse_dynamics(self.robot, q, v, a, external_wrenches)

        return self._array('inverse_dynamics', efforts, (self.robot.nv,), out, q=q, v=v, a=a)

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = AT_START,
        out: Floats | None = None,
    ) -> Floats:
        def vdot(q: Floats, v: Floats, tau: Floats, t: Floats) -> Floats:
            return self.forward_dynamics(q, v, tau, t[0]).acceleration

        state = {'q': q, 'v': v, 'tau': tau, 'time': as_times(time)}
        return self._array('acceleration', vdot, (self.robot.nv,), out, **state)

    def switched(self, constraints: Sequence[Constraint]) -> ConstraintSubsetDynamics:
        others = ConstraintSet.of(self.robot, constraints)
        return ConstraintSubsetDynamics(others, others.rows)

    def _by_gauss(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        return forward_dynamics(self.robot, q, v, tau, self.constraints, time=t)

    def _by_method(self, method: str, speeds: GeneralizedSpeeds | None, *state: Any) -> Motion:
        q, v, tau, t = state
        rows = self.constraints
        return forward_dynamics(self.robot, q, v, tau, rows, method, speeds=speeds, time=t)

    def constraint_rows(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> ConstraintRows:
        t = as_number('time [s]', time)
        return self.constraints.rows(*self._state(q, v), t)

    def consistent_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
    ) -> Floats:
        def speeds(q: Floats, v: Floats, t: Floats) -> Floats:
            return consistent_velocity(self.robot, q, v, self.constraints, known, time=t[0])

        state = {'q': q, 'v': v, 'time': as_times(time)}
        return self._array('consistent_velocity', speeds, (self.robot.nv,), None, **state)

    def consistent_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
    ) -> Floats:
        def rates(q: Floats, v: Floats, a: Floats, t: Floats) -> Floats:
            rows = self.constraints, known
            return consistent_acceleration(self.robot, q, v, a, *rows, time=t[0])

        state = {'q': q, 'v': v, 'a': a, 'time': as_times(time)}
        return self._array('consistent_acceleration', rates, (self.robot.nv,), None, **state)

    def constrained_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        actuated: Sequence[str],
        weights: ArrayLike | None = None,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
        *,
        terms: Sequence[str] = TERMS,
        reference: ArrayLike | None = None,
    ) -> ConstrainedEffort:
        def numbers(q: Floats, v: Floats, a: Floats, t: Floats, x: Floats | None = None) -> Floats:
            state = self.robot, q, v, a, self.constraints
            return constrained_inverse_dynamics(
                *state, actuated, weights, known, terms=terms, time=t[0], reference=x
            ).numbers

        nv, name = self.robot.nv, 'constrained_inverse_dynamics'
        shape = (3 * nv + len(self.labels) + 3,)
        state = {'q': q, 'v': v, 'a': a, 'time': as_times(time)}
        if reference is not None:
            state['reference'] = reference
        result = self._array(name, numbers, shape, None, **state)
        return ConstrainedEffort(result, nv, self.labels)

    def frame_effort(
        self,
        law: TaskSpaceLaw,
        q: ArrayLike,
        v: ArrayLike,
        target: ArrayLike,
        gains: ArrayLike,
        posture: ArrayLike,
        a: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        time: ArrayLike = AT_START,
        *,
        terms: Sequence[str] = TERMS,
    ) -> FrameEffort:
        robot, switches = self.robot, np.array(term_switches(terms))
        checked_law(robot, law)
        shares = checked_weights(robot, weights, speed_indices(robot, law.actuated, 'actuated'))

        def numbers(
            q: Floats, v: Floats, t: Floats, a: Floats, w: Floats, k: Floats, p: Floats
        ) -> Floats:
            place = np.array(checked_coordinates(robot, q))
            state = robot, self.constraints, law, place, v, a
            return frame_effort_numbers(*state, w, k, p, shares, switches, float(t[0]))

        state = {
            'q': q,
            'v': v,
            'time': as_times(time),
            'a': np.zeros(robot.nv) if a is None else a,
            'wanted': target,
            'gains': gains,
            'posture': posture,
        }
        shape = (3 * robot.nv + len(self.labels) + 3 + REPORTED,)
        result = self._array('frame_effort', numbers, shape, None, **state)
        return FrameEffort.of(result, robot.nv, self.labels)

    def engine(
        self, integrator: str = 'semi_implicit', projection: bool = True, halvings: int = 0
    ) -> Engine:
        as_choice('integrator', integrator, sorted(INTEGRATORS))
        check_halvings(halvings)
        steps = integrator, projection, self._step_terms(), halvings
        return ReferenceEngine(self._load, self.constraints, *steps)

    def _step_terms(self) -> Terms | None:
        """Return where time steps get M and C v + g from, if not from the reference."""
        return None

    def _term(
        self, name: str, shape: tuple[int, ...], out: Floats | None, **state: ArrayLike
    ) -> Floats:
        function: Callable[..., Any] = (
            partial(_OF_FRAMES[name], self.robot, self.frames)
            if name in _OF_FRAMES
            else partial(getattr(functions, name), self.robot)
        )
        return self._array(name, function, shape, out, **state)


def _frame_poses(robot: Robot, frames: Sequence[str], q: Floats) -> Floats:
    result = [forward_kinematics(robot, q).pose(name) for name in frames]
    return np.array([[*x.position(), *x.rotation.components] for x in result]).reshape(-1, 7)


def _frame_jacobians(robot: Robot, frames: Sequence[str], q: Floats) -> Floats:
    kinematics = forward_kinematics(robot, q)
    return np.array([kinematics.jacobian(name) for name in frames])


def _frame_drifts(robot: Robot, frames: Sequence[str], q: Floats, v: Floats) -> Floats:
    kinematics = forward_kinematics(robot, q, v)
    return np.array([kinematics.twist_rate(name) for name in frames])


_OF_FRAMES: dict[str, Callable[..., Floats]] = {
    'frame_poses': _frame_poses,
    'frame_jacobians': _frame_jacobians,
    'frame_bias_accelerations': _frame_drifts,
}


def dynamics(
    robot: Robot, constraints: Sequence[Constraint] = (), *, frames: Sequence[str] | None = None
) -> Dynamics:
    """
    Return the dynamics of a robot under constraints by the reference algorithms.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    frames : sequence of str, optional
        Links of `Dynamics.frame_poses`; all bodies where left out.

    Raises
    ------
    InvalidInputError
        If `robot` is none or `constraints` are none.
    ConstraintError
        If a constraint was built for another robot.
    NameNotFoundError
        If a frame does not exist.

    """
    return ReferenceDynamics(GravityAndPayloads(checked_robot(robot)), constraints, frames)
