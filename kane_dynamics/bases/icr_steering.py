# SPDX-License-Identifier: Apache-2.0
r"""
Steering angles that agree: those of wheels without trail have one centre of turning in common.

The lateral row of such a wheel, :math:`(k_c \cos\beta + k_s \sin\beta)\cdot\nu = 0`, asks that
the motion :math:`\nu` of the base has no part across the wheel. Angles agree where one
:math:`\nu \neq 0` satisfies the rows of all wheels, fixed ones too. Measured angles never do, to
the last digit: then the base could not move at all. The nearest angles that do minimise

.. math:: \sum_i (\beta_i(\nu) - \beta_i)^2, \qquad
   \beta_i(\nu) = \mathrm{atan2}(-k_{c,i}\cdot\nu,\; k_{s,i}\cdot\nu) \bmod \pi ,

over the directions of :math:`\nu` that fixed wheels allow: Gauss and Newton, from the singular
vector of the rows that they change least.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kane_dynamics.bases.motion_rows import BaseRows, left_null_space
from kane_dynamics.typing import Bools, Floats, Indices

# the angles of a direction agree whatever it is: what is left of the search is not seen
_MOST_STEPS, _LONGEST_STEP, _STILL = 20, 0.3, 1e-9
_WEAK = 1e-9  # relative singular value: along the direction itself slopes are zero
_AT_CENTRE = 1e-9  # of the size of the base: a steering axis that the base turns about
_BISECTIONS = 20
_SIDEWAYS = 1e-3  # weight of what fixed wheels forbid: it follows from the yaw rate that is wanted


@dataclass(frozen=True, eq=False)
class ConsistentSteering:
    """
    Coordinates at which steered wheels agree, and how far they were from it.

    Parameters
    ----------
    q, v : ndarray, shapes (nq,), (nv,)
        Coordinates and speeds; only those of steering differ from the given ones.
    turned : ndarray, shape (s,)
        By which the angles differ from those given [rad]; zero of wheels with trail.
    wheels : tuple of str
        Joint of the wheel on each of the steered joints.

    """

    q: Floats
    v: Floats
    turned: Floats
    wheels: tuple[str, ...]

    @property
    def distance(self) -> float:
        """Return the largest angle by which a wheel was off [rad]."""
        return float(np.abs(self.turned).max(initial=0.0))

    def slip_by_wheel(self, beyond: float = 0.0) -> dict[str, float]:
        """Return the wheels that were off by more than an angle [rad], the worst first."""
        pairs = zip(self.wheels, np.abs(self.turned).tolist(), strict=True)
        turned = {wheel: off for wheel, off in pairs if off > beyond}
        return dict(sorted(turned.items(), key=lambda item: -item[1]))


class SteeringStep(NamedTuple):
    """
    What a base does while its wheels turn towards a motion.

    Parameters
    ----------
    angles : ndarray, shape (s,)
        Next angles of the steered joints [rad]; they agree.
    twist : ndarray, shape (3,)
        The part of the wanted motion that wheels at these angles allow.

    """

    angles: Floats
    twist: Floats


class CentredSteering:
    """The steered wheels without trail of one base, at coordinates but for their angles."""

    def __init__(self, base: BaseRows, q: Sequence[float]) -> None:
        rows, wheels = base.at(q), base.steered
        trails = [
            float(np.abs(rows.steering[rows.labels.index(f'{wheel.joint}/lateral'), k]))
            for k, wheel in enumerate(wheels)
        ]
        self.centred: Indices = np.flatnonzero(np.array(trails) <= rows.small)
        wheels_centred = [wheels[int(k)] for k in self.centred]
        _, kc, ks = base.lateral(q)
        kc, ks = kc[self.centred], ks[self.centred]
        arms = np.hypot(kc[:, 2], ks[:, 2])
        self._size = float(arms.max(initial=0.0)) or 1.0
        self._unit = np.array([1.0, 1.0, 1.0 / self._size])  # yaw rates count at the outermost
        fixed = rows.without(wheels_centred).bound_motions() * self._unit
        # of unit columns, one for each motion that fixed wheels leave
        self._open = left_null_space(fixed.T, rows.small)
        weights = np.array([[1.0], [_SIDEWAYS], [1.0]])
        self._followed = np.linalg.pinv(weights * self._open) * weights.T
        self._kc, self._ks = ((k * self._unit) @ self._open for k in (kc, ks))
        indices = base.steering_angles[self.centred]
        self._limits = base.robot.lower[indices], base.robot.upper[indices]
        self._any = len(wheels_centred) > 0 and self._open.shape[1] > 0

    def agreed(self, angles: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """Return the nearest angles that agree, and rates with which they go on to, (s,) each."""
        nearest, turning = angles.copy(), rates.copy()
        if self._any:
            present = angles[self.centred]
            direction = self._direction(present)
            slopes, free = self._slopes(direction)
            nearest[self.centred] = self._angles(direction, present)
            centred_rates = rates[self.centred]
            fitting = slopes @ np.linalg.lstsq(slopes[~free], centred_rates[~free], rcond=_WEAK)[0]
            turning[self.centred] = np.where(free, centred_rates, fitting)
        return nearest, turning

    def towards(self, angles: Floats, twist: Floats, most: float) -> SteeringStep:
        """Return the next angles on the way to a motion, and what of the motion they allow."""
        goal_motion = self._followed @ (twist / self._unit)
        size = float(np.linalg.norm(goal_motion))
        next_angles = angles.copy()
        if not self._any or size == 0.0:
            return SteeringStep(next_angles, self._unit * (self._open @ goal_motion))
        present = angles[self.centred]
        start = self._direction(present)
        start = start if start @ goal_motion >= 0.0 else -start  # wheels roll backwards
        goal, part = goal_motion / size, 1.0
        direction, nearest = goal, self._angles(goal, present)
        for _ in range(_BISECTIONS):
            far = float(np.abs(nearest - present).max())
            beyond = bool(((nearest < self._limits[0]) | (nearest > self._limits[1])).any())
            if far <= most and not beyond:
                break
            part *= 0.5 if beyond else float(np.clip(0.95 * most / far, 0.1, 0.95))
            direction = (1.0 - part) * start + part * goal
            direction /= np.linalg.norm(direction)
            nearest = self._angles(direction, present)
        else:
            direction, nearest = start, self._angles(start, present)
        next_angles[self.centred] = present + np.clip(nearest - present, -most, most)
        return SteeringStep(next_angles, self._unit * self._allowed(direction, goal_motion, size))

    def _allowed(self, direction: Floats, goal_motion: Floats, size: float) -> Floats:
        """Return the motion along a unit direction that goes forward as is wanted, no faster."""
        d, w = self._open @ direction, self._open @ goal_motion
        forward = float(d[:2] @ d[:2])
        speed = d[:2] @ w[:2] / forward if forward > _AT_CENTRE else direction @ goal_motion
        return np.asarray(d * np.clip(speed, 0.0, size))

    def _angles(self, direction: Floats, near: Floats) -> Floats:
        """Return the angles for a direction of motion, those nearest to given ones."""
        a, b = self._kc @ direction, self._ks @ direction
        turns = np.arctan2(-a, b) - near
        free = np.hypot(a, b) <= _AT_CENTRE
        return np.where(free, near, near + turns - np.pi * np.round(turns / np.pi))

    def _slopes(self, direction: Floats) -> tuple[Floats, Bools]:
        """Return how angles follow changes of a unit direction, and which may be any."""
        a, b = self._kc @ direction, self._ks @ direction
        squares = a * a + b * b
        free = squares <= _AT_CENTRE**2
        across = a[:, None] * self._ks - b[:, None] * self._kc
        return across / np.where(free, np.inf, squares)[:, None], free

    def _direction(self, angles: Floats) -> Floats:
        """Return the unit direction of motion whose angles are nearest to given ones."""
        cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
        z = np.linalg.svd(cosine * self._kc + sine * self._ks)[2][-1]
        for _ in range(_MOST_STEPS):
            off = angles - self._angles(z, angles)
            step = np.linalg.lstsq(self._slopes(z)[0], off, rcond=_WEAK)[0]
            length = float(np.linalg.norm(step))
            if length <= _STILL:
                break
            z = z + step * min(1.0, _LONGEST_STEP / length)
            z /= np.linalg.norm(z)
        return np.asarray(z)
