# SPDX-License-Identifier: Apache-2.0
r"""
The wrenches that act on each body: efforts, friction and gravity (Silva et al., (48)-(50)).

An effort acts as opposite wrenches on the two bodies of its joint. Along the joint's axes
:math:`S_k` it is :math:`\sum_k S_k \tau_k / |S_k|^2` (axes of one joint are orthogonal), so that
its power is :math:`\tau^T v`; what it is across the axes does no work and changes nothing.
"""

from __future__ import annotations

import numpy as np

from kane_dynamics.algebra.dual_quaternion import vec6, wrench_from_vector
from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.jacobians import BodyJacobian
from kane_dynamics.robot.motion import JointMotion, joint_motion
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import Floats


def impressed_wrenches(
    robot: Robot, q: list[float], v: list[float], tau: Floats, jacobians: list[BodyJacobian]
) -> list[Floats]:
    """Return (torque, force) on every body at its centre of mass in its axes, shape (6,)."""
    efforts = tau - joint_friction(robot, v)
    about_origin = [np.zeros(6) for _ in robot.bodies]
    for i, parent in enumerate(robot.parents):
        if robot.bodies[i].mimic is not None:
            continue  # the effort on a follower is part of that on its master
        joint = joint_motion(robot, i, q, v)
        wrench = _along_axes(joint, efforts[joint.columns])
        about_origin[i] += wrench
        if parent != WORLD:
            reaction = vec6(joint.to_parent(wrench_from_vector(wrench)))  # (f, tau)
            about_origin[parent] -= np.roll(reaction, 3)
    wrenches = []
    for body, wrench, jacobian in zip(robot.bodies, about_origin, jacobians, strict=True):
        torque, force = wrench[:3], wrench[3:]
        weight = body.inertia.mass * (jacobian.from_world @ robot.gravity)  # (50)
        torque_at_com = torque - np.cross(body.inertia.com, force)
        wrenches.append(np.concatenate([torque_at_com, force + weight]))
    return wrenches


def _along_axes(joint: JointMotion, efforts: Floats) -> Floats:
    """Return the wrench (torque, force) on the child, in its frame, with power efforts' v."""
    wrench = np.zeros(6)
    for axis, effort in zip(joint.axes, efforts, strict=True):
        twist = vec6(axis)
        wrench += twist * (effort / (twist @ twist))
    return wrench
