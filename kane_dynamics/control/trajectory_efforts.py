# SPDX-License-Identifier: Apache-2.0
"""
Efforts that a trajectory of some motors needs, base and arm coupled; no rclpy here.

How the base will move follows from its command, its odometry or the trajectory itself.
"""

from collections.abc import Callable

import numpy as np

from kane_dynamics.analysis.base_motion import BaseMotion, DriveResponse, moving
from kane_dynamics.control.base_state_input import TwistInput
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import OdometryInput
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.messages.inputs import RejectedInput
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import BASE_NAMES, RobotModel
from kane_dynamics.trajectories.effort_points import (
    MOST,
    EffortFunction,
    EffortViolation,
    clip_efforts,
    starting_from,
    with_efforts,
    with_ramp,
)
from kane_dynamics.trajectories.joint_trajectory import (
    UNNAMED,
    BaseTrajectory,
    JointTrajectory,
    Setpoint,
)
from kane_dynamics.trajectories.paths import SplinePath
from kane_dynamics.trajectories.retiming import retime
from kane_dynamics.typing import Floats, Indices


def resting(q: Floats) -> Setpoint:
    """Return the plan of a base that stands at x, y, yaw."""
    return Setpoint(np.array(q[:3], dtype=float), np.zeros(3), np.zeros(3))


