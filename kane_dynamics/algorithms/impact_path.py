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
from math import cos, exp, log, sin
from typing import Any

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
_ACCURATE = 1e-11  # of solve_ivp, relative; leaves 1e-12 of impulses
_LONGEST = 1e12  # of the integration variable; slip has stopped or the impact ended long before


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

    def left(self) -> tuple[float, float]:
        """Return the normal impulse (Poisson) or work (Stronge) until the end, the other inf."""
        if self.law == POISSON:
            return (1.0 + self.restitution) * self.turned - float(self.p[0]), np.inf
        return np.inf, -(self.restitution**2) * self.spent - (self.work - self.spent)

    @property
    def parts(self) -> int:
        """Return how many of compression and restitution are still to come."""
        return 2 if self.turned < 0.0 else 1

    def turn(self) -> None:
        """Begin restitution, where it has not begun."""
        if self.turned >= 0.0:
            return
        self.u[0] = 0.0
        self.turned, self.spent = float(self.p[0]), self.work


def impact_path(
    response: Floats, u: Floats, friction: float, restitution: float, law: str
) -> Floats:
    """Return the impulse p of an impact, normal part first."""
    scale = float(np.abs(u).max())
    walk = _Walk(response, friction, restitution, law, np.zeros(len(u)), u.copy(), scale)
    if walk.response[0, 0] <= 0.0 or (walk.u[0] >= 0.0 and not _is_drawn_in(walk)):
        return walk.p
    stopped = _STOPPED * walk.scale
    if friction > 0.0 and np.linalg.norm(walk.u[1:]) > stopped:
        along = _sliding(walk)
        ended = _curved(walk, stopped) if _turns(walk, along) else _straight(walk, along)
        if ended:
            return walk.p
        walk.u[1:] = 0.0
    if not _straight(walk, _after_stop(walk)):
        raise ContactError(f'this impact does not end: u = {u}, W = {response.tolist()}')
    return walk.p


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
    """Return whether slip turns where the impulse grows along a direction."""
    if len(along) == 2:
        return False
    slip, change = walk.u[1:], walk.response[1:] @ along
    turning = abs(float(slip[0] * change[1] - slip[1] * change[0]))
    sizes = np.linalg.norm(slip) * np.linalg.norm(walk.response[1:]) * np.linalg.norm(along)
    return turning > _STOPPED * float(sizes)


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
    u = float(walk.u[0])
    held = abs(rate) <= _HELD * walk.response[0, 0]
    if walk.turned < 0.0:
        if held and abs(u) <= _HELD * walk.scale:
            return 0.0
        return -u / rate if rate > 0.0 and not held else np.inf
    impulse, work = walk.left()
    if np.isfinite(impulse):
        return max(impulse, 0.0)
    if held:
        return 0.0
    root = u * u + 2.0 * rate * max(work, 0.0)
    return 2.0 * max(work, 0.0) / (u + np.sqrt(root)) if root > 0.0 else 0.0


def _curved(walk: _Walk, stopped: float) -> bool:
    """
    Go from the start while a contact slips in a plane; return whether the impact ended first.

    The variable is that of dp_n = r d(sigma), r = |u_t|: in it, the direction of slip turns at a
    finite rate and r falls exponentially.
    """
    mu = walk.friction
    (nn, nx, ny), (_, xx, xy), (_, _, yy) = walk.response.tolist()

    def rates(_: float, y: Floats) -> tuple[float, ...]:
        angle, log_r, _p, _x, _y, u, _work = y.tolist()
        r, c, s = exp(log_r), cos(angle), sin(angle)
        drive_x, drive_y = nx - mu * (xx * c + xy * s), ny - mu * (xy * c + yy * s)
        normal = nn - mu * (nx * c + ny * s)
        turning, grows = drive_y * c - drive_x * s, drive_x * c + drive_y * s
        return turning, grows, r, -mu * r * c, -mu * r * s, r * normal, r * u

    def stop(_: float, y: Floats) -> float:
        return float(y[1]) - log(stopped)

    def end(_: float, y: Floats) -> float:
        if walk.turned < 0.0:
            return float(y[5])
        impulse, work = walk.left()
        arguments = y[2] - walk.p[0], y[6] - walk.work
        return float(arguments[0] - impulse if np.isfinite(impulse) else arguments[1] - work)

    events: list[Any] = [stop, end]
    for event, direction in zip(events, (-1.0, 1.0), strict=True):
        event.terminal, event.direction = True, direction
    slip = walk.u[1:]
    y = np.array(
        [np.arctan2(slip[1], slip[0]), np.log(np.linalg.norm(slip)), 0, 0, 0, walk.u[0], 0.0]
    )
    for _ in range(walk.parts):
        result = scipy.integrate.solve_ivp(
            rates,
            (0.0, _LONGEST),
            y,
            'DOP853',
            events=events,
            rtol=_ACCURATE,
            atol=_ACCURATE * walk.scale,
        )
        y = result.y[:, -1]
        walk.p, walk.work = y[2:5], float(y[6])
        r = np.exp(y[1])
        walk.u = np.array([y[5], r * np.cos(y[0]), r * np.sin(y[0])])
        if len(result.t_events[1]) == 0:
            return False
        if walk.turned < 0.0:
            y[5] = 0.0
        walk.turn()
        if walk.restitution == 0.0:
            break
    return True
