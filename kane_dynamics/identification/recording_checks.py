# SPDX-License-Identifier: Apache-2.0
"""
What is wrong with a recording before anything is fitted to it.

Errors where a fit would be of no use: efforts that are none, or have another sign or unit than
the effort of gravity by the model; samples for a test that are among those of the fit. Warnings
where it would be worse than it could be: joints that stand still, efforts that lag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from kane_dynamics.analysis.joint_friction import SMOOTHING
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.equations import CHUNK
from kane_dynamics.identification.result import Identification, relative_error
from kane_dynamics.identification.samples import GAP, Samples, Timing
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

STILL = 0.05  # [rad, rad/s, m or m/s] a joint that moves less shows nothing
NO_MOTION = 1e-6  # [rad/s or m/s] less is roundoff: nothing is known of the friction
LOADED = 0.1  # of the effort of gravity that changes most: joints that tell sign and unit
ROUNDOFF = 1e-9  # of efforts: gravity that loads no joint
RELATED = 0.3  # correlation of efforts with those of gravity
SLOPES = 0.25, 4.0  # efforts by those of gravity; payloads do less
RATES = 0.5, 2.0  # velocities by differences of positions
LAGS = np.linspace(-0.020, 0.020, 21)  # [s]
GAIN = 0.05  # of the residual, from which a lag is told
SHARED = 0.1  # of the samples of a test; some are equal where a robot stands still
BURST = 6.0  # deviations of a residual that no friction or noise has
LEAST = 0.05  # of the range of the effort: where friction turns, good models miss less
APART = 0.2  # [s] between two bursts
WIDE = 4.0  # ranges of a joint, which no motion has
FOLLOWS = 0.3  # of a residual that goes with the speed of another joint
SLOWEST = 0.5  # [s] median step of stamps that are in seconds
REPEATED = 0.1  # of the samples, from which values that repeat are told


def check_efforts(names: Sequence[str], tau: Floats) -> None:
    """Check that efforts are numbers and change, by column; errors name the joints."""
    problems = {
        'no effort, all are zero': ~tau.any(axis=0),
        'efforts that are not finite': ~np.isfinite(tau).all(axis=0),
        'a constant effort': (np.ptp(tau, axis=0) == 0.0) & tau.any(axis=0),
    }
    for problem, bad in problems.items():
        if bad.any():
            joints = [names[k] for k in np.flatnonzero(bad).tolist()]
            raise InvalidInputError(f'{problem}: {joints}; leave them out by --joints')


def check_ranges(robot: Robot, names: Sequence[str], q: Floats) -> None:
    """Check that positions, columns by name, do not go far beyond the ranges of their joints."""
    coordinates = [robot.coordinate_index(name) for name in names]
    spans = (robot.upper - robot.lower)[coordinates]
    for name, way, span in zip(names, np.ptp(q, axis=0), spans, strict=True):
        if way > WIDE * span > 0.0:
            raise InvalidInputError(
                f"positions of '{name}' move {way / span:.3g} ranges of the joint: degrees, or "
                'before the gear'
            )


def check_signs_and_units(
    dynamics: Dynamics, names: Sequence[str], q: Floats, v: Floats, tau: Floats
) -> None:
    """
    Check that efforts are about those of gravity, on joints that gravity loads.

    What viscous and Coulomb friction and an offset explain is left out of both.

    Parameters
    ----------
    dynamics : Dynamics
        Of the robot as it is known.
    names : sequence of str
        Speeds whose efforts were measured.
    q, v, tau : ndarray, shapes (N, nq), (N, n), (N, n)
        Coordinates; speeds and efforts of these names.

    """
    indices = [dynamics.robot.velocity_index(name) for name in names]
    whole, problems = dynamics.gravity_force(q), list[str]()
    gravity = whole[:, indices]
    pairs = np.empty((len(names), 2, len(q)))
    for k in range(len(names)):
        terms = np.column_stack([v[:, k], np.tanh(v[:, k] / SMOOTHING), np.ones(len(v))])
        both = np.column_stack([gravity[:, k], tau[:, k]])
        pairs[k] = (both - terms @ np.linalg.lstsq(terms, both, rcond=None)[0]).T
    sizes = np.linalg.norm(pairs, axis=2)
    loaded = sizes[:, 0] > max(LOADED * sizes[:, 0].max(), 1e-9 * np.abs(whole).max())
    loaded &= (sizes[:, 0] > ROUNDOFF * sizes[:, 1]) & (sizes[:, 1] > 0.0)
    for k in np.flatnonzero(loaded).tolist():
        product = float(pairs[k, 0] @ pairs[k, 1])
        correlation, slope = product / sizes[k].prod(), product / sizes[k, 0] ** 2
        if correlation < -RELATED:
            problems.append(f"'{names[k]}': sign flipped against gravity by the URDF")
        elif correlation < RELATED:
            problems.append(
                f"'{names[k]}': not the efforts of this motion in rad and m, their correlation "
                f'with those of gravity by the URDF is {correlation:.2f}'
            )
        elif not SLOPES[0] < slope < SLOPES[1]:
            cause = 'currents, or efforts before the gear' if slope < 1.0 else 'other units'
            problems.append(
                f"'{names[k]}': {slope:.2g} times the efforts of gravity by the URDF: {cause}"
            )
    if problems:
        raise InvalidInputError(f'efforts: {"; ".join(problems)}')


def check_separate(*parts: Iterable[tuple[Any, ...]]) -> None:
    """Check that positions and efforts of a test, first and last, are not the training's."""
    rows = ((x for one in part for x in zip(one[0], one[-1], strict=True)) for part in parts)
    known, unseen = (
        np.fromiter((hash(q.tobytes() + tau.tobytes()) for q, tau in pairs), np.int64)
        for pairs in rows
    )
    share = np.isin(unseen, known).mean()
    if share > SHARED:
        raise InvalidInputError(
            f'validation: {100 * share:.0f} % of its samples are among those of the training; '
            'need another recording'
        )


