# SPDX-License-Identifier: Apache-2.0
"""Poses, Jacobians and their rates of several frames at once, (16)-(23), (33)."""

from typing import Any, Protocol

from kane_dynamics.algebra.dual_quaternion import vec6
from kane_dynamics.algebra.quaternions import vec3, vec4
from kane_dynamics.robot.motion import FrameMotion, frame_motion
from kane_dynamics.robot.robot import Robot


class Frames(Protocol):
    """What has a robot and the names of some of its frames: an engine of dynamics."""

    frames: tuple[str, ...]

    @property
    def robot(self) -> Robot:
        """Return the robot."""


def frame_pose_table(d: Frames, q: Any) -> list[list[Any]]:
    """Return position and (w, x, y, z) of each frame in the world."""
    poses = [motion.pose for motion in _motions(d, q, [0.0] * d.robot.nv)]
    return [[*vec3(x.translation), *vec4(x.rotation)] for x in poses]


def frame_jacobian_table(d: Frames, q: Any) -> list[list[list[Any]]]:
    """Return J with twist = J v of each frame, in its axes (33)."""
    jacobians = []
    for motion in _motions(d, q, [0.0] * d.robot.nv):
        jacobian: list[list[Any]] = [[0.0] * d.robot.nv for _ in range(6)]
        for k, axis in motion.columns:
            for row, entry in zip(jacobian, vec6(axis), strict=True):
                row[k] = row[k] + entry
        jacobians.append(jacobian)
    return jacobians


def frame_bias_table(d: Frames, q: Any, v: Any) -> list[Any]:
    """Return dJ/dt v of each frame: its twist rate at zero acceleration (22)."""
    return [vec6(motion.twist_rate) for motion in _motions(d, q, v)]


def _motions(d: Frames, q: Any, v: Any) -> list[FrameMotion]:
    return [frame_motion(d.robot, d.robot.frame(name), q, v) for name in d.frames]
