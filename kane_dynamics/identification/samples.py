# SPDX-License-Identifier: Apache-2.0
"""
From a recording to samples at even steps, on which a fit can be made.

Positions, speeds and efforts pass the same filter, forwards and backwards, so that none is late
against another; one that is late takes part of the friction at each reversal for something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import butter, sosfiltfilt

from kane_dynamics.analysis.joint_friction import presliding_states
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.typing import ArrayLike, Floats, Indices

__all__ = ['Samples', 'Timing', 'prepared_samples', 'timing']

GAP = 5.0  # median steps: nothing is known of the motion within longer ones
_SHORT = 0.1  # of the period of the filter's corner: a gap below it is none for what passes
ORDER = 4  # of the Butterworth filter, one way
_WIDER = 2.0  # corners: friction turns at once, of smooth speeds it would turn early
CUT = 0.5  # [s] at both ends
BLOCK = 1 << 17  # samples that are filtered at once
_KEPT = 4  # blocks that stay in memory
Columns = Sequence[Floats]
HIGHEST = 0.4  # of half the sample rate: above it a filter keeps what differences make of noise


class Timing(NamedTuple):
    """
    The clock of a recording.

    Parameters
    ----------
    step, gap : float
        Median of the steps, and the longest [s].
    jitter : float
        Standard deviation of the steps that are no gaps [s].
    repeated : float
        Share of the samples that repeat the positions before.
    disordered : float
        Share of the stamps that are not after the one before.

    """

    step: float
    gap: float
    jitter: float
    repeated: float
    disordered: float


@dataclass(frozen=True, eq=False)
class Samples:
    """
    A motion and its efforts at even steps, filtered and thinned out.

    Parameters
    ----------
    time : ndarray, shape (N,)
        [s].
    q, v, a : ndarray, shapes (N, nq), (N, nv), (N, nv)
        Coordinates, speeds and accelerations.
    tau : ndarray, shape (N, nv)
        Efforts [N m or N].
    raw : ndarray, shape (N, nv)
        Efforts as measured, not filtered.
    history, rates : ndarray, shapes (K, nq), (K, nv)
        Coordinates and speeds before they were thinned out.
    noise : ndarray, shape (K, nv)
        Independent of the noise of `rates`, with the spectrum of it if what was measured is white.
    index : ndarray, shape (N,)
        Where the samples are in them.
    sections : ndarray, shape (k, 6), optional
        Of the filter that all has passed.

    """

    time: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    raw: Floats
    history: Floats
    rates: Floats
    noise: Floats
    index: Indices
    sections: Floats | None = None

    def __len__(self) -> int:
        return len(self.time)

    def part(self, selection: slice) -> Samples:
        """Return some samples; what was before them stays known."""
        names = 'time', 'q', 'v', 'a', 'tau', 'raw', 'index'
        return replace(self, **{name: getattr(self, name)[selection] for name in names})

    def presliding(self, coordinate: int, travel: float) -> Floats:
        """Return the presliding state of a joint at the samples; see `presliding_states`."""
        return self.filtered(presliding_states(self.history[:, coordinate], travel))

    def filtered(self, column: Floats) -> Floats:
        """
        Return what the filter of the efforts leaves of a function of history, at the samples.

        What jumps at reversals has lost as much of it in the efforts, or friction is mistaken.
        """
        if self.sections is not None:
            column = sosfiltfilt(self.sections, column)
        return np.asarray(column[self.index])


class SampleBlocks(Sequence[Samples]):
    """
    Samples that are made when they are asked for, of which the last few stay in memory.

    Parameters
    ----------
    makes : sequence of callable
        Functions that return `Samples`, one for each.

    """

    def __init__(self, makes: Sequence[Callable[[], Samples]]) -> None:
        self._makes = tuple(makes)
        self._made = lru_cache(_KEPT)(lambda k: self._makes[k]())

    def __len__(self) -> int:
        return len(self._makes)

    def __getitem__(self, k: Any) -> Any:
        return self._made(range(len(self))[k])  # IndexError beyond the end, so loops end

    def map(self, change: Callable[[Samples], Samples]) -> SampleBlocks:
        """Return the blocks with something changed in each."""
        return SampleBlocks([partial(lambda make: change(make()), make) for make in self._makes])


def timing(time: ArrayLike, q: ArrayLike) -> Timing:
    """
    Return what the clock of a recording is like.

    Parameters
    ----------
    time : array_like, shape (K,)
        Stamps [s], in any order.
    q : array_like, shape (K, n)
        Positions.

    Examples
    --------
    >>> from kane_dynamics.identification.samples import timing
    >>> clock = timing([0.0, 0.1, 0.2, 0.9], [[0.0], [0.1], [0.1], [0.4]])
    >>> round(clock.step, 6), round(clock.gap, 6), round(clock.repeated, 3)
    (0.1, 0.7, 0.333)

    """
    t, order = in_order(time)
    x = checks.as_shaped('q', q, (np.size(time), 'n'))[order]
    steps = np.diff(t)
    step = float(np.median(steps))
    even = steps[steps <= GAP * step]
    repeated = np.mean((x[1:] == x[:-1]).all(axis=1))
    disordered = np.mean(np.diff(np.ravel(time)) <= 0.0)
    return Timing(step, float(steps.max()), float(even.std()), float(repeated), float(disordered))


def prepared_samples(
    time: ArrayLike,
    q: ArrayLike,
    tau: ArrayLike,
    v: ArrayLike | None = None,
    *,
    corner: float = 8.0,
    cut: float = CUT,
    rate: float = 100.0,
) -> tuple[Samples, ...]:
    """
    Return the samples of a recording, `Samples` for each part without a gap, long ones in blocks.

    Sorted by time, stamps that repeat left out; linearly interpolated at the median step; filtered
    forwards and backwards (Butterworth, order 4); accelerations by central differences of filtered
    speeds; the ends, where the filter knows one side only, left out, and so parts that are hardly
    longer than both; thinned out to `rate`.

    Parameters
    ----------
    time : array_like, shape (K,)
        Stamps of the measurements, not of their arrival [s].
    q : array_like, shape (K, nv)
        Coordinates; each speed must be the rate of one.
    tau : array_like, shape (K, nv)
        Efforts [N m or N].
    v : array_like, shape (K, nv), optional
        Speeds; central differences of filtered coordinates where left out.
    corner : float
        Corner frequency of the filter [Hz], above all harmonics of the motion.
    cut : float
        What is left out at both ends of each part [s].
    rate : float
        Samples a second that are kept, about [Hz].

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, the corner is above 0.4 of half the sample
        rate, or no part is long enough.

    Examples
    --------
    >>> from kane_dynamics.identification.samples import prepared_samples
    >>> t = np.arange(0.0, 3.0, 0.002)
    >>> q = np.column_stack([np.sin(t), np.cos(t)])
    >>> (samples,) = prepared_samples(t, q, 5.0 * q)
    >>> len(samples), np.allclose(samples.a, -samples.q, atol=0.01)
    (200, True)

    """
    t, order = in_order(time)
    measured = (q, tau) if v is None else (q, tau, v)
    columns = [checks.as_shaped('samples', x, (np.size(time), 'n'))[order] for x in measured]
    makes = sample_makes(t, lambda part: [x[part] for x in columns], corner, rate, cut)
    return tuple(make() for make in makes)


def sample_makes(
    t: Floats, read: Callable[[slice], Columns], corner: float, rate: float, cut: float = CUT
) -> list[Callable[[], Samples]]:
    """Return what makes the samples of `prepared_samples`, of q, tau and perhaps v of a part."""
    step = float(np.median(np.diff(t)))
    highest = HIGHEST * 0.5 / step
    if checks.as_positive('corner [Hz]', corner) > highest:
        raise InvalidInputError(f'corner [Hz]: need one in (0, {highest:g}], got {corner:g}')
    gap = max(GAP * step, _SHORT / corner)
    starts = [0, *(np.flatnonzero(np.diff(t) > gap) + 1), len(t)]
    every = max(1, round(1.0 / (checks.as_positive('rate [Hz]', rate) * step)))
    margin = round(checks.as_nonnegative('cut [s]', cut) / step)
    makes = list[Callable[[], Samples]]()
    for first, last in pairwise(starts):
        ends = np.linspace(first, last, 1 + -(-(last - first) // BLOCK)).astype(int)
        for begin, end in pairwise(ends.tolist()):
            part = slice(begin, min(end + 2 * margin, last))  # the filter knows both sides
            if (t[part][-1] - t[begin]) / step > 2 * margin + 10 * every:
                one = t[part], partial(read, part)
                makes.append(partial(_prepared, *one, step, corner, margin, every))
    if not makes:
        raise InvalidInputError(
            f'time [s]: no part without a gap of {gap:g} s is longer than '
            f'{(2 * margin + 10 * every) * step:g} s'
        )
    return makes


def in_order(time: ArrayLike) -> tuple[Floats, slice | Indices]:
    """Return stamps in time, each once, and where they were."""
    t = checks.as_shaped('time [s]', time, ('K',))
    order: slice | Indices = slice(None)
    if not (np.diff(t) > 0.0).all():  # else nothing is copied
        t, order = np.unique(t, return_index=True)
    if len(t) < 3:
        raise InvalidInputError(f'time [s]: need 3 different ones, got {len(t)}')
    return t, order


def _prepared(
    t: Floats, read: Callable[[], Columns], step: float, corner: float, margin: int, every: int
) -> Samples:
    """Return the samples of one part."""
    columns = (checks.as_shaped('samples', x, (len(t), 'n')) for x in read())
    even = t[0] + step * np.arange(int((t[-1] - t[0]) / step + 1e-6) + 1)
    resampled = [np.column_stack([np.interp(even, t, column) for column in x.T]) for x in columns]
    sections, wide = (
        butter(ORDER, x, fs=1.0 / step, output='sos') for x in (corner, _WIDER * corner)
    )
    q, tau, *more = (sosfiltfilt(sections, x, axis=0) for x in resampled)
    v = more[0] if more else np.gradient(q, step, axis=0)
    measured = resampled[2] if more else np.gradient(resampled[0], step, axis=0)
    index = np.arange(margin, len(even) - margin, every)
    a = np.gradient(v, step, axis=0)
    rates = sosfiltfilt(wide, measured, axis=0)
    # white noise is the same around half the sample rate, where no motion is
    signs = np.where(np.arange(len(even))[:, None] % 2, -0.5, 0.5)
    noise = sosfiltfilt(wide, signs * np.diff(measured, axis=0, prepend=measured[:1]), axis=0)
    kept = even[index], q[index], v[index], a[index], tau[index], resampled[1][index]
    return Samples(*kept, q, rates, noise, index, sections)
