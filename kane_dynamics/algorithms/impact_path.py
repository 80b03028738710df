# SPDX-License-Identifier: Apache-2.0
r"""
The impact of one contact with dry friction, along its normal impulse (Routh 1860).

.. math:: du = W\, dp, \qquad dp = (1, -\mu\, u_t/|u_t|)\, dp_n

Slip may stop on the way; then the contact sticks, if it can, or slips in the one direction in
which slip grows. Compression ends where u_n = 0. Poisson's law lets the normal impulse grow by e
times that of compression, Stronge's until the normal force has given back e^2 of the work that
compression took (Stronge, Impact mechanics, 2000); neither creates energy. Where friction turns
the normal speed inwards, u_n = 0 is enough for an impact to begin (Painleve).
"""

from dataclasses import dataclass
from math import hypot, sqrt
from operator import mul

import numpy as np
import scipy

from kane_dynamics.exceptions import ContactError
from kane_dynamics.typing import Floats

POISSON, ENERGETIC = 'poisson', 'energetic'
# Slip, relative to all speeds, at which it has stopped: the rest of its way is as short.
_STOPPED = 1e-14
# Of the response of the normal speed to its impulse: a contact that sticks moves no more, where
# it moves along a line. Normal speed and slip stop together then, but for roundoff.
_HELD = 1e-10
_ACCURATE = 1e-15  # of a power series, relative to all speeds
_STRAIGHT = 1e-12  # of the speeds, that slip which stops may still turn by
_ORDER = 24  # of the series
_DEGREES = np.arange(_ORDER + 2.0)
_SAMPLES = 9  # of a series, in search of a root of it
_ROOT, _TINY = 1e-16, 1e-300
_IMPULSE, _SPEED, _WORK = range(3)


@dataclass(slots=True)
class _Walk:
    """Where the impact has come to."""

    response: Floats
    friction: float
    restitution: float
    law: str
    p: Floats  # impulse
    u: Floats  # speeds
    scale: float  # size of the speeds before
    work: float = 0.0  # of the normal impulse
    turned: float = -1.0  # normal impulse at the end of compression
    spent: float = 0.0  # work until then

    @property
    def target(self) -> tuple[int, float]:
        """Return which of normal impulse, speed and work ends this part, and where."""
        if self.turned < 0.0:
            return _SPEED, 0.0
        if self.law == POISSON:
            return _IMPULSE, (1.0 + self.restitution) * self.turned
        return _WORK, (1.0 - self.restitution**2) * self.spent

    @property
    def parts(self) -> int:
        """Return how many of compression and restitution are still to come."""
        return 2 if self.turned < 0.0 < self.restitution else 1

    def turn(self) -> None:
        """Begin restitution, where it has not begun."""
        if self.turned < 0.0:
            self.u[0], self.turned, self.spent = 0.0, float(self.p[0]), self.work


def impact_path(
    response: Floats, u: Floats, friction: float, restitution: float, law: str
) -> Floats:
    """Return the impulse p of an impact, normal part first."""
    scale = float(np.abs(u).max())
    walk = _Walk(response, friction, restitution, law, np.zeros(len(u)), u.copy(), scale)
    if walk.response[0, 0] <= 0.0 or (walk.u[0] >= 0.0 and not _is_drawn_in(walk)):
        return walk.p
    if not (_slides_to_end(walk) or _straight(walk, _after_stop(walk))):
        raise ContactError(f'this impact does not end: u = {u}, W = {response.tolist()}')
    return walk.p


def _slides_to_end(walk: _Walk) -> bool:
    """Go on until slip stops; return whether the impact ended before."""
    turns = walk.friction > 0.0
    while turns and np.linalg.norm(walk.u[1:]) > _STOPPED * walk.scale:
        along = _sliding(walk)
        turns = _turns(walk, along)
        if _curved(walk) if turns else _straight(walk, along):
            return True
    walk.u[1:] = 0.0
    return False


def _is_drawn_in(walk: _Walk) -> bool:
    """Return whether friction draws a contact in that does not come nearer."""
    slips = walk.friction > 0.0 and np.linalg.norm(walk.u[1:]) > _STOPPED * walk.scale
    if walk.u[0] > _STOPPED * walk.scale or not slips:
        return False
    return float(walk.response[0] @ _sliding(walk)) < 0.0


def _sliding(walk: _Walk) -> Floats:
    """Return the direction of the impulse of a contact that slips."""
    slip = walk.u[1:]
    return np.concatenate([[1.0], -walk.friction * slip / np.linalg.norm(slip)])


def _turns(walk: _Walk, along: Floats) -> bool:
    """Return whether slip turns where the impulse grows along a direction, before it stops."""
    if len(along) == 2:
        return False
    slip, change = walk.u[1:], walk.response[1:] @ along
    turning = abs(float(slip[0] * change[1] - slip[1] * change[0]))
    size, stops = float(np.linalg.norm(slip)), -float(slip @ change)
    every = size * float(np.linalg.norm(walk.response[1:]) * np.linalg.norm(along))
    return turning > _STOPPED * every and turning * size > _STRAIGHT * walk.scale * stops


