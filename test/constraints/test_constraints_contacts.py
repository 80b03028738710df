# SPDX-License-Identifier: Apache-2.0
"""Contacts that push and do not pull: ranges of joints, points over planes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.constraint_cases import CASES, free_body, limited, rows_at
from support.machines import Y, at, inertia, revolute
from support.trees import random_state, tree_and_state

import kane_dynamics as kd
from kane_dynamics.algorithms.frictional_contact import frictional_motion
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.exceptions import (
    ConstraintError,
    InconsistentConstraintsError,
    InvalidInputError,
    NameNotFoundError,
)

SOLVED = 1e-10  # relative; condition of M up to 1e4
CORNERS = [(x, y, -0.2) for x in (-0.3, 0.5) for y in (-0.4, 0.4)]


def box():
    """Return a body of 2 kg, its centre of mass beside its origin, 0.2 m over its corners."""
    load = inertia(2.0, (0.05, 0.1, 0.0), (0.1, 0.15, 0.12))
    body = kd.Body('box', '', kd.Joint('base', kd.Free()), inertia=load)
    robot = kd.Robot('box', [body])
    feet = tuple(kd.constraints.point_contact(robot, 'box', corner) for corner in CORNERS)
    return robot, feet, np.r_[0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0]


def test_a_box_stands_on_its_corners():
    robot, feet, q = box()
    at_rest = np.zeros(6)
    motion = kd.contact_forward_dynamics(robot, q, at_rest, at_rest, contacts=feet)
    assert_allclose(motion.acceleration, 0.0, rtol=0, atol=1e-12)
    assert motion.pushes.sum() == pytest.approx(2.0 * 9.81)
    moment = np.cross(CORNERS, np.outer(motion.pushes, (0, 0, 1))).sum(axis=0)
    assert_allclose(moment[:2], np.cross((0.05, 0.1, 0.0), (0, 0, 2.0 * 9.81))[:2], atol=1e-12)
    assert_allclose(motion.constraint_force, kd.gravity_force(robot, q), atol=1e-12)
    assert set(motion.active) <= set(motion.contacts) == {f'box/contact/{k}' for k in range(4)}


def test_a_box_that_is_lifted_leaves_the_ground():
    robot, feet, q = box()
    at_rest, pull = np.zeros(6), {'box': [3.0, -1.5, 0, 0, 0, 30.0]}  # at its centre of mass
    motion = kd.contact_forward_dynamics(
        robot, q, at_rest, at_rest, contacts=feet, external_wrenches=pull
    )
    free = kd.forward_dynamics(robot, q, at_rest, at_rest, external_wrenches=pull)
    assert_allclose(motion.acceleration, free.acceleration, rtol=0, atol=1e-12)
    assert not motion.pushes.any()
    assert motion.active == ()
    assert (motion.separation > 0.0).all()


def test_a_box_that_is_pulled_at_its_side_tips_about_an_edge():
    # 15 N up at y = 0.4 turn it about the corners at y = -0.4, of which both are needed
    robot, feet, q = box()
    at_rest, pull = np.zeros(6), {'box': [15.0 * 0.4, 0, 0, 0, 0, 15.0]}
    motion = kd.contact_forward_dynamics(
        robot, q, at_rest, at_rest, contacts=feet, external_wrenches=pull
    )
    assert (motion.pushes > 0.0).tolist() == [True, False, True, False]
    assert_allclose(motion.separation[[0, 2]], 0.0, atol=1e-12)
    assert (motion.separation[[1, 3]] > 0.1).all()
    held = kd.forward_dynamics(robot, q, at_rest, at_rest, feet[::2], external_wrenches=pull)
    assert_allclose(motion.acceleration, held.acceleration, rtol=0, atol=1e-12)
    assert_allclose(motion.constraint_force, held.constraint_force, rtol=0, atol=1e-12)


@pytest.mark.parametrize('side', ['lower', 'upper'])
def test_a_bar_at_the_end_of_its_range(side):
    # against the end the stop gives the moment; away from it, the bar moves as if there were none
    sign = 1.0 if side == 'lower' else -1.0
    turn = revolute('turn', Y, lower=-0.3, upper=0.7)
    bar = kd.Robot('bar', [kd.Body('bar', '', turn, inertia=inertia(1.0, (0.2, 0, 0)))])
    stop = kd.constraints.joint_limit(bar, 'turn', side)
    q = np.array([-0.3 if side == 'lower' else 0.7])
    assert stop.rows(bar, q, [0.0], 0.0)[0].position == 0.0
    hold = kd.inverse_dynamics(bar, q, [0.0], [0.0])
    against = kd.contact_forward_dynamics(bar, q, [0.0], hold - 3.0 * sign, contacts=(stop,))
    assert_allclose([against.acceleration[0], against.pushes[0]], [0.0, 3.0], atol=1e-12)
    assert against.active == (f'turn/{side}',)
    away = kd.contact_forward_dynamics(bar, q, [0.0], hold + 3.0 * sign, contacts=(stop,))
    assert_allclose(away.acceleration, sign * 3.0 / 0.04, rtol=1e-12)
    assert not away.pushes.any()


@pytest.mark.claim(21)
@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
@pytest.mark.parametrize('seed', range(4))
def test_random_robots_under_rows_and_contacts(seed, base):
    """The conditions of the least constraint, which have one solution."""
    robot, q, v, tau = tree_and_state(seed, base)
    c, rng = kd.constraints, np.random.default_rng(seed)
    links = [body.name for body in robot.bodies]
    contacts = tuple(
        c.point_contact(robot, link, rng.uniform(-0.3, 0.3, 3), rng.normal(size=3))
        for link in links[-3:]
        for _ in range(2)
    )
    rows = (c.pfaffian(robot, lambda q, t: np.cos(np.arange(robot.nv) + q[0] + t)),)
    motion = kd.contact_forward_dynamics(robot, q, v, 10.0 * tau, rows, contacts, time=0.3)
    needed = kd.inverse_dynamics(robot, q, v, motion.acceleration)
    scale = 1.0 + np.abs(needed).max() + np.abs(motion.pushes).max()
    assert_allclose(needed - 10.0 * tau, motion.constraint_force, rtol=0, atol=SOLVED * scale)
    A = c.ConstraintSet(robot, rows).rows(q, v, 0.3)
    C = c.ConstraintSet(robot, contacts).rows(q, v, 0.3)
    assert_allclose(A.matrix @ motion.acceleration, A.acceleration, rtol=0, atol=SOLVED * scale)
    gap = C.matrix @ motion.acceleration - C.acceleration
    assert_allclose(motion.separation, gap, rtol=0, atol=SOLVED * scale)
    assert gap.min() > -SOLVED * scale
    assert (motion.pushes >= 0.0).all()
    assert np.abs(motion.pushes * gap).max() < SOLVED * scale**2
    force = A.matrix.T @ motion.multipliers + C.matrix.T @ motion.pushes
    assert_allclose(motion.constraint_force, force, rtol=0, atol=SOLVED * scale)


def test_the_distance_of_a_point_from_a_plane():
    case = CASES['point_contact']
    pose = kd.forward_kinematics(case.robot, case.q).pose('tool')
    point = pose.position() + pose.rotation_matrix() @ (0.1, -0.2, 0.3)
    normal = np.array([0.3, -1.0, 2.0])
    expected = normal @ point / np.linalg.norm(normal) - 0.2
    assert rows_at(case).positions == (pytest.approx(expected, abs=1e-14),)


def test_contacts_that_contradict_each_other_are_named():
    robot, _, q = box()
    c = kd.constraints
    floor = c.holonomic(robot, lambda q, t: q[2] - t**2, 'floor')  # rises with 2 m/s^2
    roof = c.holonomic(robot, lambda q, t: -q[2], 'roof')
    side = c.holonomic(robot, lambda q, t: q[0], 'side')
    at_rest = np.zeros(6)
    with pytest.raises(InconsistentConstraintsError, match=r"\['floor', 'roof'\]") as caught:
        kd.contact_forward_dynamics(robot, q, at_rest, at_rest, contacts=(floor, side, roof))
    assert caught.value.residual == pytest.approx(2.0 + 9.81)  # of the floor, in free fall
    with pytest.raises(InconsistentConstraintsError, match=r"\['floor'\]"):
        kd.contact_forward_dynamics(robot, q, at_rest, at_rest, (roof,), (floor, side))


def test_what_is_no_contact_is_refused():
    robot, wheel, c = free_body(), limited(), kd.constraints
    with pytest.raises(ConstraintError, match="joint 'base_x' has no lower limit"):
        c.joint_limit(wheel, 'base_x', 'lower')
    with pytest.raises(InvalidInputError, match="side must be one of \\['lower', 'upper'\\]"):
        c.joint_limit(wheel, 'fork', 'left')
    with pytest.raises(NameNotFoundError, match='no .* named .elbow.'):
        c.joint_limit(wheel, 'elbow', 'lower')
    with pytest.raises(NameNotFoundError, match="no frame named 'foot'"):
        c.point_contact(robot, 'foot')
    with pytest.raises(InvalidInputError, match='normal: need a direction'):
        c.point_contact(robot, 'body', normal=(0, 0, 0))
    anchored = kd.Robot('anchored', robot.bodies, frames={'floor': kd.Frame(-1, at(0, 0, 0))})
    with pytest.raises(ConstraintError, match="frame 'floor' is part of the world"):
        c.point_contact(anchored, 'floor')
    q, v = random_state(robot, np.random.default_rng(0))[:2]
    other = c.joint_limit(wheel, 'fork', 'upper')
    with pytest.raises(ConstraintError, match='was built for another robot'):
        kd.contact_forward_dynamics(robot, q, v, v, contacts=(other,))


@pytest.mark.oracle
@pytest.mark.claim(21)
def test_five_hundred_random_robots_against_quadprog():
    quadprog = pytest.importorskip('quadprog', reason='pip install .[oracle]')
    c = kd.constraints
    for seed in range(500):
        robot, q, v, tau = tree_and_state(seed, ('fixed', 'planar', 'floating')[seed % 3])
        rng = np.random.default_rng(seed)
        links = [body.name for body in robot.bodies]
        contacts = [
            c.point_contact(
                robot, links[-1 - k % len(links)], rng.uniform(-0.3, 0.3, 3), rng.normal(size=3)
            )
            for k in range(int(rng.integers(1, 7)))
        ]
        rows = ConstraintRows.of(rng.normal(size=robot.nv), [0.0], rng.normal(size=1))
        closed = ClosedContacts.at(
            lambda some, robot=robot: kd.constraints.ConstraintSet(robot, some).rows,
            contacts,
            q,
            v,
            0.0,
        )
        mass, force = kd.mass_matrix(robot, q), 10.0 * tau - kd.bias_force(robot, q, v)
        motion = frictional_motion(
            force, select_rows(rows, cholesky_factor(mass)), closed, np.zeros(0)
        )
        A = np.vstack([rows.matrix, closed.normal.matrix])
        sides = np.r_[rows.acceleration, closed.normal.acceleration]
        found = quadprog.solve_qp(mass, force, A.T, sides, 1)
        scale = 1.0 + np.abs(found[0]).max()
        assert_allclose(motion.acceleration, found[0], rtol=0, atol=SOLVED * scale)
        # complementarity, exact: no force on an open contact, none pulling
        assert (motion.pushes >= 0.0).all()
        opens = np.array(motion.states) == 'open'
        assert not motion.pushes[opens].any()
        assert np.abs(motion.separation[motion.pushes > 0.0]).max(initial=0.0) < SOLVED * scale
