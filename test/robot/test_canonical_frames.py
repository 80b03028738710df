# SPDX-License-Identifier: Apache-2.0
"""The robot in canonical body frames: the same dynamics, and frames that are what they claim."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support.machines import X, Y, Z, at, inertia, planar_2r, prismatic, revolute, turned
from support.trees import random_state, thirty_trees, tree_and_state
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.robot.canonical_frames import canonical_frames
from studies.random_robots import random_tree

SAME = 1e-12  # roundoff of recursions over ten bodies in two sets of frames: some 1e-15 seen
ROUNDOFF = 1e-15
LOAD = inertia(1.2, (0.1, -0.2, 0.15), (0.02, 0.03, 0.04))


def error(got, expected):
    """Return the largest difference in units of the largest entry expected."""
    return np.abs(got - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-3)


def joint_space(robot, q, v, a):
    """Return everything that may not change with the body frames."""
    return {
        'M': kd.mass_matrix(robot, q),
        'C': kd.coriolis_matrix(robot, q, v),
        'g': kd.gravity_force(robot, q),
        'effort': kd.inverse_dynamics(robot, q, v, a),
        'T': kd.kinetic_energy(robot, q, v),
        'V': kd.potential_energy(robot, q),
    }


def centres(robot, q):
    """Return where every centre of mass is, and the inertia tensors in world axes."""
    poses = [kd.forward_kinematics(robot, q).pose(body.name) for body in robot.bodies]
    points, tensors = [], []
    for body, x in zip(robot.bodies, poses, strict=True):
        R = x.rotation_matrix()
        points.append(x.position() + R @ body.inertia.com)
        tensors.append(R @ body.inertia.tensor @ R.T)
    return np.array(points), np.array(tensors)


def check(robot, q, v, a):
    """Assert that a robot and its canonical form are the same machine."""
    new, offsets = canonical_frames(robot)
    assert new.velocity_names == robot.velocity_names
    assert new.coordinate_names == robot.coordinate_names
    for name in ('armature', 'damping', 'friction', 'gravity', 'effort_limit'):
        assert_array_equal(getattr(new, name), getattr(robot, name))
    expected = joint_space(robot, q, v, a)
    for name, got in joint_space(new, q + offsets, v, a).items():
        assert error(got, expected[name]) < SAME, name
    for got, known in zip(centres(new, q + offsets), centres(robot, q), strict=True):
        assert error(got, known) < SAME
    return new, offsets


@pytest.mark.parametrize(('seed', 'base'), thirty_trees())
def test_trees_of_every_joint_kind(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    _, offsets = check(robot, q, v, a)
    turned_ahead = np.nonzero(offsets)[0]
    assert turned_ahead.tolist() == [robot.coordinate_index('revolute_joint')]


@pytest.mark.parametrize('n', [1, 2, 3, 9, 20])
def test_chains(n, rng):
    robot = kd.serial_chain(n)
    check(robot, *random_state(robot, rng))


def pair_of_axes(second, position):
    """Return two hinges; the second joint is turned and placed in the first body's frame."""
    direction, angle = second
    place = turned(np.array(direction) / np.linalg.norm(direction), angle, position)
    first = kd.Body('first', '', revolute('first', (1, 2, 2)), turned(X, 0.3, (0.1, 0, 0)), LOAD)
    body = kd.Body('second', 'first', revolute('second', (1, 2, 2)), place, LOAD)
    return kd.Robot('pair', [first, body], (1.0, -2.0, -9.0))


AXIS = np.array([1.0, 2.0, 2.0]) / 3.0
ACROSS = np.array([2.0, 1.0, -2.0]) / 3.0  # square to it
PAIRS = {
    'parallel': ((AXIS, 0.7), 0.4 * ACROSS + 0.3 * AXIS),
    'antiparallel': ((ACROSS, np.pi), 0.4 * ACROSS + 0.3 * AXIS),
    'on one line': ((AXIS, 0.7), 0.3 * AXIS),
    'the same': ((AXIS, 0.7), 0.0 * AXIS),
    'opposite on one line': ((ACROSS, np.pi), 0.3 * AXIS),
    'intersecting': ((ACROSS, 0.8), 0.3 * AXIS),
    'intersecting beyond the origins': ((X, 0.9), (0.2, 0.1, -0.3)),
    'square and apart': ((ACROSS, np.pi / 2), 0.5 * ACROSS),
    'askew': ((Y, 1.1), (0.2, -0.3, 0.4)),
    'nearly on one line': ((AXIS, 0.7), 0.3 * AXIS + 1e-12 * ACROSS),
    'a little off one line': ((AXIS, 0.7), 0.3 * AXIS + 1e-7 * ACROSS),
} | {
    # the common normal of such axes is far off: 0.3 m / angle
    f'parallel but for {angle:g} rad': ((X, angle), (0.2, -0.3, 0.4))
    for angle in (1e-2, 1e-4, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15)
}


