# SPDX-License-Identifier: Apache-2.0
"""
From the joints, collision shapes and inertials of a URDF to joint kinds, wheels and inertias.

Real files hold tensors that no link can have: links of TIAGo, PR2 and Fetch break the triangle
rule, and TIAGo's antennas (1e-6 kg) have a negative principal moment. That does no harm once they
are part of a heavier body, so a link is refused only for a negative or non-finite entry, and the
body for a negative principal moment.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import ZERO
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import make_quaternion, normalised, rotate, vec3
from kane_dynamics.algebra.scalars import unit_axis
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError, UrdfError, known_names
from kane_dynamics.robot.body import Joint, WheelShape
from kane_dynamics.robot.checks import as_names, as_vector
from kane_dynamics.robot.joint_kinds import Free, JointKind, Planar, Prismatic, Revolute
from kane_dynamics.robot.urdf.records import UrdfJoint, UrdfLimit, UrdfLink
from kane_dynamics.typing import Floats

JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
ONE_DOF = ('revolute', 'continuous', 'prismatic')

LockedJoints = Iterable[str] | Mapping[str, Any]
Coordinates = tuple[float, ...]
Locked = Mapping[str, Coordinates]  # of joints that do not move, by name


def joint_kind(joint: UrdfJoint) -> JointKind | None:
    """Return the kind of a joint, None if it is fixed."""
    if joint.type not in JOINT_TYPES:
        raise UrdfError(
            f"joint '{joint.name}': type '{joint.type}' is unknown; "
            f'{known_names(JOINT_TYPES, joint.type)}'
        )
    if joint.type == 'fixed':
        return None
    if joint.type == 'floating':
        return Free()
    axis = _axis(joint)
    if joint.type == 'planar':
        return Planar()
    return Prismatic(axis) if joint.type == 'prismatic' else Revolute(axis)


def _axis(joint: UrdfJoint) -> tuple[float, float, float]:
    try:
        return unit_axis(joint.axis)
    except InvalidInputError as error:
        raise UrdfError(f"joint '{joint.name}': {error}") from error


def alignment(joint: UrdfJoint) -> Pose:
    """Return x_K^J: the frame K of the joint's kind in the joint frame J of the URDF."""
    if joint.type != 'planar':
        return Pose.identity()
    x, y, z = _axis(joint)
    across = x * x + y * y
    if across == 0.0 and z < 0.0:
        return Pose(make_quaternion(0.0, 1.0, 0.0, 0.0), ZERO)
    w = 1.0 + z if z > 0.0 else across / (1.0 - z)  # both are 1 + z, this one without cancellation
    return Pose(normalised(make_quaternion(w, -y, x, 0.0)), ZERO)


def moving_joint(joint: UrdfJoint, kind: JointKind) -> Joint:
    """Return a joint with its friction and bounds; what is unknown is infinite."""
    limit = joint.limit or UrdfLimit()
    lower, upper = -np.inf, np.inf
    if joint.type in ('revolute', 'prismatic') and has_range(limit):
        lower, upper = limit.lower or 0.0, limit.upper or 0.0
    return Joint(
        joint.name,
        kind,
        damping=joint.damping,
        friction=joint.friction,
        lower=lower,
        upper=upper,
        velocity_limit=_bound(limit.velocity),
        effort_limit=_bound(limit.effort),
    )


def has_range(limit: UrdfLimit) -> bool:
    """Return whether there is a range of positions: one bound left out is 0, both are unknown."""
    if limit.lower is None and limit.upper is None:
        return False
    return (limit.lower or 0.0) <= (limit.upper or 0.0)


def _bound(value: float | None) -> float:
    """Return a velocity or effort limit; real files write 0 where it is unknown."""
    return np.inf if value is None or value <= 0.0 else value


def locked_coordinates(joints: Iterable[UrdfJoint], locked_joints: LockedJoints) -> Locked:
    """Return the coordinates of the joints that do not move, by name; none for fixed ones."""
    by_name = {joint.name: joint for joint in joints}
    _check_mimics(by_name)
    names = as_names('locked_joints', locked_joints)
    locked: dict[str, Coordinates] = {name: () for name, j in by_name.items() if j.type == 'fixed'}
    for name in names:
        if name not in by_name:
            raise NameNotFoundError('joint', name, by_name)
        position = locked_joints[name] if isinstance(locked_joints, Mapping) else None
        locked[name] = _locked_coordinates(by_name[name], position)
    for name in by_name:
        if (position := _held_position(name, by_name, locked)) is not None:
            locked.setdefault(name, (position,))
    return locked


def _locked_coordinates(joint: UrdfJoint, position: Any) -> Coordinates:
    kind = joint_kind(joint)
    if kind is None:
        if np.any(position):
            raise InvalidInputError(f"joint '{joint.name}' is fixed, cannot lock it at {position}")
        return ()
    if position is None:
        return kind.neutral
    name = f"locked_joints['{joint.name}'] ({joint.type})"
    return tuple(as_vector(name, np.atleast_1d(position), kind.nq).tolist())