class TwistTrajectory:
    """Plan of a base whose twist is known over time."""

    def __init__(
        self,
        frame: PlanarFrame,
        start: Floats,
        motion: Callable[[float], BaseMotion],
        turned: Callable[[float], float],
        shift: float = 0.0,
    ) -> None:
        self._frame, self._motion, self._turned = frame, motion, turned
        self._shift = shift  # from the time of a caller to that of the plan
        self._start = np.array(start[:3], dtype=float)

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return x, y, yaw of the root link and their derivatives at a time [s], (3,) each."""
        elapsed = max(time + self._shift, 0.0)
        motion, q = self._motion(elapsed), self._start.copy()
        q[2] += self._turned(elapsed)
        v = self._frame.root_velocity(q, motion.twist)
        return q, v, self._frame.root_acceleration(q, v, motion.acceleration)


def following(
    frame: PlanarFrame,
    start: Floats,
    drive: DriveResponse,
    twist: Floats,
    command: Floats,
    shift: float = 0.0,
) -> TwistTrajectory:
    """Return the plan of a base that follows a command that stands, from its present twist."""
    return TwistTrajectory(
        frame,
        start,
        lambda time: drive.after(twist, command, time),
        lambda time: float(drive.covered(twist, command, time)[2]),
        shift,
    )


def along(frame: PlanarFrame, start: Floats, times: Floats, twists: Floats) -> TwistTrajectory:
    """Return the plan of a base whose twist is given at points of time, with lines between."""
    profile = JointTrajectory(UNNAMED, times, twists)

    def turned(time: float) -> float:
        corners = np.array([0.0, *(t for t in times if 0.0 < t < time), time])
        rates = np.array([profile.at(t)[0][2] for t in corners])
        return float(np.diff(corners) @ (rates[1:] + rates[:-1]) / 2.0)

    return TwistTrajectory(frame, start, lambda time: moving(*profile.at(time)[:2]), turned)


class BasePrediction(TwistInput):
    """Newest command and odometry of a velocity-controlled base, and what follows from them."""

    def plan(
        self,
        kind: str,
        planned: JointTrajectory | None,
        time: int,
        shift: float,
        odom: OdometryInput,
    ) -> BaseTrajectory:
        """Return how the base moves along a trajectory."""
        if (planned is not None) != (kind == 'planned'):
            says = 'moves' if planned is not None else 'does not say how it moves'
            raise RejectedInput(
                'base', f"base.motion_source is '{kind}', and the trajectory {says} the base"
            )
        if planned is not None:
            return planned
        if kind == 'rest':
            return resting(odom.q)
        present = self.see(odom)
        if kind == 'commanded':
            command = self.twist if self.guard.fresh() else np.zeros(3)  # drivers stop then
            twist = present if odom.guard.fresh() else self.followed.at(time).twist
            drive = self.followed.drive
        else:
            if problem := odom.problem():
                raise RejectedInput('stale', problem)
            command, twist, drive = present, self.seen.at(time).twist, self.seen.drive
        return following(self.frame, odom.q, drive, twist, command, shift)


LOOKS = 8
"""Places on the path between two given points."""
STEP = 0.02
"""Between the new points [s]."""
CELLS = 100
"""Of the grid to begin with: a node waits for it."""
RESTS = 0.02
"""Speed of a base that stands, as odometry tells it [m/s or rad/s]."""
MOVED = 0.02
"""Way that is none for a controller which goes on from where it is [m or rad]."""
PERIOD = 0.001
"""Between positions that presliding friction is followed along [s]."""
STILL = 1e-9
"""Way between places that is none [rad or m]."""


def retimed_points(dynamics: Dynamics, points: JointTrajectory, q: Floats) -> JointTrajectory:
    """Return same way of the joints, from rest to rest, as fast as efforts and speeds allow."""
    model = dynamics.model
    columns = model.q_index(points.names)
    ends = zip(points.times[:-1], points.times[1:], strict=True)
    times = np.concatenate([np.linspace(*pair, LOOKS, endpoint=False) for pair in ends])
    rows = np.array([points.at(t)[0] for t in [*times, points.times[-1]]])
    way = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    moved = np.append(True, way > STILL)
    if not moved[1:].any():
        raise InvalidInputError('nothing to retime: no joint moves')
    whole = np.tile(q, (int(moved.sum()), 1))
    whole[:, columns] = rows[moved]
    indices = np.append(0.0, np.cumsum(way[moved[1:]]))
    result = retime(dynamics.engine, SplinePath(whole, indices), model.actuated, cells=CELLS)
    return result.motion(STEP).of(points.names)


def check_base_rests(model: RobotModel, v: Floats) -> None:
    """Check that a mobile base stands."""
    for name, speed in zip(BASE_NAMES if model.mobile else (), v[:3].tolist(), strict=False):
        if abs(speed) > RESTS:
            raise InvalidInputError(
                f'retime needs a base at rest: {name} moves at {speed:.3g}, at most {RESTS:g} '
                'm/s or rad/s count as rest'
            )


def check_unmoved(model: RobotModel, start: Floats, q: Floats, names: tuple[str, ...]) -> None:
    """Check that nothing has moved that a retimed trajectory begins with."""
    for name in (*(BASE_NAMES if model.mobile else ()), *names):
        place = model.robot.coordinate_index(name)
        way = float(q[place] - start[place])
        if abs(way) > MOVED:
            raise InvalidInputError(
                f'{name} has moved by {way:.3g} while the trajectory was retimed, at most '
                f'{MOVED:g} m or rad may be; send it again'
            )


def check_still_to_come(stamp: int, now: int) -> None:
    """Check that time at which a retimed trajectory begins is still to come; 0 always is [ns]."""
    if 0 < stamp < now:
        raise InvalidInputError(
            f'the trajectory was to begin {(now - stamp) * 1e-9:.3f} s ago, while it was retimed; '
            'send it with stamp 0, or earlier'
        )


class PlannedEfforts:
    """Fills the efforts of trajectories of one robot."""

    def __init__(self, dynamics: Dynamics, parameters: TrajectoryFeedforwardParameters) -> None:
        self._law, self.model = EffortLaw(dynamics), dynamics.model
        self._dynamics = dynamics
        self.configure(parameters)

    def configure(self, parameters: TrajectoryFeedforwardParameters) -> None:
        """Take over parameters; raises as the constructor."""
        self.motor(parameters.gravity_compensated_joints)
        self._parameters, self._terms = parameters, Terms.of(parameters)

    def motor(self, names: tuple[str, ...]) -> Indices:
        """Return the places of joints among the motors."""
        motors = self.model.motors
        return np.array([index_of('joint with a motor', n, motors) for n in names], dtype=np.intp)

    def along(
        self,
        names: tuple[str, ...],
        q: Floats,
        base: BaseTrajectory | None = None,
        points: JointTrajectory | None = None,
    ) -> EffortFunction:
        """Return the efforts of joints as a function of their motion; presliding is of points."""
        motor, law, terms = self.motor(names), self._law, self._terms
        still = np.zeros(self.model.robot.nv)
        plan = base if base is not None else resting(q)
        mobile = bool(self.model.drives)
        motors, friction = law.motors, self._dynamics.friction
        times = np.zeros(1)
        if points is not None and friction.coefficients:
            count = min(int((points.end - points.start) / PERIOD), MOST)
            times = np.linspace(points.start, points.end, count + 1)
        positions = np.tile(q[motors.q], (len(times), 1))
        if points is not None and len(times) > 1:
            positions[:, motor] = [points.at(t)[0] for t in times]
        preslid = friction.along(times, positions)

        def effort(time: float, *motion: Floats) -> Floats:
            state, moved = None, q
            if mobile:
                place, *rates = plan.at(time)
                moved, state = q.copy(), BaseState(*rates)
                moved[:3] = place
            target = motors.reference(motor, *motion)
            after = friction.moved(preslid(time), motors.positions(q, target))
            reached = terms._replace(presliding=after)
            return law.feedforward(moved, still, target, reached, state).motors[motor]

        return effort

    def fill(
        self,
        points: JointTrajectory,
        q: Floats,
        v: Floats,
        base: BaseTrajectory | None = None,
        joins: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[JointTrajectory, tuple[EffortViolation, ...]]:
        """Return a trajectory with efforts, and which of them were clamped."""
        p, motor = self._parameters, self.motor(points.names)
        motors, robot = self._law.motors, self.model.robot
        whole = points
        if not joins:
            whole = starting_from(points, q[motors.q[motor]], v[motors.v[motor]])
        if p.retime:
            self.check_retimable(points, v, joins)
            whole = retimed_points(self._dynamics, whole, q)
        along = self.along(points.names, q, base, whole)
        bound = p.interpolation_tolerance or np.inf

        def effort(time: float, *motion: Floats) -> Floats:
            if stopped():
                raise InvalidInputError('the trajectory is given up while its efforts are found')
            return along(time, *motion)

        filled = with_efforts(whole, effort, error=bound, rate=p.min_point_rate)
        if len(filled.times) > 1 and not joins:
            filled = with_ramp(filled, min(p.ramp_time, 0.5 * filled.end))
        if not p.enforce_command_limits:
            return filled, ()
        limit = known_limits(np.asarray(robot.effort_limit)[motors.v[motor]], p.effort_limit_scale)
        return clip_efforts(filled, limit)

    def check_retimable(self, points: JointTrajectory, v: Floats, joins: bool) -> None:
        """Check what is known at once of a trajectory that is to be retimed."""
        self.motor(points.names)
        motion = self._parameters.base_motion_source
        if self.model.drives and motion != 'rest':
            raise InvalidInputError(f"retime needs base.motion_source 'rest', got '{motion}'")
        if joins:
            raise InvalidInputError('a trajectory that has begun cannot be retimed')
        check_base_rests(self.model, v)