@pytest.mark.parametrize('name', PAIRS)
def test_two_axes(name, rng):
    robot = pair_of_axes(*PAIRS[name])
    new, offsets = check(robot, *random_state(robot, rng))
    first, second = new.bodies
    assert np.linalg.norm(second.placement.position()) < 1.0
    assert second.placement.position()[2] == 0.0
    assert (second.placement.rotation.y, second.placement.rotation.z) == (0.0, 0.0)
    assert (second.inertia.com[1:] == 0.0).all()
    assert np.isfinite(offsets).all()


def is_chief(robot, i):
    """Return whether every other child of a body's parent has fewer bodies behind it."""
    paths = [robot.ancestors(k) for k in range(len(robot.bodies))]
    siblings = [k for k, p in enumerate(robot.parents) if p == robot.parents[i] and k != i]
    size = {k: sum(k in path for path in paths) for k in [i, *siblings]}
    return all(size[i] > size[k] for k in siblings)


def hinges(seed, count):
    """Return a random tree of hinges, each on any earlier body."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 'fixed', kinds=('revolute',), mimic=False)
    bodies = []
    for k in range(count):
        one = random_tree(rng, 'fixed', kinds=('revolute',), mimic=False).bodies[0]
        parent = bodies[rng.integers(len(bodies))].name if bodies else ''
        joint = replace(one.joint, name=f'joint_{k}')
        bodies.append(replace(one, name=f'body_{k}', parent=parent, joint=joint))
    return kd.Robot('hinges', bodies, model.gravity)


@pytest.mark.parametrize('seed', range(6))
def test_frames_are_what_they_claim(seed, rng):
    robot = hinges(seed, 8)
    new, _ = check(robot, *random_state(robot, rng))
    chiefs = tips = 0
    for i, body in enumerate(new.bodies):
        assert body.joint.kind.axis == (0.0, 0.0, 1.0)
        if i not in new.parents:
            tips += 1
            assert (body.inertia.com[1:] == 0.0).all()
            assert body.inertia.com[0] != 0.0
        if body.parent and is_chief(new, i):
            chiefs += 1
            r, p = body.placement.rotation, body.placement.position()
            assert (r.y, r.z) == (0.0, 0.0)  # a turn about x, the common normal
            assert r.w != 0.0 != r.x
            assert p[2] == 0.0
            assert p[0] != 0.0 != p[1]
    assert tips > 0
    assert chiefs > 1


@pytest.mark.parametrize('seed', range(4))
def test_canonical_frames_stay(seed):
    robot = random_tree(np.random.default_rng(seed), 'planar')
    once, _ = canonical_frames(robot)
    twice, offsets = canonical_frames(once)
    assert_array_equal(offsets, 0.0)
    for new, old in zip(twice.bodies, once.bodies, strict=True):
        assert new.joint == old.joint
        assert new.mimic == old.mimic
        pairs = [
            (new.placement.rotation_matrix(), old.placement.rotation_matrix()),
            (new.placement.position(), old.placement.position()),
            (new.inertia.com, old.inertia.com),
            (new.inertia.tensor, old.inertia.tensor),
        ]
        for got, known in pairs:
            assert error(got, known) < ROUNDOFF


def test_textbook_arm_is_canonical():
    robot = planar_2r()
    new, offsets = canonical_frames(robot)
    assert offsets.tolist() == [0.0, 0.0]
    assert new.bodies[1].placement.position().tolist() == [1.0, 0.0, 0.0]
    assert [body.inertia.com.tolist() for body in new.bodies] == [[0.5, 0, 0], [0.4, 0, 0]]


@pytest.mark.parametrize('angle', [-0.8, 0.8])
def test_arm_in_the_convention_is_canonical(angle):
    # whichever way the common normal points, x keeps its side
    bodies = [
        kd.Body('a', '', revolute('a'), turned(X, 0.3), LOAD),
        kd.Body(
            'b', 'a', revolute('b'), turned(X, angle, (0.3, 0.2, 0)), inertia(1.0, (0.1, 0, 0))
        ),
    ]
    new, offsets = canonical_frames(kd.Robot('arm', bodies))
    assert offsets.tolist() == [0.0, 0.0]
    for one, other in zip(new.bodies, bodies, strict=True):
        assert error(one.placement.position(), other.placement.position()) < ROUNDOFF
        R = one.placement.rotation_matrix()
        assert error(R, other.placement.rotation_matrix()) < ROUNDOFF


def test_hinge_that_carries_a_slide(rng):
    # its origin stays, its y is square to an axis of the slide's frame
    slide = turned((0.6, 0.0, 0.8), 0.7, (0.3, -0.2, 0.4))
    bodies = [
        kd.Body('hinge', '', revolute('hinge', (1, 2, 3)), turned(Y, 0.4, (0.1, 0.2, 0.3)), LOAD),
        kd.Body('slide', 'hinge', prismatic('slide', (3, 2, 1)), slide, LOAD),
    ]
    robot = kd.Robot('lift', bodies)
    new, _ = check(robot, *random_state(robot, rng))
    for one, other in zip(new.bodies, bodies, strict=True):
        lengths = [np.linalg.norm(x.placement.position()) for x in (one, other)]
        assert lengths[0] == pytest.approx(lengths[1], rel=ROUNDOFF)
    assert (np.abs(new.bodies[1].placement.rotation_matrix()[1]) < ROUNDOFF).any()


def test_joints_of_other_kinds_keep_their_frames():
    robot = random_tree(np.random.default_rng(3), 'floating', kinds=('prismatic', 'spherical'))
    new, offsets = canonical_frames(robot)
    assert_array_equal(offsets, 0.0)
    for one, other in zip(new.bodies, robot.bodies, strict=True):
        assert one.placement is other.placement
        assert one.inertia is other.inertia


def test_followers_of_followers(rng):
    # hinge b follows a slide, c follows b, d follows c; a follower may come before its master
    place = [turned(axis, 0.4 + k, (0.1, 0.2, 0.3)) for k, axis in enumerate((X, Y, Z, X, Y))]
    axes = [(1, 2, 3), (0, 1, 1), (1, 0, 1), (2, -1, 0), (1, 1, -1)]
    mimics = {
        'b': kd.Mimic('slide', -0.7, 0.2),
        'c': kd.Mimic('b', 1.3, -0.4),
        'e': kd.Mimic('d', 0.5, 0.1),
        'f': kd.Mimic('e', -2.0, 0.3),
    }
    chain = ['slide', 'f', 'b', 'c', 'd', 'e']
    bodies = [
        kd.Body(
            name,
            parent,
            prismatic(name, (1, 2, 2)) if name == 'slide' else revolute(name, axes[k - 1]),
            place[k % 5],
            LOAD,
            mimics.get(name),
        )
        for k, (name, parent) in enumerate(zip(chain, ['', *chain], strict=False))
    ]
    robot = kd.Robot('followers', bodies)
    assert robot.velocity_names == ('slide', 'd')
    new, offsets = check(robot, *random_state(robot, rng))
    assert offsets[0] == 0.0
    assert offsets[1] != 0.0
    assert any(body.mimic and body.mimic.offset != mimics[body.name].offset for body in new.bodies)


def test_limits_move_with_the_coordinate():
    robot = kd.serial_chain(3)
    bodies = [
        replace(body, joint=replace(body.joint, lower=-0.5, upper=1.5)) for body in robot.bodies
    ]
    new, offsets = canonical_frames(kd.Robot('limited', bodies))
    assert error(new.lower, offsets - 0.5) < ROUNDOFF
    assert error(new.upper, offsets + 1.5) < ROUNDOFF


@pytest.mark.parametrize('size', [1e-13, 1.0, 1e5])
def test_robots_of_any_size(size, rng):
    # what counts as roundoff is relative to the lengths and tensors of the robot
    robot = kd.serial_chain(5)

    def scaled(body):
        p = size * body.placement.position()
        place = kd.Pose.from_rotation_and_position(body.placement.rotation.components, p)
        m = body.inertia
        return replace(
            body, placement=place, inertia=kd.Inertia(m.mass, size * m.com, size**2 * m.tensor)
        )

    small = kd.Robot('scaled', [scaled(body) for body in robot.bodies], robot.gravity)
    new, offsets = canonical_frames(small)
    q, v, _ = random_state(robot, rng)
    got, expected = kd.mass_matrix(new, q + offsets), kd.mass_matrix(small, q)
    assert np.abs(got - expected).max() < SAME * np.abs(expected).max()
    got, expected = kd.gravity_force(new, q + offsets), kd.gravity_force(small, q)
    assert np.abs(got - expected).max() < SAME * np.abs(expected).max()


def test_bodies_without_mass_and_nothing_at_all():
    bare = [kd.Body('a', '', revolute('a', Y)), kd.Body('b', 'a', revolute('b', Y), at(0, 0, 0))]
    new, offsets = canonical_frames(kd.Robot('bare', bare))
    assert np.isfinite(offsets).all()
    assert_array_equal(kd.mass_matrix(new, [0.3, 0.4]), 0.0)
    assert canonical_frames(kd.Robot('nothing', []))[1].shape == (0,)


@pytest.mark.parametrize(
    ('name', 'base'),
    [('panda', 'fixed'), ('ur5_robot', 'fixed'), ('tiago_no_hand', 'planar')]
    + [('nonholonomic', 'planar'), ('holonomic', 'floating')],
)
def test_real_robots(name, base, rng):
    shipped = Path(__file__).parents[2] / 'robots' / f'{name}.urdf'
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        path = shipped if shipped.is_file() else installed(name)
        robot = kd.load_urdf(path, base=base)
    for _ in range(3):
        check(robot, *random_state(robot, rng))
