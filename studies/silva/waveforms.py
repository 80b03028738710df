# SPDX-License-Identifier: Apache-2.0
r"""
How alike waveforms are, and how accelerations come from sampled speeds.

Measures: the coefficient of multiple correlation of Ferrari, Cutti and Cappello (Gait & Posture
31, 2010), the root mean square and the largest error. Silva, Quiroz-Omana and Adorno (section 5)
compare accelerations by that coefficient; their reference passes sampled speeds through a
low-pass Butterworth filter and differentiates them forward.

Waveforms run along axis 0; further axes are further signals, each treated alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.signal
from numpy.typing import ArrayLike

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats


def multiple_correlation(*waveforms: ArrayLike) -> Floats:
    r"""
    Return the coefficient of multiple correlation (CMC) of two or more waveforms.

    .. math:: \mathrm{CMC} = \sqrt{1 - \frac{\sum_{pf}(Y_{pf}-\bar Y_f)^2/(F(P-1))}
       {\sum_{pf}(Y_{pf}-\bar Y)^2/(PF-1)}}

    with P waveforms of F frames, :math:`\bar Y_f` the mean over the waveforms at frame f and
    :math:`\bar Y` that of all (Ferrari, Cutti and Cappello 2010, one cycle). Identical waveforms
    give 1; offsets and gains lower it, not only the shape.

    Parameters
    ----------
    *waveforms : array_like, shape (F,) or (F, ...)
        At least two of one shape, F >= 2.

    Returns
    -------
    ndarray, shape () or (...)
        Dimensionless. NaN, with a RuntimeWarning, where the coefficient is not a real number: a
        negative radicand (the waveforms differ more than they vary), or 0/0 (one constant, up to
        roundoff).

    Raises
    ------
    InvalidInputError
        If there are fewer than two waveforms or frames, shapes differ, or a number is not finite.

    """
    if len(waveforms) < 2:
        raise InvalidInputError(f'CMC needs at least two waveforms, got {len(waveforms)}')
    Y = np.stack(_alike(waveforms))
    P, F = Y.shape[:2]
    between = np.sum((Y - Y.mean(axis=0)) ** 2, axis=(0, 1)) / (F * (P - 1))
    total = np.sum((Y - Y.mean(axis=(0, 1))) ** 2, axis=(0, 1)) / (P * F - 1)
    # what roundoff of the values leaves of a constant
    resolution = (4.0 * np.finfo(float).eps * np.abs(Y).max(axis=(0, 1))) ** 2
    constant = total <= resolution
    radicand = 1.0 - between / np.where(constant, np.nan, total)
    opposed = radicand < 0.0
    for undefined, why in ((constant, '0/0, constant waveforms'), (opposed, 'negative radicand')):
        if np.any(undefined):
            warnings.warn(
                f'CMC is undefined ({why}) for {np.count_nonzero(undefined)} of {total.size} '
                'signals: NaN',
                RuntimeWarning,
                stacklevel=2,
            )
    result: Floats = np.sqrt(np.where(opposed, np.nan, radicand))
    return result


def root_mean_square_error(waveform: ArrayLike, reference: ArrayLike) -> Floats:
    """
    Return sqrt(mean_f (y_f - r_f)^2), in the unit of the waveforms.

    Parameters
    ----------
    waveform, reference : array_like, shape (F,) or (F, ...)
        Of one shape, F >= 2.

    Returns
    -------
    ndarray, shape () or (...)

    Raises
    ------
    InvalidInputError
        As for `multiple_correlation`.

    """
    y, r = _alike((waveform, reference))
    result: Floats = np.sqrt(np.mean((y - r) ** 2, axis=0))
    return result


def max_error(waveform: ArrayLike, reference: ArrayLike) -> Floats:
    """
    Return max_f |y_f - r_f|, in the unit of the waveforms.

    Parameters, result and errors as for `root_mean_square_error`.
    """
    y, r = _alike((waveform, reference))
    result: Floats = np.abs(y - r).max(axis=0)
    return result


def butterworth_low_pass(
    signal: ArrayLike, cutoff: float, rate: float, order: int = 2, zero_phase: bool = True
) -> Floats:
    r"""
    Return a signal after a discrete low-pass Butterworth filter.

    One pass has the gain :math:`1/\sqrt{1 + (\Omega/\Omega_c)^{2n}}` with
    :math:`\Omega = \tan(\pi f/f_s)` (bilinear transform) and delays a slow signal by about
    :math:`\sqrt2/(2\pi f_c)` at order n = 2. With `zero_phase` a second pass runs backwards: no
    delay, the gain squared, half of the amplitude left at the cut-off, and no filter that could
    run in real time. Silva et al. print neither order nor cut-off, nor whether their filter runs
    in one direction only; nothing here claims to be their choice.

    Parameters
    ----------
    signal : array_like, shape (F,) or (F, ...)
        Samples at equal distances. A zero-phase filter needs F > 3 (2 ceil(n/2) + 1) of them.
    cutoff : float
        f_c, where one pass has the gain 1/sqrt(2) [Hz], between 0 and rate/2.
    rate : float
        Samples per second f_s [Hz].
    order : int
        n >= 1, of one pass.
    zero_phase : bool
        Whether to filter forwards and backwards (``sosfiltfilt``), or forwards only (``sosfilt``)
        from the steady state of the first sample.

    Returns
    -------
    ndarray, shape (F,) or (F, ...)
        In the unit of the signal.

    Raises
    ------
    InvalidInputError
        If a number is not finite or out of range, or the signal is too short.

    """
    (y,) = _alike((signal,))
    if not (np.isfinite(rate) and rate > 0.0):
        raise InvalidInputError(f'rate [Hz] must be > 0 and finite, got {rate!r}')
    if not 0.0 < cutoff < 0.5 * rate:
        raise InvalidInputError(
            f'cutoff [Hz] must lie between 0 and half the rate, {0.5 * rate:g}, got {cutoff!r}'
        )
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order < 1:
        raise InvalidInputError(f'order must be a whole number >= 1, got {order!r}')
    sections = scipy.signal.butter(order, cutoff, fs=rate, output='sos')
    if zero_phase:
        padding = 3 * (2 * len(sections) + 1)
        if len(y) <= padding:
            raise InvalidInputError(
                f'a zero-phase filter of order {order} needs more than {padding} samples, '
                f'got {len(y)}'
            )
        filtered: Floats = scipy.signal.sosfiltfilt(sections, y, axis=0, padlen=padding)
        return filtered
    steady = scipy.signal.sosfilt_zi(sections)
    steady = steady.reshape(*steady.shape, *(1,) * (y.ndim - 1)) * y[0]
    filtered, _ = scipy.signal.sosfilt(sections, y, axis=0, zi=steady)
    return filtered


def forward_difference(samples: ArrayLike, dt: float) -> Floats:
    r"""
    Return the derivative by the second-order forward formula.

    .. math:: \dot y_k \approx \frac{-3 y_k + 4 y_{k+1} - y_{k+2}}{2\Delta t}, \qquad
       \text{error } -\tfrac13\Delta t^2\,\dddot y_k + O(\Delta t^3)

    This is how the "second forward finite difference approximation" of Silva et al. (section 5)
    is read here.

    Parameters
    ----------
    samples : array_like, shape (F,) or (F, ...)
        At equal distances, F >= 3.
    dt : float
        Distance of the samples [s], > 0.

    Returns
    -------
    ndarray, shape (F - 2,) or (F - 2, ...)
        Derivatives at the first F - 2 samples [unit of the samples per second].

    Raises
    ------
    InvalidInputError
        If there are fewer than three samples, dt is not positive, or a number is not finite.

    """
    (y,) = _alike((samples,))
    if len(y) < 3:
        raise InvalidInputError(f'samples: need at least 3, got {len(y)}')
    if not (np.isfinite(dt) and dt > 0.0):
        raise InvalidInputError(f'dt [s] must be > 0 and finite, got {dt!r}')
    result: Floats = (-3.0 * y[:-2] + 4.0 * y[1:-1] - y[2:]) / (2.0 * dt)
    return result


@dataclass(frozen=True)
class Statistics:
    """
    One row of a table over coordinates; made by `statistics`.

    Parameters
    ----------
    minimum, mean, std, maximum : float
        In the unit of the values; `std` with n - 1, 0 for one value.

    """

    minimum: float
    mean: float
    std: float
    maximum: float

    def __str__(self) -> str:
        """Return min / mean / std / max with the four decimals of Silva et al., Table 2."""
        numbers = (self.minimum, self.mean, self.std, self.maximum)
        return ' / '.join(f'{number:.4f}' for number in numbers)


def statistics(values: ArrayLike) -> Statistics:
    """
    Return minimum, mean, standard deviation and maximum.

    Parameters
    ----------
    values : array_like, shape (n,)
        n >= 1. NaN among them makes all four NaN: an undefined coefficient is not left out.

    Raises
    ------
    InvalidInputError
        If there is no value, or the values are no vector of numbers.

    """
    x = _as_floats('values', values)
    if x.ndim != 1 or len(x) == 0:
        raise InvalidInputError(f'values: need shape (n,) with n >= 1, got shape {x.shape}')
    spread = float(x.std(ddof=1)) if len(x) > 1 else 0.0 * float(x[0])
    return Statistics(float(x.min()), float(x.mean()), spread, float(x.max()))


def _alike(waveforms: tuple[ArrayLike, ...]) -> list[Floats]:
    """Return arrays of one shape, of at least two finite frames."""
    arrays = [_as_floats('waveform', waveform) for waveform in waveforms]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or not shapes[0] or shapes[0][0] < 2:
        raise InvalidInputError(
            f'waveforms: need one shape (F, ...) with F >= 2 for all, got {shapes}'
        )
    if not all(np.isfinite(array).all() for array in arrays):
        raise InvalidInputError('waveforms: need finite numbers')
    return arrays


def _as_floats(name: str, x: Any) -> Floats:
    try:
        return np.array(x, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInputError(f'{name}: need an array of numbers, got {x!r}') from None
