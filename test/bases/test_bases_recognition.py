# SPDX-License-Identifier: Apache-2.0
"""Wheels and bases that a robot description shows, and bases from a block of settings."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.base_robots import Spot, robot_on, steering_of
from support.machines import X, Y, Z, at, inertia, prismatic, revolute, turned
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError

REAR = ['left_rear_wheel_joint', 'right_rear_wheel_joint']
STEERED = {
    f'{side}_steering_hinge_joint': f'{side}_front_wheel_joint' for side in ('left', 'right')
}
PRO = [f'wheel_{end}_{side}_joint' for end in ('front', 'rear') for side in ('right', 'left')]
CORNERS = {
    f'caster_{end}_{side}_1_joint': f'caster_{end}_{side}_2_joint'
    for end in ('front', 'back')
    for side in ('right', 'left')
}
DRIVE = {'kind': 'differential', 'left': ['wheel_left_joint'], 'right': ['wheel_right_joint']}
# every mobile robot of example-robot-data and pybullet: wheels by kind, blocks that fit, needs
TABLE = {
    'tiago': ({'fixed': 2}, [(DRIVE, 0)]),
    'tiago_no_hand': ({'fixed': 2}, [(DRIVE, 0)]),
    'tiago_dual': ({'fixed': 2, 'caster': 4}, [({**DRIVE, 'casters': CORNERS}, 0)]),
    'tiago_pro': (
        {'fixed': 4},
        [
            ({'kind': 'skid_steer', 'left': PRO[1::2], 'right': PRO[::2]}, 0),
            ({'kind': 'mecanum', 'wheels': PRO}, 1),
        ],
    ),
    'centauro': (
        {'steered': 4},
        [
            (
                {
                    'kind': 'swerve',
                    'steered': {f'ankle_yaw_{k}': f'j_wheel_{k}' for k in range(1, 5)},
                },
                0,
            )
        ],
    ),
    'racecar/racecar': (
        {'fixed': 2, 'steered': 2},
        [({'kind': 'ackermann', 'rear': REAR, 'steered': STEERED}, 0)],
    ),
    'r2d2': ({'fixed': 4}, []),  # its x is not forward: axles lie along x
    'differential/diff_ring': (  # a gear box: nothing in its description says so
        {'fixed': 4},
        [
            (
                {
                    'kind': 'omni',
                    'wheels': [f'diff_{n}_ring' for n in ('spiderA', 'spiderB', 'sideA', 'sideB')],
                },
                1,
            )
        ],
    ),
    # no wheels: legs and arms with round links about horizontal axes
    'panda_collision': ({}, []),
    'go1': ({}, []),
    'quadruped/minitaur': ({}, []),
    'quadruped/quadruped': ({}, []),
    'laikago/laikago': ({}, []),
}


def file_of(name):
    """Return the URDF of an installed robot."""
    data = importlib.util.find_spec('pybullet_data')
    where = Path(data.origin).parent / f'{name}.urdf' if data and data.origin else None
    if where is not None and where.exists():
        return where
    if '/' in name or name == 'r2d2':
        pytest.skip('pybullet is not installed')
    return installed(name)


@pytest.fixture(scope='module')
def loaded():
    """Return a function that loads an installed robot once."""
    robots = {}

    def load(name):
        if name not in robots:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
                robots[name] = kd.load_urdf(file_of(name), base='planar')
        return robots[name]

    return load


@pytest.mark.parametrize('name', TABLE)
def test_wheels_of_other_peoples_robots(name, loaded):
    robot = loaded(name)
    kinds, blocks = TABLE[name]
    found = [wheel.kind for wheel in kd.bases.found_wheels(robot)]
    assert {kind: found.count(kind) for kind in set(found)} == kinds
    fits = kd.bases.fitting_kinds(robot)
    assert [(fit.block, len(fit.needs)) for fit in fits] == blocks
    for fit in fits:
        if not fit.needs:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', kd.exceptions.ModelWarning)  # racecar's wheels
                base = kd.bases.wheeled_base(robot, fit.block)
                assert fit.needed(robot) == ()
            assert base.kind == fit.kind
            assert {wheel.joint for wheel in base.wheels} == {
                wheel.joint for wheel in kd.bases.found_wheels(robot)
            }


def corners(**more):
    return [
        Spot(n, x, y, **more)
        for n, x, y in (('fl', 0.3, 0.2), ('fr', 0.3, -0.2), ('rl', -0.3, 0.2), ('rr', -0.3, -0.2))
    ]


@pytest.mark.parametrize(
    ('spots', 'kinds'),
    [
        ([Spot('l', 0, 0.2), Spot('r', 0, -0.2)], ['differential']),
        (
            [Spot('l', 0, 0.2), Spot('r', 0, -0.2), Spot('c', 0.3, 0, steered=True, d=0.05)],
            ['differential'],
        ),
        (corners(), ['skid_steer', 'mecanum']),
        (
            [Spot(f'w{k}', np.cos(a), np.sin(a), a + np.pi / 2) for k, a in enumerate((0, 2, 4))],
            ['omni'],
        ),
        (corners(steered=True), ['swerve']),
        (corners(steered=True, d=0.05), ['swerve']),
        ([*corners()[2:], *corners(steered=True)[:2]], ['ackermann']),
        ([*corners()[2:3], *corners(steered=True)[:2]], ['ackermann']),
        ([*corners(), Spot('s', 0.6, 0, steered=True)], []),
        ([Spot('l', 0, 0.2), Spot('r', 0.1, -0.2)], []),
        ([Spot('l', 0, 0.2)], []),
    ],
)
@pytest.mark.parametrize('on', ['planar', 'floating'])
def test_kinds_that_fit(spots, kinds, on):
    robot = robot_on(spots, on, arm=1)
    fits = kd.bases.fitting_kinds(robot)
    assert [fit.kind for fit in fits] == kinds
    for fit in fits:
        if not fit.needs:
            base = kd.bases.wheeled_base(robot, fit.block)
            assert len(base.wheels) == len(spots)


def test_what_a_steered_wheel_and_a_caster_show():
    spots = [Spot('s', 0.3, 0, steered=True, b=0.02), Spot('c', -0.3, 0, steered=True, d=0.05)]
    steered, caster = kd.bases.found_wheels(robot_on(spots))
    assert (steered.kind, steered.steering, steered.trail) == ('steered', 's_steer', 0.0)
    assert steered.centre == (0.3, 0.02, 0.1)
    assert (caster.kind, caster.steering, caster.trail) == ('caster', 'c_steer', 0.05)
    assert caster.centre == (-0.35, 0.0, 0.1)
    assert (caster.axis, caster.radius, caster.named) == (Y, 0.1, True)


def robot_with(joint, placement, *more, shape=None, name='rim'):
    """Return a planar base with one more joint, its body and what that carries."""
    bodies = [
        kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=inertia(9, (0, 0, 0), X)),
        kd.Body(name, 'base', joint, placement, inertia(1.0)),
        *more,
    ]
    return kd.Robot('robot', bodies, wheels={joint.name: shape} if shape else {})


ROUND = kd.WheelShape(0.1, axis=Y)


@pytest.mark.parametrize(
    ('robot', 'kinds'),
    [
        (robot_with(revolute('one', Y), at(0, 0, 0.1), shape=ROUND), ['fixed']),
        (robot_with(revolute('one', Y), at(0, 0, 0.1)), []),
        (robot_with(revolute('front_wheel', Y), at(0, 0, 0.1)), ['fixed']),
        (robot_with(revolute('one', Y), at(0, 0, 0.1), name='caster_rim'), ['fixed']),
        # no wheel: it stands upright, has an end, slides, carries something, or is tilted
        (robot_with(revolute('wheel', Z), at(0, 0, 0.1), shape=ROUND), []),
        (robot_with(revolute('wheel', Y, upper=3.0), at(0, 0, 0.1), shape=ROUND), []),
        (robot_with(prismatic('wheel', Y), at(0, 0, 0.1)), []),
        (
            robot_with(
                revolute('wheel', Y),
                at(0, 0, 0.1),
                kd.Body('leg', 'rim', revolute('knee', Y)),
                shape=ROUND,
            ),
            [],
        ),
        (robot_with(revolute('wheel', Y), turned(X, 0.2, (0, 0, 0.1)), shape=ROUND), []),
        # balls: a sphere on a spherical joint
        (
            robot_with(kd.Joint('one', kd.Spherical()), at(0, 0, 0.1), shape=kd.WheelShape(0.1)),
            ['ball'],
        ),
        (robot_with(kd.Joint('one', kd.Spherical()), at(0, 0, 0.1), shape=ROUND), []),
        (robot_with(kd.Joint('wheel', kd.Spherical()), at(0, 0, 0.1)), []),
    ],
)
def test_what_is_a_wheel(robot, kinds):
    assert [wheel.kind for wheel in kd.bases.found_wheels(robot)] == kinds


def test_round_things_above_the_ground_are_no_wheels():
    robot = robot_on([Spot('l', 0, 0.2), Spot('r', 0, -0.2)])
    pulley = kd.Body('pulley', 'trunk', revolute('pulley', Y), at(0.1, 0, 0.2), inertia(1.0))
    more = kd.Robot('more', [*robot.bodies, pulley], wheels={**robot.wheels, 'pulley': ROUND})
    assert [wheel.joint for wheel in kd.bases.found_wheels(more)] == ['l', 'r']


def test_a_wheel_without_a_shape_needs_a_radius():
    robot = robot_on([Spot('left_wheel', 0, 0.2), Spot('right_wheel', 0, -0.2)])
    bare = kd.Robot('bare', robot.bodies)
    (fit,) = kd.bases.fitting_kinds(bare)
    assert fit.needs == tuple(
        f"radius: of '{side}_wheel' [m], it has no collision cylinder or sphere"
        for side in ('left', 'right')
    )
    base = kd.bases.wheeled_base(
        bare, {**fit.block, 'radius': {'left_wheel': 0.1, 'right_wheel': 0.1}}
    )
    assert [wheel.radius for wheel in base.wheels] == [0.1, 0.1]


def test_balls_and_supports():
    robot = robot_on([Spot('l', 0, 0.2), Spot('r', 0, -0.2)])
    ball = kd.Body(
        'ball', 'trunk', kd.Joint('ball', kd.Spherical()), at(0.3, 0, 0.05), inertia(1.0)
    )
    robot = kd.Robot(
        'robot', [*robot.bodies, ball], wheels={**robot.wheels, 'ball': kd.WheelShape(0.05)}
    )
    (fit,) = kd.bases.fitting_kinds(robot)
    assert fit.block == {'kind': 'differential', 'left': ['l'], 'right': ['r'], 'balls': ['ball']}
    base = kd.bases.wheeled_base(robot, {**fit.block, 'supports': [[-0.3, 0, 0]]})
    assert base.supports == ((-0.3, 0.0, 0.0),)
    assert base.passive == ('ball',)
    rates = base.wheel_rates((0.3, 0, 0.5))
    assert rates.slip_by_wheel == {}
    np.testing.assert_allclose(base.twist(rates.rates).twist, (0.3, 0, 0.5), atol=1e-14)


def swerve():
    spots = corners(steered=True)
    return robot_on(spots), {'kind': 'swerve', 'steered': steering_of(spots)}


@pytest.mark.parametrize(
    ('change', 'error', 'message'),
    [
        (
            {'kind': 'swirve'},
            InvalidInputError,
            "got str 'swirve'; there are .*; did you mean 'swerve'?",
        ),
        (
            {'kind': 3},
            InvalidInputError,
            r"got int 3; there are \['ackermann', 'differential', .*\]$",
        ),
        (
            {'sterred': {}},
            InvalidInputError,
            "no entry 'sterred'; there are .*; did you mean 'steered'?",
        ),
        ({'kind': 'omni'}, InvalidInputError, "kind 'omni' has no entry 'steered'; there are"),
        ({'steered': {}}, ConstraintError, r'steered: need 1 or more joints of wheels'),
        ({'steered': ['fl']}, InvalidInputError, 'steered: need a mapping from names'),
        ({'steered': {'front': 'fl'}}, NameNotFoundError, "no joint named 'front'"),
        ({'steered': {'fr_steer': 'fl'}}, ConstraintError, "'fr_steer' does not carry wheel 'fl'"),
        ({'steered': {'fl': 'fl'}}, ConstraintError, "'fl' does not carry wheel 'fl'"),
        ({'casters': {'fl_steer': 'fl'}}, ConstraintError, "joint 'fl' is named twice"),
        ({'radius': -1.0}, ConstraintError, 'need a radius > 0 m'),
        ({'radius': {'fl': 'wide'}}, InvalidInputError, 'radius'),
        ({'radius': {'wheel': 0.1}}, NameNotFoundError, "no wheel named 'wheel'"),
        ({'radius': [0.1]}, InvalidInputError, 'radius'),
        ({'supports': [[0, 0]]}, InvalidInputError, r'supports\[0\] \[m\]: need shape \(3,\)'),
        ({'balls': 'fl'}, InvalidInputError, 'balls: need a sequence of names'),
    ],
)
def test_wrong_blocks(change, error, message):
    robot, block = swerve()
    with pytest.raises(error, match=message):
        kd.bases.wheeled_base(robot, {**block, **change})


def test_more_wrong_bases():
    robot = robot_on(corners())
    names = [spot.name for spot in corners()]
    b = kd.bases
    for call, error, message in (
        (
            lambda: b.wheeled_base(robot, {'kind': 'omni'}),
            InvalidInputError,
            "kind 'omni' needs 'w",
        ),
        (lambda: b.wheeled_base(robot, 'omni'), InvalidInputError, 'block: need a mapping'),
        (lambda: b.mecanum(robot, names, [0.7]), InvalidInputError, 'roller_angles'),
        (lambda: b.skid_steer(robot, ['fl'], ['fr', 'rr']), ConstraintError, 'left: need 2'),
        (lambda: b.differential(robot, ['fl'], ['rr']), ConstraintError, 'do not share an axle'),
        (lambda: b.differential(robot, ['fl'], []), ConstraintError, 'right: need 1'),
        (lambda: b.differential(robot, ['fl'], ['fr', 'fr']), ConstraintError, 'named twice'),
        (
            lambda: b.skid_steer(robot, names[:2], names[2:], track_factor=0),
            InvalidInputError,
            'track_factor must be > 0',
        ),
        (
            lambda: b.ackermann(robot, names[2:], {}, driven=['fl']),
            ConstraintError,
            'steered: need 1',
        ),
    ):
        with pytest.raises(error, match=message):
            call()
    turned_wheels = robot_on([s._replace(heading=0.3) for s in corners()])
    with pytest.raises(ConstraintError, match='does not lie along y'):
        b.skid_steer(turned_wheels, names[::2], names[1::2])
    standing = kd.Robot(
        'standing',
        robot.bodies[1:2]
        and [kd.Body('rim', '', revolute('wheel', Y), at(0, 0, 0.1), inertia(1.0))],
        wheels={'wheel': ROUND},
    )
    with pytest.raises(ConstraintError, match='needs a robot with a planar or floating base'):
        b.omni(standing, ['wheel'])
    spots = [Spot('s', 0.3, 0, steered=True), Spot('f', 0, 0)]
    car = robot_on(spots)
    with pytest.raises(NameNotFoundError, match="no wheel named 's_steer'"):
        b.ackermann(car, ['f'], steering_of(spots), driven=['s_steer'])
    assert b.ackermann(car, ['f'], steering_of(spots), driven=['s']).driven == ('s',)
    tilted = [
        kd.Body(x.name, x.parent, x.joint, x.placement * turned(X, 0.1), x.inertia)
        if x.joint.name == 's_steer'
        else x
        for x in car.bodies
    ]
    with pytest.raises(ConstraintError, match=r"'s_steer' of wheel 's': its axis \[0.0, -0.0998"):
        b.swerve(kd.Robot('tilted', tilted, wheels=car.wheels), {'s_steer': 's'})


def test_check_lists_wheels_and_bases(capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '200')
    path = str(file_of('racecar/racecar'))
    assert cli.main(['info', path]) == 0
    said, remarks = capsys.readouterr()
    assert 'fits: kind: ackermann, rear: [left_rear_wheel_joint, right_rear_wheel_joint]' in said
    assert 'stands 0.0225 m along the axis' in remarks
    assert cli.main(['info', str(file_of('r2d2')), '--root-joint', 'planar']) == 0
    assert 'no kind of base fits these wheels' in capsys.readouterr().out
    assert cli.main(['info', str(file_of('tiago_pro'))]) == 0
    said = capsys.readouterr().out
    assert 'needs: roller_angles: of each wheel [rad], if the wheels have rollers' in said
