# SPDX-License-Identifier: Apache-2.0
"""
Warnings about a URDF: unusual numbers, and angles that a file rounds.

A wheel whose axis is off by 3.7e-6 rad (1.5708 in place of pi/2) is another wheel: rows of
constraints that should repeat each other differ a little.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kane_dynamics.algebra.dual_quaternion import vec6
from kane_dynamics.algebra.inertia import Inertia, triangle_problem
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.robot.body import WORLD
from kane_dynamics.robot.motion import integrate_coordinates, joint_motion
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.joints import ONE_DOF, LinkMass, has_range
from kane_dynamics.robot.urdf.records import UrdfJoint, UrdfLimit, UrdfLink, UrdfModel, UrdfOrigin
from kane_dynamics.typing import Bools, Floats

TOLERANCE = 1e-4  # [rad]; four digits, 1.571, are off by 2e-4 and may be meant
_TWELFTHS = {0, 3, 4, 6, 8, 9}  # of a half turn: multiples of pi/2, pi/3 and pi/4
_SHOWN = 4  # values in a remark
_ROUNDOFF = 1e-15  # of an angle of order 1 that was printed with all digits


def exact_angle(angle: float) -> float:
    """Return the multiple of pi/2, pi/3 or pi/4 within `TOLERANCE` of an angle, else the angle."""
    k = round(angle * 12.0 / math.pi)
    near = k * math.pi / 12.0
    meant = k % 12 in _TWELFTHS and abs(angle - near) < TOLERANCE
    return near if meant else angle


def with_exact_angles(urdf: UrdfModel) -> UrdfModel:
    """Return the description with exact angles in the origins of joints and round shapes."""
    joints = tuple(replace(joint, origin=_exact(joint.origin)) for joint in urdf.joints)
    links = tuple(
        replace(link, rounds=tuple(replace(r, origin=_exact(r.origin)) for r in link.rounds))
        for link in urdf.links
    )
    return replace(urdf, joints=joints, links=links)


def _exact(origin: UrdfOrigin) -> UrdfOrigin:
    roll, pitch, yaw = map(exact_angle, origin.rpy)
    return replace(origin, rpy=(roll, pitch, yaw))


def angle_warnings(urdf: UrdfModel) -> Iterator[str]:
    """Yield one remark on all angles of joint origins that are nearly parts of a turn."""
    inexact = [
        (abs(angle - exact_angle(angle)), joint.name, angle)
        for joint in urdf.joints
        for angle in joint.origin.rpy
        if abs(angle - exact_angle(angle)) > _ROUNDOFF * max(1.0, abs(angle))
    ]
    if not inexact:
        return
    counts = Counter(f'{angle:.12g}' for _, _, angle in inexact).most_common()
    listed = ', '.join(f'{text} ({n} times)' if n > 1 else text for text, n in counts[:_SHOWN])
    more = ', ...' if len(counts) > _SHOWN else ''
    largest, name, _ = max(inexact)
    yield (
        f'{len(inexact)} rpy angles of joint origins are nearly, not exactly, multiples of pi/2, '
        f'pi/3 or pi/4: {listed}{more}; the largest difference is {largest:.1e} rad, at joint '
        f"'{name}'. load_urdf(..., snap_angles=True) takes them as exact"
    )


_RANK = 1e-7  # its square, what it leaves in M, is roundoff of columns scaled to length 1


def inertial_warnings(link: UrdfLink, mass: LinkMass) -> Iterator[str]:
    """Yield what the inertial of a link leaves out, and that no link can have it."""
    if link.inertial is not None and link.inertial.missing:
        names = ', '.join(link.inertial.missing)
        yield f"link '{link.name}': <inertial> has no {names}; taken as 0 kg m^2"
    if problem := triangle_problem(link.name, mass.tensor):
        yield problem


def limit_warnings(joint: UrdfJoint) -> Iterator[str]:
    """Yield which bounds of a joint are unknown although URDF wants them."""
    if joint.type not in ONE_DOF or joint.mimic is not None:
        return
    if joint.limit is None:
        if joint.type != 'continuous':
            yield f"joint '{joint.name}' ({joint.type}) has no <limit>; its bounds are unknown"
        return
    limit = joint.limit
    unknown = [
        f'{name} limit {value:g}' if value is not None else f'no {name} limit'
        for name, value in (('velocity', limit.velocity), ('effort', limit.effort))
        if value is None or value <= 0.0
    ]
    if joint.type != 'continuous' and not has_range(limit):
        unknown.insert(0, _range_warning(limit))
    if unknown:
        yield f"joint '{joint.name}': {', '.join(unknown)}; taken as unknown"


def _range_warning(limit: UrdfLimit) -> str:
    if limit.lower is None and limit.upper is None:
        return 'no lower and upper limit'
    return f'lower limit {limit.lower or 0.0:g} above upper limit {limit.upper or 0.0:g}'


def singular_warnings(robot: Robot) -> Iterator[str]:
    """Yield the links and speeds that no inertia resists, always or at the neutral position."""
    always = speeds_without_inertia(robot)
    free = always or _named(robot, _free_speeds(robot, robot.neutral().tolist()))
    if not free:
        return
    where = '' if always else ' at the neutral position'
    links = [
        body.name
        for body, index in zip(robot.bodies, robot.indices, strict=True)
        if set(robot.velocity_names[index.v]).intersection(free)
    ]
    yield (
        f'links {links}: no inertia resists {list(free)}{where}, so the mass matrix is singular; '
        'give them an <inertial>, or lock these joints'
    )


def speeds_without_inertia(robot: Robot) -> tuple[str, ...]:
    """Return the speeds that no inertia resists, wherever the robot is."""
    return _named(robot, _free_speeds(robot, _general_position(robot)))


def _named(robot: Robot, mask: Bools) -> tuple[str, ...]:
    return tuple(n for n, one in zip(robot.velocity_names, mask, strict=True) if one)


def _free_speeds(robot: Robot, q: list[float]) -> Bools:
    """
    Return which speeds take part in a null vector of M, shape (nv,).

    M = sum_i J_i' Psi_i J_i is singular where all Psi_i^(1/2) J_i share a null vector, which takes
    a body without mass or without a definite inertia tensor.
    """
    roots = [_inertia_root(body.inertia) for body in robot.bodies]
    if all(np.linalg.matrix_rank(root, tol=0.0) == len(root) for root in roots):
        return np.zeros(robot.nv, dtype=bool)
    jacobians = _com_jacobians(robot, q)
    energy = np.vstack([root @ jacobian for root, jacobian in zip(roots, jacobians, strict=True)])
    size = np.linalg.norm(energy, axis=0)
    scaled = energy / np.where(size > 0.0, size, 1.0)
    _, values, vectors = np.linalg.svd(scaled, full_matrices=False)
    return np.abs(vectors[values < _RANK]).max(axis=0, initial=0.0) > _RANK


def _inertia_root(inertia: Inertia) -> Floats:
    """Return Psi^(1/2) on (omega, v) of the centre of mass, shape (6, 6)."""
    moments, axes = np.linalg.eigh(inertia.tensor)
    root = np.sqrt(inertia.mass) * np.eye(6)
    root[:3, :3] = np.sqrt(np.clip(moments, 0.0, None))[:, None] * axes.T
    return root


def _com_jacobians(robot: Robot, q: list[float]) -> Iterator[Floats]:
    """Yield J_i of each body at its centre of mass, shape (6, nv), in one walk down the tree."""
    of_bodies: list[Floats] = []
    for i, (body, parent) in enumerate(zip(robot.bodies, robot.parents, strict=True)):
        joint = joint_motion(robot, i, q, [0.0] * robot.nv)
        of_parent = np.zeros((6, robot.nv)) if parent == WORLD else of_bodies[parent]
        jacobian = (joint.placement * joint.pose).conjugate().adjoint_matrix() @ of_parent
        for k, axis in enumerate(joint.axes, start=joint.columns.start):
            jacobian[:, k] += vec6(axis)
        of_bodies.append(jacobian)
        to_com = Pose(Pose.identity().rotation, pure(-body.inertia.com))
        yield to_com.adjoint_matrix() @ jacobian


def _general_position(robot: Robot) -> list[float]:
    step = np.random.default_rng(0).uniform(0.5, 1.0, robot.nv).tolist()
    return integrate_coordinates(robot, robot.neutral(), step, 1.0).tolist()
