# SPDX-License-Identifier: Apache-2.0
"""Viscous and Coulomb friction along the speeds."""

from typing import Any

import numpy as np

from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algebra.scalars import Scalar, is_zero, sign, where
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, NDArray


def joint_friction(robot: Robot, v: Any) -> NDArray:
    """Return D v + F sign(v), the force the actuators need against friction, shape (nv,)."""
    speeds = zip(robot.damping.tolist(), robot.friction.tolist(), v, strict=True)
    return as_array([speed_friction(*one) for one in speeds])


def implicit_drag(robot: Robot, v: Any, stiction_speed: float) -> NDArray:
    """Return the viscous coefficients that stand for friction over a short step, shape (nv,)."""
    speeds = zip(robot.damping.tolist(), robot.friction.tolist(), v, strict=True)
    return as_array([speed_drag(*one, stiction_speed) for one in speeds])


def friction_left_by_drag(robot: Robot, v: Floats, stiction_speed: float) -> Floats:
    """Return F sign(v) - F v / max(|v|, v_s): what the drag leaves of Coulomb friction."""
    return robot.friction * (np.sign(v) - np.clip(v / stiction_speed, -1.0, 1.0))


def speed_friction(damping: Scalar, friction: Scalar, speed: Scalar) -> Scalar:
    """Return D v + F sign(v) along one speed."""
    return damping * speed + (0.0 if is_zero(friction) else friction * sign(speed))


def speed_drag(damping: Scalar, friction: Scalar, speed: Scalar, stiction_speed: float) -> Scalar:
    """Return D + F / max(|v|, v_s) along one speed."""
    if is_zero(friction):
        return damping
    size = sign(speed) * speed
    return damping + friction / where(size > stiction_speed, size, stiction_speed)
