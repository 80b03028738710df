# SPDX-License-Identifier: Apache-2.0
r"""
Rows of the material point of a body that touches something, along directions that turn.

The point is at :math:`\rho(t)` from the origin C of a frame of the body, and moves in the body; d
is a unit direction. The material point there has no speed along d:

.. math:: \langle d, v_C + \omega \times \rho\rangle = 0, \qquad \langle d, \dot v_C +
   \alpha\times\rho + \omega\times\dot\rho\rangle + \langle\dot d, v_C + \omega\times\rho\rangle
   = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, rotate
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Row, projected_columns
from kane_dynamics.robot.frame_motion import FrameMotion


class Direction(NamedTuple):
    """A unit vector in world axes and its rate; along a normal also the distance [m]."""

    vector: Quaternion
    rate: Quaternion
    distance: Scalar | None = None


def contact_rows(
    motion: FrameMotion,
    arm: Quaternion,
    arm_rate: Quaternion,
    directions: Iterable[Direction],
    kind: str,
) -> list[Row]:
    """Return a row for each direction; the arm is rho and the rate its own, in world axes."""
    to_world = motion.pose.rotation
    velocity = _material_velocity(to_world, arm)
    omega = rotate(to_world, motion.twist.primary)
    centre_velocity = rotate(to_world, motion.twist.dual)
    bias = velocity(motion.twist_rate) + cross(omega, centre_velocity + arm_rate)
    slip = velocity(motion.twist)
    rows = []
    for direction, rate, distance in directions:
        coefficients = projected_columns(
            motion.columns, lambda axis, d=direction: dot(d, velocity(axis))
        )
        acceleration = -dot(direction, bias) - dot(rate, slip)
        rows.append(Row(coefficients, acceleration=acceleration, position=distance, kind=kind))
    return rows


def _material_velocity(
    to_world: Quaternion, arm: Quaternion
) -> Callable[[DualQuaternion], Quaternion]:
    """Return the map from a twist of the frame to R v + R omega x arm, in the world."""

    def velocity(h: DualQuaternion) -> Quaternion:
        return rotate(to_world, h.dual) + cross(rotate(to_world, h.primary), arm)

    return velocity
