# SPDX-License-Identifier: Apache-2.0
"""A robot whose constraints come and go while it moves (Gillespie, figure 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np

from kane_dynamics.algorithms.impact import LAWS
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.dynamics import Dynamics, free_dynamics
from kane_dynamics.events.flow import FlowMotion
from kane_dynamics.events.hybrid_motion import ConstraintSubsets, HybridMotion, read_only
from kane_dynamics.events.named_constraints import (
    ADDED,
    REMOVED,
    Event,
    State,
    as_named,
    check_position,
    labelled,
    shared_labels,
)
from kane_dynamics.events.transition import Setting
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError
from kane_dynamics.robot import checks
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats


class EventSimulation:
    """
    A robot in time with constraints and contacts that come and go.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : mapping of str to Constraint or Contact, optional
        What holds from the start; contacts may be open.
    q, v : array_like, shapes (nq,), (nv,), optional
        State at the start: neutral and at rest where left out. Speeds jump onto the constraints,
        and contacts that approach strike.
    step : float
        Length of a step [s]. Events are found within steps.
    dynamics : Dynamics, optional
        Of the robot without constraints: `kane_dynamics.compile` gives machine code, also for any
        set of the constraints. Its gravity and payloads may be set while time runs. The reference
        engine where left out.
    precompile : sequence of Constraint or Contact, optional
        What will be added, so that the machine code knows it from the start.
    compile_in_background : bool
        Whether machine code that knows a new constraint is compiled in a thread, while the robot
        moves on the generic path; runs then differ by the error of a step. Otherwise `add` waits.
    rest_speed : float
        Speed of approach [m/s] below which contacts do not rebound: bouncing ends.
    law : str
        'newton', 'poisson' or 'energetic': what restitution means, see `kane_dynamics.impact`.

    Raises
    ------
    InvalidInputError
        If a number is out of range, or the law is unknown.
    ConstraintError
        If a constraint was built for another robot, or does not hold at the start.

    """

    def __init__(
        self,
        robot: Robot,
        constraints: Mapping[str, Constraint | Contact] | None = None,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        step: float = 0.001,
        dynamics: Dynamics | None = None,
        precompile: Sequence[Constraint | Contact] = (),
        compile_in_background: bool = True,
        rest_speed: float = 1e-6,
        law: str = 'poisson',
    ) -> None:
        import_module('scipy.optimize')  # takes 0.4 s: now rather than at the first event
        checked_robot(robot)
        self.step_size = checks.as_positive('step [s]', step)
        slow = checks.as_nonnegative('rest_speed [m/s]', rest_speed)
        first = checks.as_mapping('constraints', constraints or {})
        first = {name: as_named(robot, name, what) for name, what in first.items()}
        free = free_dynamics(robot, dynamics)
        if not isinstance(precompile, (list, tuple)):
            raise InvalidInputError(
                f'precompile: need a list of constraints, got {checks.describe(precompile)}'
            )
        later = [as_named(robot, f'precompile[{k}]', one) for k, one in enumerate(precompile)]
        self._shared = shared_labels([*first.values(), *later])
        self._first = labelled(first.values(), self._shared)
        known = [*self._first.values(), *later]
        subsets = ConstraintSubsets(free, known, compile_in_background)
        setting = Setting(free, slow, checks.as_choice('law', law, LAWS))
        self._motion = HybridMotion(setting, subsets, self.step_size)
        self._origin = State(robot.neutral(), np.zeros(robot.nv), 0.0)
        self.reset(q, v)
        self._origin = self._motion.state

    def reset(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None, time: float = 0.0
    ) -> None:
        """
        Start again with the first constraints, at q and v (where left out, as at the first start).

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.
        ConstraintError
            If a constraint does not hold at q, or a contact is below zero.

        """
        robot = self.robot
        self._start, self._steps = checks.as_number('time [s]', time), 0
        state = State(
            np.array(checked_coordinates(robot, self._origin.q if q is None else q)),
            np.array(checked_speeds(robot, self._origin.v if v is None else v)),
            self._start,
        )
        for one in self._first.values():
            check_position(robot, one, state)
        self._motion.start(self._first, state)

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._motion.setting.dynamics.robot

    @property
    def time(self) -> float:
        """Return the time [s]: start + number of steps x step, without accumulated roundoff."""
        return self._start + self._steps * self.step_size

    @property
    def q(self) -> Floats:
        """Return the coordinates, read-only, shape (nq,)."""
        return read_only(self._motion.state.q)

    @property
    def v(self) -> Floats:
        """Return the speeds, read-only, shape (nv,)."""
        return read_only(self._motion.state.v)

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what happened since the reset, or since `take_events`."""
        return tuple(self._motion.events)

    @property
    def constraints(self) -> dict[str, Constraint | Contact]:
        """Return the constraints and contacts that there are now, by name."""
        parts = self._motion.current.mode.parts.values()
        both = {part.name: part.held if part.contact is None else part.contact for part in parts}
        return {name: one for name, one in both.items() if one is not None}

    @property
    def states(self) -> dict[str, str]:
        """Return what each of them does: 'holds', 'open', 'slips' or 'sticks'."""
        return dict(self._motion.current.mode.states)

    @property
    def directions(self) -> dict[str, Floats]:
        """Return the unit vectors along which contacts with friction slip, or begin to."""
        return dict(self._motion.current.directions)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows that hold now, after the constraint's where they repeat."""
        return self._motion.current.mode.labels

    @property
    def row_labels(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the rows of each constraint, also of those that do not hold now."""
        return {name: part.labels for name, part in self._motion.current.mode.parts.items()}

    @property
    def rows(self) -> ConstraintRows:
        """Return the rows that hold, at this state."""
        held = ConstraintSet(self.robot, self._motion.current.mode.held)
        return replace(held.rows(self.q, self.v, self.time), labels=self.labels)

    @property
    def independent_speeds(self) -> tuple[str, ...]:
        """Return the names of the speeds that are integrated."""
        return self._motion.current.flow.independent

    @property
    def not_compiled(self) -> tuple[str, ...]:
        """Return which sets of constraints have no machine code, and why."""
        return self._motion.subsets.not_compiled

    @property
    def motion(self) -> FlowMotion:
        """Return accelerations and forces at this state under the last efforts."""
        state, current = (self.q, self.v, self.time), self._motion.current
        motion = current.flow.motion(*state[:2], self._motion.efforts, self.time)
        return replace(motion, multipliers=current.detector.share(*state, motion.multipliers))

    @property
    def forces(self) -> dict[str, float]:
        """Return the multiplier of each row that holds: forces of contacts and constraints."""
        return dict(zip(self.labels, self.motion.multipliers.tolist(), strict=True))

    def add(self, name: str, what: Constraint | Contact, limit: float | None = None) -> Event:
        """
        Impose a constraint or add a contact; return what that did.

        The speeds jump by the impulse that makes them consistent.

        Parameters
        ----------
        name : str
            A new name.
        what : Constraint or Contact
            From `kane_dynamics.constraints`.
        limit : float, optional
            Norm of the multipliers of a constraint [N or N m] beyond which it lets go.

        Raises
        ------
        InvalidInputError
            If the name is no text, the limit not positive, or a contact has one.
        ConstraintError
            If there is one of this name, or it was built for another robot or is violated here.
        InconsistentConstraintsError, ContactError
            If it contradicts what holds, or no motion obeys the law of dry friction; nothing has
            changed then.

        """
        new, present = as_named(self.robot, name, what, limit), self._motion.current.mode.parts
        if name in present:
            raise ConstraintError(f"there is '{name}' already; there are {sorted(present)}")
        check_position(self.robot, new, self._motion.state)
        return self._motion.change(ADDED, name, labelled([new], self._shared, present))

    def remove(self, name: str) -> Event:
        """
        Delete a constraint or contact; nothing jumps. Return what changed.

        Raises
        ------
        NameNotFoundError
            If there is none of this name.
        ContactError
            If no motion without it obeys the law of dry friction; nothing has changed then.

        """
        present = self._motion.current.mode.parts
        if not isinstance(name, str) or name not in present:
            raise NameNotFoundError('constraint', name, present)
        others = {key: one for key, one in present.items() if key != name}
        return self._motion.change(REMOVED, name, others)

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
            If the motion leaves all bounds: the step is too long.
        StepError
            If there is no end of events in a step.
        ContactError, InconsistentConstraintsError
            If an event has no consistent motion after it. The state is that before the step.

        """
        efforts = checks.as_vector('tau', tau, self.robot.nv)
        for _ in range(checks.as_count('n', n)):
            self._motion.advance(efforts, self._start + (self._steps + 1) * self.step_size)
            self._steps += 1

    def take_events(self) -> tuple[Event, ...]:
        """Return `events` and forget them: what runs for ever keeps none."""
        events, self._motion.events = self._motion.events, []
        return tuple(events)
