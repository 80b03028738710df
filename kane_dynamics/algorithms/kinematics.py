# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics: poses, twists, accelerations, Jacobians (Silva et al., (16)-(23))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, vec6
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.robot.frame_motion import FrameMotion, frame_motion
from kane_dynamics.robot.motion import AT_REST, body_twist, joint_motion
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import Floats


def body_poses(robot: Robot, q: Any) -> list[Pose]:
    """Return x_i^0 of every body frame."""
    at_rest = [0.0] * robot.nv
    poses: list[Pose] = []
    for i, parent in enumerate(robot.parents):
        joint = joint_motion(robot, i, q, at_rest)
        x = joint.placement * joint.pose
        poses.append(x if parent == WORLD else poses[parent] * x)
    return poses


def body_twists(robot: Robot, q: Any, v: Any) -> list[DualQuaternion]:
    """Return xi_0,i of every body in its own frame (19)."""
    twists: list[DualQuaternion] = []
    for i, parent in enumerate(robot.parents):
        joint = joint_motion(robot, i, q, v)
        twists.append(body_twist(joint, AT_REST if parent == WORLD else twists[parent]))
    return twists


@dataclass(frozen=True, eq=False)
class Kinematics:
    """
    The links of a robot at a state; made by `forward_kinematics`.

    Vectors of twists are (omega, v) in the link's own axes, v that of the link's origin.
    """

    robot: Robot
    q: tuple[float, ...]
    v: tuple[float, ...]
    a: tuple[float, ...]

    def _motion(self, link: str) -> FrameMotion:
        return frame_motion(self.robot, self.robot.frame(link), self.q, self.v, self.a)

    def pose(self, link: str) -> Pose:
        """Return the pose x_F^0 of a link in the world; NameNotFoundError if there is none."""
        return self._motion(link).pose

    def twist(self, link: str) -> Floats:
        """Return the twist (omega, v) of a link in its axes, shape (6,) [rad/s, m/s] (6)."""
        return vec6(self._motion(link).twist)

    def twist_rate(self, link: str) -> Floats:
        """Return d/dt of the twist, shape (6,): (alpha, pddot + pdot x omega) (22)."""
        return vec6(self._motion(link).twist_rate)

    def acceleration(self, link: str) -> Floats:
        """Return (alpha, pddot) of a link's origin, shape (6,) [rad/s^2, m/s^2] (23)."""
        motion = self._motion(link)
        twist, rate = vec6(motion.twist), vec6(motion.twist_rate)
        rate[3:] += np.cross(twist[:3], twist[3:])
        return rate

    def jacobian(self, link: str) -> Floats:
        """Return J with twist = J v, shape (6, nv), in the link's axes (33)."""
        jacobian = np.zeros((6, self.robot.nv))
        for column, axis in self._motion(link).columns:
            jacobian[:, column] += vec6(axis)
        return jacobian


def forward_kinematics(
    robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
) -> Kinematics:
    """
    Return the kinematics of all links at a state.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,), optional
        Speeds and accelerations, zero where left out.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    zero = np.zeros(checked_robot(robot).nv)
    return Kinematics(
        robot,
        tuple(checked_coordinates(robot, q)),
        tuple(checked_speeds(robot, zero if v is None else v)),
        tuple(checked_speeds(robot, zero if a is None else a, 'a')),
    )
