# SPDX-License-Identifier: Apache-2.0
"""Contact pictures: known answers A11 and critical values of B, balance, floating bases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from support.machines import Y, Z, at, inertia, revolute, turned
from support.standing_robots import CORNERS, PAIR, RADIUS, forward, rolling, standing, uphill

import kane_dynamics as kd
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError

SLOPE, TURN = np.deg2rad(12.0), np.deg2rad(35.0)
PRINTED = 1e-9  # relative: ten digits
CASTER = {'caster': ('chassis', (-0.3, 0.0, 0.0))}
C = kd.constraints


def drive(com=(-0.08, 0, 0.18), **options):
    """Return a robot on two driven wheels and the rows of its differential drive."""
    robot = standing(PAIR, com, **options)
    return robot, [C.differential_drive(robot, *PAIR, RADIUS)]


def picture(robot, constraints, a, **options):
    q, v = robot.neutral(), np.zeros(robot.nv)
    options = {'casters': CASTER, 'friction': 0.6} | options
    actuated = [name for name in robot.velocity_names if not name.startswith('base_')]
    return kd.wheel_forces(robot, q, v, a, constraints, actuated, **options)


def test_climbing_takes_the_torques_known():
    robot, rows = drive(place=(0.15, 0, 0.65), gravity=uphill(SLOPE), spin=0.006)
    held = picture(robot, rows, np.zeros(5))
    assert_allclose(held.effort.effort[3:], 3.120608941, rtol=PRINTED)
    driven = picture(robot, rows, forward(robot, 0.6))
    assert_allclose(driven.effort.effort[3:], 4.078608941, rtol=PRINTED)
    # per wheel m (g sin + a)/2
    along = 17.0 * (9.81 * np.sin(SLOPE) + 0.6)
    for name in PAIR:
        contact = driven.contacts[name]
        assert contact.longitudinal == pytest.approx(along, rel=1e-12)
        assert contact.use == pytest.approx(along / (0.6 * contact.normal), rel=1e-12)
    assert driven.use == max(one.use for one in driven.contacts.values())
    assert driven.contacts['caster'].use == 0.0


def test_normal_forces_of_wheels_and_caster_are_as_known():
    robot, rows = drive(gravity=uphill(SLOPE))
    found = picture(robot, rows, forward(robot, 0.6))
    normals = [one.normal for one in found.contacts.values()]
    assert_allclose(normals, (107.4879666, 90.79991801, 127.9634661), rtol=PRINTED)
    assert list(found.contacts) == ['L', 'R', 'caster']


def test_wheels_touch_below_their_centres_wherever_the_base_stands_and_wheels_turn(rng):
    robot = standing(PAIR, (-0.08, 0, 0.18))
    beside = {'L': (0.0, 0.05, 0.0), 'R': (0.0, -0.03, 0.0)}  # of the ends of the axles
    rows = [C.rolling_wheel(robot, x, RADIUS, centre=where) for x, where in beside.items()]
    contacts, q = kd.ground_contacts(robot, rows, casters=CASTER), rng.uniform(-1.0, 1.0, 5)
    heading = turned(Z, q[2], (*q[:2], 0.0))
    for point, name, turn in zip(contacts.at(q).points[:2], PAIR, q[3:], strict=True):
        axle = heading * at(*PAIR[name], RADIUS) * turned(Y, turn)
        centre = (axle * at(*beside[name])).position()
        assert_allclose(point, centre - [0.0, 0.0, RADIUS], rtol=0, atol=1e-12)
    assert_allclose(contacts.traced_at(q).points, contacts.at(q).points, rtol=0, atol=1e-12)


def test_a_robot_across_the_slope_is_held_as_known():
    """The common centre of mass 0.12 m ahead of the axle, heading 35 degrees left of uphill."""
    robot, rows = drive((0.12, 0, 0.2), place=(0.12, 0, 0.5), gravity=uphill(SLOPE, TURN))
    found = picture(robot, rows, np.zeros(5))
    assert_allclose(found.effort.effort[3:], (3.490118109, 1.622388277), rtol=PRINTED)
    assert_allclose([found.contacts[x].lateral for x in PAIR], -39.7757279 / 2, rtol=PRINTED)
    heading = kd.integrate(robot, robot.neutral(), [0, 0, TURN, 0, 0], 1.0)
    world = standing(PAIR, (0.12, 0, 0.2), place=(0.12, 0, 0.5), gravity=uphill(SLOPE))
    rows = [C.differential_drive(world, *PAIR, RADIUS)]
    same = kd.wheel_forces(world, heading, np.zeros(5), np.zeros(5), rows, PAIR, casters=CASTER)
    assert_allclose(same.effort.effort[3:], found.effort.effort[3:], rtol=PRINTED)
    for name, contact in same.contacts.items():
        other = found.contacts[name]
        assert contact.normal == pytest.approx(other.normal, rel=PRINTED)
        assert contact.lateral == pytest.approx(other.lateral, rel=PRINTED, abs=1e-12)


def armed(base='planar', wheels=PAIR, mirrored=()):
    """Return a robot with two links of an arm; some wheels turn about -y."""
    plain = standing(wheels, (-0.08, 0.01, 0.18), base=base, spin=0.004)
    bodies = [
        kd.Body(b.name, b.parent, revolute(b.joint.name, (0, -1, 0)), b.placement, b.inertia)
        if b.joint.name in mirrored
        else b
        for b in plain.bodies
    ]
    upper, fore = inertia(2.0, (0.1, 0, 0.1), (0.02, 0.03, 0.01)), inertia(1.5, (0.2, 0, 0))
    bodies += [
        kd.Body('upper', 'chassis', revolute('shoulder', Z), at(0.05, 0, 0.4), upper),
        kd.Body('fore', 'upper', revolute('elbow', Y), at(0.2, 0.05, 0.2), fore),
    ]
    return kd.Robot('armed', bodies, uphill(SLOPE, TURN))


def moving(robot, rows, seed, known):
    """Return a state and accelerations that satisfy the rows, from random `known` ones."""
    rng = np.random.default_rng(seed)
    q = robot.neutral()
    turn = np.zeros(robot.nv)
    turn[[robot.velocity_index(name) for name in known]] = rng.uniform(-1.0, 1.0, len(known))
    q = kd.integrate(robot, q, turn, 1.0)
    v, a = 0.5 * rng.uniform(-1.0, 1.0, (2, robot.nv))
    v = kd.consistent_velocity(robot, q, v, rows, known)
    return q, v, kd.consistent_acceleration(robot, q, v, a, rows, known)


@pytest.mark.parametrize('mirrored', [(), ('R',)])
@pytest.mark.parametrize('seed', range(3))
def test_all_forces_together_are_what_the_ground_gives(seed, mirrored):
    robot = armed(mirrored=mirrored)
    rows = [C.differential_drive(robot, *PAIR, RADIUS)]
    q, v, a = moving(robot, rows, seed, ['L', 'R', 'shoulder', 'elbow'])
    push = {'fore': np.array([0.1, -0.2, 0.3, 3.0, -4.0, 5.0])}
    found = kd.wheel_forces(
        robot, q, v, a, rows, [*PAIR, 'shoulder', 'elbow'], casters=CASTER, external_wrenches=push
    )
    given = kd.ground_wrench(robot, q, v, a, push)
    assert_allclose(*balance(found, given), rtol=0, atol=1e-9)


def test_no_side_force_is_lost_among_rows_that_repeat_it():
    robot = armed()
    rows = [C.no_side_slip(robot), *rolling(robot, PAIR)]
    q, v, a = moving(robot, rows, 0, ['L', 'R', 'shoulder', 'elbow'])
    found = kd.wheel_forces(robot, q, v, a, rows, [*PAIR, 'shoulder', 'elbow'], casters=CASTER)
    assert_allclose(*balance(found, kd.ground_wrench(robot, q, v, a)), rtol=0, atol=1e-9)


@pytest.mark.parametrize('seed', range(4))
def test_three_wheels_press_as_multipliers_of_a_floating_base_say(seed):
    """An independent path: rolling with its vertical rows, and a caster that is held."""
    robot = armed('floating')
    rows = [*rolling(robot, PAIR), C.point_contact(robot, 'chassis', (-0.3, 0, 0))]
    known = ['L', 'R', 'shoulder', 'elbow']
    q, v, a = moving(robot, rows, seed, known)
    found = kd.wheel_forces(robot, q, v, a, rows, known, casters=CASTER)
    force = dict(zip(found.effort.labels, found.effort.multipliers, strict=True))
    normals = [force[x] for x in ('L/vertical', 'R/vertical', 'chassis/contact')]
    assert_allclose([one.normal for one in found.contacts.values()], normals, rtol=0, atol=1e-9)
    assert found.loads.determined == 'exact'
    for name in PAIR:
        assert found.contacts[name].longitudinal == pytest.approx(force[f'{name}/longitudinal'])
        assert found.contacts[name].lateral == pytest.approx(force[f'{name}/lateral'])


AHEAD, BEHIND, SIDE = 0.35, 0.2, 0.3  # wheels from the pivot of a rocker [m]


def on_rockers(com):
    """Return a floating robot on two rockers, coupled by a differential, each on two wheels."""
    body = inertia(30.0, com, (0.5, 0.6, 0.8))
    wheel, beam = inertia(0.0, (0, 0, 0), (0, 1e-3, 0)), inertia(0.0)
    bodies = [kd.Body('chassis', '', kd.Joint('base', kd.Free()), inertia=body)]
    for side, y in (('left', SIDE), ('right', -SIDE)):
        bodies.append(kd.Body(side, 'chassis', revolute(f'rocker {side}', Y), at(0, y, 0.3), beam))
        for end, x in (('front', AHEAD), ('rear', -BEHIND)):
            place = at(x, 0, RADIUS - 0.3)
            bodies.append(
                kd.Body(f'{side} {end}', side, revolute(f'{side} {end}', Y), place, wheel)
            )
    return kd.Robot('rover', bodies)


def rover_picture(com, driven=True):
    robot = on_rockers(com)
    wheels = [f'{side} {end}' for side in ('left', 'right') for end in ('front', 'rear')]
    rows = [*rolling(robot, wheels), C.coupling(robot, 'rocker left', 'rocker right', -1.0)]
    return kd.wheel_forces(robot, *at_rest(robot), rows, wheels if driven else ())


@pytest.mark.parametrize(('driven', 'determined'), [(True, 'least norm'), (False, 'exact')])
def test_wheels_on_rockers_press_as_levers_say(driven, determined):
    """The differential gives both the same couple; only motors could press otherwise."""
    x, y = 0.03, -0.08
    found = rover_picture((x, y, 0.4), driven)
    assert (found.loads.determined, found.loads.balanced) == (determined, True)
    weight = 30.0 * 9.81
    for side, sign in (('left', 1.0), ('right', -1.0)):
        pivot = weight * (0.5 + 0.5 * sign * y / SIDE)
        front = (pivot * BEHIND + 0.5 * weight * x) / (AHEAD + BEHIND)
        assert found.contacts[f'{side} front'].normal == pytest.approx(front, rel=1e-9)
        assert found.contacts[f'{side} rear'].normal == pytest.approx(pivot - front, rel=1e-9)


def test_a_wheel_that_a_rocker_would_hold_down_lifts():
    found = rover_picture((-0.1, 0.2, 0.4))
    assert not found.loads.balanced
    assert found.loads.forces.min() == 0.0
    assert np.isnan(found.loads.lift).sum() == (found.loads.forces == 0.0).sum() > 0


def test_rigid_wheels_of_a_floating_base_share_by_springs():
    """Their multipliers leave a choice."""
    robot = standing(CORNERS, (-0.02, 0, 0.18), base='floating')
    rows, springs = rolling(robot, CORNERS), dict.fromkeys(CORNERS, 1e4)
    found = kd.wheel_forces(robot, *at_rest(robot), rows, list(CORNERS), stiffness=springs)
    normals = [one.normal for one in found.contacts.values()]
    assert_allclose(normals, (87.309, 79.461, 87.309, 79.461), rtol=PRINTED)
    assert found.loads.determined == 'suspension'


def test_wheels_with_rollers_push_along_their_axes():
    """Mecanum: four multipliers, and the wrench of the ground; rollers give no force across."""
    plain = standing(CORNERS, (-0.02, 0.01, 0.18), gravity=uphill(SLOPE, TURN))
    angles = dict(zip(CORNERS, np.array([-1, 1, 1, -1]) * 0.6, strict=True))
    rows = [C.roller_wheel(plain, x, angle, RADIUS) for x, angle in angles.items()]
    q, v = plain.neutral(), np.zeros(plain.nv)
    v[:3] = 0.3, -0.2, 0.4
    known = ['base_x', 'base_y', 'base_yaw']
    v = kd.consistent_velocity(plain, q, v, rows, known)
    a = kd.consistent_acceleration(plain, q, v, 2.0 * v, rows, known)
    found = kd.wheel_forces(plain, q, v, a, rows, list(CORNERS))
    for name, angle in angles.items():
        contact = found.contacts[name]
        across = -np.sin(angle) * contact.longitudinal + np.cos(angle) * contact.lateral
        assert across == pytest.approx(0.0, abs=1e-12)
    assert_allclose(*balance(found, kd.ground_wrench(plain, q, v, a)), rtol=0, atol=1e-9)


def balance(found, given):
    """Return the wrench of all contacts together, and the one that the ground must give."""
    force = sum(one.force for one in found.contacts.values())
    moment = sum(np.cross(one.point, one.force) for one in found.contacts.values())
    return np.r_[moment, force], given


def test_a_slope_is_a_plane_or_another_gravity():
    """The picture of a floating base on an inclined plane is that on the ground, turned."""
    flat = armed('floating')
    rows = rolling(flat, PAIR)
    caster = {'caster': ('chassis', (-0.3, 0, 0))}
    known = ['L', 'R', 'shoulder', 'elbow']
    held = C.point_contact(flat, 'chassis', (-0.3, 0, 0))
    q, v, a = moving(flat, [*rows, held], 0, known)
    expected = kd.wheel_forces(flat, q, v, a, [*rows, held], known, casters=caster)
    turn = Rotation.from_rotvec([0.2, -0.3, 0.1])
    R = turn.as_matrix()
    plane = kd.Plane(R[:, 2], 0.4)
    tilted = flat.with_gravity(R @ flat.gravity)
    rows = [C.rolling_wheel(tilted, name, RADIUS, plane=plane) for name in PAIR]
    held = C.point_contact(tilted, 'chassis', (-0.3, 0, 0), plane.normal, plane.offset)
    there = np.array(q)
    there[:3] = R @ q[:3] + 0.4 * R[:, 2]
    w, x, y, z = q[3:7]
    x, y, z, w = (turn * Rotation.from_quat([x, y, z, w])).as_quat()
    there[3:7] = w, x, y, z
    found = kd.wheel_forces(tilted, there, v, a, [*rows, held], known, casters=caster)
    for name, contact in found.contacts.items():
        other = expected.contacts[name]
        for part in ('normal', 'longitudinal', 'lateral'):
            assert getattr(contact, part) == pytest.approx(getattr(other, part), abs=1e-9)
        assert_allclose(contact.force, R @ other.force, rtol=0, atol=1e-9)
    assert_allclose(found.margins.distances, expected.margins.distances, rtol=0, atol=1e-9)
    with pytest.raises(ConstraintError, match='planes with different normals'):
        kd.ground_contacts(tilted, [rows[0], C.rolling_wheel(tilted, 'R', RADIUS)])


def test_a_base_stands_on_its_wheels_and_supports():
    robot, rows = drive(gravity=uphill(SLOPE))
    base = kd.bases.differential(robot, ['L'], ['R'], supports=[(-0.3, 0, 0)], radius=RADIUS)
    found = picture_of(kd.base_ground_contacts(base, friction=0.6), *at_rest(robot), base.driven)
    expected = picture(robot, rows, np.zeros(5))
    for name, other in (('L', 'L'), ('R', 'R'), ('support 0', 'caster')):
        assert_allclose(found.contacts[name].force, expected.contacts[other].force, atol=1e-9)
        assert found.contacts[name].friction.tolist() == [0.6, 0.6]
    with pytest.raises(InvalidInputError, match=r'base: need what bases\.differential'):
        kd.base_ground_contacts(robot)


def at_rest(robot):
    return robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)


def test_springs_are_given_by_name():
    robot = standing(CORNERS, (-0.02, 0, 0.18))
    rows = rolling(robot, CORNERS)
    springs = {'RR': 12000.0, 'FL': 9000.0, 'RL': 14000.0, 'FR': 9000.0}
    found = picture(robot, rows, forward(robot, -2.0), casters=None, stiffness=springs)
    normals = [found.contacts[name].normal for name in CORNERS]
    assert_allclose(normals, (97.72798596, 95.7086807, 76.89001404, 63.2133193), rtol=PRINTED)
    assert found.loads.determined == 'suspension'
    plain = picture(robot, rows, forward(robot, -2.0), casters=None)
    assert plain.loads.determined == 'least norm'


CRITICAL = {  # gravity, direction of the base, factor, edge
    'braking': (uphill(0.0), (-1, 0), 9.425294118, ('FL', 'FR')),
    'braking downhill': (uphill(-np.deg2rad(8)), (-1, 0), 7.968279683, ('FL', 'FR')),
    'up the hill': (uphill(np.deg2rad(8)), (1, 0), 8.730203585, ('RR', 'RL')),
    'sideways': (uphill(0.0), (0, 1), 8.175, ('FR', 'RR')),
}


@pytest.mark.parametrize('case', CRITICAL)
def test_critical_accelerations_are_as_known(case):
    gravity, (x, y), expected, edge = CRITICAL[case]
    robot = standing(CORNERS, (-0.02, 0, 0.18), place=(0.25, 0, 1.2), gravity=gravity)
    contacts = kd.ground_contacts(robot, rolling(robot, CORNERS))
    q, rest = robot.neutral(), np.zeros(robot.nv)
    direction = forward(robot, x)
    direction[1] = y
    found = contacts.critical_acceleration(q, rest, direction)
    assert found.factor == pytest.approx(expected, rel=PRINTED)
    assert found.edge == edge
    root = brentq(lambda s: contacts.margins(q, rest, s * direction).margin, 0.0, 20.0, xtol=1e-13)
    assert found.factor == pytest.approx(root, rel=1e-10)
    half = contacts.critical_acceleration(q, rest, direction, 0.5 * expected * direction)
    assert half.factor == pytest.approx(0.5 * expected, rel=PRINTED)


def test_static_tip_angle_is_as_known():
    robot = standing(CORNERS, (-0.02, 0, 0.18), place=(0.25, 0, 1.2))
    contacts = kd.ground_contacts(robot, rolling(robot, CORNERS))

    def margin(angle):
        tilted = robot.with_gravity(uphill(-angle))
        there = kd.ground_contacts(tilted, rolling(tilted, CORNERS))
        return there.margins(robot.neutral(), *np.zeros((2, robot.nv))).margin

    assert contacts.margins(robot.neutral(), *np.zeros((2, robot.nv))).margin > 0.0
    assert brentq(margin, 0.0, 1.2, xtol=1e-13) == pytest.approx(0.7654008294, rel=PRINTED)


def test_an_arm_that_is_braked_tips_the_robot_as_known():
    plain = standing(CORNERS, (-0.02, 0, 0.18), load=0.0)
    hand = inertia(4.0, (0.6, 0, 0), (0, 0.05, 0))
    arm = kd.Body('arm', 'chassis', revolute('arm', (0, -1, 0)), at(0.1, 0, 0.5), hand)
    robot = kd.Robot('swinging', [*plain.bodies, arm])
    q, v, direction = robot.neutral(), *np.zeros((2, robot.nv))
    q[-1], v[-1], direction[-1] = np.deg2rad(40.0), -2.5, 1.0
    found = kd.ground_contacts(robot, rolling(robot, CORNERS)).critical_acceleration(
        q, v, direction
    )
    assert found.factor == pytest.approx(40.30037408, rel=PRINTED)
    assert found.edge == ('FL', 'FR')


def test_what_tips_or_never_does():
    robot = standing(CORNERS, (0.35, 0, 0.18), load=0.0)
    contacts = kd.ground_contacts(robot, rolling(robot, CORNERS))
    q, rest = robot.neutral(), np.zeros(robot.nv)
    tips = contacts.critical_acceleration(q, rest, forward(robot, 1.0))
    assert (tips.factor, tips.edge) == (0.0, ('FL', 'FR'))
    steady = standing(CORNERS, (0, 0, 0), load=0.0)  # in the ground: nothing lifts it
    contacts = kd.ground_contacts(steady, rolling(steady, CORNERS))
    never = contacts.critical_acceleration(q, rest, forward(robot, 1.0))
    assert (never.factor, never.edge) == (np.inf, None)


def test_friction_use_counts_along_and_across():
    robot, rows = drive(gravity=uphill(SLOPE, TURN))
    given = {'L': (0.7, 0.5), 'R': 0.6}
    found = picture(robot, rows, np.zeros(5), friction=given).contacts
    left, right = found['L'], found['R']
    parts = left.longitudinal / (0.7 * left.normal), left.lateral / (0.5 * left.normal)
    assert left.use == pytest.approx(np.hypot(*parts), rel=1e-12)
    traction = np.hypot(right.longitudinal, right.lateral)
    assert right.use == pytest.approx(traction / (0.6 * right.normal), rel=1e-12)
    assert np.isnan(found['caster'].use)
    assert np.isnan(picture(robot, rows, np.zeros(5), friction=given).use)
    assert picture(robot, rows, np.zeros(5), friction=0.0).contacts['L'].use == np.inf


def floating_ball():
    ball = kd.Body(
        'ball', '', kd.Joint('base', kd.Free()), inertia=inertia(2.0, (0, 0, 0), (1,) * 3)
    )
    robot = kd.Robot('ball', [ball])
    return robot, C.rolling_ball(robot, 'base', 0.2)


def leaning_wheel():
    disc = kd.Body(
        'disc', '', kd.Joint('base', kd.Free()), inertia=inertia(2.0, (0, 0, 0), (1,) * 3)
    )
    robot = kd.Robot('disc', [disc])
    return robot, C.rolling_wheel(robot, 'base', 0.2, axis=(0, 1, 0))


@pytest.mark.parametrize('make', [floating_ball, leaning_wheel])
def test_rows_push_where_a_wheel_touches(make):
    """A' lambda is what the force lambda @ directions does at the point."""
    robot, wheel = make()
    rng = np.random.default_rng(0)
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-0.6, 0.6, 6), 1.0)
    touch, pushes = wheel.touch(robot, q.tolist()), rng.normal(size=3)
    A = np.zeros((3, 6))
    for k, row in enumerate(wheel.rows(robot, q.tolist(), [0.0] * 6, 0.0)):
        A[k, list(row.coefficients)] = list(row.coefficients.values())
    pose = kd.forward_kinematics(robot, q).pose(robot.bodies[0].name)
    R, force = pose.rotation_matrix(), pushes @ touch.directions
    own = np.r_[R.T @ np.cross(touch.point - pose.position(), force), R.T @ force]
    assert_allclose(A.T @ pushes, own, rtol=0, atol=1e-12)
    assert_allclose(touch.axes @ touch.axes.T, np.eye(3), rtol=0, atol=1e-12)
    assert_allclose(touch.directions, touch.axes, rtol=0, atol=0)
    assert_allclose(
        wheel.only(wheel.directions[1]).touch(robot, q.tolist()).directions, touch.axes[1:2]
    )
    with pytest.raises(NameNotFoundError, match='no direction'):
        wheel.only('up')


