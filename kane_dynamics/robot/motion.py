# SPDX-License-Identifier: Apache-2.0
"""
The forward recursion, one joint at a time: twists and their rates (Silva et al., (16)-(23)).

Body frames sit at the joints, so that axes are constant; the centre of mass of body i is a
translation away. Everything is written for one joint here and used by all algorithms.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion, dual_cross
from kane_dynamics.algebra.matrices import skew
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, rotate, rotate_back, vec3
from kane_dynamics.algebra.scalars import Scalar, as_array
from kane_dynamics.robot.joint_kinds import Revolute
from kane_dynamics.robot.robot import WORLD, Frame, Robot
from kane_dynamics.typing import Floats, NDArray

AT_REST = DualQuaternion(ZERO, ZERO)


@dataclass(frozen=True, eq=False, slots=True)
class JointMotion:
    """Motion of body i relative to the joint frame J that its parent carries."""

    placement: Pose
    pose: Pose
    axes: tuple[DualQuaternion, ...]
    columns: slice
    twist: DualQuaternion
    axes_rate: tuple[DualQuaternion, ...] | None
    twist_bias: DualQuaternion | None

    def to_child(self, h: DualQuaternion) -> DualQuaternion:
        """Return Ad(x_P^i) h: from the parent's frame into frame i."""
        return self.pose.adjoint_inverse(self.placement.adjoint_inverse(h))

    def to_parent(self, h: DualQuaternion) -> DualQuaternion:
        """Return Ad(x_i^P) h: from frame i into the parent's frame."""
        return self.placement.adjoint(self.pose.adjoint(h))

    def twist_rate(self, a: Any) -> DualQuaternion:
        """Return d/dt xi_J,i in frame i for accelerations `a`, shape (nv,)."""
        rate = along_axes(self.axes, a[self.columns])
        return rate if self.twist_bias is None else rate + self.twist_bias


def joint_coordinates(robot: Robot, body: int, q: Any) -> list[Scalar]:
    """Return the coordinates of a body's joint, those of a follower from its master."""
    index = robot.indices[body]
    if robot.bodies[body].mimic is None:
        return list(q[index.q])
    return [q[index.q][0] * index.ratio + index.offset]


def joint_motion(robot: Robot, body: int, q: Any, v: Any) -> JointMotion:
    """Return the motion of one joint at coordinates q, shape (nq,), and speeds v, shape (nv,)."""
    index = robot.indices[body]
    part = robot.bodies[body]
    kind = part.joint.kind
    q_joint = joint_coordinates(robot, body, q)
    v_joint = v[index.v]
    axes = kind.axes(q_joint)
    if part.mimic is not None:
        axes = tuple(axis * index.ratio for axis in axes)
    axes_rate = kind.axes_rate(q_joint, v_joint)
    return JointMotion(
        part.placement,
        kind.pose(q_joint),
        axes,
        index.v,
        along_axes(axes, v_joint),
        axes_rate,
        None if axes_rate is None else along_axes(axes_rate, v_joint),
    )


def along_axes(axes: tuple[DualQuaternion, ...], speeds: Any) -> DualQuaternion:
    """Return sum_k S_k v_k."""
    total = axes[0] * speeds[0]
    for axis, speed in zip(axes[1:], speeds[1:], strict=True):
        total = total + axis * speed
    return total


def body_twist(joint: JointMotion, twist_parent: DualQuaternion) -> DualQuaternion:
    """Return xi_0,i in frame i from that of the parent in its frame (19)."""
    return joint.to_child(twist_parent) + joint.twist


def body_twist_rate(
    joint: JointMotion,
    rate_parent: DualQuaternion,
    twist: DualQuaternion,
    joint_rate: DualQuaternion,
) -> DualQuaternion:
    """
    Return d/dt xi_0,i in frame i (20).

    With (21) the cross term of (20) is -xi_J x (xi_i - xi_J) = xi_i x xi_J.
    """
    # the parent's last: the others need not wait for it
    return joint.to_child(rate_parent) + (joint_rate + dual_cross(twist, joint.twist))


def rate_along(
    joint: JointMotion, along_parent: DualQuaternion, rate_parent: DualQuaternion, x: Any
) -> tuple[DualQuaternion, DualQuaternion]:
    r"""
    Return J_i x in frame i, and its rate :math:`\dot J_i x`, for any speeds x.

    J_i x is the twist of body i at speeds x; its rate is that while the robot moves at the speeds
    of `joint` and x stays constant. With x = v they are (19) and (20) at zero acceleration.
    """
    along = joint.to_child(along_parent)
    rate = joint.to_child(rate_parent) + dual_cross(along, joint.twist)  # as (20)
    if joint.axes_rate is not None:
        rate = rate + along_axes(joint.axes_rate, x)
    return along + along_axes(joint.axes, x), rate


Columns = tuple[tuple[int, DualQuaternion], ...]


@dataclass(frozen=True, eq=False, slots=True)
class FrameMotion:
    """Motion of a frame F that is fixed in a body."""

    pose: Pose
    twist: DualQuaternion
    twist_rate: DualQuaternion
    columns: Columns
    turns: tuple[Quaternion, ...]  # From the world to the frame, one after the other

    def from_world(self, vector: Quaternion) -> Quaternion:
        """Return a vector of the world in axes of F; traced, what no joint turns is a constant."""
        for turn in self.turns:
            vector = rotate_back(turn, vector)
        return vector


