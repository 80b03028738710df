# SPDX-License-Identifier: Apache-2.0
"""Gravity that depends on the place: particles, orbits and the gravity gradient."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative, tangent_gradient
from support.machines import WEIGHTLESS, X, Y, Z, at, inertia, revolute, turned
from support.trees import tree_and_state, with_gravity

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.formulations.orbit import EARTH, orbital_wrenches, wrenches_at_com
from kane_dynamics.robot.motion import coordinate_rates
from studies.random_robots import random_pose

CENTRE = np.array([0.3, -0.2, 0.5])


def particles(rng):
    """Return masses [kg] and places [m] of six particles, and the inertia they make."""
    masses, points = rng.uniform(0.1, 0.6, 6), rng.uniform(-0.4, 0.4, (6, 3))
    com = masses @ points / masses.sum()
    arms = points - com
    squares = np.einsum('i,ij,ij->', masses, arms, arms) * np.eye(3)
    tensor = squares - np.einsum('i,ij,ik->jk', masses, arms, arms)
    return masses, points, kd.Inertia(masses.sum(), com, tensor)


def satellite(moments, mass=1.0):
    """Return a free body whose mass centre is the origin of its frame."""
    body = kd.Body(
        'body', '', kd.Joint('base', kd.Free()), inertia=inertia(mass, (0, 0, 0), moments)
    )
    return kd.Robot('satellite', [body], WEIGHTLESS)


def pose(position, axis=X, angle=0.0):
    """Return q of a free body."""
    return np.r_[position, turned(axis, angle).rotation.components]


@pytest.mark.claim(26)
def test_no_torque_on_a_sphere_or_along_a_principal_axis():
    sphere = orbital_wrenches(satellite((0.3, 0.3, 0.3)), pose((5, 2, 1), Y, 0.7), mu=9.0)
    assert_allclose(sphere['body'][:3], 0.0, atol=1e-16)  # roundoff of 3 mu I/r^3 = 0.05
    brick = satellite((0.2, 0.3, 0.4))
    for axis in (X, Y, Z):  # the body axis that points to the centre
        away = orbital_wrenches(brick, pose(3.0 * np.array(axis)), mu=9.0)['body']
        assert_allclose(away[:3], 0.0, atol=1e-16)
        assert_allclose(away[3:], -np.array(axis), rtol=1e-15)  # 9 * 1 / 3^2 [N]


@pytest.mark.claim(26)
def test_torque_by_hand():
    # 45 deg in the x, z plane: n_y = 3 mu/r^3 (I_x - I_z) sin(45) cos(45); the long axis, that
    # of the small moment (z here), is pulled towards the line to the centre
    brick, r = satellite((0.4, 0.3, 0.1)), 2.0
    tau = orbital_wrenches(brick, pose((r / np.sqrt(2), 0, r / np.sqrt(2))), mu=9.0)['body'][:3]
    assert_allclose(tau, [0.0, 3 * 9.0 / r**3 * (0.4 - 0.1) * 0.5, 0.0], rtol=1e-14, atol=1e-17)


@pytest.mark.claim(26)
@pytest.mark.parametrize('distance', [30.0, 300.0])
def test_wrench_is_that_of_particles(distance):
    """Force and torque about the mass centre, up to powers of the size over the distance."""
    rng = np.random.default_rng(3)
    masses, points, own = particles(rng)
    body = kd.Body('body', '', kd.Joint('base', kd.Free()), inertia=own)
    robot = kd.Robot('cloud', [body], WEIGHTLESS)
    wxyz = rng.normal(size=4)
    q = np.r_[CENTRE + distance * np.array([0.6, -0.48, 0.64]), wxyz / np.linalg.norm(wxyz)]
    x = kd.forward_kinematics(robot, q).pose('body')
    r = (x.position() - CENTRE) @ x.rotation_matrix() + points  # in body axes
    forces = -EARTH * masses[:, None] * r / np.linalg.norm(r, axis=1)[:, None] ** 3
    wrench = orbital_wrenches(robot, q, CENTRE)['body']
    torque = wrench[:3] - np.cross(own.com, wrench[3:])
    expected = np.cross(points - own.com, forces).sum(axis=0)
    # size 0.7: the next terms are of order size/r in the torque, (size/r)^2 in the force;
    # forces on the arms cancel to size/r of their roundoff 1e-16
    size = 0.7 / distance
    assert_allclose(torque, expected, rtol=0, atol=3.0 * size * np.abs(expected).max())
    force = forces.sum(axis=0)
    assert_allclose(wrench[3:], force, rtol=0, atol=2.0 * size**2 * np.abs(force).max())


@pytest.mark.parametrize('distance', [40.0, 400.0])
def test_generalized_force_is_the_slope_of_the_potential_of_particles(distance):
    """On all joint kinds -J' w = dV/dq with V = -sum mu m/|r| over the particles of all bodies."""
    rng = np.random.default_rng(5)
    tree, q, v, a = tree_and_state(5, 'fixed')
    clouds = [particles(rng) for _ in tree.bodies]
    bodies = [
        dataclasses.replace(body, inertia=own)
        for body, (*_, own) in zip(tree.bodies, clouds, strict=True)
    ]
    robot = kd.Robot('tree', bodies, WEIGHTLESS)
    mu, centre = distance**3, CENTRE - distance * np.array([0.48, 0.6, 0.64])

    def potential(x):
        kin, total = kd.forward_kinematics(robot, x), 0.0
        for body, (masses, points, _) in zip(bodies, clouds, strict=True):
            x_B = kin.pose(body.name)
            r = x_B.position() + points @ x_B.rotation_matrix().T - centre
            total -= mu * masses @ (1.0 / np.linalg.norm(r, axis=1))
        return total

    def effect(wrenches):
        at_rest = kd.inverse_dynamics(robot, q, v, a)
        return kd.inverse_dynamics(robot, q, v, a, wrenches) - at_rest

    wrenches = orbital_wrenches(robot, q, centre, mu)
    # mu/r^3 = 1: the gradient torques are of order m size^2 = 0.1, and what is left out is
    # size/distance of them; the roundoff of V, 1e-16 mu/r, over a step of 1e-2 is below 1e-7
    left_out = 2.0 / distance
    slope = tangent_gradient(robot, q, potential)
    assert_allclose(effect(wrenches), slope, rtol=0, atol=left_out)
    forces = {body.name: np.r_[np.zeros(3), wrenches[body.name][3:]] for body in bodies}
    without_torques = wrenches_at_com(robot, forces)
    assert np.abs(effect(without_torques) - slope).max() > 4.0 * left_out