def _held_position(name: str, by_name: Mapping[str, UrdfJoint], locked: Locked) -> float | None:
    """Return where a joint is held, followers through their masters; None where it moves."""
    if name in locked:
        return locked[name][0] if locked[name] else 0.0
    mimic = by_name[name].mimic
    if mimic is None:
        return None
    position = _held_position(mimic.master, by_name, locked)
    return None if position is None else mimic.ratio * position + mimic.offset


def _check_mimics(by_name: Mapping[str, UrdfJoint]) -> None:
    """Refuse followers of nothing, of themselves, or of what has not one degree of freedom."""
    for joint in by_name.values():
        path = [joint]
        while path[-1].mimic is not None and path[-1].type != 'fixed':
            name = path[-1].mimic.master
            if name not in by_name:
                raise UrdfError(
                    f"joint '{path[-1].name}' mimics '{name}', which does not exist; "
                    f'{known_names(by_name, name)}'
                )
            if by_name[name] in path:
                raise UrdfError(
                    f'mimic joints follow each other in a circle: {[j.name for j in path]}'
                )
            for end in (path[-1], by_name[name]):
                if end.type not in (*ONE_DOF, 'fixed'):
                    raise UrdfError(
                        f"joint '{path[-1].name}' cannot mimic '{name}': "
                        f"'{end.name}' is {end.type}, not 1-DoF"
                    )
            path.append(by_name[name])


_PARALLEL = 1e-3  # sine between the axis of a wheel and that of its collision cylinder
_CENTRED = 1e-4  # distance from the wheel's axis, in radii: above what printed digits leave
_Z = make_quaternion(0.0, 0.0, 0.0, 1.0)


def wheel_shape(links: Iterable[tuple[Pose, UrdfLink]], kind: JointKind) -> WheelShape | None:
    """Return the collision cylinder or sphere that a joint turns, or None."""
    shapes = [
        _shape(x_L_B * shape.origin.pose(), shape.radius, shape.is_sphere)
        for x_L_B, link in links
        for shape in link.rounds
        if shape.radius > 0.0
    ]
    if kind.quaternion is not None:
        return shapes[0] if len(shapes) == 1 else None
    if not isinstance(kind, Revolute):
        return None
    n = np.array(kind.axis)
    around = [_around(shape, n) for shape in shapes if _is_around(shape, n)]
    return next((shape for shape, centred in around if centred), next(iter(around), (None,))[0])


def _shape(x: Pose, radius: float, is_sphere: bool) -> WheelShape:
    axis = None if is_sphere else vec3(rotate(x.rotation, _Z))
    return WheelShape(radius, vec3(x.translation), axis)  # type: ignore[arg-type]


def _is_around(shape: WheelShape, n: Floats) -> bool:
    """Return whether an axis goes through a shape, along it."""
    tilt = 0.0 if shape.axis is None else float(np.linalg.norm(np.cross(n, shape.axis)))
    return tilt <= _PARALLEL and bool(np.linalg.norm(np.cross(n, shape.centre)) < shape.radius)


def _around(shape: WheelShape, n: Any) -> tuple[WheelShape, bool]:
    """Return a shape, on the axis where it is off by printed digits only, and whether it is."""
    on_axis = n * (n @ shape.centre)
    if np.linalg.norm(on_axis - shape.centre) > _CENTRED * shape.radius:
        return shape, False
    return WheelShape(shape.radius, on_axis, shape.axis), True


_NOISE = 1e-12  # [m^2] a radius of gyration under 1 um is roundoff of the tool that wrote the file


@dataclass(frozen=True, eq=False)
class LinkMass:
    """Mass properties of a link as its file gives them."""

    point: Inertia
    tensor: Floats


def link_mass(link: UrdfLink) -> LinkMass:
    """Return the mass properties of a link, zero where it has no ``<inertial>``."""
    if link.inertial is None:
        return LinkMass(Inertia.zero(), np.zeros((3, 3)))
    ixx, ixy, ixz, iyy, iyz, izz = link.inertial.moments
    tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    origin = link.inertial.origin.pose()
    try:
        point = Inertia(link.inertial.mass, np.zeros(3), np.zeros((3, 3))).moved(origin)
    except InvalidInputError as error:
        raise InvalidInputError(f"link '{link.name}': {error}") from error
    if np.abs(tensor).max() < _NOISE * point.mass:
        tensor = np.zeros((3, 3))
    if not (np.isfinite(tensor).all() and np.diag(tensor).min() >= 0.0):
        raise InvalidInputError(
            f"link '{link.name}': ixx, ixy, ixz, iyy, iyz, izz must be finite, and ixx, iyy, izz "
            f'>= 0 kg m^2, got {list(link.inertial.moments)}'
        )
    R = origin.rotation_matrix()
    return LinkMass(point, R @ tensor @ R.T)


def welded_inertia(name: str, parts: Iterable[tuple[Pose, LinkMass]]) -> Inertia:
    """Return the inertia of a body in its frame B."""
    points = Inertia.zero()
    tensor: Any = np.zeros((3, 3))
    for x_L_B, mass in parts:
        R = x_L_B.rotation_matrix()
        points = points + mass.point.moved(x_L_B)
        tensor = tensor + R @ mass.tensor @ R.T
    try:
        return Inertia(points.mass, points.com, points.tensor + tensor)
    except InvalidInputError as error:
        raise InvalidInputError(f"link '{name}' and what is fixed to it: {error}") from error
