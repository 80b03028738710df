# SPDX-License-Identifier: Apache-2.0
r"""
Kinematics of bodies and frames (Silva et al., (16)-(23)), their momentum and energy.

Body i has the linear momentum :math:`p_i = m_i v_{c,i}` (25) and, about its own centre of mass,
the angular momentum :math:`I_i \omega_i` (26).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, vec6
from kane_dynamics.algebra.inertia import Inertia, linear_map3, quaternionic_tensor
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import cross, dot, pure, rotate, scale, vec3, vec4
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.algorithms.newton_euler import transmitted
from kane_dynamics.robot.motion import (
    AT_REST,
    FrameMotion,
    JointMotion,
    body_twist,
    frame_motion,
    joint_motion,
)
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats


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
        return np.array(frame_jacobian_table(self.robot, [link], self.q)[0], dtype=float)


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

    Examples
    --------
    >>> robot = kd.serial_chain(2)
    >>> links = kd.forward_kinematics(robot, robot.neutral(), [1.0, 0.0])
    >>> links.pose(robot.bodies[-1].name).position().shape
    (3,)

    """
    zero = np.zeros(checked_robot(robot).nv)
    return Kinematics(
        robot,
        tuple(checked_coordinates(robot, q)),
        tuple(checked_speeds(robot, zero if v is None else v)),
        tuple(checked_speeds(robot, zero if a is None else a, 'a')),
    )


def tree_first_moment(robot: Robot, q: Any) -> tuple[Scalar, Any]:
    """Return the mass [kg] and sum_i m_i p_c,i in the world, a pure quaternion [kg m]."""
    at_rest, nothing = [0.0] * robot.nv, pure([0.0, 0.0, 0.0])
    masses = [body.inertia.mass for body in robot.bodies]
    moments = [scale(pure(body.inertia.com), body.inertia.mass) for body in robot.bodies]
    mass, moment = 0.0, nothing
    for i, parent in reversed(list(enumerate(robot.parents))):
        in_parent = moment_in_parent(joint_motion(robot, i, q, at_rest), masses[i], moments[i])
        if parent == WORLD:
            mass, moment = mass + masses[i], moment + in_parent
        else:
            masses[parent] = masses[parent] + masses[i]
            moments[parent] = moments[parent] + in_parent
    return mass, moment


def moment_in_parent(joint: JointMotion, mass: Scalar, moment: Any) -> Any:
    """Return the first moment of what a joint carries about the origin of its parent's frame."""
    for x in (joint.pose, joint.placement):
        moment = rotate(x.rotation, moment) + scale(x.translation, mass)
    return moment


def tree_center_of_mass(robot: Robot, q: Any) -> Any:
    """Return the centre of mass of all bodies in the world, a pure quaternion [m]."""
    mass, moment = tree_first_moment(robot, q)
    return scale(moment, 1.0 / mass)


def momentum_vector(robot: Robot, q: Any, v: Any) -> list[Any]:
    """Return the momentum (angular about the centre of mass, linear) in world axes."""
    nothing = pure([0.0, 0.0, 0.0])
    linear, angular = nothing, nothing
    bodies = zip(robot.bodies, body_poses(robot, q), body_twists(robot, q, v), strict=True)
    for body, x, xi in bodies:
        inertia, omega = body.inertia, xi.primary
        p = scale(xi.dual + cross(omega, pure(inertia.com)), inertia.mass)
        spin = linear_map3(quaternionic_tensor(inertia.tensor), omega)
        p_world = rotate(x.rotation, p)
        p_com = x.translation + rotate(x.rotation, pure(inertia.com))
        linear = linear + p_world
        angular = angular + rotate(x.rotation, spin) + cross(p_com, p_world)
    angular = angular - cross(tree_center_of_mass(robot, q), linear)
    return [*vec3(angular), *vec3(linear)]


def tree_kinetic_energy(robot: Robot, q: Any, v: Any) -> Scalar:
    """Return T = sum_i (<omega, I_c omega> + m <v_c, v_c>)/2 + armature [J]."""
    total: Scalar = 0.0
    for body, xi in zip(robot.bodies, body_twists(robot, q, v), strict=True):
        total = total + body_kinetic_energy(body.inertia, xi)
    for armature, speed in zip(robot.armature.tolist(), v, strict=True):
        total = total + rotor_energy(armature, speed)
    return total


def tree_potential_energy(robot: Robot, q: Any) -> Scalar:
    """Return V = -sum_i m_i <gravity, p_c,i>, zero with all masses at the world origin [J]."""
    return -dot(robot.gravity_quaternion, tree_first_moment(robot, q)[1])


def body_kinetic_energy(inertia: Inertia, xi: DualQuaternion) -> Scalar:
    """Return (<omega, I_c omega> + m <v_c, v_c>)/2 of a body with twist xi in its frame."""
    omega = xi.primary
    v_com = xi.dual + cross(omega, pure(inertia.com))
    spin = linear_map3(quaternionic_tensor(inertia.tensor), omega)
    return 0.5 * (dot(omega, spin) + inertia.mass * dot(v_com, v_com))


def rotor_energy(armature: Scalar, speed: Scalar) -> Scalar:
    """Return armature v^2 / 2 along one speed."""
    return 0.5 * armature * speed * speed


def momentum_columns(robot: Robot, q: Any) -> Any:
    """Return the matrix that makes `momentum_vector` of v, shape (6, nv), from its columns."""
    columns = [momentum_vector(robot, q, e) for e in np.eye(robot.nv).tolist()]
    return np.array(columns, dtype=float).T.reshape(6, robot.nv)


def frame_pose_table(robot: Robot, frames: Sequence[str], q: Any) -> list[list[Any]]:
    """Return position and (w, x, y, z) of each frame in the world."""
    poses = [motion.pose for motion in _motions(robot, frames, q, [0.0] * robot.nv)]
    return [[*vec3(x.translation), *vec4(x.rotation)] for x in poses]


def frame_jacobian_table(robot: Robot, frames: Sequence[str], q: Any) -> list[list[list[Any]]]:
    """Return J with twist = J v of each frame, in its axes (33)."""
    jacobians = []
    for motion in _motions(robot, frames, q, [0.0] * robot.nv):
        jacobian: list[list[Any]] = [[0.0] * robot.nv for _ in range(6)]
        for k, axis in motion.columns:
            for row, entry in zip(jacobian, vec6(axis), strict=True):
                row[k] = row[k] + entry
        jacobians.append(jacobian)
    return jacobians


def frame_bias_table(robot: Robot, frames: Sequence[str], q: Any, v: Any) -> list[Any]:
    """Return dJ/dt v of each frame: its twist rate at zero acceleration (22)."""
    return [vec6(motion.twist_rate) for motion in _motions(robot, frames, q, v)]


def _motions(robot: Robot, frames: Sequence[str], q: Any, v: Any) -> list[FrameMotion]:
    return [frame_motion(robot, robot.frame(name), q, v) for name in frames]


def momentum_rate(robot: Robot, q: Any, v: Any, a: Any) -> list[Any]:
    """Return d/dt of (angular momentum about the centre of mass, linear momentum), world axes."""
    wrench = transmitted(robot, q, v, a, gravity=0.0)[1]  # about the world's origin
    force, moment = wrench.primary, wrench.dual
    return [*vec3(moment - cross(tree_center_of_mass(robot, q), force)), *vec3(force)]