def frame_motion(
    robot: Robot, frame: Frame, q: Any, v: Any, a: Any = None, *, is_round: bool = False
) -> FrameMotion:
    """
    Return the motion of a frame, walking its ancestors once, (19), (20), (33).

    Of what `is_round` about its joint's axis, the axes do not turn by the joint's angle.
    """
    accelerations = [0.0] * robot.nv if a is None else a
    pose, twist, rate = Pose.identity(), AT_REST, AT_REST
    columns: Columns = ()
    turns: tuple[Quaternion, ...] = ()
    for body in robot.ancestors(frame.body):
        joint = joint_motion(robot, body, q, v)
        if is_round and body == frame.body and _is_on_axis(robot, frame):
            joint = replace(joint, pose=Pose.identity())
        pose = pose * joint.placement * joint.pose
        turns += joint.placement.rotation, joint.pose.rotation
        twist = body_twist(joint, twist)  # (19)
        rate = body_twist_rate(joint, rate, twist, joint.twist_rate(accelerations))  # (20)
        joint_columns = enumerate(joint.axes, start=joint.columns.start)
        columns = (*((k, joint.to_child(s)) for k, s in columns), *joint_columns)
    if frame.body == WORLD:
        return FrameMotion(frame.pose, AT_REST, AT_REST, (), (frame.pose.rotation,))
    to_frame = frame.pose.adjoint_inverse
    return FrameMotion(
        pose * frame.pose,
        to_frame(twist),
        to_frame(rate),
        tuple((k, to_frame(s)) for k, s in columns),
        (*turns, frame.pose.rotation),
    )


_ON_AXIS = 1e-14  # [m] between an axis and a point that was put on it


def _is_on_axis(robot: Robot, frame: Frame) -> bool:
    """Return whether a frame is on the axis of a revolute joint that carries it."""
    kind, point = robot.bodies[frame.body].joint.kind, frame.pose.position()
    return isinstance(kind, Revolute) and bool(np.abs(skew(point) @ kind.axis).max() <= _ON_AXIS)


def in_axes(turn: Quaternion, twist: DualQuaternion) -> list[Scalar]:
    """Return (omega, v) of a frame in axes to which a rotation turns its own, at its origin."""
    return [*vec3(rotate(turn, twist.primary)), *vec3(rotate(turn, twist.dual))]


def frame_rows(frame: FrameMotion, turn: Quaternion) -> list[dict[int, Scalar]]:
    """Return the rows of J of a frame, in axes as `in_axes`."""
    rows: list[dict[int, Scalar]] = [{} for _ in range(6)]
    for k, axis in frame.columns:
        for row, entry in zip(rows, in_axes(turn, axis), strict=True):
            row[k] = row.get(k, 0.0) + entry
    return rows


class Place(NamedTuple):
    """A point [m] and a unit axis in the frame of the base, each of shape (3,)."""

    point: Floats
    axis: Floats


def place_on_base(robot: Robot, frame: Frame, axis: tuple[float, float, float]) -> Place:
    """Return a place at the neutral coordinates, from the origin and an axis of a frame."""
    q, v = robot.neutral().tolist(), [0.0] * robot.nv
    pose = frame_motion(robot, frame, q, v).pose
    if robot.base != 'fixed':
        pose = frame_motion(robot, Frame(0, Pose.identity()), q, v).pose.conjugate() * pose
    return Place(pose.position(), pose.rotation_matrix() @ np.array(axis))


def frame_rate_along(robot: Robot, frame: Frame, q: Any, v: Any, x: Any) -> DualQuaternion:
    r"""Return :math:`\dot J x` in the frame, for any speeds x while the robot moves at v."""
    if frame.body == WORLD:
        return AT_REST
    along, rate = AT_REST, AT_REST
    for body in robot.ancestors(frame.body):
        joint = joint_motion(robot, body, q, v)
        along, rate = rate_along(joint, along, rate, x[joint.columns])
    return frame.pose.adjoint_inverse(rate)


def integrate_coordinates(robot: Robot, q: Any, v: Any, dt: Scalar) -> NDArray:
    """Return q (+) v dt: each joint moves for dt [s] with v constant in its child frame."""
    moved: list[Any] = []
    for body, index in zip(robot.bodies, robot.indices, strict=True):
        if body.mimic is None:
            moved += body.joint.kind.integrate(q[index.q], v[index.v], dt)
    return as_array(moved)


def coordinate_rates(robot: Robot, q: Any, v: Any) -> NDArray:
    """Return dq/dt, shape (nq,), for speeds v."""
    rates: list[Any] = []
    for body, index in zip(robot.bodies, robot.indices, strict=True):
        if body.mimic is None:
            rates += body.joint.kind.coordinate_rate(q[index.q], v[index.v])
    return as_array(rates)


def rate_along_motion(robot: Robot, values: Any, q: Any, v: Any, t: Any) -> Any:
    """Return d/dt of expressions in q and t along a motion with constant v, of their shape."""
    direction = ca.vertcat(*coordinate_rates(robot, ca.vertsplit(q), ca.vertsplit(v)), 1.0)
    return ca.reshape(ca.jtimes(ca.vec(values), ca.vertcat(q, t), direction), values.shape)


def at_unit_quaternions(robot: Robot, expressions: list[Any], q: Any) -> list[Any]:
    """Return expressions in symbols q (casadi.SX) with every quaternion among q made unit."""
    coordinates = ca.vertsplit(q)
    unit = integrate_coordinates(robot, coordinates, [0.0] * robot.nv, 0.0)
    return list(ca.substitute(expressions, [q], [ca.vertcat(*unit)]))
