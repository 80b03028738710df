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
vector of the rows that they change least. A change of :math:`\nu` along itself turns nothing: the
largest component may stay, and two columns of slopes are left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, hypot, pi
from typing import NamedTuple

import numpy as np

from kane_dynamics.bases.motion_rows import BaseRows, left_null_space
from kane_dynamics.typing import Floats, Indices

# the angles of a direction agree whatever it is: what is left of the search is not seen
_MOST_STEPS, _LONGEST_STEP, _STILL = 20, 0.3, 1e-9
_APART = 1e-4  # determinant over squared trace of what normal equations solve to twelve digits
_OTHERS = ((1, 2), (0, 2), (0, 1))
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


class _Angles(NamedTuple):
    """How far angles are off those of a unit direction z, and how these follow from it."""

    z: list[float]
    off: list[float]
    slopes: list[list[float]]  # (m, 3); empty where any angle will do
    main: int  # of z, its largest component: changes of the two others move angles enough

    def fitted(self, values: list[float]) -> list[float]:
        """Return a change of z of least squares: what it has along z turns nothing."""
        i, j = _OTHERS[self.main]
        cc = cd = dd = cr = dr = 0.0
        for slope, r in zip(self.slopes, values, strict=True):
            if slope:
                c, d = slope[i], slope[j]
                cc, cd, dd = cc + c * c, cd + c * d, dd + d * d
                cr, dr = cr + c * r, dr + d * r
        square = cc * dd - cd * cd
        if not square > _APART * (cc + dd) ** 2:  # singular values say what moves nothing
            pairs = [(*slope, r) for slope, r in zip(self.slopes, values, strict=True) if slope]
            columns = np.array(pairs).reshape(-1, 4)
            return np.linalg.lstsq(columns[:, :3], columns[:, 3], _WEAK)[0].tolist()
        step = [0.0, 0.0, 0.0]
        step[i], step[j] = (dd * cr - cd * dr) / square, (cc * dr - cd * cr) / square
        return step


class CentredSteering:
    """The steered wheels without trail of one base, at coordinates but for their angles."""

    def __init__(self, base: BaseRows, q: Sequence[float]) -> None:
        rows, wheels = base.at(q), base.steered
        trails = [
            float(np.abs(rows.steering[rows.labels.index(f'{wheel.joint}/lateral'), k]))
            for k, wheel in enumerate(wheels)
        ]
        self.centred: Indices = np.flatnonzero(np.array(trails) <= rows.small)
        self._places: list[int] = self.centred.tolist()
        wheels_centred = [wheels[int(k)] for k in self.centred]
        _, kc, ks = base.lateral(q)
        kc, ks = kc[self.centred], ks[self.centred]
        arms = np.hypot(kc[:, 2], ks[:, 2])
        self._size = float(arms.max(initial=0.0)) or 1.0
        self._unit = np.array([1.0, 1.0, 1.0 / self._size])  # yaw rates count at the outermost
        fixed = rows.without(wheels_centred).bound_motions() * self._unit
        # of unit columns, one for each motion that fixed wheels leave, and zeros
        motions = left_null_space(fixed.T, rows.small)
        self._count = motions.shape[1]
        self._open = np.hstack([motions, np.zeros((3, 3 - self._count))])
        weights = np.array([[1.0], [_SIDEWAYS], [1.0]])
        self._followed = np.linalg.pinv(weights * self._open) * weights.T
        self._lateral = [(k * self._unit) @ self._open for k in (kc, ks)]
        self._kc, self._ks = (k.tolist() for k in self._lateral)
        indices = base.steering_angles[self.centred]
        self._limits = base.robot.lower[indices], base.robot.upper[indices]
        self._any = len(wheels_centred) > 0 and self._count > 0

    def agreed(
        self, angles: Sequence[float], rates: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """Return the nearest angles that agree, and rates with which they go on to, (s,) each."""
        nearest, turning = [*angles], [*rates]
        if self._any:
            here = self._nearest([angles[k] for k in self._places])
            x, y, yaw = here.fitted([rates[k] for k in self._places])
            for k, off, slope in zip(self._places, here.off, here.slopes, strict=True):
                nearest[k] -= off
                if slope:
                    turning[k] = slope[0] * x + slope[1] * y + slope[2] * yaw
        return nearest, turning

    def towards(self, angles: Floats, twist: Floats, most: float) -> SteeringStep:
        """Return the next angles on the way to a motion, and what of the motion they allow."""
        goal_motion = self._followed @ (twist / self._unit)
        size = float(np.linalg.norm(goal_motion))
        next_angles = angles.copy()
        if not self._any or size == 0.0:
            return SteeringStep(next_angles, self._unit * (self._open @ goal_motion))
        present = angles[self.centred]
        start = np.array(self._nearest(present.tolist()).z)
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
        return near - self._at(direction.tolist(), near.tolist()).off

    def _at(self, z: list[float], angles: list[float]) -> _Angles:
        """Return how far angles are off those of a unit direction, and the slopes of these."""
        x, y, yaw = z
        off, slopes = list[float](), list[list[float]]()
        for (kx, ky, kz), (lx, ly, lz), angle in zip(self._kc, self._ks, angles, strict=True):
            a, b = kx * x + ky * y + kz * yaw, lx * x + ly * y + lz * yaw
            square = a * a + b * b
            if square <= _AT_CENTRE**2:
                off.append(0.0)
                slopes.append([])
                continue
            turn = angle - atan2(-a, b)
            off.append(turn - pi * round(turn / pi))
            across = a * lx - b * kx, a * ly - b * ky, a * lz - b * kz
            slopes.append([c / square for c in across])
        sizes = [abs(x), abs(y), abs(yaw)]
        return _Angles(z, off, slopes, sizes.index(max(sizes)))

    def _nearest(self, angles: list[float]) -> _Angles:
        """Return the direction with the nearest angles."""
        cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
        rows = (cosine * self._lateral[0] + sine * self._lateral[1])[:, : self._count]
        z = [*np.linalg.svd(rows)[2][-1].tolist(), 0.0, 0.0][:3]
        for _ in range(_MOST_STEPS):
            here = self._at(z, angles)
            step = here.fitted(here.off)
            length = hypot(*step)
            if length <= _STILL:
                return here
            part = min(1.0, _LONGEST_STEP / length)
            z = [x + part * dx for x, dx in zip(z, step, strict=True)]
            size = hypot(*z)
            z = [x / size for x in z]
        return self._at(z, angles)
