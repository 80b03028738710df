# SPDX-License-Identifier: Apache-2.0
r"""
The wrench of the ground, the normal forces that share it, and tip-over margins.

With f, n the force that the robot puts on the ground and its moment about the centre of mass
:math:`p_c`, and for each edge of the support polygon its axis :math:`a_i`:

.. math:: l_i = (1 - a_i a_i^T)(p_{i+1} - p_c), \quad
   f_i = (1 - a_i a_i^T) f + l_i \times (a_i a_i^T) n / |l_i|^2, \quad
   \theta_i = \angle(f_i, l_i)

positive inside. The measure of 1996 (ICRA) is :math:`\min \theta_i |f|`, that of 2000 (Vehicle
System Dynamics 33) :math:`\min \theta_i |d_i| |f_i|`, with :math:`d_i` the distance of the line of
:math:`f_i` from the edge. The zero-moment point is where the ground's force alone would do; its
distance :math:`z_i` from the edge obeys :math:`|l_i| |f_i| \sin\theta_i = z_i\, n \cdot F`: all
margins are zero together.

The wrench of the ground is affine in accelerations, :math:`W(s) = W_0 + s W_1`, and so are the
moments that keep the robot on the ground about each edge: the first of them to vanish tells, in
closed form.

The wrench of the ground is

.. math:: f = \sum_i m_i (a_i - g) - f_e, \qquad
   \tau = \sum_i (p_i \times m_i (a_i - g) + \tfrac{d}{dt} I_i \omega_i) - \tau_e

as the backward recursion (27)-(29) of Silva et al. leaves it at the root. With F, M about the
middle of the points, normal forces :math:`N_i` at :math:`x_i` satisfy

.. math:: \sum_i N_i = n \cdot F, \qquad \sum_i N_i x_i = n \times M, \qquad N_i \ge 0 .

Tractions lie in the plane: they do not enter. Three points have one solution. More share by
springs of stiffness :math:`k_i` under a rigid robot, with the least
:math:`\sum N_i^2 / 2 k_i`; without known springs by equal ones, that is with the least norm.
Springs do not pull: what would lift, lifts, and the others carry (the same problem with bounds).
"""

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.matrices import cross_rows, row_lengths
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.least_distance import nearest_above
from kane_dynamics.algorithms.newton_euler import ExternalWrenches, transmitted, wrenches_on_bodies
from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats


@dataclass(frozen=True, eq=False, slots=True)
class TipOver:
    """How far a robot is from tipping over each edge of its support polygon; negative: it tips."""

    edges: tuple[tuple[str, str], ...]  # Names of the ends of each edge
    angles: Floats  # shape (e,): theta_i [rad]
    edge_forces: Floats  # shape (e,): |f_i| [N]
    levers: Floats  # shape (e,): |d_i| [m]
    force: float  # |f| [N]
    zero_moment_point: Floats  # shape (3,): In the plane of the ground, world axes [m]
    distances: Floats  # shape (e,): z_i of the zero-moment point from each edge [m]

    @property
    def margin(self) -> float:
        """Return the least distance of the zero-moment point from an edge [m]."""
        return float(self.distances.min())

    @property
    def edge(self) -> tuple[str, str]:
        """Return the edge that is nearest to the zero-moment point."""
        return self.edges[int(np.argmin(self.distances))]

    @property
    def force_angle_1996(self) -> float:
        """Return min theta_i |f| [N rad]."""
        return float(self.angles.min() * self.force)

    @property
    def force_angle_2000(self) -> float:
        """Return min theta_i |d_i| |f_i| [N m rad]."""
        return float((self.angles * self.levers * self.edge_forces).min())


