# SPDX-License-Identifier: Apache-2.0
r"""
Limits of joints and of the ground as rows that are at most 1.

Tipping over: the zero-moment point keeps a distance from each edge of the support polygon.
Pressing: every contact does, so that normal forces are linear in the wrench. Friction: the
traction of each wheel lies in a polygon inside the ellipse :math:`\mu N`, whose corners are on it,
four of them along and across the track.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from kane_dynamics.analysis.base_effects import planar_robot
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.analysis.normal_forces import pressed_shares
from kane_dynamics.analysis.tip_over import edge_moments
from kane_dynamics.analysis.wheel_forces import tractions_of
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_mapping, as_numbers, describe
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices, NDArray

Bounds = Mapping[str, 'float | tuple[float, float]']


@dataclass(frozen=True, eq=False)
class JointBounds:
    """Lower and upper bounds of one quantity of some joints."""

    names: tuple[str, ...]
    columns: Indices
    lower: Floats
    upper: Floats

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the names of `linear`."""
        return self.names + self.names

    @property
    def half(self) -> Floats:
        """Return half of what lies between the bounds, shape (k,)."""
        return 0.5 * (self.upper - self.lower)

    @property
    def constant(self) -> Floats:
        """Return what `linear` lacks, shape (2 k,): the middle of the bounds."""
        middle = 0.5 * (self.upper + self.lower) / self.half
        return np.concatenate([-middle, middle])

    def linear(self, values: Floats) -> Floats:
        """Return the part of 2 k rows that is linear in values of all joints, (n, 2 k)."""
        parts = values[:, self.columns] / self.half
        return np.concatenate([parts, -parts], axis=1)

    def squares(self, tangents: Floats) -> Floats:
        """Return the rows of the squared speed along a path for bounds of speeds, (n, k)."""
        along = tangents[:, self.columns]
        return np.asarray((along / np.where(along < 0.0, self.lower, self.upper)) ** 2)


def joint_bounds(
    robot: Robot, what: str, limits: Floats, bounds: Bounds | None, part: float
) -> JointBounds:
    """Return the finite bounds of a quantity."""
    upper = known_limits(limits)
    lower = -upper
    for name, bound in as_mapping(f'bounds of {what}', {} if bounds is None else bounds).items():
        k = robot.velocity_index(name)
        pair = as_numbers(f"bound of {what} of '{name}'", bound)
        ends = np.array([-pair, pair]) if pair.shape == () else pair
        if ends.shape != (2,) or not ends[0] <= 0.0 <= ends[1] or ends[0] == ends[1]:
            raise InvalidInputError(
                f"bound of {what} of '{name}': need a number > 0, or lower <= 0 <= upper, "
                f'got {describe(bound)}'
            )
        lower[k], upper[k] = ends
    columns = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
    names = tuple(f'{what} of {robot.velocity_names[k]}' for k in columns)
    return JointBounds(names, columns, part * lower[columns], part * upper[columns])


SIDES = 16  # of a polygon of friction: between corners it lies 1.9 % inside
_LEAST = 0.05  # of a contact's part of the weight: what bounds of friction are relative to
_NO_FRICTION = 1e-9  # mu of what is given as 0


