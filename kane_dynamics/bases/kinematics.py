# SPDX-License-Identifier: Apache-2.0
r"""
Kinematics of a base by least squares: wheel rates, twist, steering angles.

The row of a wheel on a vertical axis is a sinusoid of its angle,
:math:`(k_0 + k_c \cos\beta + k_s \sin\beta)\cdot\nu = 0`; three evaluations give it. Without trail
:math:`k_0 = 0`, and the two solutions are half a turn apart. Differentiated, it gives the rate:
:math:`\beta' = -k(\beta)\cdot\nu' / (k_\beta(\beta)\cdot\nu)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from kane_dynamics.bases.motion_rows import BaseRows, MotionRows, least, left_null_space
from kane_dynamics.exceptions import InconsistentConstraintsError
from kane_dynamics.typing import Bools, Floats

_T = TypeVar('_T', bound='Many')


class Many:
    """A dataclass whose arrays all have as many rows; other fields do not depend on the motion."""

    def at(self: _T, k: int) -> _T:
        """Return the result of motion k."""
        return self._mapped(lambda name: getattr(self, name)[k])

    def joined(self: _T, results: Sequence[_T]) -> _T:
        """Return the rows of several results, one after the other."""
        return self._mapped(lambda name: np.concatenate([getattr(r, name) for r in results]))

    def _mapped(self: _T, of: Callable[[str], Any]) -> _T:
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        arrays = {name: of(name) for name, x in values.items() if isinstance(x, np.ndarray)}
        return type(self)(**{**values, **arrays})


# Slip of a wheel that is roundoff, as a part of the fastest part of the motion in its rows.
_ROUNDOFF = 1e-9


@dataclass(frozen=True, eq=False)
class _Slipping(Many):
    """
    A motion of a base, and how far its wheels are from rolling.

    Parameters
    ----------
    residual : ndarray, shape (k,) or (B, k)
        What is left of each row, the velocity of a contact point in its direction [m/s].
    fastest : ndarray, shape () or (B,)
        Largest velocity that a part of the motion gives a contact point [m/s].
    labels : tuple of str
        Names of the rows, ``<wheel joint>/<direction>``.

    """

    residual: Floats
    fastest: Floats
    labels: tuple[str, ...]

    @property
    def slips(self) -> dict[str, Any]:
        """Return the speed at which each wheel slips, by its joint [m/s]."""
        owners = np.array([label.rpartition('/')[0] for label in self.labels])
        return {
            str(owner): np.linalg.norm(self.residual[..., owners == owner], axis=-1)
            for owner in dict.fromkeys(owners)
        }

    @property
    def slip_by_wheel(self) -> dict[str, float]:
        """
        Return the wheels that contradict each other, the worst first, and their slips [m/s].

        Of many motions each wheel's worst slip. Empty where all roll, but for roundoff.
        """
        bound = _ROUNDOFF * self.fastest
        slips = {
            wheel: float(np.max(slip))
            for wheel, slip in self.slips.items()
            if np.any(slip > bound)
        }
        return dict(sorted(slips.items(), key=lambda item: -item[1]))


@dataclass(frozen=True, eq=False)
class WheelRates(_Slipping):
    """
    Rates of the joints of a base; `residual`, `slips`, `slip_by_wheel` say how well wheels roll.

    Parameters
    ----------
    residual, fastest : ndarray
        What is left of the rows, and the largest velocity of a contact point [m/s].
    labels : tuple of str
        Names of the rows, ``<wheel joint>/<direction>``.
    rates : ndarray, shape (d,) or (B, d)
        Of the driven wheels [rad/s].
    steering_rates : ndarray, shape (s,) or (B, s)
        Of the steered joints [rad/s].
    joints : tuple of str
        Names of the driven joints, then of the steered ones.

    """

    rates: Floats
    steering_rates: Floats
    joints: tuple[str, ...]

    @property
    def by_joint(self) -> dict[str, Any]:
        """Return all rates by joint [rad/s]."""
        columns = np.concatenate([self.rates, self.steering_rates], axis=-1)
        return dict(zip(self.joints, np.moveaxis(columns, -1, 0), strict=True))


@dataclass(frozen=True, eq=False)
class BaseTwist(_Slipping):
    """
    Motion of a base; `residual`, `slips` and `slip_by_wheel` say how well its wheels roll.

    Parameters
    ----------
    residual, fastest : ndarray
        What is left of the rows, and the largest velocity of a contact point [m/s].
    labels : tuple of str
        Names of the rows, ``<wheel joint>/<direction>``.
    twist : ndarray, shape (3,) or (B, 3)
        (vx, vy, yaw rate) of the base frame in its own axes [m/s, rad/s].

    """

    twist: Floats


def wheel_rates_of(
    rows: MotionRows, twist: Floats, steering_rates: Floats, joints: tuple[str, ...]
) -> WheelRates:
    """
    Return the rates of wheels and steering for motions of the base.

    First the steering rates: what rolling wheels leave of the rows, N' (B nu + S s) = 0 with
    N' [D P] = 0, changes the given s as little as possible. Then the rates of all that rolls.
    """
    moved = rows.twist @ twist.T
    free = left_null_space(rows.rolling, rows.small)
    missing = free.T @ (moved + rows.steering @ steering_rates.T)
    turned = steering_rates.T - least(free.T @ rows.steering, missing, rows.small)
    steered = rows.steering @ turned
    spun = -least(rows.rolling, moved + steered, rows.small)
    slip = _slip(moved, steered, rows.rolling @ spun)
    count = rows.driven.shape[1]
    return WheelRates(*slip, rows.labels, spun[:count].T, turned.T, joints)


def twist_of(rows: MotionRows, rates: Floats, steering_rates: Floats) -> BaseTwist:
    """Return the motions of the base for rates of its driven wheels, by least squares."""
    driven, steered = rows.driven @ rates.T, rows.steering @ steering_rates.T
    unknown = np.hstack([rows.twist, rows.free])
    motion = -least(unknown, driven + steered, rows.small)
    return BaseTwist(*_slip(driven, steered, unknown @ motion), rows.labels, motion[:3].T)


def _slip(*parts: Floats) -> tuple[Floats, Floats]:
    """Return what parts of a motion leave of each row, and the fastest of them; (B, k), (B,)."""
    fastest = np.max([np.abs(part).max(axis=0, initial=0.0) for part in parts], axis=0)
    return np.asarray(sum(parts), dtype=float).T, fastest


def check_rolls(kind: str, motion: WheelRates | BaseTwist) -> None:
    """Refuse a motion in which wheels slip."""
    slip_by_wheel = motion.slip_by_wheel
    if slip_by_wheel:
        said = ', '.join(f'{wheel} by {slip:.3g} m/s' for wheel, slip in slip_by_wheel.items())
        raise InconsistentConstraintsError(
            f'{kind} base: its wheels cannot all roll; they slip: {said}',
            len(motion.labels) - len(slip_by_wheel),
            float(np.abs(motion.residual).max()),
        )


_TURN = 2.0 * np.pi
_AT_REST = 1e-12  # [m/s] of a steering axis, below which its heading means nothing


@dataclass(frozen=True, eq=False)
class SteeringAngles(Many):
    """
    Angles of the steered joints of a base.

    Parameters
    ----------
    angles, rates : ndarray, shape (s,) or (B, s)
        [rad] and [rad/s].
    reached : ndarray of bool, shape (s,) or (B, s)
        Where False no angle within the limits fits; the angle is at the limit nearest to one.
    steering : tuple of str
        Names of the joints, in this order.

    """

    angles: Floats
    rates: Floats
    reached: Bools
    steering: tuple[str, ...]

    @property
    def by_joint(self) -> dict[str, Floats]:
        """Return the angles by joint [rad]."""
        return dict(zip(self.steering, np.moveaxis(self.angles, -1, 0), strict=True))


def steering_angles_of(
    rows: BaseRows, q: Sequence[float], twist: Floats, twist_rate: Floats
) -> SteeringAngles:
    """Return the angles of steered wheels for motions of the base."""
    k0, kc, ks = rows.lateral(q)
    present = np.array(q)[rows.steering_angles]
    constant, a, b = twist @ k0.T, twist @ kc.T, twist @ ks.T
    size = np.hypot(a, b)
    moving = size > _AT_REST
    half = np.arccos(np.clip(-constant / np.where(moving, size, 1.0), -1.0, 1.0))
    peak = np.arctan2(b, a)
    limits = (x[rows.steering_angles] for x in (rows.robot.lower, rows.robot.upper))
    angles, reached = _nearest(np.stack([peak + half, peak - half]), present, *limits)
    angles = np.where(moving, angles, present)
    reached = (reached | ~moving) & (np.abs(constant) <= np.maximum(size, _AT_REST))
    slope = b * np.cos(angles) - a * np.sin(angles)
    drift = twist_rate @ k0.T + np.cos(angles) * (twist_rate @ kc.T)
    drift += np.sin(angles) * (twist_rate @ ks.T)
    turning = moving & reached & (np.abs(slope) > _AT_REST)
    rates = np.where(turning, -drift / np.where(turning, slope, 1.0), 0.0)
    return SteeringAngles(angles, rates, reached, tuple(w.steering or '' for w in rows.steered))


def _nearest(
    solutions: Floats, present: Floats, lower: Floats, upper: Floats
) -> tuple[Floats, Bools]:
    """Return the solution, or a turn of it, nearest to an angle within limits; else the limit."""
    turned = solutions + _TURN * np.round((present - solutions) / _TURN)
    every = np.concatenate([turned - _TURN, turned, turned + _TURN])
    allowed = np.clip(every, lower, upper)
    miss = np.abs(allowed - every)
    missed = miss.min(axis=0)
    # of those that miss the limits least, the one nearest to the present angle
    distance = np.where(miss <= missed + 1e-12, np.abs(allowed - present), np.inf)
    best = distance.argmin(axis=0)[None]
    angles = np.take_along_axis(allowed, best, axis=0)[0]
    return angles, missed <= 1e-12
