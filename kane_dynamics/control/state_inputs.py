# SPDX-License-Identifier: Apache-2.0
"""The measured state: joint_states, odom and the direction of gravity; nothing needs rclpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import (
    NameMap,
    PlanarFrame,
    field_values,
    nanoseconds,
    read_odometry,
    yaw_from_msg,
)
from kane_dynamics.messages.inputs import Input, InputMonitor, RejectedInput
from kane_dynamics.robot.body import WORLD
from kane_dynamics.robot_config.parameters.tables import DynamicsNodeParameters
from kane_dynamics.robot_config.robot_source import RobotModel, base_frame
from kane_dynamics.typing import Floats, Indices

GuardFactory = Callable[[str], InputMonitor]
MAX_PARTS = 16
"""Largest number of different senders of joint_states that are merged."""


class JointStateInput(Input):
    """Newest values of all joints, by name."""

    def __init__(
        self,
        joints: tuple[str, ...],
        fields: tuple[str, ...],
        guard: InputMonitor,
        merge: bool = False,
    ) -> None:
        super().__init__(guard)
        self.values: dict[str, Floats] = {field: np.zeros(len(joints)) for field in fields}
        self.stamp = 0
        self._topic, self._joints, self._merge = guard.name, joints, merge
        self._map = NameMap(guard.name, joints)
        self._parts: dict[tuple[int, ...], InputMonitor] = {}

    def accept(self, message: Any) -> None:
        """Check a JointState and keep its values."""
        names = message.name
        find = self._map.present if self._merge else self._map.all_present
        source, target = find(names)
        if not len(target):
            return
        read = {
            field: field_values(self._topic, field, getattr(message, field), names, source)
            for field in self.values
        }
        stamp = nanoseconds(message.header.stamp)
        if self._merge:
            self._part(target).admit(stamp)
            self.guard.note(stamp)
        else:
            self.guard.admit(stamp)
        for field, values in read.items():
            self.values[field][target] = values
        self.stamp = stamp

    def _part(self, target: Indices) -> InputMonitor:
        """Return the guard of the sender that names these joints."""
        key = tuple(target.tolist())
        if key not in self._parts:
            if len(self._parts) == MAX_PARTS:
                raise RejectedInput('unknown', f'{self._topic}: more than {MAX_PARTS} senders')
            name = f'{self._topic} of {self._joints[key[0]]}, ...'
            self._parts[key] = self.guard.another(name)
        return self._parts[key]

    def problem(self) -> str:
        """Return why the values cannot be used, or ''."""
        if not self._merge:
            return self.guard.problem()
        fresh = {i for key, part in self._parts.items() if part.fresh() for i in key}
        lacking = [name for i, name in enumerate(self._joints) if i not in fresh]
        return f'{self._topic}: no fresh value for {lacking}' if lacking else ''

    def set_max_age(self, max_age: float) -> None:
        """Change the age limit [s] of this input."""
        for guard in (self.guard, *self._parts.values()):
            guard.max_age = max_age

    def reset(self) -> None:
        """Forget all values."""
        super().reset()
        self._parts.clear()
        self.stamp = 0


class OdometryInput(Input):
    """Newest planar base state."""

    def __init__(self, child_frame_id: str, frame: PlanarFrame, guard: InputMonitor) -> None:
        super().__init__(guard)
        self.q, self.v = np.zeros(3), np.zeros(3)
        self._child_frame_id, self._frame = child_frame_id, frame

    @property
    def stamp(self) -> int:
        """Return the stamp of the newest message [ns]."""
        return self.guard.stamp

    def accept(self, message: Any) -> None:
        """Check an Odometry and keep it."""
        pose, twist = read_odometry(message, self._child_frame_id)
        self.guard.admit(nanoseconds(message.header.stamp))
        self.q, self.v = self._frame.root_state(pose, twist)


class MeasuredState:
    """Joints and, for a mobile base, odometry, as the coordinates and speeds of a model."""

    def __init__(
        self,
        model: RobotModel,
        parameters: DynamicsNodeParameters,
        new_guard: GuardFactory,
        fields: tuple[str, ...] = ('position', 'velocity'),
    ) -> None:
        self._odom_needed = not model.drives
        merge = parameters.allow_partial_joint_states
        self.joints = JointStateInput(model.joints, fields, new_guard('joint_states'), merge)
        self.inputs: dict[str, Input] = {'joint_states': self.joints}
        self.odom: OdometryInput | None = None
        if model.mobile:
            frame_id, guard = base_frame(parameters), new_guard('odom')
            self.odom = OdometryInput(frame_id, model.child_frame, guard)
            self.inputs['odom'] = self.odom
        self.q, self.v = model.robot.neutral(), np.zeros(model.robot.nv)
        self._q_index, self._v_index = model.q_index(model.joints), model.v_index(model.joints)

    def problem(self) -> str:
        """Return why the state cannot be used, or ''."""
        problem = self.joints.problem()
        if not problem and self.odom is not None and self._odom_needed:
            problem = self.odom.problem()
        return problem

    def assemble(self) -> int:
        """Bring q and v up to date; return the newest stamp [ns]."""
        self.q[self._q_index] = self.joints.values['position']
        self.v[self._v_index] = self.joints.values['velocity']
        if self.odom is None:
            return self.joints.stamp
        self.q[:3], self.v[:3] = self.odom.q, self.odom.v
        return max(self.joints.stamp, self.odom.stamp)


class TiltInput(Input):
    """Newest direction of gravity."""

    def __init__(self, model: RobotModel, source: str, prefix: str, guard: InputMonitor) -> None:
        if source == 'odom' and not model.mobile:
            raise InvalidInputError("gravity_source 'odom' needs a base_type other than none")
        super().__init__(guard)
        self.source = source
        self._model, self._prefix = model, prefix
        self._base: Floats | None = None

    def accept(self, message: Any) -> None:
        """Check an Imu, or read an Odometry that was accepted."""
        if self.source == 'odom':
            frame = self._model.child_frame.yaw
            self._base = Rotation.from_euler('z', frame).apply(
                self._gravity_in(message.pose.pose.orientation)
            )
            return
        sensor = base_link(self._model, message.header.frame_id, self._prefix)
        if message.orientation_covariance[0] == -1.0:
            raise RejectedInput('missing', 'imu: the message says that it has no orientation')
        yaw_from_msg('imu', message.orientation)  # a unit quaternion
        self.guard.admit(nanoseconds(message.header.stamp))
        turned = np.asarray(sensor.rotation_matrix(), dtype=float)
        self._base = turned @ self._gravity_in(message.orientation)

    def gravity(self, q: Floats) -> Floats:
        """Return gravity in the axes of the model's world, shape (3,) [m/s^2]."""
        if self._base is None:
            return np.asarray(self._model.robot.gravity)
        if not self._model.mobile:
            return self._base
        return np.asarray(Rotation.from_euler('z', q[2]).apply(self._base))

    def reset(self) -> None:
        """Forget the newest message."""
        super().reset()
        self._base = None

    def _gravity_in(self, orientation: Any) -> Floats:
        """Return gravity in the axes that an orientation is that of."""
        xyzw = orientation.x, orientation.y, orientation.z, orientation.w
        world = np.array(self._model.robot.gravity)  # scipy takes no read-only arrays
        return np.asarray(Rotation.from_quat(xyzw).apply(world, inverse=True))


def base_link(model: RobotModel, frame_id: str, prefix: str) -> Pose:
    """Return the pose in the root link of an IMU."""
    link = model.robot.frames.get(frame_id.removeprefix(prefix))
    if link is None or link.body != (0 if model.mobile else WORLD):
        raise RejectedInput('frame', f"imu: frame_id '{frame_id}' is no link of the base")
    return link.pose
