# SPDX-License-Identifier: Apache-2.0
r"""
Centre of mass, momentum and energy of the tree.

Body i has the linear momentum :math:`p_i = m_i v_{c,i}` (25) and, about its own centre of mass,
the angular momentum :math:`I_i \omega_i` (26).
"""

from __future__ import annotations

from typing import Any

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.inertia import Inertia, linear_map3, quaternionic_tensor
from kane_dynamics.algebra.quaternions import cross, dot, pure, rotate, scale, vec3
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.algorithms.kinematics import body_poses, body_twists
from kane_dynamics.robot.motion import JointMotion, joint_motion
from kane_dynamics.robot.robot import WORLD, Robot


def tree_first_moment(robot: Robot, q: Any) -> tuple[Scalar, Any]:
    """
    Return the mass of all bodies [kg] and sum_i m_i p_c,i in the world, a pure quaternion [kg m].

    From the tips to the root: one rotation of a vector for each joint and placement.
    """
    at_rest, nothing = [0.0] * robot.nv, pure([0.0, 0.0, 0.0])
    masses = [body.inertia.mass for body in robot.bodies]
    moments = [scale(pure(body.inertia.com), body.inertia.mass) for body in robot.bodies]
    mass, moment = 0.0, nothing
    for i, parent in reversed(list(enumerate(robot.parents))):
        payload = moment_in_parent(joint_motion(robot, i, q, at_rest), masses[i], moments[i])
        if parent == WORLD:
            mass, moment = mass + masses[i], moment + payload
        else:
            masses[parent], moments[parent] = masses[parent] + masses[i], moments[parent] + payload
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
