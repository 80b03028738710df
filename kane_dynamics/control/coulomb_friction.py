# SPDX-License-Identifier: Apache-2.0
r"""
Coulomb friction that motors make up for, at reference speeds instead of measured ones.

The sign of a measured speed is noise near rest, and with it F sign(v) shakes a robot that is to
stand; where F is too large, it drives the robot on. At reference speeds friction is a known
function of time, which no feedback closes over. A part of it is safe: motors that make up for more
than there is drive light joints off their way. Viscous friction stays that of measured speeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.typing import Floats, Indices

_ROUNDOFF = 1e-9  # [rad/s, m/s]: no reference of a joint that moves


def to_reference_speeds(
    dynamics: Dynamics,
    actuated: Sequence[int] | Indices,
    q: Floats,
    v: Floats,
    target: Floats,
    part: float = 1.0,
) -> Floats:
    r"""
    Return the efforts that take Coulomb friction from the speeds v to those that are wanted.

    What has no motor moves as the motors and the constraints say, and motors carry its friction:
    with :math:`v_p = T v_m`, :math:`\tau_m = F_m s_m + T^T F_p s_p`.

    Parameters
    ----------
    dynamics : Dynamics
        Robot and constraints.
    actuated : sequence of int
        Places in v of what has motors.
    q, v : ndarray, shapes (nq,), (nv,)
        State whose friction is in the efforts already.
    target : ndarray, shape (nv,)
        Reference speeds; those with motors count.
    part : float
        Of the friction at reference speeds.

    Returns
    -------
    ndarray, shape (nv,)
        0 where there is no motor.

    """
    friction = dynamics.robot.friction
    effort, moved = np.zeros(len(v)), target.copy()
    if not friction.any():
        return effort
    passive = np.setdiff1d(np.arange(len(v)), actuated)
    follow = np.zeros((len(passive), len(actuated)))
    if friction[passive].any():
        rows = dynamics.constraint_rows(q, v).matrix
        follow = -np.linalg.lstsq(rows[:, passive], rows[:, actuated])[0]
        moved[passive] = follow @ target[actuated]
    moved[np.abs(moved) < _ROUNDOFF] = 0.0
    change = friction * (part * np.sign(moved) - np.sign(v))
    effort[actuated] = change[actuated] + follow.T @ change[passive]
    return effort