@pytest.mark.claim(26)
def test_circular_orbit():
    """v^2 = mu/r keeps the distance: in axes that turn with the orbit everything is steady."""
    robot, r = satellite((0.2, 0.3, 0.4), mass=2.5), 7.0e6
    speed = np.sqrt(EARTH / r)
    assert speed == pytest.approx(7546.05, abs=0.01)  # [m/s], 7000 km from the Earth's centre
    rate = speed / r
    q = pose((r, 0, 0), Y, np.pi / 2)  # z outwards, x along the track, y normal to the orbit
    v = np.array([0, rate, 0, speed, 0, 0])
    motion = kd.forward_dynamics(
        robot, q, v, np.zeros(6), external_wrenches=orbital_wrenches(robot, q)
    )
    # a quarter turn has 1e-16 of roundoff
    assert_allclose(motion.acceleration[:3], 0.0, atol=1e-14 * rate**2)
    assert_allclose(motion.acceleration[3:], 0.0, atol=1e-14 * speed * rate)


@pytest.mark.claim(26)
def test_libration_in_pitch():
    """A satellite swings about the vertical with sqrt(3 mu/r^3 (I_x - I_z)/I_y)."""
    I_x, I_y, I_z = 0.5, 0.6, 0.2
    robot, amplitude = satellite((I_x, I_y, I_z)), 1e-3
    frequency = np.sqrt(3.0 * (I_x - I_z) / I_y)  # mu = r = 1: the orbit turns with 1 rad/s

    def slope(state):
        q, v = state[:7], state[7:]
        wrenches = orbital_wrenches(robot, q, mu=1.0)
        motion = kd.forward_dynamics(robot, q, v, np.zeros(6), external_wrenches=wrenches)
        return np.r_[coordinate_rates(robot, q, v), motion.acceleration]

    def pitch(state):
        up = state[:3] @ kd.forward_kinematics(robot, state[:7]).pose('body').rotation_matrix()
        return np.arctan2(-up[0], up[2])

    c, s = np.cos(amplitude), np.sin(amplitude)  # the velocity is along the track, tilted in body
    state = np.r_[pose((1, 0, 0), Y, np.pi / 2 + amplitude), 0, 1, 0, c, 0, s]
    assert pitch(state) == pytest.approx(amplitude, abs=1e-15)
    quarter, steps = 0.5 * np.pi / frequency, 80
    h = quarter / steps
    for _ in range(steps):
        k1 = slope(state)
        k2 = slope(state + 0.5 * h * k1)
        k3 = slope(state + 0.5 * h * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    # the period grows by amplitude^2/4 of itself; Runge-Kutta errs by h^4/120 = 1e-9
    assert abs(pitch(state)) < 1e-5 * amplitude + 1e-8
    assert state[8] - 1.0 == pytest.approx(-amplitude * frequency, rel=1e-4)
    position = [np.cos(quarter), 0.0, -np.sin(quarter)]  # and the orbit is the circle
    assert_allclose(state[:3], position, rtol=0, atol=1e-8)


@pytest.mark.claim(26)
def test_far_centre_is_a_uniform_field():
    robot, q, v, a = tree_and_state(6, 'floating')
    g, distance = robot.gravity, 1e9
    size = np.linalg.norm(g)
    wrenches = orbital_wrenches(
        with_gravity(robot, WEIGHTLESS), q, distance * g / size, size * distance**2
    )
    felt = kd.inverse_dynamics(with_gravity(robot, WEIGHTLESS), q, v, a, wrenches)
    assert relative(felt, kd.inverse_dynamics(robot, q, v, a)) < 1e-8  # size/distance


def test_only_bodies_with_mass_feel_it():
    bodies = [
        kd.Body('frame', '', revolute('first')),
        kd.Body('arm', 'frame', revolute('second', X), at(0, 0, 1), inertia(1.0)),
    ]
    wrenches = orbital_wrenches(kd.Robot('robot', bodies), [0.2, 0.1], (0, 0, 9))
    assert list(wrenches) == ['arm']


class TestWrenchesAtCentres:
    @pytest.mark.claim(27)
    def test_by_hand(self):
        """A force across a lever: the mass centre is 0.2 ahead of the joint, the tip 0.5."""
        body = kd.Body('link', '', revolute('hinge'), inertia=inertia(1.0, (0.2, 0, 0)))
        tip = kd.Frame(0, turned(Z, np.pi / 2, (0.5, 0, 0)))
        robot = kd.Robot('pendulum', [body], WEIGHTLESS, {'tip': tip})
        given = (0.0, 0.0, 0.25, 3.0, 2.0, 0.0)
        wrenches = wrenches_at_com(robot, {'link': given, 'tip': given})
        assert_allclose(wrenches['link'], [0, 0, 0.25 + 0.4, 3, 2, 0], atol=1e-15)
        # in the axes of the tip x is the old y, and the lever is 0.3 back
        assert_allclose(wrenches['tip'], [0, 0, 0.25 - 0.6, 2, -3, 0], atol=1e-15)

    def test_links_of_one_body_share_its_centre(self):
        robot, q, v, a = tree_and_state(7, 'floating')
        rng = np.random.default_rng(2)
        frames = {
            'tool': robot.frames['tool'],
            'other': kd.Frame(len(robot.bodies) - 1, random_pose(rng)),
        }
        robot = dataclasses.replace(robot, frames=frames)
        given = rng.normal(size=6)
        felt = [
            kd.inverse_dynamics(robot, q, v, a, wrenches_at_com(robot, {link: given}))
            for link in ('tool', 'other', robot.bodies[-1].name)
        ]
        assert relative(felt[0], felt[2]) < 1e-12 and relative(felt[1], felt[2]) < 1e-12

    @pytest.mark.claim(27)
    def test_power_is_that_at_the_centre(self):
        """(33): n . omega + f . v_C, with v_C in the axes of the body."""
        robot, q, v, _ = tree_and_state(8, 'planar')
        given = np.array([0.3, -0.2, 0.9, 1.0, -2.0, 0.4])
        kin = kd.forward_kinematics(robot, q, v)
        for body in robot.bodies:
            wrench = wrenches_at_com(robot, {body.name: given})[body.name]
            twist = kin.twist(body.name)
            at_com = twist + np.r_[0, 0, 0, np.cross(twist[:3], body.inertia.com)]
            assert wrench @ twist == pytest.approx(given @ at_com, abs=1e-13)


def test_errors():
    robot, q = satellite((1, 1, 1)), pose((3, 0, 0))
    for arguments, message in (
        ((q[:3],), r'q: need shape \(7,\)'),
        ((q, (0, 0)), r'centre \[m\]: need shape \(3,\)'),
        ((q, CENTRE, 0.0), r'mu \[m\^3/s\^2\] must be > 0'),
        ((q, CENTRE, np.nan), 'mu .*: need one finite'),
        ((q, (3.0, 0.0, 0.0)), "'body' has its centre of mass at the centre"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            orbital_wrenches(robot, *arguments)
    tree = tree_and_state(0, 'fixed')[0]
    with pytest.raises(InvalidInputError, match="'anchor' is part of the world"):
        wrenches_at_com(tree, {'anchor': np.ones(6)})
    with pytest.raises(InvalidInputError, match=r"wrench on 'tool' .*: need shape \(6,\)"):
        wrenches_at_com(tree, {'tool': np.ones((2, 3))})
    with pytest.raises(NameNotFoundError, match='nose'):
        wrenches_at_com(tree, {'nose': np.ones(6)})