ROBOT, ROWS = drive()
LEFT = C.rolling_wheel(ROBOT, 'L', RADIUS)
BAD = [
    ({'casters': {'c': 'chassis'}}, InvalidInputError, "caster 'c': need a frame and a point"),
    ({'casters': {'c': ('hull', (0, 0, 0))}}, NameNotFoundError, "no frame named 'hull'"),
    ({'friction': -0.1}, InvalidInputError, "friction of 'L': need a number >= 0"),
    ({'friction': {'M': 0.1}}, NameNotFoundError, "no contact named 'M'"),
    ({'stiffness': {'L': 1.0}}, InvalidInputError, r"missing are \['R'\]"),
    ({'stiffness': {'M': 1.0}}, NameNotFoundError, "no contact named 'M'"),
    ({'stiffness': {'L': 1.0, 'R': 0.0}}, InvalidInputError, "stiffness of 'R'"),
    ({'casters': {'L': ('chassis', (0, 0, 0))}}, InvalidInputError, "'L'"),
    ({'sliding': LEFT}, InvalidInputError, 'sequence of RollingWheel'),
    ({'sliding': ['L']}, InvalidInputError, 'sequence of RollingWheel'),
]


@pytest.mark.parametrize(('options', 'error', 'message'), BAD)
def test_what_is_no_stance_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        kd.ground_contacts(ROBOT, ROWS, **options)


def test_constraints_that_leave_forces_without_wheels_are_refused():
    with pytest.raises(ConstraintError, match='no wheel to act on'):
        kd.ground_contacts(ROBOT, [C.no_side_slip(ROBOT)], casters=CASTER)
    with pytest.raises(InvalidInputError, match=r"friction: need that of .* slide, \['L'\]"):
        kd.ground_contacts(ROBOT, [LEFT.only('longitudinal')], sliding=[LEFT.only('lateral')])
    with pytest.raises(ConstraintError, match=r"'L' rolls and slides along the same: \['L/lat"):
        kd.ground_contacts(ROBOT, [LEFT], sliding=[LEFT.only('lateral')])


def test_two_wheels_alone_do_not_stand():
    with pytest.raises(InvalidInputError, match='three points that are not on one line'):
        kd.ground_contacts(ROBOT, ROWS).polygon(ROBOT.neutral())
