# SPDX-License-Identifier: Apache-2.0
"""Wheeled bases against published and derived answers: Campion's classes, mecanum, swerve."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.bases import CAMPION, wheel_rows, wheeled_base

import kane_dynamics as kd

RANK = 1e-9  # of the largest singular value


def rows_of(robot, constraints):
    """Return the rows at the neutral configuration and the names of their directions."""
    rows = kd.constraints.ConstraintSet(robot, constraints).rows(
        robot.neutral(), np.zeros(robot.nv), 0.0
    )
    return rows.matrix, [tuple(label.split('/')) for label in rows.labels]


def rank(matrix):
    """Return the number of singular values that are not roundoff."""
    return np.linalg.matrix_rank(matrix, RANK) if len(matrix) else 0


# rank of the lateral rows of fixed and steered wheels, of steered ones, shape and rank of A
CLASSES = {
    (3, 0): (0, 0, (3, 6), 3),
    (2, 0): (1, 0, (6, 7), 5),
    (2, 1): (1, 1, (6, 9), 6),
    (1, 1): (2, 1, (6, 7), 5),
    (1, 2): (2, 2, (6, 9), 6),
}
SINGULAR = {
    (2, 0): (1.414213562, 0),
    (2, 1): (1.03747376,),
    (1, 1): (1.732277193, 0.5519265645, 0),
    (1, 2): (1.277765364, 0.7342633526),
}


@pytest.mark.parametrize('kind', CAMPION)
def test_five_classes_of_wheeled_robots(kind):
    # Campion, Bastin, d'Andrea-Novel, IEEE Trans. Robotics and Automation 12 (1996)
    mounts = CAMPION[kind]
    robot = wheeled_base(mounts)
    A, labels = rows_of(robot, wheel_rows(robot, mounts))
    side = [
        k
        for k, (name, direction) in enumerate(labels)
        if direction == 'lateral' and not mounts[name].trail
    ]
    steering = [k for k in side if mounts[labels[k][0]].steered]
    fixed_rank, steered_rank, shape, full_rank = CLASSES[kind]
    assert rank(A[side, :3]) == fixed_rank
    assert rank(A[steering, :3]) == steered_rank
    assert kind == (3 - fixed_rank, steered_rank)
    assert A.shape == shape
    assert rank(A) == full_rank
    assert robot.nv - rank(A) == sum(kind)
    if kind in SINGULAR:
        found = np.linalg.svd(A[side, :3], compute_uv=False)
        assert_allclose(found, SINGULAR[kind], rtol=0, atol=5e-10)  # digits printed
    # redundant rows are no error: our own rank rule finds the same
    motion = kd.forward_dynamics(
        robot, robot.neutral(), np.zeros(robot.nv), np.ones(robot.nv), wheel_rows(robot, mounts)
    )
    assert motion.rank == full_rank


def test_lateral_rows_of_two_steered_wheels():
    mounts = CAMPION[1, 2]
    robot = wheeled_base(mounts)
    A, labels = rows_of(robot, wheel_rows(robot, mounts))
    side = [labels.index((name, 'lateral')) for name in ('front', 'rear')]
    expected = [
        [-0.3894183423, 0.921060994, 0.3542019667],
        [0.4794255386, 0.8775825619, -0.2153322147],
    ]
    assert_allclose(A[side, :3], expected, rtol=0, atol=5e-11)


@pytest.mark.parametrize('kind', CAMPION)
def test_rows_are_campions_formulas(kind):
    # (cos, sin, x sin - y cos) nu = r phi' and (-sin, cos, x cos + y sin - d) nu = d beta'
    mounts = CAMPION[kind]
    robot = wheeled_base(mounts)
    A, labels = rows_of(robot, wheel_rows(robot, mounts))
    for row, (name, direction) in zip(A, labels, strict=True):
        m, expected = mounts[name], np.zeros(robot.nv)
        c, s = np.cos(m.heading), np.sin(m.heading)
        if direction == 'lateral':
            expected[:3] = -s, c, m.x * c + m.y * s - m.trail
            if m.steered:
                expected[robot.velocity_index(f'{name}_steer')] = -m.trail
        else:
            expected[:3] = c, s, m.x * s - m.y * c
            expected[robot.velocity_index(name)] = -m.radius
        assert_allclose(row, expected, rtol=0, atol=1e-15)
