# SPDX-License-Identifier: Apache-2.0
"""A trajectory message to one with efforts, for one robot; nothing here needs rclpy."""

import threading
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.background import BackgroundTask
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import GuardFactory, MeasuredState
from kane_dynamics.control.trajectory_efforts import (
    BasePrediction,
    PlannedEfforts,
    check_still_to_come,
    check_unmoved,
)
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.messages.inputs import RejectedInput
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.trajectories.effort_points import EffortViolation
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.trajectory_files import base_from_record, from_record, to_record


def record_of(message: Any) -> Any:
    """Return a message as nested mappings and lists, by the names of its fields."""
    fields = getattr(message, 'get_fields_and_field_types', None)
    names = vars(message) if fields is None and hasattr(message, '__dict__') else ()
    names = fields() if fields is not None else names
    if names:
        return {name: record_of(getattr(message, name)) for name in names}
    if isinstance(message, (list, tuple)):
        return [record_of(one) for one in message]
    return message


def fill_trajectory(message: Any, points: JointTrajectory, new_point: Callable[[], Any]) -> None:
    """Write points into a trajectory_msgs/JointTrajectory; its header stays."""
    listed = []
    for record in to_record(points)['points']:
        point, since = new_point(), record.pop('time_from_start')
        point.time_from_start.sec, point.time_from_start.nanosec = since['sec'], since['nanosec']
        for field, values in record.items():
            setattr(point, field, values)
        listed.append(point)
    message.joint_names, message.points = list(points.names), listed


Found = tuple[JointTrajectory, tuple[EffortViolation, ...]]
Find = Callable[[Callable[[], bool]], Found]
Finish = Callable[[Found, int], 'Filled']


class Filled(NamedTuple):
    """A trajectory for the controller."""

    values: JointTrajectory  # What came and what goes
    points: JointTrajectory  # What came and what goes
    clamped: tuple[EffortViolation, ...]  # Efforts beyond their limits

    def origin(self, sent: int) -> int:
        """Return the point that came to which a point that goes leads."""
        times = self.values.times
        at = self.points.times[min(max(sent, 0), len(self.points.times) - 1)]
        return min(int(np.searchsorted(times, at - 1e-9)), len(times) - 1)


class Preparation:
    """The efforts of one trajectory, being found."""

    def __init__(self, find: Find, finish: Finish, patience: float) -> None:
        self._stopped = threading.Event()
        self._finish, self._work = finish, BackgroundTask(lambda: find(self._stopped.is_set))
        self._work.wait(patience)

    def done(self) -> bool:
        """Return whether there is a result, or an error."""
        return self._work.done()

    def stop(self) -> None:
        """Say that nobody wants the result any more."""
        self._stopped.set()

    def filled(self, time: int) -> Filled:
        """Wait for the efforts, and write them; raises what kept them from being found."""
        return self._finish(self._work.result(), time)


QUIET, LINES = 10.0, 5
"""Refusals in the log: each reason once in this time [s], and no more than so many lines."""
PATIENCE = 0.2
"""Time [s] in which most trajectories are filled; the callbacks of the node wait so long."""
STATE_WAIT = 1.0
"""Time [s] that a trajectory waits for a measured state before it is refused."""


class TrajectoryRequest:
    """A trajectory that waits for a measured state, then for its efforts."""

    def __init__(self, begin: Callable[[], Preparation], problem: Callable[[], str]) -> None:
        self._begin, self._problem = begin, problem  # why there is no state now; raises: for ever
        self._preparation: Preparation | None = None
        self._error: KaneDynamicsError | None = None
        self._seen, self._stopped = monotonic(), False

    def done(self) -> bool:
        """Go on as far as the state allows; return whether there is a result, or an error."""
        try:
            return self._error is not None or self._go_on()
        except KaneDynamicsError as error:
            self._error = error
        return True

    def _go_on(self) -> bool:
        at_work = self._preparation is not None and not self._preparation.done()
        if at_work or self._stopped:
            self._seen = monotonic()
            return not at_work
        if problem := self._problem():
            if monotonic() - self._seen > STATE_WAIT:
                raise InvalidInputError(problem)
            return False
        self._seen = monotonic()
        if self._preparation is None:
            self._preparation = self._begin()
        return self._preparation.done()

    def stop(self) -> None:
        """Say that nobody wants the result any more."""
        self._stopped = True
        if self._preparation is not None:
            self._preparation.stop()

    def filled(self, time: int) -> Filled:
        """Wait for the efforts, and write them; raises what kept them from being found."""
        if self._error is not None or self._preparation is None:
            raise self._error or InvalidInputError('the trajectory waits for a measured state')
        return self._preparation.filled(time)


