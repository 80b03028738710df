# SPDX-License-Identifier: Apache-2.0
"""Paths of robots on wheels that keep their constraint rows: what is not given, rolls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly, CubicHermiteSpline

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_count
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.trajectories.paths import PathPoints, SplinePath
from kane_dynamics.typing import Floats

__all__ = ['RolledPath']

_HALF_TURN = np.pi  # both headings of a steered wheel roll

_FINER = 16  # nodes of steering angles per cell: their rows are kept to roundoff


class RolledPath:
    """
    A path of which some coordinates are given; the others follow from the constraint rows.

    Of a differential drive give its wheels and the arm, and the base goes where they roll; of a
    base on steered wheels, or one that moves freely, give the place of the base and the arm.

    Parameters
    ----------
    dynamics : Dynamics
        Of the robot under its constraints.
    names : sequence of str
        Coordinates that are given.
    points : array_like, shape (n, k)
        Points of their spline, see `SplinePath`.
    start : array_like, shape (nq,)
        Coordinates at the start; the given ones do not count.
    indices : array_like, shape (n,), optional
        Where on the path the points are.
    steered : WheeledBase, optional
        A base on steered wheels, which turn to where it moves; its place is among `names`.
    cells : int
        Steps of the integration along the path (Runge and Kutta, fourth order).

    Raises
    ------
    NameNotFoundError
        If a coordinate does not exist.
    InvalidInputError
        If points, start or places are not legal, or a steered base stands still on its path.
    UnreachableAccelerationError, InconsistentConstraintsError
        If the rows do not determine the others, or contradict what is given.

    """

    def __init__(
        self,
        dynamics: Dynamics,
        names: Sequence[str],
        points: ArrayLike,
        start: ArrayLike,
        *,
        indices: ArrayLike | None = None,
        steered: WheeledBase | None = None,
        cells: int = 400,
    ) -> None:
        robot = checked_dynamics(dynamics).robot
        self.dynamics, self._given = dynamics, speed_indices(robot, names, 'names')
        self._spline = SplinePath(points, indices)
        self.length, self.knots = self._spline.length, self._spline.knots
        if self._spline.at(np.zeros(1)).q.shape[1] != len(self._given):
            raise InvalidInputError(
                f'points of a path: need {len(self._given)} columns, one for each of {list(names)}'
            )
        self._start = np.array(checked_coordinates(robot, start, 'start'))
        nodes = np.linspace(0.0, self.length, as_count('cells', cells, 1) + 1)
        steering = () if steered is None else steered.steering
        self._steering = [robot.velocity_index(name) for name in steering]
        self._angles: CubicHermiteSpline | None = None
        if steered is not None:
            fine = np.linspace(0.0, self.length, _FINER * (len(nodes) - 1) + 1)
            self._angles = self._headings(steered, fine)
        known = {*self._given, *self._steering}
        self._known = [name for k, name in enumerate(robot.velocity_names) if k in known]
        self._free = [k for k in range(robot.nv) if k not in known]
        self._rolled: BPoly | None = None
        if self._free:
            self._rolled = self._integrated(nodes)

    def at(self, indices: Floats) -> PathPoints:
        """Return its points at places, shape (n,)."""
        q, tangent, bend = self._known_at(indices)
        if self._rolled is not None:
            q[:, self._free] = self._rolled(indices)
        return self._completed(q, tangent, bend)

    def _completed(self, q: Floats, tangent: Floats, bend: Floats) -> PathPoints:
        """Return points with the derivatives of what is free from the rows."""
        dynamics = self.dynamics
        tangent = dynamics.consistent_velocity(q, tangent, self._known)
        bend = dynamics.consistent_acceleration(q, tangent, bend, self._known)
        return PathPoints(q, tangent, bend)

    def _known_at(self, indices: Floats) -> tuple[Floats, Floats, Floats]:
        """Return points with zeros in the derivatives of what is free."""
        q = np.tile(self._start, (len(indices), 1))
        tangent, bend = np.zeros_like(q), np.zeros_like(q)
        for whole, part in zip((q, tangent, bend), self._spline.at(indices), strict=True):
            whole[:, self._given] = part
        if self._angles is not None:
            for order, whole in enumerate((q, tangent, bend)):
                whole[:, self._steering] = self._angles(indices, order)
        return q, tangent, bend

    def _headings(self, base: WheeledBase, nodes: Floats) -> CubicHermiteSpline:
        """Return steering angles along the path, continuous, those nearest at the start first."""
        columns = speed_indices(self.dynamics.robot, ('base_x', 'base_y', 'base_yaw'))
        q, tangent, bend = (part[:, columns] for part in self._known_at(nodes))
        turned = np.exp(-1j * q[:, 2])
        along = turned * (tangent[:, 0] + 1j * tangent[:, 1])
        rate = turned * (bend[:, 0] + 1j * bend[:, 1]) - 1j * tangent[:, 2] * along
        twist = np.column_stack([along.real, along.imag, tangent[:, 2]])
        if not np.abs(twist).max(axis=1).all():
            raise InvalidInputError('a steered base stands still on its path: no heading')
        twist_rate = np.column_stack([rate.real, rate.imag, bend[:, 2]])
        result = base.steering_angles(twist, self._start, twist_rate)
        angles = np.unwrap(result.angles, axis=0, period=_HALF_TURN)
        return CubicHermiteSpline(nodes, angles, result.rates)

    def _integrated(self, nodes: Floats) -> BPoly:
        """Return the coordinates that are free along the path."""
        q, h = self._known_at(nodes[:1])[0][0], nodes[1] - nodes[0]
        middles = nodes[:-1] + 0.5 * h
        ends, halves = self._known_at(nodes), self._known_at(middles)
        rolled = [q[self._free]]

        def slope(known: tuple[Floats, Floats, Floats], k: int, free: Floats) -> Floats:
            place = known[0][k].copy()
            place[self._free] = free
            speeds = self.dynamics.consistent_velocity(place, known[1][k], self._known)
            return np.asarray(speeds[self._free])

        for k in range(len(middles)):
            x = rolled[-1]
            one = slope(ends, k, x)
            two = slope(halves, k, x + 0.5 * h * one)
            three = slope(halves, k, x + 0.5 * h * two)
            four = slope(ends, k + 1, x + h * three)
            rolled.append(x + h / 6.0 * (one + 2.0 * two + 2.0 * three + four))
        whole = ends[0]
        whole[:, self._free] = rolled
        points = self._completed(whole, *ends[1:])
        derivatives = np.stack([part[:, self._free] for part in points], axis=1)
        return BPoly.from_derivatives(nodes, derivatives)
