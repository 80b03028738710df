# SPDX-License-Identifier: Apache-2.0
r"""
Coulomb friction of wheels that slide, e.g. across the track in the turns of a skid steer.

Of a slip s the ground pushes with

.. math:: F = -N \frac{(\mu_x^2 s_x, \mu_y^2 s_y)}{\sqrt{\mu_x^2 s_x^2 + \mu_y^2 s_y^2}}

along (x) and across (y) the track: it lies on the ellipse with half axes :math:`\mu_x N` and
:math:`\mu_y N` and loses the most power that forces of this ellipse can. Equal coefficients give
:math:`-\mu N s/|s|`. Where nothing slips the force is between these, and follows from the motion:
there it is zero here, see `constraints.traction` and `contact_forward_dynamics`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.typing import Floats

# Slip that is none: roundoff of the speeds that it is made of.
_NO_SLIP = 1e-12


def sliding_friction(slip: Floats, load: ArrayLike, friction: Floats) -> Floats:
    """
    Return the force of the ground on contacts that slide.

    Parameters
    ----------
    slip : ndarray, shape (..., 2)
        Speed along and across the track [m/s].
    load : array_like, shape (...)
        Normal force N [N].
    friction : ndarray, shape (2,) or (..., 2)
        mu_x, mu_y.

    Returns
    -------
    ndarray, shape (..., 2)
        Along and across the track [N]; zero where the slip is.

    """
    length = np.linalg.norm(friction * slip, axis=-1, keepdims=True)
    direction = np.divide(friction**2 * slip, length, out=np.zeros(slip.shape), where=length > 0.0)
    return np.asarray(-np.asarray(load)[..., None] * direction)


def track_slip(wheel: RollingWheel, q: Sequence[float], v: Floats) -> Floats:
    """
    Return the speed of a wheel's contact along and across its track, shape (2,) [m/s].

    Only directions of its rows count; what is roundoff of the speeds it is made of is zero.
    """
    touch = wheel.touch(wheel.robot, q)
    speeds = np.zeros(len(touch.directions))
    for k, row in enumerate(wheel.rows(wheel.robot, q, v.tolist(), 0.0)):
        parts = np.array([c * v[index] for index, c in row.coefficients.items()])
        slip = parts.sum()
        speeds[k] = slip if abs(slip) > _NO_SLIP * np.abs(parts).sum() else 0.0
    return np.asarray(touch.axes[:2] @ (speeds @ touch.directions))


def friction_wrench(wheel: RollingWheel, q: Sequence[float], force: Floats) -> Floats:
    """
    Return a force along and across the track as a wrench on the body of the wheel.

    Parameters
    ----------
    wheel : RollingWheel
        The wheel.
    q : sequence of float, length nq
        Coordinates.
    force : ndarray, shape (2,)
        [N].

    Returns
    -------
    ndarray, shape (6,)
        (tau, f) about the origin of the body, in its axes [N m, N]: an external wrench.

    """
    touch = wheel.touch(wheel.robot, q)
    x = body_poses(wheel.robot, q)[wheel.wheel.body]
    to_body = x.rotation_matrix().T
    f, arm = to_body @ (force @ touch.axes[:2]), to_body @ (touch.point - x.position())
    return np.r_[np.cross(arm, f), f]
