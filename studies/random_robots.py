# SPDX-License-Identifier: Apache-2.0
"""Made-up robots of studies and tests: random trees of every joint kind."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.robot.body import Body, Frame, Joint, Mimic
from kane_dynamics.robot.joint_kinds import (
    Cylindrical,
    Free,
    Helical,
    JointKind,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
)
from kane_dynamics.robot.robot import Robot

_CLASSES: dict[str, Callable[..., JointKind]] = {
    kind.__name__.lower(): kind
    for kind in (Revolute, Prismatic, Helical, Cylindrical, Planar, Spherical, Free)
}
KINDS = tuple(_CLASSES)


def random_tree(
    rng: Generator,
    base: str = 'fixed',
    kinds: Sequence[str] = KINDS,
    mimic: bool = True,
    armature: bool = True,
    friction: bool = True,
) -> Robot:
    """Return a branched robot with one joint of each of `kinds`, in random order."""
    bodies: list[Body] = []
    if base != 'fixed':
        kind = Planar() if base == 'planar' else Free()
        bodies.append(Body('base', '', Joint('base', kind), inertia=random_inertia(rng)))
    for name in map(str, rng.permutation(kinds)):
        parents = [body.name for body in bodies] or ['']
        joint = Joint(
            f'{name}_joint',
            joint_kind(name, rng),
            # a 6-DoF joint has no rotor, and one on its speeds in turning axes would be no energy
            armature=rng.uniform(0.05, 0.2) if armature and name != 'free' else 0.0,
            damping=rng.uniform(0.1, 0.9) if friction else 0.0,
            friction=rng.uniform(0.1, 0.9) if friction else 0.0,
        )
        parent = str(rng.choice(parents))
        bodies.append(Body(name, parent, joint, random_pose(rng), random_inertia(rng)))
    if mimic and 'revolute' in kinds:
        bodies += _followers(rng, [body.name for body in bodies], armature, friction)
    frames = {
        'tool': Frame(len(bodies) - 1, random_pose(rng)),
        'anchor': Frame(-1, random_pose(rng)),
    }
    return Robot('tree', bodies, gravity=rng.uniform(-9.0, 9.0, 3), frames=frames)


def joint_kind(name: str, rng: Generator) -> JointKind:
    """Return a joint kind with a random axis, and a random pitch where it has one."""
    kind, axis = _CLASSES[name], tuple(rng.normal(size=3))
    if kind is Helical:
        return Helical(axis, pitch=rng.uniform(0.1, 0.5))
    return kind(axis) if hasattr(kind, 'axis') else kind()


def random_pose(rng: Generator) -> Pose:
    """Return a pose with any rotation and a position within 0.5 m in each direction."""
    wxyz = rng.normal(size=4)
    return Pose.from_rotation_and_position(wxyz / np.linalg.norm(wxyz), rng.uniform(-0.5, 0.5, 3))


def random_inertia(rng: Generator) -> Inertia:
    """Return the inertia of six particles, so that some body has it."""
    masses, points = rng.uniform(0.1, 0.6, 6), rng.uniform(-0.4, 0.4, (6, 3))
    com = masses @ points / masses.sum()
    arms = points - com
    squares = np.einsum('i,ij,ij->', masses, arms, arms) * np.eye(3)
    return Inertia(masses.sum(), com, squares - np.einsum('i,ij,ik->jk', masses, arms, arms))


def _followers(
    rng: Generator, parents: Sequence[str], armature: bool, friction: bool
) -> list[Body]:
    """Return two bodies on mimic joints, the second of which follows the first."""
    rotor, damping, dry = 0.1 * armature, 0.3 * friction, 0.4 * friction
    first, second = (tuple(axis) for axis in rng.normal(size=(2, 3)))
    made = []
    for name, kind, master, ratio, offset in (
        ('follower', Prismatic(first), 'revolute_joint', -0.7, 0.2),
        ('second_follower', Revolute(second), 'follower_joint', 1.3, -0.4),
    ):
        joint = Joint(f'{name}_joint', kind, armature=rotor, damping=damping, friction=dry)
        parent, mimic = str(rng.choice(parents)), Mimic(master, ratio, offset)
        made.append(Body(name, parent, joint, random_pose(rng), random_inertia(rng), mimic))
    return made
