# SPDX-License-Identifier: Apache-2.0
r"""
Exponential and logarithm of pure dual quaternions.

With :math:`\underline\theta = \theta + \varepsilon d` pure and
:math:`\varphi = \lVert\theta\rVert`:

.. math:: \exp\underline\theta = \cos\varphi + \mathrm{sinc}(\varphi)\,\theta
   + \varepsilon\big(\mathrm{sinc}(\varphi) d + c(\varphi)\langle\theta, d\rangle\theta
   - \mathrm{sinc}(\varphi)\langle\theta, d\rangle\big)

where :math:`c = (\cos\varphi - \mathrm{sinc}\varphi)/\varphi^2`. A pose whose twist
:math:`\underline\xi` stays constant for a time t moves by
:math:`\exp(t\,\underline\xi/2)` (Silva et al., (4)).
"""

from __future__ import annotations

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.quaternions import dot, make_quaternion, pure, scale
from kane_dynamics.algebra.scalars import Scalar, cos, sin, sqrt, where

# Series below: the next term of either series is under 1e-17 of the value there.
SERIES_BELOW = 1e-2


def _sinc_and_slope(phi_squared: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Return cos(phi), sinc(phi) = sin(phi)/phi and (cos - sinc)/phi^2, smooth through 0."""
    s = phi_squared
    small = s < SERIES_BELOW**2
    phi = sqrt(where(small, 1.0, s))
    sinc = where(
        small,
        1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0))),
        sin(phi) / phi,
    )
    slope = where(
        small,
        -1.0 / 3.0 * (1.0 - s / 10.0 * (1.0 - s / 28.0 * (1.0 - s / 54.0 * (1.0 - s / 88.0)))),
        (cos(phi) - sin(phi) / phi) / (phi * phi),
    )
    return sinc + slope * s, sinc, slope


def exp(h: DualQuaternion) -> DualQuaternion:
    """
    Return the unit dual quaternion exp(h) of a pure dual quaternion h.

    Parameters
    ----------
    h : DualQuaternion
        Pure: half angle and half way along the axis.

    """
    theta, d = h.primary, h.dual
    cosine, sinc, slope = _sinc_and_slope(dot(theta, theta))
    along = dot(theta, d)
    primary = make_quaternion(cosine, *(sinc * c for c in (theta.x, theta.y, theta.z)))
    dual = make_quaternion(
        -sinc * along,
        *(
            sinc * b + slope * along * a
            for a, b in ((theta.x, d.x), (theta.y, d.y), (theta.z, d.z))
        ),
    )
    return DualQuaternion(primary, dual)


def log(x: DualQuaternion) -> DualQuaternion:
    """
    Return the pure dual quaternion h with exp(h) = x or exp(h) = -x, half angle in [0, pi/2].

    x and -x are the same pose; the representative with Re(P(x)) >= 0 is taken, so the rotation
    angle is at most pi. At exactly pi the sign of the axis follows x.

    Parameters
    ----------
    x : DualQuaternion
        Unit.

    Notes
    -----
    Inverts `exp` term by term: ``Re D = -sinc <theta, d>`` gives the component along the axis
    (sinc >= 2/pi on the whole range), then ``Im D = sinc d + c <theta, d> theta`` gives d.

    """
    p, d = x.primary, x.dual
    if p.w < 0.0:
        p, d = -p, -d
    axis, moment = pure((p.x, p.y, p.z)), pure((d.x, d.y, d.z))
    phi = float(np.arctan2(np.sqrt(dot(axis, axis)), p.w))
    _, sinc, slope = _sinc_and_slope(phi * phi)
    along = -d.w / sinc
    theta = scale(axis, 1.0 / sinc)
    return DualQuaternion(theta, scale(moment - scale(theta, slope * along), 1.0 / sinc))
