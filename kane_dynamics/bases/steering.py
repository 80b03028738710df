# SPDX-License-Identifier: Apache-2.0
r"""
Steering angles: where the lateral row of a steered wheel vanishes for a motion of the base.

The row of a wheel on a vertical axis is a sinusoid of its angle,
:math:`(k_0 + k_c \cos\beta + k_s \sin\beta)\cdot\nu = 0`; three evaluations give it. Without trail
:math:`k_0 = 0`, and the two solutions are half a turn apart. Differentiated, it gives the rate:
:math:`\beta' = -k(\beta)\cdot\nu' / (k_\beta(\beta)\cdot\nu)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.bases.many import Many
from kane_dynamics.bases.motion_rows import Speeds
from kane_dynamics.bases.wheel import Wheel
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.typing import Floats

_TURN = 2.0 * np.pi
_AT_REST = 1e-12  # [m/s] of a steering axis, below which its heading means nothing


@dataclass(frozen=True, eq=False)
class SteeringAngles(Many):
    """
    Angles of the steered joints of a base.

    Parameters
    ----------
    angles, rates : ndarray, shape (s,) or (B, s)
        [rad] and [rad/s].
    reached : ndarray of bool, shape (s,) or (B, s)
        Where False no angle within the limits fits; the angle is at the limit nearest to one.
    steering : tuple of str
        Names of the joints, in this order.

    """

    angles: Floats
    rates: Floats
    reached: NDArray[np.bool_]
    steering: tuple[str, ...]

    @property
    def by_joint(self) -> dict[str, Floats]:
        """Return the angles by joint [rad]."""
        return dict(zip(self.steering, np.moveaxis(self.angles, -1, 0), strict=True))


def steering_angles_of(
    rolling: ConstraintSet,
    wheels: Sequence[Wheel],
    speeds: Speeds,
    q: Sequence[float],
    twist: Floats,
    twist_rate: Floats,
) -> SteeringAngles:
    """
    Return the angles of steered wheels for motions of the base.

    Parameters
    ----------
    rolling : ConstraintSet
        Rows of the base.
    wheels : sequence of Wheel
        The steered ones.
    speeds : Speeds
        Where speeds are in v.
    q : sequence of float, length nq
        Coordinates, with the present angles.
    twist, twist_rate : ndarray, shape (B, 3)
        Motions and the rates of their components.

    """
    k0, kc, ks = lateral_rows(rolling, wheels, speeds, q)
    present = np.array(q)[speeds.steering_places]
    constant, a, b = twist @ k0.T, twist @ kc.T, twist @ ks.T
    size = np.hypot(a, b)
    moving = size > _AT_REST
    half = np.arccos(np.clip(-constant / np.where(moving, size, 1.0), -1.0, 1.0))
    peak = np.arctan2(b, a)
    robot = rolling.robot
    limits = robot.lower[speeds.steering_places], robot.upper[speeds.steering_places]
    angles, reached = _nearest(np.stack([peak + half, peak - half]), present, *limits)
    angles = np.where(moving, angles, present)
    reached = (reached | ~moving) & (np.abs(constant) <= np.maximum(size, _AT_REST))
    slope = b * np.cos(angles) - a * np.sin(angles)
    drift = twist_rate @ k0.T + np.cos(angles) * (twist_rate @ kc.T)
    drift += np.sin(angles) * (twist_rate @ ks.T)
    turning = moving & reached & (np.abs(slope) > _AT_REST)
    rates = np.where(turning, -drift / np.where(turning, slope, 1.0), 0.0)
    return SteeringAngles(angles, rates, reached, tuple(w.steering or '' for w in wheels))


def lateral_rows(
    rolling: ConstraintSet, wheels: Sequence[Wheel], speeds: Speeds, q: Sequence[float]
) -> tuple[Floats, Floats, Floats]:
    """Return k_0, k_c and k_s of each wheel's lateral row over the twist, each (s, 3)."""
    numbers = [rolling.labels.index(f'{wheel.joint}/lateral') for wheel in wheels]
    samples = []
    thirds = np.arange(3) * _TURN / 3.0
    for angle in thirds:
        place = np.array(q)
        place[speeds.steering_places] = angle
        matrix = rolling.rows(place.tolist(), [0.0] * rolling.robot.nv, 0.0).matrix
        samples.append(np.asarray(matrix[numbers][:, speeds.twist], dtype=float))
    rows = np.array(samples)
    cosine, sine = np.cos(thirds)[:, None, None], np.sin(thirds)[:, None, None]
    return rows.mean(axis=0), 2.0 * (cosine * rows).mean(axis=0), 2.0 * (sine * rows).mean(axis=0)


def _nearest(
    solutions: Floats, present: Floats, lower: Floats, upper: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the solution, or a turn of it, nearest to an angle within limits; else the limit."""
    turned = solutions + _TURN * np.round((present - solutions) / _TURN)
    every = np.concatenate([turned - _TURN, turned, turned + _TURN])
    allowed = np.clip(every, lower, upper)
    miss = np.abs(allowed - every)
    missed = miss.min(axis=0)
    # of those that miss the limits least, the one nearest to the present angle
    distance = np.where(miss <= missed + 1e-12, np.abs(allowed - present), np.inf)
    best = distance.argmin(axis=0)[None]
    angles = np.take_along_axis(allowed, best, axis=0)[0]
    return angles, missed <= 1e-12