def motion_warnings(names: Sequence[str], time: Floats, q: Floats, v: Floats) -> list[str]:
    """
    Return which joints hardly move; columns by name.

    One that stands still is an error, and so are velocities that are no rates of positions.
    """
    ways, speeds, steps = np.ptp(q, axis=0), np.abs(v).max(axis=0), np.diff(time)[:, None]
    parts = (steps > 0.0) & (steps < GAP * np.median(steps))  # not from one recording to the next
    changes = np.diff(q, axis=0) * parts
    products = np.sum(0.5 * (v[1:] + v[:-1]) * steps * changes, axis=0)
    slopes = products / np.maximum((changes**2).sum(axis=0), 1e-300)
    for name, way, slope in zip(names, ways, slopes, strict=True):
        if way >= STILL and not RATES[0] < slope < RATES[1]:
            raise InvalidInputError(
                f"'{name}': its velocity is {slope:.2g} times the rate of its position: other "
                'units, another sign, or stamps that are not in seconds'
            )
    if still := [name for name, speed in zip(names, speeds, strict=True) if speed < NO_MOTION]:
        raise InvalidInputError(f'no motion of {still}; leave them out by --joints')
    return [
        f"'{name}' hardly moves: {way:.2g} rad or m, at most {speed:.2g} rad/s or m/s; its "
        'parameters and friction stay in doubt'
        for name, way, speed in zip(names, ways, speeds, strict=True)
        if way < STILL or speed < STILL
    ]


def at_rest(samples: Samples, coordinates: Iterable[int], speeds: Iterable[int]) -> Samples:
    """Return samples in which joints that move less than noise might do not move: unseen."""
    names = 'q', 'history', 'v', 'a', 'rates', 'noise'
    changed = {name: getattr(samples, name).copy() for name in names}
    for i, k in zip(coordinates, speeds, strict=True):
        if np.ptp(samples.q[:, i]) < STILL and np.abs(samples.v[:, k]).max() < STILL:
            for name, x in changed.items():
                where, value = (i, samples.q[0, i]) if name in names[:2] else (k, 0.0)
                x[:, where] = value
    return replace(samples, **changed)


def timing_warnings(clock: Timing) -> list[str]:
    """Return what is unusual about the clock of a recording; too long steps are an error."""
    if clock.step > SLOWEST:
        raise InvalidInputError(f'time: median step {clock.step:.3g}; need stamps in seconds')
    messages = []
    if clock.gap > GAP * clock.step:
        messages.append(f'longest gap {clock.gap:.3g} s, median step {clock.step:.3g} s')
    if clock.disordered:
        share = 100 * clock.disordered
        messages.append(
            f'{share:.3g} % of the stamps do not increase; sorted, equal ones left out'
        )
    if clock.repeated > REPEATED:
        messages.append(f'{100 * clock.repeated:.0f} % of the positions repeat those before')
    return messages


