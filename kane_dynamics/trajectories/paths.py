# SPDX-License-Identifier: Apache-2.0
"""Geometric paths, and paths of wheeled robots that keep their constraint rows."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline

from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError, NotSolvedError
from kane_dynamics.robot.checks import as_count, as_numbers, as_shaped, check_increasing, describe
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['Path', 'PathPoints', 'RolledPath', 'SplinePath']


class PathPoints(NamedTuple):
    """
    Points of a path.

    Parameters
    ----------
    q, tangent, bend : ndarray, shape (n, nv)
        Coordinates, and their first and second derivative along the path.

    """

    q: Floats
    tangent: Floats
    bend: Floats


class Path(Protocol):
    """A path from 0 to `length`, with continuous second derivatives."""

    @property
    def length(self) -> float:
        """Return the parameter of its end; it begins at 0."""

    def at(self, s: Floats) -> PathPoints:
        """Return its points at path parameters from 0 to `length`, shape (n,)."""


class SplinePath:
    """
    The cubic spline through points, 'not-a-knot' at the ends.

    Parameters
    ----------
    points : array_like, shape (n, k)
        Coordinates [rad or m], two points or more.
    s : array_like, shape (n,), optional
        Path parameters of the points, from 0 on, increasing; 0, 1, ... where left out.

    Attributes
    ----------
    length : float
        The parameter of the end.
    knots : ndarray, shape (n,)
        Where third derivatives jump.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, or s does not increase from 0.

    Examples
    --------
    >>> from kane_dynamics.trajectories.paths import SplinePath
    >>> path = SplinePath([[0.0, 0.0], [0.5, 0.2], [1.0, 0.0]])
    >>> path.length
    2.0

    """

    def __init__(self, points: ArrayLike, s: ArrayLike | None = None) -> None:
        through = as_shaped('points of a path', points, ('n', 'k'))
        if len(through) < 2:
            raise InvalidInputError(f'points of a path: need two or more, got {len(through)}')
        at = np.arange(1.0 * len(through)) if s is None else as_numbers('s', s)
        if at.shape != (len(through),) or at[0] != 0.0:
            raise InvalidInputError(
                f's: need {len(through)} numbers that increase from 0, got {describe(s)}'
            )
        check_increasing('s', at)
        self._spline = CubicSpline(at, through)
        self.length, self.knots = float(at[-1]), at

    def at(self, s: Floats) -> PathPoints:
        """Return its points at path parameters, shape (n,)."""
        return PathPoints(*(self._spline(s, order) for order in range(3)))


_HALF_TURN = np.pi  # both headings of a steered wheel roll

_ROLLED = {'rtol': 1e-10, 'atol': 1e-10}  # of coordinates that follow
_MOST = 2000  # slopes per point of the path; some hundred are usual
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
    s : array_like, shape (n,), optional
        Path parameters of the points.
    steered : WheeledBase, optional
        A base on steered wheels, which turn to where it moves; its place is among `names`.
    cells : int
        Pieces of what follows, integrated to 1e-10 at their ends.

    Raises
    ------
    NameNotFoundError
        If a coordinate does not exist.
    InvalidInputError
        If points, start or s are not legal, or a steered base stands still on its path.
    UnreachableAccelerationError, InconsistentConstraintsError
        If the rows do not determine the others, or contradict what is given.
    NotSolvedError
        If a coordinate that follows grows without end on the way.

    """

    def __init__(
        self,
        dynamics: Dynamics,
        names: Sequence[str],
        points: ArrayLike,
        start: ArrayLike,
        *,
        s: ArrayLike | None = None,
        steered: WheeledBase | None = None,
        cells: int = 400,
    ) -> None:
        robot = checked_dynamics(dynamics).robot
        self.dynamics, self._given = dynamics, speed_indices(robot, names, 'names')
        self._spline = SplinePath(points, s)
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

    def at(self, s: Floats) -> PathPoints:
        """Return its points at path parameters, shape (n,)."""
        q, tangent, bend = self._known_at(s)
        if self._rolled is not None:
            q[:, self._free] = self._rolled(s)
        return self._completed(q, tangent, bend)

    def _completed(self, q: Floats, tangent: Floats, bend: Floats) -> PathPoints:
        """Return points with the derivatives of what is free from the rows."""
        dynamics = self.dynamics
        tangent = dynamics.consistent_velocity(q, tangent, self._known)
        bend = dynamics.consistent_acceleration(q, tangent, bend, self._known)
        return PathPoints(q, tangent, bend)

    def _known_at(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Return points with zeros in the derivatives of what is free."""
        q = np.tile(self._start, (len(s), 1))
        tangent, bend = np.zeros_like(q), np.zeros_like(q)
        for whole, part in zip((q, tangent, bend), self._spline.at(s), strict=True):
            whole[:, self._given] = part
        if self._angles is not None:
            for order, whole in enumerate((q, tangent, bend)):
                whole[:, self._steering] = self._angles(s, order)
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
        steering_motion = base.steering_angles(twist, self._start, twist_rate)
        angles = np.unwrap(steering_motion.angles, axis=0, period=_HALF_TURN)
        return CubicHermiteSpline(nodes, angles, steering_motion.rates)

    def _integrated(self, nodes: Floats) -> BPoly:
        """Return the coordinates that are free along the path."""
        budget = iter(range(_MOST * len(self.knots)))

        def slope(s: float, free: Floats) -> Floats:
            if next(budget, None) is None:
                raise NotSolvedError(f'path: no end of what follows near {s:g} of {self.length:g}')
            (place,), (tangent,), _ = self._known_at(np.array([s]))
            place[self._free] = free
            return self.dynamics.consistent_velocity(place, tangent, self._known)[self._free]

        q, tangent, bend = self._known_at(nodes)
        span, start = (0.0, self.length), q[0, self._free]
        rolled = solve_ivp(slope, span, start, 'DOP853', nodes, **_ROLLED)
        if not rolled.success:
            raise NotSolvedError(f'path: {rolled.message}')
        q[:, self._free] = rolled.y.T
        points = self._completed(q, tangent, bend)
        derivatives = np.stack([part[:, self._free] for part in points], axis=1)
        return BPoly.from_derivatives(nodes, derivatives)
