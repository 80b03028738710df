# SPDX-License-Identifier: Apache-2.0
"""Rows along a path against efforts and contact pictures of the motions that they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, at, inertia, revolute
from support.standing_robots import CORNERS, PAIR, RADIUS, standing

import kane_dynamics as kd
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.analysis.normal_forces import pressed_shares
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.paths import RolledPath, SplinePath
from kane_dynamics.trajectories.retiming import FULL
from kane_dynamics.trajectories.robot_limits import SIDES, GroundLimits
from studies import robots

KEPT = SafetyMargins(edge=0.03, friction=0.8, effort=0.7, speed=0.6)
SUPPORT = (-0.3, 0.05, 0.0)
MOTORS = ('L', 'R', 'arm')


@pytest.fixture(scope='module')
def base():
    """Return a differential drive with an arm of one joint that rubs."""
    drive = standing(PAIR, (-0.08, 0.0, 0.18), spin=0.01)
    joint = revolute('arm', Y, damping=0.4, friction=0.3, effort_limit=30.0, velocity_limit=3.0)
    arm = kd.Body(
        'arm', 'chassis', joint, at(0.1, 0.0, 0.5), inertia(3.0, (0.2, 0, 0.3), (1, 1, 1))
    )
    robot = kd.Robot('drive', (*drive.bodies, arm))
    return kd.bases.differential(robot, ['L'], ['R'], radius=RADIUS, supports=[SUPPORT])


@pytest.fixture(scope='module')
def limits(base):
    dynamics = kd.dynamics(base.robot, base.constraints)
    start = base.robot.neutral()
    start[:3] = 2.0, -1.0, 0.7
    points = [[0.0, 0.0, -0.3], [6.0, 9.0, 0.8], [14.0, 8.0, 0.2]]
    path = RolledPath(dynamics, MOTORS, points, start, cells=60)
    contacts = kd.base_ground_contacts(base, friction=(0.6, 0.4))
    efforts, speeds = {'L': (-2.0, 9.0), 'R': 5.0}, {'L': (-10.0, 30.0)}
    return PathLimits(dynamics, path, MOTORS, contacts, KEPT, efforts, speeds, {'arm': 6.0})


@pytest.fixture(scope='module')
def motions(limits):
    """Return places, u, x, the uses there, and q, v, a."""
    places, u, x = (
        np.array([0.2, 0.9, 1.7]),
        np.array([0.3, -0.2, -0.4]),
        np.array([0.1, 0.3, 0.05]),
    )
    q, tangent, bend = limits.path.at(places)
    a = tangent * u[:, None] + bend * x[:, None]
    uses = limits.at(places).use(u, x)
    return uses, q, tangent * np.sqrt(x)[:, None], a


def of(limits, uses, name):
    """Return the columns of the rows of a name."""
    return uses[:, [k for k, one in enumerate(limits.names) if one == name]]


def test_rows_of_joints_are_parts_of_their_limits(base, limits, motions):
    uses, q, v, a = motions
    rows = base.constraints
    for row in range(len(q)):
        tau = kd.constrained_inverse_dynamics(base.robot, q[row], v[row], a[row], rows, MOTORS)
        left, right, arm = tau.effort[3:]
        expected = {'L': (left - 3.5 * 0.7) / (5.5 * 0.7), 'R': right / 3.5, 'arm': arm / 21.0}
        for name, value in expected.items():
            found = of(limits, uses[row : row + 1], f'effort of {name}')[0]
            assert_allclose(found, (value, -value), rtol=0, atol=1e-9)
        found = of(limits, uses[row : row + 1], 'acceleration of arm')[0]
        assert_allclose(found, np.array([1.0, -1.0]) * a[row, 5] / 6.0, atol=1e-12)
    assert_allclose(of(limits, uses, 'speed of arm')[:, 0], (v[:, 5] / 1.8) ** 2, atol=1e-12)
    most = np.where(v[:, 3] < 0.0, 6.0, 18.0)
    assert_allclose(of(limits, uses, 'speed of L')[:, 0], (v[:, 3] / most) ** 2, atol=1e-12)
    assert limits.at(np.array([0.2])).d[:, 2].any()  # damping of the arm


def test_rows_of_the_ground_are_those_of_contact_pictures(base, limits, motions):
    uses, q, v, a = motions
    contacts = kd.base_ground_contacts(base, friction=(0.6, 0.4))
    weight, share = 37.0 * 9.81, 37.0 * 9.81 / 3.0
    for row, one in enumerate(uses):
        picture = picture_of(contacts, q[row], v[row], a[row], MOTORS)
        still = picture_of(contacts, q[row], 0 * v[row], 0 * a[row], MOTORS)
        edges = [use for use, name in zip(one, limits.names, strict=True) if 'tip-over' in name]
        points = contacts.polygon(q[row])
        size = np.sum((points.middle - points.ends) * points.inward, axis=1).min()
        margin = KEPT.edge + (1.0 - max(edges)) * size * weight / picture.loads.forces.sum()
        assert margin == pytest.approx(picture.margins.margin, abs=1e-9)
        for name, contact in picture.contacts.items():
            load = of(limits, uses[row : row + 1], f'load of {name}')[0, 0]
            assert (1.0 - load) * share == pytest.approx(contact.normal, abs=1e-8)
        for name in PAIR:
            sides = of(limits, uses[row : row + 1], f'friction of {name}')[0]
            assert len(sides) == SIDES
            contact, rested = picture.contacts[name], still.contacts[name]
            most = (sides.max() - 1.0) * rested.normal + contact.normal  # |traction| / (0.8 mu)
            exact = np.hypot(contact.longitudinal / 0.6, contact.lateral / 0.4) / 0.8
            assert 1.0 - 1e-9 <= most / exact <= 1.0 / np.cos(np.pi / SIDES) + 1e-9


def test_rows_of_the_ground_at_many_places_are_those_of_each():
    """Steered wheels beside their axes: contacts move with the angles."""
    base, rng = robots.swerve_base(), np.random.default_rng(2)
    contacts = kd.base_ground_contacts(base, friction=(0.6, 0.4))
    ground = GroundLimits(contacts, KEPT)
    q = rng.uniform(-2.0, 2.0, (4, base.robot.nq))
    q[:2, :3] = 0.0
    still = np.column_stack([rng.normal(size=(4, 5)), [300.0, 350.0, 400.0, 450.0]])
    wrench, multipliers = ground.at(q, still)
    for k in range(len(q)):
        one = ground.at(q[k : k + 1], still[k : k + 1])
        assert_allclose(wrench[k : k + 1], one[0], rtol=0, atol=1e-12)
        assert_allclose(multipliers[k : k + 1], one[1], rtol=0, atol=1e-12)
    first = ground.names.index('load of wheel_0')
    for k in range(2):
        shares = pressed_shares(contacts.polygon(q[k])) * 4.0 / ground.weight
        assert_allclose(wrench[k, first : first + 4], -shares, rtol=0, atol=1e-12)


def test_places_where_a_joint_with_friction_turns_round_are_found(limits):
    found = limits.reversals(np.linspace(0.0, limits.path.length, 5))
    assert len(found) == 1
    near = limits.at(np.array([found[0] - 1e-9, found[0] + 1e-9]))
    rows = [k for k, name in enumerate(limits.names) if name == 'effort of arm']
    jumps = np.sort(near.c[1, rows] - near.c[0, rows])  # all of the friction, both ways
    assert_allclose(jumps, (-2.0 * 0.3 / 21.0, 2.0 * 0.3 / 21.0), atol=1e-6)
    assert_allclose(limits.path.at(found).tangent[:, 5], 0.0, atol=1e-9)


@pytest.mark.parametrize('turn', [0.01, 0.45, 0.55, 0.99])
def test_a_turn_is_found_wherever_in_a_cell_it_is(base, turn):
    s = np.linspace(0.0, 1.0, 4)
    points = np.zeros((4, 6))
    points[:, 5] = (s - turn) ** 2
    path = SplinePath(points, s)
    several = PathLimits(kd.dynamics(base.robot), path, MOTORS, None, FULL)
    assert_allclose(several.reversals(np.linspace(0.0, 1.0, 3)), [turn], rtol=0, atol=1e-9)


def test_multipliers_that_balance_each_other_are_those_that_no_free_joint_feels():
    """The first joint is free: where it leaves its row, the second one balances that alone."""
    robot = kd.serial_chain(2)
    row = kd.constraints.pfaffian(robot, lambda q, t: [[q[0], 2.0]])
    path = SplinePath(np.zeros((2, 2)))
    one = PathLimits(kd.dynamics(robot, [row]), path, robot.velocity_names[1:], None, FULL)
    multipliers, efforts = one.balancing(np.array([[0.0, 0.3], [0.5, 0.3]]))
    assert_allclose(np.abs(multipliers), [[[1.0]], [[0.0]]], rtol=0, atol=1e-12)
    assert_allclose(efforts[0, :, 0] + multipliers[0, 0, 0] * np.array([0.0, 2.0]), 0.0)
    assert not efforts[1].any()


def test_linear_rows_touch_and_are_above_where_it_is_faster(limits):
    rows, x = limits.at(np.array([0.5, 1.5])), np.array([0.2, 0.7])
    u = np.zeros(2)
    linear = rows.linear(x)
    assert not linear.d.any()
    assert_allclose(linear.use(u, x), rows.use(u, x), atol=1e-12)
    rubs = rows.d != 0.0
    assert (linear.use(u, 2.0 * x) > rows.use(u, 2.0 * x))[rubs].all()
    loads = rows.d > 0.0
    assert (linear.use(u, 0.5 * x) > rows.use(u, 0.5 * x))[loads].all()


@pytest.mark.parametrize('speed', [0.1, 30.0])
def test_a_path_that_leaves_its_rows_is_refused_however_fast_it_is_passed(base, speed):
    dynamics, path = kd.dynamics(base.robot, base.constraints), np.zeros((2, 6))
    path[1, [0, 3, 4]] = 1.0, 1.0 / RADIUS, 1.0 / RADIUS  # straight ahead, wheels turn with it
    ahead = SplinePath(speed * path)
    PathLimits(dynamics, ahead, MOTORS, None, FULL).at(np.zeros(1))
    path[1, 1] = 1e-3  # and a little to the side
    aside = PathLimits(dynamics, SplinePath(speed * path), MOTORS, None, FULL)
    with pytest.raises(ConstraintError, match='the path leaves'):
        aside.at(np.zeros(1))


@pytest.mark.parametrize('bound', [-1.0, (1.0, 2.0), (0.0, 0.0), (1.0, 2.0, 3.0)])
def test_bounds_without_zero_between_are_refused(base, bound):
    dynamics = kd.dynamics(base.robot)
    path = SplinePath(np.zeros((2, 6)))
    with pytest.raises(InvalidInputError, match="bound of effort of 'arm'"):
        PathLimits(dynamics, path, MOTORS, None, FULL, {'arm': bound}, {}, {})


def test_robots_that_are_not_planar_or_whose_wheels_slide_are_refused(base):
    floating = kd.Robot('ball', [kd.Body('ball', '', kd.Joint('base', kd.Free()))])
    with pytest.raises(InvalidInputError, match='whose coordinates are its joints'):
        PathLimits(kd.dynamics(floating), SplinePath([[0.0], [1.0]]), (), None, FULL, {}, {}, {})
    robot = standing(CORNERS, (0.0, 0.0, 0.2))
    skids = kd.bases.skid_steer(robot, ['FL', 'RL'], ['FR', 'RR'], radius=RADIUS)
    contacts, path = kd.base_ground_contacts(skids, friction=0.6), SplinePath(np.zeros((2, 7)))
    with pytest.raises(InvalidInputError, match='slide; give a stance without'):
        PathLimits(kd.dynamics(robot), path, (), contacts, FULL, {}, {}, {})
