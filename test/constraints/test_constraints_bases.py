# SPDX-License-Identifier: Apache-2.0
"""Wheeled bases against published and derived answers: Campion's classes, mecanum, swerve."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.bases import CAMPION, Mount, mecanum_mounts, omni_mounts, wheel_rows, wheeled_base
from support.machines import at, inertia, revolute

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


PRINTED = 6e-10  # half a unit of ten digits, of numbers up to 10; relative above


def steady(robot, rows, nu, nu_rate, q=None):
    """Return q, v and a on the rows at yaw 0 from body rates nu and their own derivatives."""
    q = robot.neutral() if q is None else q
    base = ('base_x', 'base_y', 'base_yaw')
    vx, vy, w = nu
    v, a = np.zeros((2, robot.nv))
    v[:3] = nu
    a[:3] = nu_rate + np.array([-w * vy, w * vx, 0.0])
    v = kd.consistent_velocity(robot, q, v, rows, known=base)
    return q, v, kd.consistent_acceleration(robot, q, v, a, rows, base)


def plain_base(mounts, mass, yaw_inertia, spin_inertia, fork=0.0, more=()):
    """Return a base with all mass in the trunk; wheels have spin inertia, forks yaw inertia."""
    return wheeled_base(
        mounts,
        trunk=inertia(mass, (0, 0, 0), (1.0, 1.0, yaw_inertia)),
        wheel=inertia(0.0, (0, 0, 0), (0.0, spin_inertia, 0.0)),
        fork=inertia(0.0, (0, 0, 0), (0.0, 0.0, fork)),
        more=more,
    )


NU, NU_RATE = np.array([0.4, -0.3, 0.5]), np.array([0.8, 0.5, -0.6])
MECANUM = mecanum_mounts(0.235, 0.15, 0.0762, np.pi / 4)
ROLLER = {'radius': 0.012, 'inertia': 2.1e-5}


def rollers():
    """Return bodies that only spin: the roller of each wheel that touches the ground."""
    return [
        kd.Body(f'{name}_roller', 'trunk', revolute(f'{name}_roller', armature=ROLLER['inertia']))
        for name in MECANUM
    ]


def roller_rows(robot):
    """Return rows that spin the rollers: the lateral speed is taken up across their axes."""
    names, mounts = list(MECANUM), list(MECANUM.values())

    def A(q, t):  # noqa: N802
        rows = np.zeros((4, robot.nv), dtype=object)
        for k, (name, m) in enumerate(zip(names, mounts, strict=True)):
            rows[k, :3] = -np.sin(q[2]), np.cos(q[2]), m.x
            column = robot.velocity_index(f'{name}_roller')
            rows[k, column] = -ROLLER['radius'] * np.cos(m.roller)
        return rows

    return kd.constraints.pfaffian(robot, A, label='rollers')


@pytest.mark.parametrize(
    ('spin', 'rolling', 'torques'),
    [
        (0.0, False, (0.2088077922, 0.9494322078, 1.062247792, 0.09599220779)),
        (0.0045, False, (0.2401660599, 1.012562129, 1.152661178, 0.1000670109)),
        (0.0045, True, (0.2309663531, 1.021761836, 1.165686471, 0.08704171776)),
    ],
    ids=['massless wheels', 'wheels', 'wheels and rollers'],
)
def test_torques_of_a_mecanum_base(spin, rolling, torques):
    # known answers A2: least-norm torques, any multiple of (1, 1, -1, -1) may be added
    robot = plain_base(MECANUM, 32.0, 1.9, spin, more=rollers() if rolling else ())
    rows = wheel_rows(robot, MECANUM) + ((roller_rows(robot),) if rolling else ())
    q, v, a = steady(robot, rows, NU, NU_RATE)
    effort = kd.constrained_inverse_dynamics(robot, q, v, a, rows, tuple(MECANUM))
    found = effort.effort[[robot.velocity_index(name) for name in MECANUM]]
    assert_allclose(found, torques, rtol=0, atol=PRINTED)
    rates = v[[robot.velocity_index(name) for name in MECANUM]]
    expected = (6.660104987, 3.838582677, -1.213910761, 11.71259843)
    assert_allclose(rates, expected, rtol=PRINTED, atol=PRINTED)
    if rolling:
        spins = v[[robot.velocity_index(f'{name}_roller') for name in MECANUM]]
        expected = (-21.50783126, -21.50783126, -49.20284686, -49.20284686)
        assert_allclose(spins, expected, rtol=PRINTED, atol=PRINTED)


def test_the_row_of_a_roller_wheel_is_the_side_of_its_roller():
    # a roller of its own, a wheel under the rim that turns about the roller's axis: the same
    # material point, so its lateral row is that of the wheel; its longitudinal one spins it
    robot = plain_base(MECANUM, 32.0, 1.9, 0.0045)
    rho = ROLLER['radius']
    bodies = list(robot.bodies)
    for name, m in MECANUM.items():
        axis = (np.cos(m.roller), np.sin(m.roller), 0.0)
        place = at(0.0, 0.0, rho - m.radius)
        bodies.append(
            kd.Body(f'{name}_roller', f'{name}_wheel', revolute(f'{name}_roller', axis), place)
        )
    with_rollers = kd.Robot('rollers', bodies)
    wheels = wheel_rows(with_rollers, MECANUM)
    under = tuple(
        kd.constraints.rolling_wheel(with_rollers, f'{name}_roller', rho) for name in MECANUM
    )
    A, _ = rows_of(with_rollers, wheels)
    B, labels = rows_of(with_rollers, under)
    side = [k for k, label in enumerate(labels) if label[1] == 'lateral']
    signs = [B[k, 0] / A[i, 0] for i, k in enumerate(side)]
    assert_allclose(np.abs(signs), 1.0, rtol=0, atol=1e-14)
    assert_allclose(B[side], np.array(signs)[:, None] * A, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ('bearings', 'rates', 'torques'),
    [
        (
            (30, 150, 270),
            (-7.396152423, 2.996152423, 9.8),
            (0.03391511947, -0.4666475639, 0.3752337778),
        ),
        (
            (45, 135, 225, 315),
            (-8.099494937, 0.3857864376, 11.69949494, 3.214213562),
            (-0.07171205187, -0.381424822, 0.04199071854, 0.3517034887),
        ),
    ],
    ids=['three', 'four'],
)
def test_torques_of_omni_bases(bearings, rates, torques):
    # known answers A3
    mounts = omni_mounts(np.radians(bearings), 0.18, 0.05)
    robot = plain_base(mounts, 12.0, 0.31, 0.0009)
    rows = wheel_rows(robot, mounts)
    q, v, a = steady(robot, rows, NU, NU_RATE)
    effort = kd.constrained_inverse_dynamics(robot, q, v, a, rows, tuple(mounts))
    assert_allclose(v[3:], rates, rtol=PRINTED, atol=PRINTED)
    assert_allclose(effort.effort[3:], torques, rtol=0, atol=PRINTED)


def test_two_powered_casters():
    # known answers A4: wheel and fork mass on the steering axis
    caster = {'radius': 0.06, 'steered': True, 'trail': 0.04, 'side': 0.015}
    mounts = {'front': Mount(0.3, 0.0, **caster), 'rear': Mount(-0.3, 0.1, **caster)}
    robot = plain_base(mounts, 40.0, 2.2, 0.004, fork=0.03)
    rows = wheel_rows(robot, mounts)
    q, tau = np.zeros((2, robot.nv))
    steers = [robot.velocity_index(f'{name}_steer') for name in mounts]
    wheels = [robot.velocity_index(name) for name in mounts]
    q[steers], tau[steers], tau[wheels] = (0.5, -0.9), (0.6, -0.4), (1.5, 0.8)
    nu = np.array([0.5, 0.2, 0.4])
    _, v, _ = steady(robot, rows, nu, np.zeros(3), q)
    assert_allclose(v[steers], (0.6278412626, 9.851479397), rtol=PRINTED)
    assert_allclose(v[wheels], (9.613163906, 1.158370695), rtol=PRINTED)
    motion = kd.forward_dynamics(robot, q, v, tau, rows)
    a = motion.acceleration
    nu_rate = a[:3] + np.array([nu[2] * nu[1], -nu[2] * nu[0], 0.0])
    assert_allclose(nu_rate, (0.9249660883, 0.3861475372, 1.197919535), rtol=PRINTED)
    assert_allclose(a[steers], (-5.223077208, -40.00360367), rtol=PRINTED)
    assert_allclose(a[wheels], (20.92245462, 85.02180131), rtol=PRINTED)
    forces = motion.multipliers.reshape(2, 2)
    assert_allclose(forces[:, 0], (23.60516969, 7.665213246), rtol=PRINTED)
    assert_allclose(forces[:, 1], (9.16692962, 16.22980813), rtol=PRINTED)


def test_steering_torques_of_a_swerve_base_that_accelerates():
    # A4: contacts b beside the steering axes, straight acceleration a: b m a/4 holds each of them
    side, mass, a = 0.025, 40.0, 0.7
    mounts = {
        f'w{k}': Mount(x, y, radius=0.06, steered=True, side=side)
        for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)))
    }
    robot = plain_base(mounts, mass, 2.2, 0.0)
    rows = wheel_rows(robot, mounts)
    q, v, rates = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    rates[0] = a
    known = ('base_x', 'base_y', 'base_yaw', *(f'{name}_steer' for name in mounts))
    rates = kd.consistent_acceleration(robot, q, v, rates, rows, known)
    effort = kd.constrained_inverse_dynamics(
        robot, q, v, rates, rows, robot.velocity_names[3:]
    ).effort
    steers = [robot.velocity_index(f'{name}_steer') for name in mounts]
    wheels = [robot.velocity_index(name) for name in mounts]
    assert_allclose(effort[steers], side * mass * a / 4, rtol=1e-12)
    assert_allclose(effort[wheels], 0.06 * mass * a / 4, rtol=1e-12)
