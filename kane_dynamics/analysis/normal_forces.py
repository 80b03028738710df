# SPDX-License-Identifier: Apache-2.0
r"""
The wrench of the ground, and the normal forces that share it.

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
from math import nan

import numpy as np

from kane_dynamics.algebra.matrices import cross_rows
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.least_distance import nearest_above
from kane_dynamics.algorithms.newton_euler import ExternalWrenches, transmitted, wrenches_on_bodies
from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.analysis.tip_over import zero_moment_point
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats


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
    point = zero_moment_point(polygon, w)
    place = polygon.in_plane @ (point - polygon.middle)
    balanced = _holds(polygon, *place.tolist())
    if not balanced:
        place = polygon.in_plane @ (_nearest_inside(polygon, point) - polygon.middle)
    forces = _shared(springs.tolist(), polygon.flat.tolist(), place.tolist(), total)
    if min(forces) >= 0.0:  # no spring would pull
        return NormalForces(np.array(forces), np.zeros(len(springs)), determined, balanced)
    G = _balance(polygon)
    span = np.abs(G[1:]).max()  # rows of one size
    G[1:] /= span
    moments = total * np.append(1.0, place / span)
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


def _shared(
    springs: list[float], flat: list[list[float]], place: list[float], total: float
) -> list[float]:
    """Return k_i (s + r x_i) that make up a force at a place of the plane."""
    stiffness = sum(springs)
    both = [*zip(springs, flat, strict=True)]
    a, b = (sum([k * x[i] for k, x in both]) / stiffness for i in (0, 1))
    arms = [(k, u - a, v - b) for k, (u, v) in both]
    uu = sum([k * u * u for k, u, _ in arms])
    uv = sum([k * u * v for k, u, v in arms])
    vv = sum([k * v * v for k, _, v in arms])
    mu, mv, square = total * (place[0] - a), total * (place[1] - b), uu * vv - uv * uv or nan
    ru, rv = (vv * mu - uv * mv) / square, (uu * mv - uv * mu) / square
    return [k * (total / stiffness + ru * u + rv * v) for k, u, v in arms]


def pressed_shares(polygon: SupportPolygon, stiffness: ArrayLike | None = None) -> Floats:
    """Return P with N = P w while every point presses, shape (k, 6) or (n, k, 6)."""
    springs = _springs(polygon, stiffness)
    n, middle = polygon.normal, polygon.middle
    G, in_plane = _balance(polygon), polygon.in_plane
    # n x M about the middle, of unit moments and forces about the origin of the world
    forces = -cross_rows(middle[..., None, :], np.eye(3))
    moved = np.concatenate([np.broadcast_to(np.eye(3), forces.shape), forces], axis=-2)
    turned = in_plane @ np.swapaxes(cross_rows(n, moved), -1, -2)
    total = np.broadcast_to(np.r_[np.zeros(3), n], (*turned.shape[:-2], 1, 6))
    back = np.swapaxes(G, -1, -2)
    solution = np.linalg.solve(G * springs @ back, np.concatenate([total, turned], axis=-2))
    return np.asarray(springs[:, None] * back @ solution)


def _balance(polygon: SupportPolygon) -> Floats:
    """Return G of G N = (n.F, n x M), shape (..., 3, k)."""
    arms = np.swapaxes(polygon.flat, -1, -2)
    return np.concatenate([np.ones_like(arms[..., :1, :]), arms], axis=-2)


def _holds(polygon: SupportPolygon, x: float, y: float) -> bool:
    """Return whether a place, in the axes of the plane about the middle, is in the polygon."""
    flat = polygon.flat.tolist()
    corners = [flat[k] for k in polygon.corners]
    edges = zip(corners, [*corners[1:], corners[0]], strict=True)  # clockwise
    return all((c - a) * (y - b) <= (d - b) * (x - a) for (a, b), (c, d) in edges)


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
