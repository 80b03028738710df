# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a base in both directions: wheel rates of a twist, the twist of wheel rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.bases.many import Many
from kane_dynamics.bases.motion_rows import MotionRows, least, left_null_space
from kane_dynamics.exceptions import InconsistentConstraintsError
from kane_dynamics.typing import Floats

# Slip of a wheel that is roundoff, as a part of the fastest part of the motion in its rows.
_ROUNDOFF = 1e-9


class Names(NamedTuple):
    """Names of the driven wheels' joints and of the steered ones, in the order of rates."""

    driven: tuple[str, ...]
    steering: tuple[str, ...]


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
        result = {
            wheel: float(np.max(slip))
            for wheel, slip in self.slips.items()
            if np.any(slip > bound)
        }
        return dict(sorted(result.items(), key=lambda item: -item[1]))


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
    names : Names
        Of the joints, in this order.

    """

    rates: Floats
    steering_rates: Floats
    names: Names

    @property
    def by_joint(self) -> dict[str, Any]:
        """Return all rates by joint [rad/s]."""
        names = (*self.names.driven, *self.names.steering)
        columns = np.concatenate([self.rates, self.steering_rates], axis=-1)
        return dict(zip(names, np.moveaxis(columns, -1, 0), strict=True))


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
    rows: MotionRows, twist: Floats, steering_rates: Floats, names: Names
) -> WheelRates:
    """
    Return the rates of wheels and steering for motions of the base.

    First the steering rates: what rolling wheels leave of the rows, N' (B nu + S s) = 0 with
    N' [D P] = 0, changes the given s as little as possible. Then the rates of all that rolls.

    Parameters
    ----------
    rows : MotionRows
        At one q.
    twist, steering_rates : ndarray, shapes (B, 3), (B, s)
        Motions, and steering rates where rolling leaves them free.
    names : Names
        Of the joints.

    """
    moved = rows.twist @ twist.T
    free = left_null_space(rows.rolling, rows.small)
    missing = free.T @ (moved + rows.steering @ steering_rates.T)
    turned = steering_rates.T - least(free.T @ rows.steering, missing, rows.small)
    steered = rows.steering @ turned
    spun = -least(rows.rolling, moved + steered, rows.small)
    slip = _slip(moved, steered, rows.rolling @ spun)
    count = len(names.driven)
    return WheelRates(*slip, rows.labels, spun[:count].T, turned.T, names)


def twist_of(rows: MotionRows, rates: Floats, steering_rates: Floats) -> BaseTwist:
    """
    Return the motions of the base for rates of its driven wheels, by least squares over all rows.

    Parameters
    ----------
    rows : MotionRows
        At one q.
    rates, steering_rates : ndarray, shapes (B, d), (B, s)
        Of driven wheels and of steered joints.

    """
    driven, steered = rows.driven @ rates.T, rows.steering @ steering_rates.T
    unknown = np.hstack([rows.twist, rows.free])
    result = -least(unknown, driven + steered, rows.small)
    return BaseTwist(*_slip(driven, steered, unknown @ result), rows.labels, result[:3].T)


def _slip(*parts: Floats) -> tuple[Floats, Floats]:
    """Return what parts of a motion leave of each row, and the fastest of them; (B, k), (B,)."""
    fastest = np.max([np.abs(part).max(axis=0, initial=0.0) for part in parts], axis=0)
    return np.asarray(sum(parts), dtype=float).T, fastest


def check_rolls(kind: str, motion: WheelRates | BaseTwist) -> None:
    """
    Refuse a motion in which wheels slip.

    Raises
    ------
    InconsistentConstraintsError
        If one does; it says which and by how much.

    """
    slip_by_wheel = motion.slip_by_wheel
    if slip_by_wheel:
        said = ', '.join(f'{wheel} by {slip:.3g} m/s' for wheel, slip in slip_by_wheel.items())
        raise InconsistentConstraintsError(
            f'{kind} base: its wheels cannot all roll; they slip: {said}',
            len(motion.labels) - len(slip_by_wheel),
            float(np.abs(motion.residual).max()),
        )
