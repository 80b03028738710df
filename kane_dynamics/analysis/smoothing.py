# SPDX-License-Identifier: Apache-2.0
"""Smooth motions from samples with noise: splines of least squares, and their derivatives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_lsq_spline

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_numbers, as_positive, check_increasing, not_finite
from kane_dynamics.typing import Floats

DEGREE = 5
LEAST = 4  # samples for each piece: noise is averaged, and no piece lacks samples


def smoothed(
    times: ArrayLike, samples: ArrayLike, spacing: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """
    Return times in the middle of pieces of a spline, and its values and derivatives there.

    Parameters
    ----------
    times : array_like, shape (B,)
        Increasing [s].
    samples : array_like, shape (B, n)
        What is smoothed.
    spacing : float
        Length of a piece [s]: what is quicker counts as noise.

    Returns
    -------
    times : ndarray, shape (p,)
        Middles of the pieces, the outermost left out.
    values, rates, accelerations : ndarray, shape (p, n)
        Of the spline.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, times do not increase, or there are less than three pieces or too
        few samples in one.

    """
    t, x = as_numbers('times [s]', times), as_numbers('samples', samples)
    if t.ndim != 1 or x.shape[:1] != t.shape or x.ndim != 2:
        raise InvalidInputError(
            f'times and samples: need shapes (B,) and (B, n), got {t.shape} and {x.shape}'
        )
    check_increasing('times [s]', t)
    if not np.isfinite(x).all():
        raise InvalidInputError(f'samples: need finite numbers, got {not_finite(x)}')
    lasts = float(t[-1] - t[0]) if len(t) else 0.0
    pieces = int(lasts / as_positive('spacing [s]', spacing))
    if pieces < 3:
        raise InvalidInputError(
            f'times: need samples over {3 * spacing:g} s, three pieces, got {lasts:.3f} s'
        )
    ends = np.linspace(t[0], t[-1], pieces + 1)
    fewest = int(np.histogram(t, ends)[0].min())
    if fewest < LEAST:
        raise InvalidInputError(
            f'times: need {LEAST} samples in every {spacing:g} s, got {fewest} in one; make '
            'spacing longer'
        )
    knots = np.r_[[ends[0]] * DEGREE, ends, [ends[-1]] * DEGREE]
    spline = make_lsq_spline(t, x, knots, k=DEGREE)
    middles = 0.5 * (ends[1:-2] + ends[2:-1])
    return middles, spline(middles), spline(middles, 1), spline(middles, 2)
