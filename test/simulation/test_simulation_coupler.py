# SPDX-License-Identifier: Apache-2.0
"""A virtual coupler: action and reaction, energy, and what sampling costs (Colgate, Schenkel)."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.machines import X, inertia, prismatic

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.simulation import DeviceLoop, VirtualCoupler, needed_damping

K = np.array([30.0, 20.0, 50.0, 800.0, 500.0, 1200.0])
B = np.array([0.3, 0.2, 0.1, 4.0, 6.0, 2.0])
REST = np.zeros(6)
AHEAD = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])  # along x


def rotation(pose):
    w, x, y, z = pose[3:]
    return Rotation.from_quat([x, y, z, w])


def moved(pose, twist, h):
    """Return a pose after h seconds at a twist (omega, v) in its own axes, to first order."""
    R = rotation(pose)
    x, y, z, w = (R * Rotation.from_rotvec(h * twist[:3])).as_quat()
    return np.r_[pose[:3] + h * R.apply(twist[3:]), w, x, y, z]


def two_ends(seed, angle=2.0):
    """Return poses and twists of a frame, and of a device turned against it by an angle."""
    rng = np.random.default_rng(seed)
    frame = moved(np.r_[0.2, 0.1, 0.3, 1.0, 0, 0, 0], rng.normal(size=6), 1.0)
    axis = rng.normal(size=3)
    apart = np.r_[angle * axis / np.linalg.norm(axis), rng.normal(size=3)]
    return frame, rng.normal(size=6), moved(frame, apart, 1.0), rng.normal(size=6)


@pytest.mark.claim(39)
@pytest.mark.parametrize('seed', range(5))
def test_the_two_ends_get_opposite_wrenches(seed):
    frame, twist, device, device_twist = two_ends(seed)
    found = VirtualCoupler(K, B).wrenches(frame, twist, device, device_twist)
    force, moment = np.zeros(3), np.zeros(3)
    for pose, wrench in ((frame, found.on_frame), (device, found.on_device)):
        own = rotation(pose).apply(wrench[3:])
        force += own
        moment += rotation(pose).apply(wrench[:3]) + np.cross(pose[:3], own)
    scale = np.abs(found.on_frame).max()
    assert_allclose(force, 0.0, rtol=0, atol=1e-13 * scale)
    assert_allclose(moment, 0.0, rtol=0, atol=1e-13 * scale)
    aligned = VirtualCoupler(K, B).wrenches(frame, REST, frame, REST)
    assert_allclose([*aligned.on_frame, aligned.energy], 0.0, atol=1e-12)


@pytest.mark.claim(39)
@pytest.mark.parametrize('angle', [0.0, 1e-3, 0.0099, 0.0101, 1.0, 3.1])
@pytest.mark.parametrize('seed', range(3))
def test_the_spring_gives_what_it_stores_and_the_damper_takes(seed, angle):
    """Power on both ends = - rate of the energy - e' B e, whatever both do."""
    frame, twist, device, device_twist = two_ends(seed, angle)
    spring, both = VirtualCoupler(K, 0.0 * B), VirtualCoupler(K, B)

    def energy(t):
        return spring.wrenches(moved(frame, twist, t), REST, moved(device, device_twist, t), REST)

    h = 1e-5  # central difference: h^2 = 1e-10, roundoff 1e-16/h, of energies up to 3e3
    rate = (energy(h).energy - energy(-h).energy) / (2.0 * h)
    found = spring.wrenches(frame, twist, device, device_twist)
    power = found.on_frame @ twist + found.on_device @ device_twist
    assert power == pytest.approx(-rate, abs=1e-6 * (1.0 + abs(rate)))
    found = both.wrenches(frame, twist, device, device_twist)
    taken = power - (found.on_frame @ twist + found.on_device @ device_twist)
    R, own = rotation(frame), rotation(device)
    turning = R.inv().apply(own.apply(device_twist[:3])) - twist[:3]
    arm = R.inv().apply(device[:3] - frame[:3])
    speed = R.inv().apply(own.apply(device_twist[3:])) - twist[3:] - np.cross(twist[:3], arm)
    assert taken == pytest.approx(np.sum(B * np.r_[turning, speed] ** 2), rel=1e-9)


def test_a_spring_by_hand():
    # 0.1 m ahead and a quarter turn about z; the frame looks along y of the world
    frame = np.r_[1.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0]  # a quaternion of any length
    device = np.r_[1.0, 2.1, 0.0, 0.0, 0.0, 0.0, 1.0]
    found = VirtualCoupler(K, B).wrenches(frame, REST, device, REST)
    assert_allclose(found.on_frame, [0, 0, 50.0 * np.pi / 2, 80.0, 0, 0], atol=1e-12)
    assert_allclose(found.on_device, [0, 0, -50.0 * np.pi / 2, 0.0, 80.0, 0], atol=1e-12)
    assert found.energy == pytest.approx(0.5 * 800.0 * 0.01 + 0.5 * 50.0 * (np.pi / 2) ** 2)


