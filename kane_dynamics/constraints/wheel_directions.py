# SPDX-License-Identifier: Apache-2.0
r"""
Where a disc or a ball touches a plane with normal k, along what it rolls, and the rates of both.

A disc with axis n touches the plane below its centre in the direction
:math:`e = (n\langle n,k\rangle - k)/s`, :math:`s = \sqrt{1 - \langle n,k\rangle^2}`, and rolls
along :math:`t = n \times k/s`; left of t is :math:`k\times t`. A ball has e = -k, and its t does
not turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, make_quaternion, pure, scale
from kane_dynamics.algebra.scalars import Scalar, sqrt
from kane_dynamics.algebra.traced_numbers import is_traced
from kane_dynamics.constraints.contact_circle import LEAN_LIMIT
from kane_dynamics.constraints.plane import Plane
from kane_dynamics.exceptions import ConstraintError

STILL = make_quaternion(0.0, 0.0, 0.0, 0.0)


class PlaneDirections(Protocol):
    """Directions of what rolls on a plane."""

    @property
    def down(self) -> Quaternion:
        """Return e, from the centre to the lowest point of the rim."""

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt."""

    def along(self, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return t and dt/dt."""


@dataclass(frozen=True, eq=False, slots=True)
class DiscDirections:
    """Directions of a disc with axis n, with <n, k> and s. Built by `disc_directions`."""

    axis: Quaternion
    normal: Quaternion
    lean: Scalar
    sine: Scalar

    @property
    def down(self) -> Quaternion:
        """Return e = (n <n,k> - k)/s."""
        return scale(scale(self.axis, self.lean) - self.normal, 1.0 / self.sine)

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt."""
        axis_rate, lean_rate, sine_rate = self._rates(omega)
        moved = scale(axis_rate, self.lean) + scale(self.axis, lean_rate)
        return scale(moved - scale(self.down, sine_rate), 1.0 / self.sine)

    def along(self, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return t = n x k/s and its rate."""
        axis_rate, _, sine_rate = self._rates(omega)
        t = scale(cross(self.axis, self.normal), 1.0 / self.sine)
        turned = cross(axis_rate, self.normal) - scale(t, sine_rate)
        return t, scale(turned, 1.0 / self.sine)

    def _rates(self, omega: Quaternion) -> tuple[Quaternion, Scalar, Scalar]:
        """Return the rates of n, <n,k> and s."""
        axis_rate = cross(omega, self.axis)
        lean_rate = dot(axis_rate, self.normal)
        return axis_rate, lean_rate, -self.lean * lean_rate / self.sine


def disc_directions(axis: Quaternion, plane: Plane, complaint: str) -> DiscDirections:
    """
    Return the directions of a disc with an axis, in world axes.

    Raises
    ------
    ConstraintError
        With this complaint, if the axis is along the normal: the disc has no lowest point.

    """
    normal = pure(plane.normal)
    lean = dot(axis, normal)
    sine = sqrt(1.0 - lean * lean)
    if not is_traced(sine) and not np.all(sine > LEAN_LIMIT):
        raise ConstraintError(complaint)
    return DiscDirections(axis, normal, lean, sine)


@dataclass(frozen=True, eq=False, slots=True)
class BallDirections:
    """Directions of a ball: against the normal, and x and y of the plane."""

    plane: Plane

    @property
    def down(self) -> Quaternion:
        """Return -k."""
        return -pure(self.plane.normal)

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt = 0."""
        return STILL

    def along(self, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return x of the plane, which does not turn."""
        return pure(self.plane.directions()[0]), STILL
