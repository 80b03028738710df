# SPDX-License-Identifier: Apache-2.0
"""Motion of one frame along its chain of ancestors, with its Jacobian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.robot.motion import (
    AT_REST,
    body_twist,
    body_twist_rate,
    joint_motion,
    rate_along,
)
from kane_dynamics.robot.robot import WORLD, Frame, Robot

Columns = tuple[tuple[int, DualQuaternion], ...]


@dataclass(frozen=True, eq=False, slots=True)
class FrameMotion:
    """
    Motion of a frame F that is fixed in a body.

    Parameters
    ----------
    pose : Pose
        x_F^0.
    twist : DualQuaternion
        xi_0,F in F (6).
    twist_rate : DualQuaternion
        d/dt xi_0,F in F (22); at zero acceleration it is the bias dJ/dt v.
    columns : tuple of (int, DualQuaternion)
        Index in v and the twist in F that a unit of this speed makes. An index may appear twice
        (a mimic joint and its master); the contributions add.

    """

    pose: Pose
    twist: DualQuaternion
    twist_rate: DualQuaternion
    columns: Columns


def frame_motion(robot: Robot, frame: Frame, q: Any, v: Any, a: Any = None) -> FrameMotion:
    """
    Return the motion of a frame, walking its ancestors once, (19), (20), (33).

    Parameters
    ----------
    robot : Robot
        The tree.
    frame : Frame
        Frame fixed in a body, or in the world.
    q, v : sequence of scalar, lengths nq and nv
        State, numbers or traced.
    a : sequence of scalar, length nv, optional
        Accelerations; zero where left out.

    """
    accelerations = [0.0] * robot.nv if a is None else a
    pose, twist, rate = Pose.identity(), AT_REST, AT_REST
    columns: Columns = ()
    for body in robot.ancestors(frame.body):
        joint = joint_motion(robot, body, q, v)
        pose = pose * joint.placement * joint.pose
        twist = body_twist(joint, twist)  # (19)
        rate = body_twist_rate(joint, rate, twist, joint.twist_rate(accelerations))  # (20)
        local = enumerate(joint.axes, start=joint.columns.start)
        columns = (*((k, joint.to_child(s)) for k, s in columns), *local)
    if frame.body == WORLD:
        return FrameMotion(frame.pose, AT_REST, AT_REST, ())
    to_frame = frame.pose.adjoint_inverse
    return FrameMotion(
        pose * frame.pose,
        to_frame(twist),
        to_frame(rate),
        tuple((k, to_frame(s)) for k, s in columns),
    )


def frame_rate_along(robot: Robot, frame: Frame, q: Any, v: Any, x: Any) -> DualQuaternion:
    r"""
    Return :math:`\dot J x` in the frame, for any speeds x while the robot moves at speeds v.

    Parameters
    ----------
    robot, frame, q, v
        As for `frame_motion`.
    x : sequence of scalar, length nv
        Speeds.

    """
    if frame.body == WORLD:
        return AT_REST
    along, rate = AT_REST, AT_REST
    for body in robot.ancestors(frame.body):
        joint = joint_motion(robot, body, q, v)
        along, rate = rate_along(joint, along, rate, x[joint.columns])
    return frame.pose.adjoint_inverse(rate)
