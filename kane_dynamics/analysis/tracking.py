# SPDX-License-Identifier: Apache-2.0
r"""
Tracking laws of joints, and their friction compensation.

With the error :math:`e = q_d - q` and its rate, computed torque asks for the accelerations
:math:`a = a_d + K_d \dot e + K_p e` at the measured state; where the model is right and every
joint has a motor, :math:`\ddot e + K_d \dot e + K_p e = 0`.

Slotine and Li follow reference speeds :math:`v_r = v_d + \Lambda e` instead, with
:math:`\tau = M \dot v_r + C v_r + g - K s`, :math:`s = v - v_r`. Then :math:`s^T M s / 2` falls
with the power :math:`s^T K s`, whatever M is, and :math:`\dot e + \Lambda e = -s`.

Slotine, Li: On the adaptive control of robot manipulators, IJRR 6(3), 1987.

The sign of a measured speed is noise near rest, and with it F sign(v) shakes a robot that is to
stand; where F is too large, it drives the robot on. At reference speeds friction is a known
function of time, which no feedback closes over. A part of it is safe: motors that make up for more
than there is drive light joints off their way. Viscous friction stays that of measured speeds.
"""

from collections.abc import Sequence

import numpy as np

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.typing import Floats, Indices

__all__ = ['commanded_acceleration', 'reference_speeds']

FEEDFORWARD, COMPUTED, PASSIVE = 'feedforward_pd', 'computed_torque', 'slotine_li'
LAWS = (COMPUTED, PASSIVE, FEEDFORWARD)


def commanded_acceleration(
    acceleration: Floats, error: Floats, rate: Floats, stiffness: Floats, damping: Floats
) -> Floats:
    r"""
    Return :math:`a_d + K_d \dot e + K_p e`.

    Parameters
    ----------
    acceleration : ndarray, shape (k,)
        Wanted accelerations a_d [rad/s^2 or m/s^2].
    error, rate : ndarray, shape (k,)
        Wanted minus measured positions and speeds.
    stiffness, damping : ndarray, shape (k,)
        K_p [1/s^2], K_d [1/s].

    Examples
    --------
    >>> from kane_dynamics.analysis.tracking import commanded_acceleration
    >>> commanded_acceleration(np.zeros(1), np.array([0.1]), np.zeros(1), 100.0, 20.0)
    array([10.])

    """
    return acceleration + damping * rate + stiffness * error


def reference_speeds(
    velocity: Floats, acceleration: Floats, error: Floats, rate: Floats, slope: Floats
) -> tuple[Floats, Floats]:
    r"""
    Return :math:`v_r = v_d + \Lambda e` and its rate :math:`a_d + \Lambda \dot e`.

    Parameters
    ----------
    velocity, acceleration : ndarray, shape (k,)
        Wanted ones v_d, a_d.
    error, rate : ndarray, shape (k,)
        Wanted minus measured positions and speeds.
    slope : ndarray, shape (k,)
        Lambda [1/s].

    Examples
    --------
    >>> from kane_dynamics.analysis.tracking import reference_speeds
    >>> reference_speeds(np.zeros(1), np.zeros(1), np.array([0.1]), np.zeros(1), 5.0)
    (array([0.5]), array([0.]))

    """
    return velocity + slope * error, acceleration + slope * rate


_ROUNDOFF = 1e-9  # [rad/s, m/s]: no reference of a joint that moves


def with_rest(v: Floats) -> Floats:
    """Return speeds, zero where they are roundoff."""
    return np.where(np.abs(v) < _ROUNDOFF, 0.0, v)


def to_reference_speeds(
    dynamics: Dynamics,
    actuated: Sequence[int] | Indices,
    q: Floats,
    v: Floats,
    reference: Floats,
    part: float = 1.0,
) -> Floats:
    """Return the efforts that take Coulomb friction from the speeds v to those that are wanted."""
    friction = dynamics.robot.friction
    effort, moved = np.zeros(len(v)), reference.copy()
    if not friction.any():
        return effort
    passive = np.setdiff1d(np.arange(len(v)), actuated)
    follow = np.zeros((len(passive), len(actuated)))
    if friction[passive].any():
        rows = dynamics.constraint_rows(q, v).matrix
        follow = -np.linalg.lstsq(rows[:, passive], rows[:, actuated])[0]
        moved[passive] = follow @ reference[actuated]
    change = friction * (part * np.sign(with_rest(moved)) - np.sign(v))
    effort[actuated] = change[actuated] + follow.T @ change[passive]
    return effort
