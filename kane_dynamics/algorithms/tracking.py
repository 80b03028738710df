# SPDX-License-Identifier: Apache-2.0
r"""
What joints are to do so that their errors vanish: computed torque, and Slotine and Li.

With the error :math:`e = q_d - q` and its rate, computed torque asks for the accelerations
:math:`a = a_d + K_d \dot e + K_p e` at the measured state; where the model is right and every
joint has a motor, :math:`\ddot e + K_d \dot e + K_p e = 0`.

Slotine and Li follow reference speeds :math:`v_r = v_d + \Lambda e` instead, with
:math:`\tau = M \dot v_r + C v_r + g - K s`, :math:`s = v - v_r`. Then :math:`s^T M s / 2` falls
with the power :math:`s^T K s`, whatever M is, and :math:`\dot e + \Lambda e = -s`.

Slotine, Li: On the adaptive control of robot manipulators, IJRR 6(3), 1987.
"""

from __future__ import annotations

from kane_dynamics.typing import Floats

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

    """
    return velocity + slope * error, acceleration + slope * rate