def wall_power(coupler, T, frequency, periods=40):
    """Return what a held coupler gives a device that moves as sin(w t), by mean square speed."""
    count = round(2.0 * np.pi * periods / (frequency * T))
    x = np.sin(frequency * T * np.arange(-1, count + 1))
    weights = 2.0 * np.sin(np.pi * np.arange(count) / count) ** 2  # Hann: what the ends hold
    fixed, given = np.r_[np.zeros(3), 1.0, 0, 0, 0], 0.0
    for weight, before, now, after in zip(weights, x, x[1:], x[2:], strict=False):
        device, speed = np.r_[now, 0, 0, 1.0, 0, 0, 0], (now - before) / T
        force = coupler.wrenches(fixed, REST, device, speed * AHEAD).on_device[3]
        given += weight * force * (after - now)
    return given / (T * count) / (0.5 * frequency**2)


@pytest.mark.claim(39)
@pytest.mark.parametrize(('frequency', 'power'), [(300.0, -3.748442166), (1500.0, 0.5338627098)])
def test_power_of_a_sampled_wall(frequency, power):
    """The sum over time agrees with the closed form, and this with the printed digits."""
    stiff, damped, T = 2000.0, 5.0, 1e-3
    needed = needed_damping(stiff, damped, T, frequency)
    wT = frequency * T
    assert needed * 2.0 * (1.0 - np.cos(wT)) / wT**2 == pytest.approx(power, rel=1e-9)
    wall = VirtualCoupler(stiff * AHEAD, damped * AHEAD)
    assert wall_power(wall, T, frequency) == pytest.approx(power, rel=1e-3)


@pytest.mark.claim(39)
def test_damping_that_a_device_needs():
    assert needed_damping(2000.0, 5.0, 0.001) == pytest.approx(6.0, rel=1e-14)
    assert needed_damping(500.0, -2.0, 0.002) == pytest.approx(2.5, rel=1e-14)
    assert needed_damping(4000.0, 1.0, 0.001) == pytest.approx(3.0, rel=1e-14)
    # the worst frequency is that of Nyquist, or with negative damping the lowest
    sweep = np.linspace(1e-6, np.pi / 1e-3, 500)
    for damping, worst in ((5.0, -1), (-5.0, 0)):
        needed = [needed_damping(2000.0, damping, 1e-3, w) for w in sweep]
        assert np.argmax(needed) == worst % 500
        assert max(needed) == pytest.approx(needed_damping(2000.0, damping, 1e-3), rel=1e-9)


def test_too_little_damping_of_the_device_is_told():
    b = np.r_[np.full(3, 1.0), 6.01, 5.0, 5.0]
    stiff, damped = 2000.0 * AHEAD, 5.0 * AHEAD
    VirtualCoupler(stiff, damped, b, 0.001)
    message = 'at 1000 Hz the device needs damping above K T/2 + |B|: along x 6 (it has 6)'
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        VirtualCoupler(stiff, damped, b - 0.01 * AHEAD, 0.001)
    with pytest.raises(InvalidInputError, match='about y 1.25 .*along z 1.5'):
        VirtualCoupler([0, 2500, 0, 0, 0, 3000], REST, [1, 1, 1, 1, 1, 1], 0.001)
    with pytest.raises(InvalidInputError, match='together, or neither'):
        VirtualCoupler(stiff, damped, b)
    with pytest.raises(InvalidInputError, match='period .* must be > 0'):
        VirtualCoupler(stiff, damped, b, 0.0)
    with pytest.raises(InvalidInputError, match='stiffness: need numbers >= 0'):
        VirtualCoupler(-stiff, damped)
    with pytest.raises(InvalidInputError, match='damping: need shape'):
        VirtualCoupler(stiff, 1.0)
    with pytest.raises(InvalidInputError, match='a quaternion that is not zero'):
        VirtualCoupler(stiff, damped).wrenches(np.zeros(7), REST, np.zeros(7), REST)


