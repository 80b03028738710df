# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy over the tree."""

from __future__ import annotations

from typing import Any

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.inertia import Inertia, linear_map3, quaternionic_tensor
from kane_dynamics.algebra.quaternions import cross, dot, pure
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.algorithms.kinematics import body_twists
from kane_dynamics.algorithms.momentum import tree_first_moment
from kane_dynamics.robot.robot import Robot


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