def tip_over(polygon: SupportPolygon, wrench: ArrayLike, center_of_mass: ArrayLike) -> TipOver:
    """Return the margins of a robot that stands on a polygon."""
    w = as_vector('wrench [N m, N]', wrench, 6)
    p_c = as_vector('center_of_mass [m]', center_of_mass, 3)
    f, n = -w[3:], -(w[:3] - cross_rows(p_c, w[3:]))
    axes = polygon.axes
    l = _across(axes, polygon.ends - p_c)  # noqa: E741
    turning = axes * (axes @ n)[:, None]
    lengths = row_lengths(l)
    f_i = f - axes * (axes @ f)[:, None]
    f_i = f_i + cross_rows(l, turning) / np.square(lengths)[:, None]
    sines, cosines = _dots(axes, cross_rows(f_i, l)), _dots(f_i, l)
    angles = np.arctan2(sines, cosines)
    total = float(polygon.normal @ w[3:])
    flies = not total > 0.0
    distances = edge_moments(polygon, w)
    return TipOver(
        polygon.edges,
        angles,
        row_lengths(f_i),
        lengths * np.abs(np.sin(angles)),
        float(np.linalg.norm(f)),
        np.full(3, np.nan) if flies else zero_moment_point(polygon, w),
        np.full(len(axes), -np.inf) if flies else distances / total,
    )


def zero_moment_point(polygon: SupportPolygon, wrench: Floats) -> Floats:
    """Return where a force that presses has no moment along the plane, shape (3,) [m]."""
    n, middle = polygon.normal, polygon.middle
    moment = wrench[:3] - cross_rows(middle, wrench[3:])
    return np.asarray(middle + cross_rows(n, moment) / (n @ wrench[3:]))


def edge_moments(polygon: SupportPolygon, wrench: Floats) -> Floats:
    """Return the moment about each edge that keeps the robot on the ground, (..., e) [N m]."""
    return np.asarray((polygon.edge_rows @ wrench[..., None])[..., 0])


def _across(axes: Floats, vectors: Floats) -> Floats:
    """Return (1 - a a') x for each axis a and vector x."""
    return vectors - axes * _dots(axes, vectors)[:, None]


def _dots(a: Floats, b: Floats) -> Floats:
    return np.einsum('ij,ij->i', a, b)


# A moment that changes by less than this part of what it is made of does not change.
_ROUNDOFF = 1e-12


@dataclass(frozen=True, slots=True)
class Tipping:
    """Where a robot begins to tip."""

    factor: float  # Of the direction of accelerations that was asked for, >= 0
    edge: tuple[str, str] | None  # Names of the ends of the edge


def first_to_tip(polygon: SupportPolygon, start: Floats, change: Floats) -> Tipping:
    """Return the least s >= 0 at which the wrench start + s change of the ground lifts an edge."""
    now, rate = edge_moments(polygon, start), edge_moments(polygon, change)
    if (now <= 0.0).any():
        return Tipping(0.0, polygon.edges[int(np.argmin(now))])
    arms = np.abs(polygon.ends).max(axis=1)
    falls = rate < -_ROUNDOFF * (np.abs(change[:3]).max() + arms * np.abs(change[3:]).max())
    factors = np.full(len(now), np.inf)
    factors[falls] = -now[falls] / rate[falls]
    first = int(np.argmin(factors))
    if not np.isfinite(factors[first]):
        return Tipping(np.inf, None)
    return Tipping(float(factors[first]), polygon.edges[first])


def ground_wrench(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_wrenches: ExternalWrenches = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
) -> Floats:
    """
    Return the wrench (tau, f) of the ground on the robot, world axes, shape (6,) [N m, N].

    For any base: what the wheels, the feet or the bolts of a fixed base carry together. Motors
    count as part of their links; the spin of rotors (armature) is left out.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations; they need not satisfy any constraint.
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link from elsewhere, about the link's origin in
        the link's axes.
    about : array_like, shape (3,)
        Point of the world that the moment is about [m].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    NameNotFoundError
        If a wrench names a link that does not exist.

    """
    point = as_vector('about [m]', about, 3)
    wrench = transmitted(
        checked_robot(robot),
        checked_coordinates(robot, q),
        checked_speeds(robot, v),
        checked_speeds(robot, a, 'a'),
        external=wrenches_on_bodies(robot, external_wrenches),
    )[1]
    force = vec3(wrench.primary)
    return np.r_[vec3(wrench.dual) - cross_rows(point, force), force]


EXACT, SUSPENSION, LEAST_NORM = 'exact', 'suspension', 'least norm'
_STATICALLY_DETERMINED = 3  # points that carry


@dataclass(frozen=True, eq=False, slots=True)
class NormalForces:
    """Normal forces of points on the ground."""

    forces: Floats  # shape (k,): N >= 0 [N]
    lift: Floats
    determined: str
    balanced: bool  # Whether these forces balance the robot


