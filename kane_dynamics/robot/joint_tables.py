# SPDX-License-Identifier: Apache-2.0
"""Where joints are in q and v, and what acts along each speed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot.body import Body, Mimic
from kane_dynamics.typing import Floats


@dataclass(frozen=True)
class JointIndex:
    """Where a joint finds its coordinates and speeds: x_joint = ratio x[...] + offset."""

    q: slice
    v: slice
    ratio: float = 1.0
    offset: float = 0.0


def index_tables(
    bodies: tuple[Body, ...],
) -> tuple[
    tuple[JointIndex, ...], tuple[tuple[str, slice], ...], tuple[str, ...], tuple[str, ...]
]:
    """Return where each body's joint and each quaternion is, and the labels of q and of v."""
    by_joint: dict[str, JointIndex] = {}
    quaternions: list[tuple[str, slice]] = []
    q_names: list[str] = []
    v_names: list[str] = []
    for body in bodies:
        if body.mimic is not None:
            continue
        kind, name = body.joint.kind, body.joint.name
        q, v = (
            slice(len(q_names), len(q_names) + kind.nq),
            slice(len(v_names), len(v_names) + kind.nv),
        )
        by_joint[name] = JointIndex(q, v)
        if kind.quaternion is not None:
            local = kind.quaternion
            quaternions.append((name, slice(q.start + local.start, q.start + local.stop)))
        q_names += [name + suffix for suffix in kind.coordinate_suffixes]
        v_names += [name + suffix for suffix in kind.velocity_suffixes]
    followers = {body.joint.name: body.mimic for body in bodies if body.mimic is not None}
    for name in followers:
        by_joint[name] = _follower_index(name, followers, by_joint)
    indices = tuple(by_joint[body.joint.name] for body in bodies)
    return indices, tuple(quaternions), tuple(q_names), tuple(v_names)


def _follower_index(
    name: str, followers: Mapping[str, Mimic], by_joint: Mapping[str, JointIndex]
) -> JointIndex:
    """Return the index of a mimic joint, through a chain of masters where there is one."""
    ratio, offset, visited = 1.0, 0.0, [name]
    while name in followers:
        mimic = followers[name]
        offset += ratio * mimic.offset
        ratio *= mimic.ratio
        name = mimic.master
        if name in visited:
            raise InvalidInputError(f'mimic joints follow each other in a circle: {visited}')
        visited.append(name)
    if name not in by_joint:
        raise NameNotFoundError(f"master of the mimic joint '{visited[0]}'", name, by_joint)
    master = by_joint[name]
    if master.q.stop - master.q.start != 1:
        raise InvalidInputError(f"joint '{visited[0]}' cannot mimic '{name}': it is not 1-DoF")
    return JointIndex(master.q, master.v, ratio, offset)


def joint_arrays(
    bodies: tuple[Body, ...], indices: tuple[JointIndex, ...], nq: int, nv: int
) -> dict[str, Floats]:
    """Return what acts along each speed and the limits, by the names of the robot's fields."""
    arrays = {name: np.zeros(nv) for name in ('armature', 'damping', 'friction')}
    arrays |= {'lower': np.full(nq, -np.inf), 'upper': np.full(nq, np.inf)}
    arrays |= {name: np.full(nv, np.inf) for name in ('velocity_limit', 'effort_limit')}
    for body, index in zip(bodies, indices, strict=True):
        joint = body.joint
        # power is kept: a follower's speed is ratio v, so its coefficients come back squared
        arrays['armature'][index.v] += index.ratio**2 * joint.armature
        arrays['damping'][index.v] += index.ratio**2 * joint.damping
        arrays['friction'][index.v] += abs(index.ratio) * joint.friction
        if body.mimic is None:
            arrays['velocity_limit'][index.v] = joint.velocity_limit
            arrays['effort_limit'][index.v] = joint.effort_limit
            if joint.kind.nq == 1:
                arrays['lower'][index.q], arrays['upper'][index.q] = joint.lower, joint.upper
    return arrays


def known_limits(limits: Floats, scale: float = 1.0) -> Floats:
    """Return a part of limits; 0, which URDF writers use for 'unknown', is infinity."""
    known = (limits > 0.0) & (limits < np.inf)
    return np.multiply(limits, scale, out=np.full(len(limits), np.inf), where=known)