def _after_stop(walk: _Walk) -> Floats:
    """Return the direction of the impulse from where slip has stopped, or there was none."""
    W, mu = walk.response, walk.friction
    if mu == 0.0 or len(W) == 1:
        return np.eye(len(W))[0]
    sticking = -np.linalg.lstsq(W[1:, 1:], W[1:, 0], rcond=None)[0]
    if np.linalg.norm(sticking) <= mu:
        return np.concatenate([[1.0], sticking])
    # slip grows along t: W_tn - mu W_tt t = h t with h > 0, |t| = 1
    values, vectors = np.linalg.eigh(mu * W[1:, 1:])
    pull = vectors.T @ W[1:, 0]

    def excess(h: float) -> float:
        return float(np.linalg.norm(pull / (values + h))) - 1.0

    most = float(np.linalg.norm(pull))
    least = max(most - float(values[-1]), _STOPPED * most)
    h = least  # where it nearly sticks
    if excess(least) > 0.0:
        h = scipy.optimize.brentq(excess, least, most, xtol=1e-15 * most)
    along = vectors @ (pull / (values + h))
    return np.concatenate([[1.0], -mu * along / np.linalg.norm(along)])


def _straight(walk: _Walk, along: Floats) -> bool:
    """Go along a direction until slip stops; return whether the impact ended before."""
    rate = walk.response @ along
    slip, change = walk.u[1:], rate[1:]
    stops = float(slip @ change) < 0.0
    way = float(-(slip @ slip) / (slip @ change)) if stops else np.inf
    for _ in range(walk.parts):
        to_end = _to_end(walk, float(rate[0]))
        step = min(way, to_end)
        if not np.isfinite(step):
            return False
        walk.work += step * (float(walk.u[0]) + 0.5 * step * float(rate[0]))
        walk.p = walk.p + step * along
        walk.u = walk.u + step * rate
        if way < to_end:
            return False
        way -= step
        walk.turn()
    return True


def _to_end(walk: _Walk, rate: float) -> float:
    """Return the normal impulse until compression, or the impact, ends at a rate of u_n."""
    u, (which, target) = float(walk.u[0]), walk.target
    held = abs(rate) <= _HELD * walk.response[0, 0]
    if which == _SPEED:
        if held and abs(u) <= _HELD * walk.scale:
            return 0.0
        return -u / rate if rate > 0.0 and not held else np.inf
    if which == _IMPULSE:
        return max(target - float(walk.p[0]), 0.0)
    work = max(target - walk.work, 0.0)
    root = u * u + 2.0 * rate * work
    return 2.0 * work / (u + sqrt(root)) if root > 0.0 and not held else 0.0


def _curved(walk: _Walk) -> bool:
    """
    Go on while a contact slips in a plane; return whether the impact ended within this step.

    The variable is that of dp_n = r d(sigma), r = |u_t|: in it, the direction of slip turns at a
    finite rate and r falls exponentially. A step is as long as its power series is accurate.
    """
    W, mu = walk.response, walk.friction
    r, x, y = _slip_series(mu, walk.u.tolist(), W.tolist())
    p = np.array([r, x, y]) / _DEGREES[1:] * [[1.0], [-mu], [-mu]]
    u = W @ p
    work = np.convolve(r, [walk.u[0], *u[0]])[: len(r)] / _DEGREES[1:]
    series = np.column_stack([[*walk.p, *walk.u, walk.work], np.vstack([p, u, work])])
    last = np.abs(u[1:, -2:]).max(axis=0) + _TINY
    h = float(((_ACCURATE * walk.scale / last) ** (1.0 / _DEGREES[-2:])).min())
    begin = 0.0
    for _ in range(walk.parts):
        k, target = walk.target
        end = series[3 * k].copy()
        end[0] -= target
        root = _first_root(end, begin, h)
        whole = series @ (h if root is None else root) ** _DEGREES
        walk.p, walk.u, walk.work = whole[:3], whole[3:6], float(whole[6])
        if root is None:
            return False
        walk.turn()
        begin = root
    return True


def _slip_series(
    mu: float, u: list[float], W: list[list[float]]
) -> tuple[list[float], list[float], list[float]]:
    """Return r, x and y in sigma: d(x, y) = W_tn r - mu W_tt (x, y), and r^2 = x^2 + y^2."""
    (_, nx, ny), (_, xx, xy), (_, _, yy) = W
    x, y, r = [u[1]], [u[2]], [hypot(u[1], u[2])]
    for k in range(_ORDER):
        x.append((nx * r[k] - mu * (xx * x[k] + xy * y[k])) / (k + 1))
        y.append((ny * r[k] - mu * (xy * x[k] + yy * y[k])) / (k + 1))
        squares = sum(map(mul, x, x[::-1])) + sum(map(mul, y, y[::-1]))
        r.append((squares - sum(map(mul, r[1:], r[:0:-1]))) / (2.0 * r[0]))
    return r, x, y


def _first_root(series: Floats, begin: float, h: float) -> float | None:
    """Return where a series that is negative from `begin` on ceases to be; None if after h."""
    if series[0] == begin == 0.0:
        series = series[1:]
    powers, times = _DEGREES[: len(series)], np.linspace(begin, h, _SAMPLES)
    values = times[:, None] ** powers @ series
    k = int(np.argmax(values >= 0.0))
    if k == 0:
        return begin if values[0] >= 0.0 else None
    before, after = times[k - 1 : k + 1].tolist()
    return scipy.optimize.brentq(lambda s: s**powers @ series, before, after, xtol=_ROOT * h)
