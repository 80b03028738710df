# SPDX-License-Identifier: Apache-2.0
"""Random trees on every base and random states of them, the same for the same seed."""

import dataclasses

import numpy as np
import pytest

import kane_dynamics as kd
from studies.random_robots import random_tree

BASES = ('fixed', 'planar', 'floating')


def random_state(robot, rng):
    """Return q away from the neutral configuration, v and a; shapes (nq,), (nv,), (nv,)."""
    tangent = rng.uniform(-1.5, 1.5, robot.nv)
    q = kd.integrate(robot, robot.neutral(), tangent, 1.0)
    return q, rng.uniform(-1.0, 1.0, robot.nv), rng.uniform(-1.0, 1.0, robot.nv)


def with_gravity(robot, gravity):
    """Return the same robot in another field."""
    return dataclasses.replace(robot, gravity=gravity)


def thirty_trees():
    """Return pytest arguments: 30 seeds, ten of them on each base, four of these in every run."""
    return [pytest.param(*one.values[0], marks=one.marks) for one in tree_params()]


def tree_params():
    """Return the same for a fixture, with names as planar-1."""
    many = [pytest.mark.thorough]
    return [
        pytest.param((seed, base), id=f'{base}-{seed}', marks=many if seed >= 12 else [])
        for seed, base in ((seed, BASES[seed % 3]) for seed in range(30))
    ]


def tree_and_state(seed, base, **options):
    """Return a random tree and a random state of it, the same for the same seed."""
    rng = np.random.default_rng(1000 + seed)
    robot = random_tree(rng, base, **options)
    return robot, *random_state(robot, rng)


def dense(lower):
    """Return the symmetric matrix of the nonzeros of its lower triangle."""
    matrix = np.zeros((len(lower), len(lower)))
    for k, row in enumerate(lower):
        for j, entry in row.items():
            matrix[k, j] = matrix[j, k] = entry
    return matrix