def contact_warnings(
    names: Sequence[str], time: Floats, measured: Floats, modelled: Floats
) -> list[str]:
    """Return when efforts, shape (N, n), are far from those of a model: something was touched."""
    residuals, messages = np.abs(measured - modelled), []
    rms, spans = np.sqrt(np.mean(residuals**2, axis=0)), np.ptp(measured, axis=0)
    limits = np.maximum(BURST * rms, LEAST * spans)
    for name, x, most in zip(names, residuals.T, limits, strict=True):
        far = np.flatnonzero(x > most)
        runs = np.split(far, np.flatnonzero(np.diff(time[far]) > APART) + 1)
        if len(far):
            when = ', '.join(f'{time[run[0]]:.2f}-{time[run[-1]]:.2f} s' for run in runs)
            messages.append(f"'{name}': residuals above {BURST:g} deviations at {when}: contact?")
    return messages


def weight_warnings(dynamics: Dynamics, names: Sequence[str], q: Floats, tau: Floats) -> list[str]:
    """Return which efforts, by name, are too small to hold the robot by the URDF."""
    indices = [dynamics.robot.velocity_index(name) for name in names]
    least = np.abs(dynamics.gravity_force(q)[:, indices]).min(axis=0)
    most = np.abs(tau).max(axis=0)
    return [
        f"'{name}': efforts up to {x:.2g}, gravity by the URDF needs {y:.2g} or more: other "
        'units, or a spring'
        for name, x, y in zip(names, most, least, strict=True)
        if x < SLOPES[0] * y
    ]


def coupling_warnings(result: Identification, samples: Samples) -> list[str]:
    """Return pairs of joints whose residuals follow the motion of each other."""
    equations, speeds = result.equations, result.equations.speeds
    measured, modelled = equations.efforts(samples, samples.tau), result.efforts(samples)
    missed, gains = measured - modelled, np.zeros((len(speeds.names), len(speeds.names)))
    sizes = np.linalg.norm(missed, axis=0) + 1e-300
    for k, index in enumerate(speeds.indices):
        v, a = samples.v[:, index], samples.a[:, index]
        Q = np.linalg.qr(np.column_stack([v, np.tanh(v / SMOOTHING), a]))[0]
        gains[:, k] = 1.0 - np.linalg.norm(missed - Q @ (Q.T @ missed), axis=0) / sizes
    gains[relative_error(measured, modelled) < 100.0 * LEAST] = 0.0
    pairs = np.argwhere(np.triu(np.minimum(gains, gains.T), 1) > FOLLOWS).tolist()
    return [
        f"residuals of '{speeds.names[i]}' and '{speeds.names[k]}' follow the motion of each "
        'other: coupled gears?'
        for i, k in pairs
    ]


class Lag(NamedTuple):
    """How late efforts are against positions."""

    time: float  # [s]
    gain: float  # Part of the residual that goes away if they are moved back


def effort_lag(result: Identification, samples: Samples) -> Lag:
    """Return how late efforts are against what base parameters explain, of the first samples."""
    part, equations = samples.part(slice(CHUNK)), result.equations
    rows = next(equations.chunks([part]))[..., result.base.leading]
    return lag_of(part.time, rows, equations.efforts(part, part.tau), result.fit.deviations)


def lag_of(time: Floats, rows: Floats, efforts: Floats, deviations: Floats) -> Lag:
    """
    Return the lag between -20 and 20 ms with the least residual.

    Parameters
    ----------
    time : ndarray, shape (N,)
        [s].
    rows, efforts : ndarray, shapes (N, n, k), (N, n)
        Of equations rows x = efforts, whose x is fitted.
    deviations : ndarray, shape (n,)
        Of the residual of each.

    """
    inside = (time >= time[0] - LAGS[0]) & (time <= time[-1] - LAGS[-1])
    scaled = rows[inside] / deviations[:, None]
    Q = np.linalg.qr(scaled.reshape(-1, scaled.shape[-1]))[0]
    spline = CubicSpline(time, efforts)
    shifted = [(spline(time[inside] + lag) / deviations).ravel() for lag in LAGS]
    residuals = [float(np.linalg.norm(b - Q @ (Q.T @ b))) for b in shifted]
    best = int(np.argmin(residuals))
    here = residuals[len(LAGS) // 2]
    return Lag(float(LAGS[best]), 1.0 - residuals[best] / here if here > 0.0 else 0.0)


def lag_warnings(lag: Lag) -> list[str]:
    """Return that efforts lag, where moving them would help."""
    if lag.gain < GAIN:
        return []
    late = 'late' if lag.time > 0.0 else 'early'
    return [
        f'efforts are {1e3 * abs(lag.time):.0f} ms {late} against positions: without that the '
        f'residual would be {100 * lag.gain:.0f} % smaller'
    ]
