# SPDX-License-Identifier: Apache-2.0
"""A two-wheeled base with an arm: forces of the floor drop out, and the base is seen as well."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.identified import samples_of
from support.machines import DRIVE, differential_drive

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.identification.constrained_samples import independent_speeds
from kane_dynamics.identification.friction import LINK_SIDE
from kane_dynamics.identification.identification import identify
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters
from studies.identification import mobile_base
from studies.robots import mecanum_base

pytest.importorskip('clarabel', reason='pip install .[cones]')
MOTORS = ('left', 'right', 'shoulder', 'elbow')
NOISE = 0.01  # [N m]


@pytest.fixture(scope='module')
def drive():
    """Return the robot, its dynamics on wheels, and samples of a drive with a moving arm."""
    robot = differential_drive(arm=True)
    wheels = kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r'])
    dynamics = kd.dynamics(robot, [wheels])
    motors = [robot.velocity_names.index(name) for name in MOTORS]
    t, rng = np.arange(0.0, 8.0, 0.04), np.random.default_rng(4)
    v, a = np.zeros((2, len(t), robot.nv))
    for k in range(1, 5):
        size, phase = rng.uniform(0.3, 1.0, 4), rng.uniform(-np.pi, np.pi, 4)
        angle = 1.3 * k * t[:, None] + phase
        v[:, motors] += size * np.cos(angle)
        a[:, motors] -= 1.3 * k * size * np.sin(angle)
    q, tau = np.zeros((len(t), robot.nq)), np.zeros((len(t), robot.nv))
    for i in range(len(t)):
        v[i] = dynamics.consistent_velocity(q[i], v[i], MOTORS)
        a[i] = dynamics.consistent_acceleration(q[i], v[i], a[i], MOTORS)
        tau[i] = dynamics.constrained_inverse_dynamics(q[i], v[i], a[i], MOTORS).effort
        if i + 1 < len(t):  # wherever it really is on the floor: its dynamics do not depend on it
            q[i + 1] = kd.integrate(robot, q[i], v[i], t[1])
    tau[:, motors] += np.random.default_rng(7).normal(0.0, NOISE, (len(t), 4))
    return robot, dynamics, samples_of(t, q, v, a, tau)


def model_before(robot, dynamics):
    """Return dynamics of the same robot with other masses: what was known of it before."""
    factors = np.random.default_rng(1).uniform(0.8, 1.2, len(robot.bodies))
    phi = inertial_parameters(robot) * np.repeat(factors, 10)
    other = with_inertial_parameters(robot, phi)
    wheels = kd.constraints.differential_drive(other, 'left', 'right', DRIVE['r'])
    return kd.dynamics(other, [wheels])


def identified(drive, names):
    """Return what the efforts of some motors say."""
    robot, dynamics, samples = drive
    before = model_before(robot, dynamics)
    return identify(before, [samples], friction=(), speeds=ObservedSpeeds(before, names))


def test_wheels_arm_and_odometry_show_the_base(drive):
    robot, _, samples = drive
    found = identified(drive, MOTORS)
    assert found.equations.speeds.names == MOTORS
    assert_allclose(found.fit.deviations, NOISE, rtol=0.2)
    errors = found.fit.values - found.base.matrix @ inertial_parameters(robot)
    deviations = np.sqrt(np.diag(found.fit.covariance))
    assert np.abs(errors / deviations).max() < 3.5  # the largest of some 20
    assert np.std(errors / deviations) == pytest.approx(1.0, abs=0.35)
    unseen = set(found.base.with_status('unseen'))
    assert not {'m1', 'mx1', 'Jzz1', 'Jyy2', 'Jyy3'} & unseen  # mass of base, spin of wheels
    assert found.errors(samples).filtered.max() < 1.5
    assert found.errors(samples, 'nominal').filtered.max() > 3.0


def test_efforts_of_the_arm_alone_leave_more(drive):
    arm, whole = (identified(drive, names) for names in (('shoulder', 'elbow'), MOTORS))
    assert arm.base.rank < whole.base.rank
    unseen = set(arm.base.with_status('unseen'))
    assert unseen > set(whole.base.with_status('unseen'))
    assert {f'{kind}{body}' for kind in ('m', 'mx', 'Jzz') for body in (1, 2, 3)} <= unseen
    robot = drive[0]
    before = inertial_parameters(arm.equations.dynamics.robot)
    kept = [0, 1, 2, 3, 9]  # its Jxx and Jyy of zero are those of no body
    assert_allclose(arm.solutions['consistent'][kept], before[kept], rtol=0, atol=1e-3)
    errors = arm.fit.values - arm.base.matrix @ inertial_parameters(robot)
    assert np.abs(errors / np.sqrt(np.diag(arm.fit.covariance))).max() < 3.5


def test_forces_of_the_floor_would_spoil_it(drive):
    """All rows, those of the base too: nothing measures what the floor does along them."""
    robot, dynamics, samples = drive
    free = kd.dynamics(model_before(robot, dynamics).robot)
    found = identify(free, [samples], friction=())
    errors = found.fit.values - found.base.matrix @ inertial_parameters(robot)
    assert np.abs(errors / np.sqrt(np.diag(found.fit.covariance))).max() > 10.0


@pytest.mark.thorough
@pytest.mark.parametrize('noise', [0.003, 0.01, 0.03])
@pytest.mark.parametrize('name', ['differential', 'mecanum'])
def test_errors_are_as_large_as_their_deviations(name, noise):
    """Regression: up to 1.6 times, as noise of speeds made Coulomb friction smaller."""
    robot = mobile_base.drive(name)
    ratios = []
    for motion, draw in ((31, 1), (31, 2), (32, 3), (32, 4)):
        samples = mobile_base.recorded(robot, motion, draw, noise)
        result = mobile_base.identified(robot, samples, robot.motors)
        ratios.append(mobile_base.error_ratios(robot, result))
    assert np.sqrt(np.mean(np.square(ratios))) == pytest.approx(1.0, abs=0.1)
    assert np.abs(ratios).max() < 5.0


def test_the_fourth_mecanum_wheel_follows_with_its_friction():
    """Regression: four motors for three freedoms were InconsistentConstraintsError."""
    base = mecanum_base()
    robot, dynamics = base.robot, kd.dynamics(base.robot, base.constraints)
    motors = [f'wheel_{k}' for k in range(4)]
    speeds = independent_speeds(dynamics, motors)
    assert speeds.names == tuple(motors[:3])
    t, rng = np.arange(0.0, 6.0, 0.02), np.random.default_rng(5)
    v, a = np.zeros((2, len(t), robot.nv))
    for k in range(1, 6):
        size, phase = rng.uniform(0.5, 2.0, 3), rng.uniform(-np.pi, np.pi, 3)
        v[:, 3:6] += size * np.cos(k * t[:, None] + phase)
        a[:, 3:6] -= k * size * np.sin(k * t[:, None] + phase)
    q = np.zeros_like(v)
    for i in range(len(t)):
        v[i] = dynamics.consistent_velocity(q[i], v[i], motors[:3])
        a[i] = dynamics.consistent_acceleration(q[i], v[i], a[i], motors[:3])
        if i + 1 < len(t):
            q[i + 1] = kd.integrate(robot, q[i], v[i], t[1])
    tau = dynamics.constrained_inverse_dynamics(q, v, a, motors).effort.copy()
    tau[:, 3:] += np.array([0.1, 0.2, 0.3, 0.4]) * v[:, 3:] + 0.5 * np.tanh(v[:, 3:] / 0.02)
    friction = dict.fromkeys(motors, LINK_SIDE[:2])
    found = identify(dynamics, [samples_of(t, q, v, a, tau)], friction=friction, speeds=speeds)
    assert found.errors(samples_of(t, q, v, a, tau), 'least_squares').filtered.max() < 1e-6
    truth = np.r_[inertial_parameters(robot), 0.1, 0.5, 0.2, 0.5, 0.3, 0.5, 0.4, 0.5]
    assert_allclose(found.fit.values, found.base.matrix @ truth, rtol=0, atol=1e-6)
