# SPDX-License-Identifier: Apache-2.0
"""The reference motion: a JointTrajectory message to wanted values in time; no rclpy here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.control.rate_limits import ScaledTime
from kane_dynamics.messages.conversions import LARGEST, NameMap, check_numbers, nanoseconds
from kane_dynamics.messages.inputs import Input, InputMonitor, RejectedInput
from kane_dynamics.robot_config.robot_source import BASE_NAMES, RobotModel
from kane_dynamics.trajectories.joint_trajectory import UNNAMED, JointTrajectory, Setpoint, braking
from kane_dynamics.typing import Bools, Floats, Indices

Present = Callable[[Indices], tuple[Floats, Floats, Floats] | None]
FIELDS = ('positions', 'velocities', 'accelerations')


@dataclass(frozen=True, eq=False)
class Reference:
    """Wanted motion of some motors at one time."""

    motor: Indices  # shape (k,): Place of each named motor among the motors, in q and in v
    q_index: Indices  # shape (k,): Place of each named motor among the motors, in q and in v
    v_index: Indices  # shape (k,): Place of each named motor among the motors, in q and in v
    position: Floats  # shape (k,): Wanted values [rad, rad/s, rad/s^2 or m, m/s, m/s^2]
    velocity: Floats  # shape (k,): Wanted values [rad, rad/s, rad/s^2 or m, m/s, m/s^2]
    acceleration: Floats  # shape (k,): Wanted values [rad, rad/s, rad/s^2 or m, m/s, m/s^2]


class Motors:
    """Places of the motors of a robot in q and v."""

    def __init__(self, model: RobotModel) -> None:
        self.names = model.motors
        self.q, self.v = model.q_index(model.motors), model.v_index(model.motors)
        self._turns = np.array([name == BASE_NAMES[2] for name in model.motors], dtype=bool)
        self._turn = bool(self._turns.any())

    def reference(self, motor: Indices, *values: Floats) -> Reference:
        """Return the reference of some motors: position, velocity, acceleration."""
        position, velocity, acceleration = values
        return Reference(motor, self.q[motor], self.v[motor], position, velocity, acceleration)

    def positions(self, q: Floats, reference: Reference | None) -> Floats:
        """Return the wanted positions of all motors, those of q where a reference has none."""
        positions = q[self.q]
        if reference is not None:
            positions[reference.motor] = reference.position
        return positions

    def error(self, motor: Indices, target: Floats, measured: Floats) -> Floats:
        """Return wanted minus measured positions of some motors."""
        error = target - measured
        if self._turn:
            turns = self._turns[motor]
            error[turns] = np.remainder(error[turns] + np.pi, 2.0 * np.pi) - np.pi
        return error


@dataclass(frozen=True, eq=False)
class Plan:
    """Wanted motion of some motors over time."""

    motor: Indices  # shape (k,): Which motors
    start: int  # Time zero of the motion [ns]
    motion: Setpoint | JointTrajectory  # Their positions, velocities and accelerations

    def at(self, time: int) -> tuple[Floats, Floats, Floats]:
        """Return position, velocity and acceleration at a time [ns]."""
        return self.motion.at((time - self.start) * 1e-9)


class ReferenceInput(Input):
    """Newest ``~/reference``: a setpoint or a trajectory, by joint name."""

    periodic = False
    scaling: Callable[[], float]

    def __init__(
        self,
        motors: Motors,
        guard: InputMonitor,
        present: Present = lambda motor: None,
    ) -> None:
        super().__init__(guard)
        self.start_tolerance = np.inf
        self._motors, self._present = motors, present
        self.scaling, self.ramp = lambda: 1.0, 0.5
        self._newest: Plan | None = None
        self._paced: tuple[ScaledTime, float] | None = None
        self._map = NameMap('reference', motors.names)

    def accept(self, message: Any) -> None:
        """Check a JointTrajectory and keep it."""
        motor, times, values = self._read(message)
        stamp = nanoseconds(message.header.stamp)
        lasts = float(times[-1])
        self.guard.check(stamp, lasts)
        start = stamp or self.guard.now()
        if len(times) == 1 and not lasts:
            zeros = np.zeros(len(motor))
            arguments = [rows[0] if len(rows) else zeros for rows in values]
            plan, paced = Plan(motor, start, Setpoint(*arguments)), None
        else:
            rows = [x for x in values if len(x)]
            plan = Plan(motor, start, self._trajectory(motor, start, times, rows))
            # what moves now moves at the full rate of the new trajectory: nothing jumps
            paced = ScaledTime(self.guard.now() * 1e-9), lasts
        self.guard.note(stamp, lasts)
        self._newest, self._paced = plan, paced

    def at(self, time: int) -> Reference | None:
        """Return what is wanted at a time [ns], or None if the newest reference is too old."""
        if self._newest is None:
            return None
        played = None
        if self._paced is not None:
            clock, lasts = self._paced
            played = clock.at(time * 1e-9, self.scaling(), self.ramp)
            along = (time - self._newest.start) * 1e-9 - played.lag
            if played.lag > 0.0 and along <= lasts:  # what is played slower lasts longer
                self.guard.extend(lasts + played.lag)
        if not self.guard.fresh():
            return None
        plan = self._newest
        if played is None:
            return self._motors.reference(plan.motor, *plan.at(time))
        there = plan.at(time - round(played.lag * 1e9))
        return self._motors.reference(plan.motor, *played.motion(*there))

    def reset(self) -> None:
        """Forget the newest reference."""
        self._newest, self._paced = None, None
        super().reset()

    def _read(self, message: Any) -> tuple[Indices, Floats, list[Floats]]:
        """Return motors, times [s], rows of positions, velocities, accelerations of the points."""
        points, names = message.points, message.joint_names
        if not points:
            raise RejectedInput('short', 'reference: the trajectory has no point')
        source, motor = self._map.none_unknown(names)
        times = np.array([nanoseconds(point.time_from_start) for point in points])
        if times[0] < 0 or (np.diff(times) <= 0).any():
            shown = (times * 1e-9).tolist()
            raise RejectedInput('order', f'reference: time_from_start must increase, got {shown}')
        values = [_rows(points, field, names, source) for field in FIELDS]
        if len(points) > 1 and len(values[2]) and not len(values[1]):
            raise RejectedInput('short', 'reference: accelerations need velocities too')
        return motor, times * 1e-9, values

    def _trajectory(
        self, motor: Indices, start: int, times: Floats, values: list[Floats]
    ) -> JointTrajectory:
        """Return a trajectory that continues the present motion without a jump."""
        present = self._present(motor)
        if present is None:
            reason = 'reference: no measured state yet to begin the trajectory from'
            raise RejectedInput('stale', reason)
        elapsed = (self.guard.now() - start) * 1e-9
        ahead = elapsed < times[0]
        position = (
            values[0][0] if ahead else JointTrajectory(UNNAMED, times, *values).at(elapsed)[0]
        )
        gap = self._motors.error(motor, position, present[0])
        if ahead:
            first = (position - gap, *present[1:])  # the yaw of a base, the shorter way round
            rows = [np.vstack([x, y]) for x, y in zip(first, values, strict=False)]
            return JointTrajectory(UNNAMED, np.append(elapsed, times), *rows)
        worst = int(np.argmax(np.abs(gap)))
        if np.abs(gap[worst]) > self.start_tolerance:
            raise RejectedInput(
                'jump',
                f'reference: the trajectory now is at {position[worst]:.3f}, '
                f"'{self._motors.names[motor[worst]]}' at {present[0][worst]:.3f}, tolerance "
                f'{self.start_tolerance:g}; give its first point a time_from_start',
            )
        return JointTrajectory(UNNAMED, times, *values)


def _rows(points: Any, field: str, names: list[str], source: Indices) -> Floats:
    """Return one field of all points, shape (points, names), or (0,) where no point has it."""
    lengths = [len(getattr(point, field)) for point in points]
    if field != FIELDS[0] and not any(lengths):
        return np.zeros(0)
    for i, length in enumerate(lengths):
        if length != len(names):
            raise RejectedInput(
                'short',
                f'reference: {field} of point {i} has {length} values for {len(names)} names',
            )
    rows = np.array([getattr(point, field) for point in points], dtype=float)[:, source]
    for row in rows[~(np.abs(rows) <= LARGEST).all(axis=1)]:
        check_numbers(f'reference: {field}', row, [names[i] for i in source])
    return rows


class ReferenceTracker:
    """Follows the reference, and lets one motion go over into the next."""

    def __init__(self, motors: Motors, guard: InputMonitor) -> None:
        self._motors = motors
        self._everyone = np.arange(len(motors.names))
        self.reference = ReferenceInput(motors, guard, self._present)
        self._position, self._velocity = np.zeros((2, len(motors.names)))
        self.halt()

    def halt(self) -> None:
        """Forget the motion: no effort is out, and the robot goes where it likes."""
        self._measured = False
        self.drift()

    def drift(self) -> None:
        """Forget what was wanted: the efforts hold no place."""
        self._wanted: Reference | None = None
        self._hold: Plan | None = None

    @property
    def held(self) -> Indices:
        """Return the motors that brake and hold for want of a reference."""
        return self._hold.motor if self._hold is not None else self._everyone[:0]

    def measure(self, q: Floats, v: Floats) -> None:
        """Take the measured state, from which motions begin."""
        self._position, self._velocity = q[self._motors.q], v[self._motors.v]
        self._measured = True

    def follow(self, time: int) -> Reference | None:
        """Return what the reference wants at a time [ns], or None without a fresh one."""
        self._wanted, self._hold = self.reference.at(time), None
        return self._wanted

    def track_or_hold(self, time: int, braking_time: float, stiff: Bools) -> Reference:
        """Return what the reference wants; motors without one brake, and then hold."""
        named = self.reference.at(time)
        if named is not None and len(named.motor) == len(self._everyone):
            self._wanted, self._hold = named, None
            return named
        free = self._everyone if named is None else np.setdiff1d(self._everyone, named.motor)
        if self._hold is None or not np.array_equal(self._hold.motor, free):
            position, velocity = self._begin()
            self._hold = Plan(free, time, braking(position[free], velocity[free], braking_time))
        position, velocity, acceleration = self._hold.at(time)
        position = np.where(stiff[free], position, self._position[free])
        self._wanted = self._motors.reference(free, position, velocity, acceleration)
        if named is not None:
            self._wanted = self._both(named, self._wanted)
        return self._wanted

    def _both(self, one: Reference, other: Reference) -> Reference:
        """Return the reference of two sets of motors."""
        values = ('motor', 'position', 'velocity', 'acceleration')
        pairs = [[getattr(x, name) for x in (one, other)] for name in values]
        return self._motors.reference(*map(np.concatenate, pairs))

    def _begin(self) -> tuple[Floats, Floats]:
        """Return where to hold from: where the reference rests, else the measured state."""
        position, velocity = self._position.copy(), self._velocity.copy()
        if self._wanted is not None:
            rests = self._wanted.velocity == 0.0
            motor = self._wanted.motor[rests]
            position[motor], velocity[motor] = self._wanted.position[rests], 0.0
        return position, velocity

    def _present(self, motor: Indices) -> tuple[Floats, Floats, Floats] | None:
        """Return the present motion of some motors: the wanted one, else the measured one."""
        if not self._measured:
            return None
        position, velocity = self._position.copy(), self._velocity.copy()
        acceleration = np.zeros(len(position))
        if (target := self._wanted) is not None:
            position[target.motor], velocity[target.motor] = target.position, target.velocity
            acceleration[target.motor] = target.acceleration
        return position[motor], velocity[motor], acceleration[motor]
