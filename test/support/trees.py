# SPDX-License-Identifier: Apache-2.0
"""Random robots: branched trees of every joint kind on every base, and random states of them."""

import dataclasses

import numpy as np

import kane_dynamics as kd

KINDS = ('revolute', 'prismatic', 'helical', 'cylindrical', 'planar', 'spherical', 'free')
BASES = ('fixed', 'planar', 'floating')


def joint_kind(name, rng):
    """Return a joint kind with a random axis and pitch where it has them."""
    axis = tuple(rng.normal(size=3))
    return {
        'revolute': lambda: kd.Revolute(axis),
        'prismatic': lambda: kd.Prismatic(axis),
        'helical': lambda: kd.Helical(axis, pitch=rng.uniform(0.1, 0.5)),
        'cylindrical': lambda: kd.Cylindrical(axis),
        'planar': kd.Planar,
        'spherical': kd.Spherical,
        'free': kd.Free,
    }[name]()


def random_pose(rng):
    """Return a pose with any rotation and a position within 0.5 m in each direction."""
    wxyz = rng.normal(size=4)
    return kd.Pose.from_rotation_and_position(
        wxyz / np.linalg.norm(wxyz), rng.uniform(-0.5, 0.5, 3)
    )


def random_inertia(rng):
    """Return the inertia of six particles, so that some body has it."""
    masses, points = rng.uniform(0.1, 0.6, 6), rng.uniform(-0.4, 0.4, (6, 3))
    com = masses @ points / masses.sum()
    arms = points - com
    squares = np.einsum('i,ij,ij->', masses, arms, arms) * np.eye(3)
    return kd.Inertia(masses.sum(), com, squares - np.einsum('i,ij,ik->jk', masses, arms, arms))


def random_tree(rng, base='fixed', kinds=KINDS, mimic=True, armature=True, friction=True):
    """
    Return a branched robot with one joint of each of `kinds`, in random order.

    Each body hangs on any earlier one; two mimic joints follow the first revolute one, the second
    through the first. A frame 'tool' is welded to the last body, 'anchor' to the world.
    """
    bodies = []
    if base != 'fixed':
        kind = kd.Planar() if base == 'planar' else kd.Free()
        bodies.append(kd.Body('base', '', kd.Joint('base', kind), inertia=random_inertia(rng)))
    for name in rng.permutation(kinds):
        parents = [body.name for body in bodies] or ['']
        joint = kd.Joint(
            f'{name}_joint',
            joint_kind(name, rng),
            # a 6-DoF joint has no rotor, and one on its speeds in turning axes would be no energy
            armature=rng.uniform(0.05, 0.2) if armature and name != 'free' else 0.0,
            damping=rng.uniform(0.1, 0.9) if friction else 0.0,
            friction=rng.uniform(0.1, 0.9) if friction else 0.0,
        )
        bodies.append(
            kd.Body(
                str(name), str(rng.choice(parents)), joint, random_pose(rng), random_inertia(rng)
            )
        )
    if mimic and 'revolute' in kinds:
        bodies += _followers(rng, bodies, armature, friction)
    frames = {
        'tool': kd.Frame(len(bodies) - 1, random_pose(rng)),
        'anchor': kd.Frame(-1, random_pose(rng)),
    }
    return kd.Robot('tree', bodies, gravity=rng.uniform(-9.0, 9.0, 3), frames=frames)


def _followers(rng, bodies, armature, friction):
    parents = [body.name for body in bodies]
    extra = {
        'armature': 0.1 if armature else 0.0,
        'damping': 0.3 if friction else 0.0,
        'friction': 0.4 if friction else 0.0,
    }
    first = kd.Joint('follower_joint', kd.Prismatic(tuple(rng.normal(size=3))), **extra)
    second = kd.Joint('second_follower_joint', kd.Revolute(tuple(rng.normal(size=3))), **extra)
    return [
        kd.Body(
            joint.name.removesuffix('_joint'),
            str(rng.choice(parents)),
            joint,
            random_pose(rng),
            random_inertia(rng),
            kd.Mimic(master, ratio, offset),
        )
        for joint, master, ratio, offset in (
            (first, 'revolute_joint', -0.7, 0.2),
            (second, 'follower_joint', 1.3, -0.4),
        )
    ]


def random_state(robot, rng):
    """Return q away from the neutral configuration, v and a; shapes (nq,), (nv,), (nv,)."""
    tangent = rng.uniform(-1.5, 1.5, robot.nv)
    q = kd.integrate(robot, robot.neutral(), tangent, 1.0)
    return q, rng.uniform(-1.0, 1.0, robot.nv), rng.uniform(-1.0, 1.0, robot.nv)


def with_gravity(robot, gravity):
    """Return the same robot in another field."""
    return dataclasses.replace(robot, gravity=gravity)


def thirty_trees():
    """Return pytest arguments: 30 seeds, ten of them on each base."""
    return [(seed, BASES[seed % 3]) for seed in range(30)]


def tree_and_state(seed, base, **options):
    """Return a random tree and a random state of it, the same for the same seed."""
    rng = np.random.default_rng(1000 + seed)
    robot = random_tree(rng, base, **options)
    return robot, *random_state(robot, rng)