def normal_forces(
    polygon: SupportPolygon, wrench: ArrayLike, stiffness: ArrayLike | None = None
) -> NormalForces:
    """Return the normal forces with which points of the ground carry a robot."""
    w = as_vector('wrench [N m, N]', wrench, 6)
    springs = _springs(polygon, stiffness)
    total = float(polygon.normal @ w[3:])
    determined = LEAST_NORM if stiffness is None else SUSPENSION
    if len(polygon.names) == _STATICALLY_DETERMINED:
        determined = EXACT
    unknown = np.full(len(springs), np.nan)
    if not total > 0.0:
        return NormalForces(np.zeros(len(springs)), unknown, determined, False)
    balanced = bool((edge_moments(polygon, w) >= 0.0).all())
    zmp = zero_moment_point(polygon, w)
    point = zmp if balanced else _nearest_inside(polygon, zmp)
    G, in_plane = _balance(polygon)
    span = np.abs(G[1:]).max()  # rows of one size
    G[1:] /= span
    moments = total * np.r_[1.0, in_plane @ (point - polygon.middle) / span]
    weighted = springs[:, None] * G.T
    forces = weighted @ np.linalg.solve(G @ weighted, moments)
    if (forces >= 0.0).all():  # no spring would pull
        return NormalForces(forces, np.zeros(len(springs)), determined, balanced)
    solution = nearest_above(
        np.diag(1.0 / np.sqrt(springs)),
        G,
        np.zeros(len(springs)),
        moments,
        np.eye(len(springs)),
        np.zeros(len(springs)),
    )
    pressed = solution.pushes == 0.0
    lift = np.where(pressed, 0.0, unknown if stiffness is None else solution.pushes)
    return NormalForces(
        np.where(pressed, np.maximum(solution.x, 0.0), 0.0), lift, determined, balanced
    )


def pressed_shares(polygon: SupportPolygon, stiffness: ArrayLike | None = None) -> Floats:
    """Return P with N = P w while every point presses, shape (k, 6) or (n, k, 6)."""
    springs = _springs(polygon, stiffness)
    n, middle = polygon.normal, polygon.middle
    G, in_plane = _balance(polygon)
    # n x M about the middle, of unit moments and forces about the origin of the world
    forces = -cross_rows(middle[..., None, :], np.eye(3))
    moved = np.concatenate([np.broadcast_to(np.eye(3), forces.shape), forces], axis=-2)
    turned = in_plane @ np.swapaxes(cross_rows(n, moved), -1, -2)
    total = np.broadcast_to(np.r_[np.zeros(3), n], (*turned.shape[:-2], 1, 6))
    back = np.swapaxes(G, -1, -2)
    solution = np.linalg.solve(G * springs @ back, np.concatenate([total, turned], axis=-2))
    return np.asarray(springs[:, None] * back @ solution)


def _balance(polygon: SupportPolygon) -> tuple[Floats, Floats]:
    """Return G of G N = (n.F, n x M), (..., 3, k), and the directions of the plane, (2, 3)."""
    in_plane = polygon.in_plane
    arms = in_plane @ np.swapaxes(polygon.points - polygon.middle[..., None, :], -1, -2)
    return np.concatenate([np.ones_like(arms[..., :1, :]), arms], axis=-2), in_plane


def _nearest_inside(polygon: SupportPolygon, point: Floats) -> Floats:
    """Return the place of the polygon that is nearest to a point of its plane."""
    none = np.zeros((0, 3))
    borders = np.sum(polygon.inward * polygon.ends, axis=1)
    return nearest_above(np.eye(3), none, point, np.zeros(0), polygon.inward, borders).x


def _springs(polygon: SupportPolygon, stiffness: ArrayLike | None) -> Floats:
    if stiffness is None:
        return np.ones(len(polygon.names))
    springs = as_vector('stiffness [N/m]', stiffness, len(polygon.names))
    if not (springs > 0.0).all():
        named = dict(zip(polygon.names, springs.tolist(), strict=True))
        raise InvalidInputError(f'stiffness [N/m]: need numbers > 0, got {named}')
    return springs
