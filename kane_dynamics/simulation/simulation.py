# SPDX-License-Identifier: Apache-2.0
"""Stepping a robot through time."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from kane_dynamics.algorithms.newton_euler import friction_left_by_drag
from kane_dynamics.algorithms.projection import project
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import (
    ConstraintError,
    InconsistentConstraintsError,
    InvalidInputError,
    ProjectionError,
)
from kane_dynamics.robot import checks
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import GravityAndPayloads, checked_coordinates, checked_speeds
from kane_dynamics.simulation.integrators import IMPLICIT_FRICTION, STICTION_SPEED
from kane_dynamics.simulation.reference import PassiveForce, ReferenceEngine
from kane_dynamics.simulation.step_checks import RankEvent, RankLog, check_steps
from kane_dynamics.typing import ArrayLike, Floats

EffortLaw = Callable[[float, Floats, Floats], ArrayLike]


class Engine(Protocol):
    """What computes the motion: the reference algorithms, or a compiled robot."""

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""

    constraints: ConstraintSet

    def advance(
        self,
        q: Floats,
        v: Floats,
        tau: Floats,
        t: float,
        h: float,
        n: int,
        log: RankLog | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the state after n steps of h [s] at constant efforts; ranks go into the log."""

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        """Return accelerations and multipliers at a state."""

    def accelerations(self, q: Floats, v: Floats, efforts: Floats, t: float) -> Floats:
        """Return vdot at a state under efforts that are rows, one row for each."""

    def check_damping(self, q: Floats, t: float, h: float) -> None:
        """Check that damping is not too stiff for steps of h [s]; see `simulation.step_checks`."""