@pytest.mark.claim(39)
@pytest.mark.parametrize('seed', range(5))
def test_no_cycle_gains_energy_where_the_device_has_the_damping(seed):
    """Random closed motions of the device, from slow to the frequency of Nyquist."""
    rng = np.random.default_rng(seed)
    count, T, stiff, damped = 64, 0.001, 2000.0, 5.0
    harmonics = np.arange(1, count // 2)
    phases = rng.uniform(0.0, 2.0 * np.pi, len(harmonics))
    sizes = rng.exponential(size=len(harmonics)) * rng.choice([1.0, 0.1, 0.0], len(harmonics))

    def x(k):
        return sizes @ np.cos(2.0 * np.pi * harmonics * k / count + phases)

    # b acts between the samples too: the mean square of the speed is that of the harmonics
    square = 0.5 * np.sum((sizes * 2.0 * np.pi * harmonics / (count * T)) ** 2)
    wall, fixed = VirtualCoupler(stiff * AHEAD, damped * AHEAD), np.r_[np.zeros(3), 1.0, 0, 0, 0]
    given = 0.0
    for k in range(count):
        device, speed = np.r_[x(k), 0, 0, 1.0, 0, 0, 0], (x(k) - x(k - 1)) / T
        force = wall.wrenches(fixed, REST, device, speed * AHEAD).on_device[3]
        given += force * (x(k + 1) - x(k))
    assert given <= needed_damping(stiff, damped, T) * square * count * T


def slider(mass=1.5):
    joint = prismatic('slide', X)
    return kd.Robot('slider', [kd.Body('slider', '', joint, inertia=inertia(mass))])


def held_device(loop, damping, mass=0.4, periods=150):
    """Return the energy of robot, coupler and a device that is let go, at each of its samples."""
    T, x, speed, energies = loop.period, 0.05, 0.0, []
    mass_matrix = kd.mass_matrix(loop.simulation.robot, loop.simulation.q)[0, 0]
    # between two samples the device moves exactly as m x'' = f - b x'
    system = np.array([[0.0, 1.0, 0.0], [0.0, -damping / mass, 1.0 / mass], [0.0, 0.0, 0.0]])
    flow = expm(T * system)
    for _ in range(periods):
        kinetic = 0.5 * (mass_matrix * loop.simulation.v[0] ** 2 + mass * speed**2)
        device = np.r_[x, 0, 0, 1.0, 0, 0, 0]
        found = loop.exchange(device, speed * AHEAD)
        energies.append(kinetic + found.energy)
        x, speed, _ = flow @ [x, speed, found.on_device[3]]
    return np.array(energies)


@pytest.mark.claim(39)
@pytest.mark.parametrize('substeps', [1, 4])
def test_a_device_and_a_robot_at_two_rates_lose_energy(substeps):
    """With the damping it needs nothing is gained; with none the held spring feeds the motion."""
    robot, T, stiff = slider(), 0.001, 4000.0
    needed = needed_damping(stiff, 0.5, T)

    def loop(**checked):
        simulation = kd.Simulation(robot, step=T / substeps)
        coupler = VirtualCoupler(stiff * AHEAD, 0.5 * AHEAD, **checked)
        return DeviceLoop(simulation, kd.dynamics(robot), 'slider', coupler, substeps)

    damping = 1.01 * needed
    enough = held_device(loop(device_damping=np.full(6, damping), period=T), damping)
    assert enough[0] == pytest.approx(0.5 * stiff * 0.05**2)
    assert (np.diff(enough) < 0.0).all()
    none = held_device(loop(), 0.0)
    assert none[-1] > 1.2 * none[0]


def test_the_robot_follows_the_device():
    robot = slider()
    simulation = kd.Simulation(robot, step=0.001)
    coupler = VirtualCoupler(2000.0 * AHEAD, 100.0 * AHEAD)
    loop = DeviceLoop(simulation, kd.dynamics(robot), 'slider', coupler, 2)
    hold, away = np.r_[0.03, 0, 0, 1.0, 0, 0, 0], np.array([5.0])
    for _ in range(300):
        found = loop.exchange(hold, REST, away)
    assert simulation.time == pytest.approx(0.6)
    assert simulation.q[0] == pytest.approx(0.03 + 5.0 / 2000.0, abs=1e-9)
    assert_allclose(found.on_device, 5.0 * AHEAD, rtol=0, atol=1e-6)  # the load is felt


def test_what_is_no_loop_is_refused():
    robot = slider()
    parts = kd.Simulation(robot, step=0.001), kd.dynamics(robot)
    coupler = VirtualCoupler(AHEAD, AHEAD, np.full(6, 2.0), 0.002)
    assert DeviceLoop(*parts, 'slider', coupler, 2).period == 0.002
    with pytest.raises(InvalidInputError, match='period of 0.002 s, but 3 steps of 0.001 s'):
        DeviceLoop(*parts, 'slider', coupler, 3)
    with pytest.raises(InvalidInputError, match='need at least one'):
        DeviceLoop(*parts, 'slider', coupler, 0)
    with pytest.raises(NameNotFoundError, match="no frame named 'hand'"):
        DeviceLoop(*parts, 'hand', coupler, 2)
    with pytest.raises(InvalidInputError, match='tau: need shape'):
        DeviceLoop(*parts, 'slider', coupler, 2).exchange(np.r_[0.0, 0, 0, 1, 0, 0, 0], REST, REST)
