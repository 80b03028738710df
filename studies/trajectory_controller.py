# SPDX-License-Identifier: Apache-2.0
"""
What joint_trajectory_controller (JTC) of ros2_controllers does with trajectories and their effort.

A model for tests and studies, read from the sources of 4.42.1 (Jazzy), 5.17.0 (Kilted), 6.8.0 and
6.9.0, and of the branch master at 94e74de (2026-08-18); never compared with a running controller.
Joints, times and names as there; tolerances but for the path, timeouts and speed scaling are left
out. doc/feedforward.md says in words what it does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.joint_trajectory import UNNAMED, JointTrajectory
from kane_dynamics.typing import Floats

DROPPED, DEFERRED, SPLICED = REPLACEMENTS = ('dropped', 'deferred', 'spliced')
"""What happens to a running trajectory when one with a stamp ahead comes: up to 5.17, in 6.8 and
6.9, on master."""


class RejectedGoalError(InvalidInputError):
    """The controller does not take a trajectory."""


class State(Enum):
    """What the controller does."""

    HOLDING = 'holding'
    RUNNING = 'running'
    SUCCEEDED = 'succeeded'


@dataclass(frozen=True, eq=False)
class Settings:
    """
    Parameters of the controller.

    Attributes
    ----------
    effort, position : bool
        Which command interfaces it claims: effort alone has a PID, with position it has none.
    period : float
        Of its updates [s].
    p, d, velocity_scale : float or ndarray
        Gains and ``ff_velocity_scale``.
    replacement : str
        One of `REPLACEMENTS`.
    from_desired : bool
        ``interpolate_from_desired_state``.
    splines : bool
        ``interpolation_method``: splines, or none.
    deceleration : ndarray or None
        ``max_deceleration_on_cancel`` where ``decelerate_on_cancel`` is set.
    path_tolerance : float
        Of the positions on the way.

    """

    effort: bool = True
    position: bool = False
    period: float = 0.002
    p: Floats | float = 0.0
    d: Floats | float = 0.0
    velocity_scale: Floats | float = 0.0
    replacement: str = DROPPED
    from_desired: bool = False
    splines: bool = True
    deceleration: Floats | None = None
    path_tolerance: float = np.inf


@dataclass(frozen=True, eq=False)
class Desired:
    """A sampled trajectory: arrays of shape (k,)."""

    position: Floats
    velocity: Floats
    acceleration: Floats
    effort: Floats


@dataclass(frozen=True, eq=False)
class Command:
    """What is written to the command interfaces; None where one is not claimed, or stays."""

    position: Floats | None
    effort: Floats | None


@dataclass(frozen=True, eq=False)
class Active:
    """A trajectory from a time on, after the state that it begins from."""

    points: JointTrajectory
    start: float
    before: Desired
    since: float
    splines: bool

    @property
    def end(self) -> float:
        """Return the time of the last point [s]."""
        return self.start + float(self.points.times[-1])

    def sample(self, time: float) -> Desired:
        """Return what is wanted at a time [s]; the effort is linear whatever the spline is."""
        points, times = self.points, self.start + self.points.times
        k = int(np.searchsorted(times, time, side='right'))
        if k == len(times):
            return self._point(k - 1)
        if not self.splines:
            return self._point(k)
        left = self.before if k == 0 else self._point(k - 1)
        right, begins = self._point(k), self.since if k == 0 else times[k - 1]
        if times[k] <= begins:
            return right
        rows = [left.position, right.position], [left.velocity, right.velocity]
        given = [rows[0]]
        if points.velocities is not None:
            given.append(rows[1])
        if points.accelerations is not None:
            given.append([left.acceleration, right.acceleration])
        motion = JointTrajectory(UNNAMED, [begins, times[k]], *given).at(time)
        part = (time - begins) / (times[k] - begins)
        return Desired(*motion, (1.0 - part) * left.effort + part * right.effort)

    def _point(self, k: int) -> Desired:
        """Return a point; fields that it lacks are zero."""
        points, zeros = self.points, np.zeros(len(self.points.names))
        rows = (points.velocities, points.accelerations, points.efforts)
        return Desired(points.positions[k], *(zeros if x is None else x[k] for x in rows))


class TrajectoryController:
    """
    The controller of some joints, active from the start.

    Parameters
    ----------
    names : tuple of str
        Joints.
    settings : Settings
        Parameters.
    position : ndarray, shape (k,)
        Where the joints are.

    Attributes
    ----------
    state : State
        What it does.

    """

    def __init__(self, names: tuple[str, ...], settings: Settings, position: Floats) -> None:
        self.names, self.settings, self.state = names, settings, State.HOLDING
        zeros = np.zeros(len(names))
        self._position, self._velocity = np.array(position), zeros
        self._hold_effort = zeros
        self._effort, self._feedforward = zeros, zeros  # the newest command, and what of it is fed
        self._waiting: tuple[JointTrajectory, float] | None = None
        self._active = self._standing(0.0)
        self._violated = False

    # from outside

    def send(self, points: JointTrajectory, time: float, stamp: float = 0.0) -> None:
        """
        Take a trajectory at a time [s]; stamp 0 means at once.

        Raises
        ------
        RejectedGoalError
            If it names unknown joints, has efforts without an effort interface, does not end at
            rest, or is over.

        """
        if unknown := [name for name in points.names if name not in self.names]:
            raise RejectedGoalError(f'joints {unknown} are none of {self.names}')
        if points.efforts is not None and not self.settings.effort:
            raise RejectedGoalError('efforts, and no effort interface')
        if points.velocities is not None and points.velocities[-1].any():
            raise RejectedGoalError('velocity of the last point is not zero')
        if stamp and stamp + points.times[-1] < time:
            raise RejectedGoalError('the trajectory is over')
        running, ahead = self.state is State.RUNNING, stamp > time
        if running and ahead and self.settings.replacement == DEFERRED:
            self._waiting = points, stamp
        elif running and self.settings.replacement == SPLICED:
            self._splice(points, time, max(stamp, time))
        else:
            self._begin(points, time, stamp or time)

    def cancel(self, time: float) -> None:
        """Cancel, or end by an abort or a timeout: hold at the measured position."""
        self._waiting, limit = None, self.settings.deceleration
        moving = self.state is State.RUNNING
        self.state = State.HOLDING
        if moving and limit is not None and self._velocity.any():
            self._brake(time, limit)
        else:
            self._active = self._standing(time)

    def deactivate(self) -> Command:
        """Return the last command: no effort."""
        self.state, self._hold_effort = State.HOLDING, np.zeros(len(self.names))
        self._effort = self._feedforward = np.zeros(len(self.names))
        return Command(None, self._effort if self.settings.effort else None)

    def update(self, time: float, position: Floats, velocity: Floats) -> Command:
        """Return the command of a cycle."""
        self._position, self._velocity = np.array(position), np.array(velocity)
        if self._violated:
            self._violated = False
            self.cancel(time)
        if self._waiting is not None and time >= self._waiting[1]:
            (points, stamp), self._waiting = self._waiting, None
            self._begin(points, time, stamp)
        settings, now = self.settings, self._active.sample(time)
        ahead = self._active.sample(time + settings.period)
        running = self.state is State.RUNNING
        off = np.abs(now.position - self._position).max()
        if running and time < self._active.end and off > settings.path_tolerance:
            self._violated = True
            return Command(None, None)
        if running and time >= self._active.end:
            self.state = State.SUCCEEDED
            self._hold_effort = now.effort
        if settings.position:
            self._effort = self._feedforward = now.effort
            return Command(ahead.position, self._effort if settings.effort else None)
        error, rate = ahead.position - self._position, ahead.velocity - self._velocity
        fed = settings.velocity_scale * ahead.velocity + ahead.effort
        self._feedforward = ahead.effort
        self._effort = fed + settings.p * error + settings.d * rate
        return Command(None, self._effort)

    # inside

    def _standing(self, time: float) -> Active:
        """Return what holds the measured position, with the effort of the last goal that ended."""
        points = JointTrajectory(self.names, [0.0], [self._position], efforts=[self._hold_effort])
        return Active(points, time, self._now(self._hold_effort), time, True)

    def _now(self, effort: Floats) -> Desired:
        return Desired(self._position, self._velocity, np.zeros(len(self.names)), effort)

    def _begin(self, points: JointTrajectory, time: float, start: float) -> None:
        before = self._now(self._effort)
        if self.settings.from_desired:
            wanted = self._active.sample(time)
            before = replace(wanted, effort=self._feedforward)
        self._active = Active(self._whole(points), start, before, time, self.settings.splines)
        self.state, self._waiting = State.RUNNING, None

    def _whole(self, points: JointTrajectory) -> JointTrajectory:
        """Return the points of all joints: those that are not named stay, without effort."""
        places = [self.names.index(name) for name in points.names]

        def spread(rows: Floats, others: Floats) -> Floats:
            whole = np.tile(others, (len(rows), 1))
            whole[:, places] = rows
            return whole

        zeros = np.zeros(len(self.names))
        rows = (points.velocities, points.accelerations, points.efforts)
        given = [None if x is None else spread(x, zeros) for x in rows]
        positions = spread(points.positions, self._position)
        return JointTrajectory(self.names, points.times, positions, *given)

    def _splice(self, points: JointTrajectory, time: float, start: float) -> None:
        """Go on with the old points until the new ones start: a bridge between, then these."""
        old, new = self._active, self._whole(points)
        kept = [t for t in (old.start + old.points.times) if time < t < start]
        first = start + float(new.times[0])
        times = [*kept, start] if first > start else kept
        rows = [old.sample(t) for t in times]
        omitted = [i for i, name in enumerate(self.names) if name not in points.names]
        late = [old.sample(start + float(t)) for t in new.times]
        rows += [
            Desired(*(_mixed(getattr(one, f), x, omitted, f) for f, x in _fields(new, k)))
            for k, one in enumerate(late)
        ]
        since = np.array([*times, *(start + new.times)]) - time
        whole = JointTrajectory(
            self.names,
            since,
            np.array([row.position for row in rows]),
            np.array([row.velocity for row in rows]) if new.velocities is not None else None,
            np.array([row.acceleration for row in rows])
            if new.accelerations is not None
            else None,
            np.array([row.effort for row in rows]),
        )
        self._active = Active(whole, time, old.sample(time), time, self.settings.splines)

    def _brake(self, time: float, limit: Floats) -> None:
        """Stop each joint with its deceleration; points of the stop have no effort."""
        lasts = np.abs(self._velocity) / limit
        times = np.unique(np.append(lasts[lasts > 0.0], 0.0))[1:]
        rows = []
        for t in times:
            part = np.minimum(t, lasts)
            rate = -np.sign(self._velocity) * limit
            moved = self._position + part * self._velocity + 0.5 * part**2 * rate
            rows.append((moved, self._velocity + part * rate))
        points = JointTrajectory(
            self.names, times, np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
        )
        before = self._now(np.zeros(len(self.names)))
        self._active = Active(points, time, before, time, self.settings.splines)


def _fields(points: JointTrajectory, k: int) -> list[tuple[str, Floats]]:
    """Return the fields of a point by their names in `Desired`."""
    zeros = np.zeros(len(points.names))
    rows = (points.velocities, points.accelerations, points.efforts)
    given = [points.positions[k], *(zeros if x is None else x[k] for x in rows)]
    return list(zip(('position', 'velocity', 'acceleration', 'effort'), given, strict=True))


def _mixed(old: Floats, new: Floats, omitted: list[int], field: str) -> Floats:
    """Return a new point whose omitted joints follow the old path, without effort."""
    whole = new.copy()
    whole[omitted] = 0.0 if field == 'effort' else old[omitted]
    return whole