class GroundLimits:
    """The inequalities of one stance."""

    def __init__(self, contacts: GroundContacts, kept: SafetyMargins) -> None:
        if contacts.sliding:
            raise InvalidInputError(
                f'retiming: wheels {sorted(contacts.sliding)} slide; give a stance without sliding'
            )
        robot = planar_robot(contacts.robot)
        self.contacts, self.kept = contacts, kept
        mass = sum(body.inertia.mass for body in robot.bodies)
        self.weight = float(mass * np.linalg.norm(robot.gravity))
        pairs = zip(contacts.names, contacts.friction.tolist(), strict=True)
        known = [name for name, friction in pairs if np.isfinite(friction).all()]
        self.held = [name for name in contacts.wheels if name in known]
        angles = 2.0 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
        self._sides = np.stack([np.cos(angles), np.sin(angles)]) / np.cos(np.pi / SIDES)
        moved = {*(w.wheel.body for w in contacts.wheels.values())}
        moved |= {frame.body for frame in contacts.casters.values()}
        ancestors = {i for body in moved for i in robot.ancestors(body)[1:]}
        spun = {wheel.wheel.body for wheel in contacts.wheels.values()}
        # contacts stand in the axes of the base as these coordinates say; spinning moves none
        self._moving = [k for i in ancestors - spun for k in range(robot.nq)[robot.indices[i].q]]
        self._polygon = contacts.polygon(robot.neutral())
        self.names = (
            *(f'tip-over over {one} - {other}' for one, other in self._polygon.edges),
            *(f'load of {name}' for name in contacts.names),
            *(f'friction of {name}' for name in self.held for _ in range(SIDES)),
        )

    def at(self, q: Floats, still: Floats) -> tuple[Floats, Floats]:
        """Return W and L of 1 + W w + L lambda <= 1, shapes (n, m, 6) and (n, m, k)."""
        to_base = _to_base(q[:, :3])
        parts = self._placed(q if self._moving else q[:1])
        edges, shares, pulls = (np.broadcast_to(x, (len(q), *x.shape[1:])) for x in parts)
        least = _LEAST * self.weight / len(self.contacts.names)
        loads = np.einsum('nki,nij,nj->nk', shares, to_base, still)
        loads = self.kept.friction * np.maximum(loads, least)
        held = [self.contacts.names.index(name) for name in self.held]
        per_load = 1.0 / loads[:, held, None]
        pressed = np.repeat(-self.kept.friction * shares[:, held] * per_load, SIDES, axis=1)
        of_wheels = (pulls * per_load[..., None]).reshape(len(q), -1, pulls.shape[-1])
        of_others = np.zeros((len(q), len(self.names) - of_wheels.shape[1], pulls.shape[-1]))
        whole = np.concatenate([edges, -shares * (_LEAST / least), pressed], axis=1)
        return whole @ to_base, np.concatenate([of_others, of_wheels], axis=1)

    def _placed(self, q: Floats) -> tuple[Floats, Floats, Floats]:
        """Return rows of edges, normal forces and sides of friction, the base at the origin."""
        contacts, place = self.contacts, [0.0, 0.0, 0.0, *q[:, 3:].T]
        geometry = contacts.traced_at(place)
        points = _stacked(np.array(geometry.points, dtype=object), len(q))
        polygon = self._polygon.moved(points)
        moments = np.moveaxis(edge_moments(polygon, np.eye(6)[:, None]), 0, -1)
        arms = polygon.ends - polygon.middle[:, None]
        sizes = np.sum(-arms * polygon.inward, axis=-1).min(axis=-1)
        kept = self.kept.edge * np.concatenate([np.zeros(3), polygon.normal])
        edges = -(moments - kept) / (sizes[:, None, None] * self.weight)
        shares = pressed_shares(polygon, contacts.stiffness)
        rows = len(contacts.constraints.labels)
        tractions = tractions_of(contacts, place, geometry.touches, np.eye(rows))
        sides = np.zeros((len(q), len(self.held), SIDES, rows))
        for k, name in enumerate(self.held):
            friction = np.maximum(contacts.friction[contacts.names.index(name)], _NO_FRICTION)
            touch = geometry.touches[contacts.wheels[name]]
            axes, pushes = (_stacked(x, len(q)) for x in (touch.axes[:2], tractions[name]))
            along = np.einsum('nri,nai->nra', pushes, axes) / friction
            sides[:, k] = np.swapaxes(along @ self._sides, 1, 2)
        return edges, shares, sides


def _stacked(parts: NDArray, count: int) -> Floats:
    """Return an array of arrays of shape (n,), or of numbers, with the n first."""
    each = [np.broadcast_to(np.asarray(part, dtype=float), count) for part in parts.ravel()]
    return np.array(each).T.reshape(count, *parts.shape)


def _to_base(poses: Floats) -> Floats:
    """Return what brings wrenches about the origin of the world into the base, (n, 6, 6)."""
    turned = Rotation.from_euler('z', -poses[:, 2:]).as_matrix()
    p = poses * (1.0, 1.0, 0.0)
    arm = np.cross(p[:, None], np.eye(3))  # the moment about the origin p is less by p x f
    maps = np.zeros((len(poses), 6, 6))
    maps[:, :3, :3] = maps[:, 3:, 3:] = turned
    maps[:, :3, 3:] = turned @ arm
    return maps