class TrajectoryFilter:
    """Fills the efforts of trajectory messages."""

    def __init__(
        self,
        dynamics: Dynamics,
        parameters: TrajectoryFeedforwardParameters,
        new_guard: GuardFactory,
        new_point: Callable[[], Any],
    ) -> None:
        self._planned = PlannedEfforts(dynamics, parameters)
        self.base = BasePrediction(dynamics.model, parameters, new_guard('cmd_vel'))
        self._parameters, self._new_point = parameters, new_point

    def configure(self, parameters: TrajectoryFeedforwardParameters) -> None:
        """Take over changed parameters."""
        self._planned.configure(parameters)
        self.base.configure(parameters)
        self._parameters = parameters

    def begin(
        self, message: Any, state: MeasuredState, time: int, multi_dof: Any = None
    ) -> Preparation:
        """Begin to write efforts and points between into a JointTrajectory."""
        p, values = self._parameters, from_record(record_of(message))
        joints, base = values.split_base()
        if multi_dof is not None and multi_dof.points:
            if base is not None:
                raise InvalidInputError('the trajectory moves the base twice')
            base = base_from_record(record_of(multi_dof))
        stamp = nanoseconds(message.header.stamp)
        shift = (stamp - time) * 1e-9 if stamp else 0.0
        if shift + joints.times[-1] < 0.0:
            raise RejectedInput(
                'ended', f'the trajectory ended {-shift - joints.times[-1]:.3f} s ago'
            )
        plan = None
        if state.odom is not None:
            plan = self.base.plan(p.base_motion_source, base, time, shift, state.odom)
        elif base is not None:
            raise InvalidInputError('the trajectory moves a base, and base_type is none')
        q, v, joins, planned = state.q.copy(), state.v.copy(), shift < 0.0, self._planned
        if p.retime:
            planned.check_retimable(joints, v, joins)

        def finish(result: Found, now: int) -> Filled:
            points, clamped = result
            if p.retime:
                state.assemble()
                check_unmoved(planned.model, q, state.q, joints.names)
                check_still_to_come(stamp, now)
            points = points if p.effort_interface else replace(points, efforts=None)
            fill_trajectory(message, points, self._new_point)
            return Filled(values, points, clamped)

        def find(stopped: Callable[[], bool]) -> Found:
            return planned.fill(joints, q, v, plan, joins=joins, stopped=stopped)

        return Preparation(find, finish, 0.0 if p.retime else PATIENCE)


class TrajectoryCount:
    """What became of the trajectories that came; for the diagnostics."""

    def __init__(self) -> None:
        self.passed, self.refused, self.newest, self.reason = 0, 0, '', ''
        self._told: dict[str, float] = {}

    def took(self, filled: Filled) -> str:
        """Count a trajectory that goes on; return what to say of it, or ''."""
        self.passed, self.reason = self.passed + 1, ''
        before, after = len(filled.values.times), len(filled.points.times)
        self.newest = f'{before} points in, {after} out, {filled.points.times[-1]:.3f} s'
        return '; '.join(f'clamped: {one}' for one in filled.clamped)

    def refuses(self, error: KaneDynamicsError) -> str:
        """Count a trajectory that does not; return what to say, '' if it was said already."""
        self.refused, self.reason = self.refused + 1, f'trajectory refused: {error}'
        now = monotonic()
        self._told = {line: at for line, at in self._told.items() if now - at < QUIET}
        if self.reason in self._told or len(self._told) >= LINES:
            return ''
        self._told[self.reason] = now
        return self.reason