class Simulation:
    """
    A robot in time: fixed steps, same inputs, same outputs.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Rows that hold during the motion.
    step : float
        Length of a step [s].
    integrator : str
        'semi_implicit', 'rk4' or 'midpoint', see `integrators`.
    projection : bool
        Whether drift off the constraints is projected away after each step.
    engine : Engine, optional
        Computes instead of the reference algorithms: ``compiled.engine(integrator, projection)``,
        of the same constraints.
    halvings : int
        A step that fails is cut in two of half its length, each of these again, so many times
        (where an engine is given: as it was asked for).
    passive_force : callable, optional
        passive_force(t, q, v) -> efforts of springs, dampers and other forces of the state, shape
        (nv,), taken at every stage of a step; those that a step is given are held. An engine that
        is given has its own, see `kane_dynamics.compile`.

    Attributes
    ----------
    q, v : ndarray, shapes (nq,), (nv,)
        State, read-only.
    time : float
        [s]; a whole number of steps after the start.
    labels : tuple of str
        Names of the constraint rows.

    Raises
    ------
    InvalidInputError
        If the step is not positive, the integrator unknown, `halvings` not a number from 0 to 20,
        `constraints` no sequence of constraints, or the engine one of another robot or of
        other constraints.
    ConstraintError
        If a constraint was built for another robot.

    Examples
    --------
    >>> robot = kd.serial_chain(2)
    >>> simulation = kd.Simulation(robot, step=1e-2)
    >>> simulation.reset(np.zeros(2), np.zeros(2))
    >>> simulation.step(np.zeros(2))
    >>> simulation.time
    0.01

    """

    def __init__(
        self,
        robot: Robot,
        constraints: Sequence[Constraint] = (),
        step: float = 0.001,
        integrator: str = 'semi_implicit',
        projection: bool = True,
        engine: Engine | None = None,
        halvings: int = 0,
        passive_force: PassiveForce | None = None,
    ) -> None:
        if engine is not None and passive_force is not None:
            raise InvalidInputError('passive_force: the engine that is given has its own')
        if passive_force is not None:
            checks.as_function('passive_force', passive_force, 't', 'q', 'v')
        check_steps(integrator, projection, halvings)
        self.constraints = ConstraintSet.of(robot, constraints)
        self.step_size = checks.as_positive('step [s]', step)
        self.labels = self.constraints.labels
        rows = self.constraints if engine is None else getattr(engine, 'constraints', None)
        if not isinstance(rows, ConstraintSet) or not self.constraints.same_as(rows):
            needed, what = f'of this robot with {list(self.labels)}', checks.describe(engine)
            raise InvalidInputError(f'engine: need one {needed}, got {what}')
        self._projection = projection
        self._implicit_friction = integrator in IMPLICIT_FRICTION
        how = integrator, projection, None, halvings, passive_force
        self._engine = engine or ReferenceEngine(GravityAndPayloads(robot), self.constraints, *how)
        try:
            self.reset()
        except (ConstraintError, InconsistentConstraintsError, ProjectionError):
            # a loop that does not close at the neutral state, or a row that is not defined there
            self._set_state(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))

    def reset(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None, time: float = 0.0
    ) -> None:
        """
        Start again at q (neutral where left out), v (rest) and time [s].

        With projection, the state is first moved onto the constraints.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.

        """
        robot = self.robot
        self._start = checks.as_number('time [s]', time)
        self._steps, self._damping_checked = 0, False
        state_q = np.array(checked_coordinates(robot, robot.neutral() if q is None else q))
        state_v = np.array(checked_speeds(robot, np.zeros(robot.nv) if v is None else v))
        self._log: RankLog | None = None
        if self._projection and self.constraints:
            state = project(robot, self.constraints, state_q, state_v, self.time)
            state_q, state_v, self._log = state.q, state.v, RankLog(state.rank)
        self._set_state(state_q, state_v, np.zeros(robot.nv))

    @property
    def robot(self) -> Robot:
        """Return the robot, with the present gravity and payloads of its engine."""
        return self._engine.robot

    @property
    def time(self) -> float:
        """Return the time [s]: start + number of steps x step, without accumulated roundoff."""
        return self._start + self._steps * self.step_size

    def step(self, tau: ArrayLike, n: int = 1) -> None:
        """
        Advance by n steps at constant efforts.

        Parameters
        ----------
        tau : array_like, shape (nv,)
            Efforts on v [N m or N].
        n : int
            Number of steps.

        Raises
        ------
        InvalidInputError
            If the shape is wrong, a number is not finite, or n is negative.
        DivergedError
            If the motion leaves all bounds, or its damping is too stiff for an explicit step: the
            step is too long.
        StepError
            If an implicit step has no solution or creates energy.

        """
        efforts, n = checks.as_vector('tau', tau, len(self.v)), checks.as_count('n', n)
        time, step = self.time, self.step_size
        if not self._damping_checked:
            self._engine.check_damping(self.q, time, step)
            self._damping_checked = True
        q, v = self._engine.advance(self.q, self.v, efforts, time, step, n, self._log)
        self._steps += n
        self._set_state(q, v, efforts)

    @property
    def rank_events(self) -> tuple[RankEvent, ...]:
        """Return where the rank of the constraints changed since the reset, with projection."""
        return () if self._log is None else tuple(self._log.events)

    @property
    def acceleration(self) -> Floats:
        """Return vdot at this state under the last efforts, shape (nv,); friction as `motion`."""
        return self.motion.acceleration

    @property
    def multipliers(self) -> Floats:
        """Return lambda under the last efforts, one for each label; friction as for `motion`."""
        return self.motion.multipliers

    @property
    def motion(self) -> Motion:
        """
        Return all of the motion at this state under the last efforts.

        Coulomb friction is that of the time steps, F v / max(abs(v), v_s) where the integrator has
        it implicit: the sign of a speed near zero is that of its roundoff.
        """
        efforts = self._efforts
        if self._implicit_friction:
            efforts = efforts + friction_left_by_drag(self.robot, self.v, STICTION_SPEED)
        return self._engine.motion(self.q, self.v, efforts, self.time)

    def _set_state(self, q: Floats, v: Floats, efforts: Floats) -> None:
        q.setflags(False)  # type: ignore[call-arg]  # a keyword costs four times as much
        v.setflags(False)  # type: ignore[call-arg]
        self.q, self.v, self._efforts = q, v, efforts
