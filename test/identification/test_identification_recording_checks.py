# SPDX-License-Identifier: Apache-2.0
"""A real recording of a UR10 spoiled in every way that a fit cannot mend: each is told by name."""

from dataclasses import replace

import numpy as np
import pytest
from support.identified import modelled_samples

import kane_dynamics as kd
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.analysis.joint_friction import FrictionTerm
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification import recording_checks as checks
from kane_dynamics.identification.friction import LINK_SIDE, MOTOR_SIDE
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.samples import timing
from kane_dynamics.robot.inertial_parameters import inertial_parameters
from kane_dynamics.robot.joint_kinds import Revolute

TERMS = (*MOTOR_SIDE, FrictionTerm('stribeck', 0.1), FrictionTerm('presliding', 0.01))
LIFT, ELBOW = 1, 2  # joints that gravity loads


@pytest.fixture(scope='module')
def samples():
    """Return the samples of the recording."""
    from studies.identification.arms import ur10_samples

    return ur10_samples()


def signs_and_units(ur10, samples, factors):
    """Check the samples with efforts of some joints times a factor."""
    tau = samples.tau.copy()
    for k, factor in factors.items():
        tau[:, k] *= factor
    checks.check_signs_and_units(ur10, ur10.robot.velocity_names, samples.q, samples.v, tau)


def test_the_recording_itself_is_in_order(ur10, samples):
    names = ur10.robot.velocity_names
    checks.check_efforts(names, samples.raw)
    signs_and_units(ur10, samples, {})
    assert checks.motion_warnings(names, samples.time, samples.q, samples.v) == []
    assert checks.timing_warnings(timing(samples.time, samples.q)) == []


@pytest.mark.parametrize(
    ('value', 'problem'),
    [(0.0, 'no effort, all are zero'), (3.0, 'a constant effort'), (np.nan, 'not finite')],
)
def test_efforts_that_are_none(ur10, samples, value, problem):
    tau = samples.raw.copy()
    tau[:, ELBOW] = value
    with pytest.raises(InvalidInputError, match=rf"{problem}.*\['elbow_joint'\]"):
        checks.check_efforts(ur10.robot.velocity_names, tau)


def test_one_effort_that_is_not_finite_is_enough(ur10, samples):
    tau = samples.raw.copy()
    tau[7, LIFT] = np.inf
    with pytest.raises(InvalidInputError, match=r"not finite: \['shoulder_lift_joint'\]"):
        checks.check_efforts(ur10.robot.velocity_names, tau)


@pytest.mark.parametrize(
    ('factors', 'problem'),
    [
        ({ELBOW: -1.0}, "'elbow_joint': sign flipped"),
        ({LIFT: 0.01}, "'shoulder_lift_joint': 0.0.* currents, or efforts before the gear"),
        (dict.fromkeys(range(6), 1e3), "'elbow_joint': .* other units"),
        ({LIFT: -1.0, ELBOW: 0.1}, "'shoulder_lift_joint': sign.*'elbow_joint': 0.1.* currents"),
    ],
)
def test_signs_and_units(ur10, samples, factors, problem):
    with pytest.raises(InvalidInputError, match=problem):
        signs_and_units(ur10, samples, factors)


def test_friction_hides_no_sign(ur10, samples):
    """Ten times as much of it, and an offset."""
    tau = samples.tau + 200.0 * np.tanh(samples.v / 0.02) - 100.0 * samples.v + 500.0
    names = ur10.robot.velocity_names
    checks.check_signs_and_units(ur10, names, samples.q, samples.v, tau)
    tau[:, LIFT] -= 2.0 * samples.tau[:, LIFT]
    with pytest.raises(InvalidInputError, match="'shoulder_lift_joint': sign flipped"):
        checks.check_signs_and_units(ur10, names, samples.q, samples.v, tau)


def test_efforts_of_another_motion(ur10, samples):
    mixed = replace(samples, tau=np.random.default_rng(0).permutation(samples.tau))
    with pytest.raises(InvalidInputError, match=r"'elbow_joint': not the efforts of this motion"):
        signs_and_units(ur10, mixed, {})


def test_joints_that_gravity_does_not_load_are_not_judged(ur10, samples):
    signs_and_units(ur10, samples, {0: -1.0, 5: 100.0})


def test_vertical_joints_alone_are_not_judged(ur10, samples):
    """Regression: where gravity loads none, the roundoff of its effort was compared."""
    name = ur10.robot.velocity_names[0]
    checks.check_signs_and_units(ur10, [name], samples.q, samples.v[:, :1], samples.tau[:, :1])
    tilted = Pose.from_rotation_and_position([0.6, 0.48, 0.64, 0.0], [0.3, 0.0, 0.0])
    axis = Revolute(tuple(tilted.rotation_matrix().T @ (0.0, 0.0, 1.0)))
    link = Inertia(1.0, np.full(3, 0.1), np.eye(3))
    scara = kd.Robot(
        'scara',
        [
            kd.Body('upper', '', kd.Joint('a', axis), tilted, link),
            kd.Body('fore', 'upper', kd.Joint('b', axis), Pose.shift([0.0, 0.2, 0.1]), link),
        ],
    )
    rng, d = np.random.default_rng(0), kd.dynamics(scara)
    q, v, a = rng.normal(size=(3, 300, 2))
    assert 0.0 < np.abs(d.gravity_force(q)).max() < 1e-12
    checks.check_signs_and_units(d, scara.joint_names, q, v, d.inverse_dynamics(q, v, a))


def test_joints_that_stand_still(ur10, samples):
    names, q = ur10.robot.velocity_names, samples.q.copy()
    q[:, ELBOW] = 0.3
    (message,) = checks.motion_warnings(names, samples.time, q, samples.v)
    assert message.startswith("'elbow_joint' hardly moves")
    slow = np.where(np.arange(6) == LIFT, 1e-3, 1.0)
    still = samples.time, samples.q * slow, samples.v * slow
    (message,) = checks.motion_warnings(names, *still)
    assert message.startswith("'shoulder_lift_joint' hardly moves")


def test_a_joint_that_never_moves_is_an_error(ur10, samples):
    """Regression: its friction has columns of zeros, of which no consistent model comes."""
    still = np.where(np.arange(6) == LIFT, 1e-8, 1.0)
    with pytest.raises(InvalidInputError, match=r"no motion of \['shoulder_lift_joint'\]"):
        checks.motion_warnings(
            ur10.robot.velocity_names, samples.time, samples.q * still, samples.v * still
        )


@pytest.mark.parametrize(
    ('joint', 'factor', 'time'),
    [(LIFT, 57.3, 1.0), (ELBOW, -1.0, 1.0), (ELBOW, 0.0, 1.0), (0, 1.0, 1e9), (0, 1.0, -1.0)],
)
def test_velocities_are_the_rates_of_positions(ur10, samples, joint, factor, time):
    """Regression: of velocities in degrees a URDF was written."""
    names, two = ur10.robot.velocity_names, [samples, samples]  # times begin again
    v = samples.v * np.where(np.arange(6) == joint, factor, 1.0)
    late, q, v = (np.concatenate(x) for x in zip(*((x.time, x.q, v) for x in two), strict=True))
    if time < 0.0:
        q, v = q[::-1], v[::-1]
    with pytest.raises(InvalidInputError, match=f"'{names[joint]}': its velocity is "):
        checks.motion_warnings(names, late * abs(time), q, v)


@pytest.mark.parametrize('unit', [1e3, 1e9])
def test_stamps_that_are_not_in_seconds(samples, unit):
    with pytest.raises(InvalidInputError, match='need stamps in seconds'):
        checks.timing_warnings(timing(unit * samples.time, samples.q))


def test_a_test_that_is_part_of_the_training(samples):
    parts = [
        [(samples.q[k], samples.tau[k])] for k in map(slice, (0, 600, 500), (600, None, 1000))
    ]
    checks.check_separate(parts[0], parts[1])
    with pytest.raises(InvalidInputError, match=r'20 % of its samples'):
        checks.check_separate(parts[0], parts[2])


def test_gaps_and_values_that_repeat(samples):
    time, q = samples.time.copy(), samples.q.copy()
    time[100:] += 1.0
    q[1::5] = q[0:-1:5]
    gap, repeated = checks.timing_warnings(timing(time, q))
    assert gap.startswith('longest gap 1.02 s')
    assert '20 % of the positions' in repeated


def test_stamps_that_go_back(samples):
    time = samples.time.copy()
    time[[200, 201]] = time[[201, 200]]
    time[301] = time[300]
    (message,) = checks.timing_warnings(timing(time, samples.q))
    assert message.startswith(f'{200 / (len(time) - 1):.3g} % of the stamps do not increase')


def test_contacts_are_told_with_their_times(samples):
    names, time = ['lift', 'elbow'], samples.time
    modelled, noise = samples.tau[:, 1:3], np.random.default_rng(2).normal(size=(len(time), 2))
    assert checks.contact_warnings(names, time, modelled + 0.5 * noise, modelled) == []
    touched = modelled + 0.5 * noise
    touched[400:404, 1] += 60.0
    touched[700, 1] -= 60.0
    (message,) = checks.contact_warnings(names, time, touched, modelled)
    spans = f'{time[400]:.2f}-{time[403]:.2f} s, {time[700]:.2f}-{time[700]:.2f} s'
    assert message == f"'elbow': residuals above 6 deviations at {spans}: contact?"
    small = modelled.copy()
    small[400, 1] += 0.04 * np.ptp(modelled[:, 1])  # far above the others, and still little
    assert checks.contact_warnings(names, time, small, modelled) == []


def lag_of(dynamics, samples, terms):
    """Return what the scan says of samples."""
    result = identify(dynamics, [samples], friction=terms)
    return checks.effort_lag(result, samples)


def moved(samples, late):
    """Return samples whose efforts come later [s]."""
    columns = [np.interp(samples.time - late, samples.time, tau) for tau in samples.tau.T]
    return replace(samples, tau=np.column_stack(columns))


@pytest.mark.parametrize('late', [-0.008, 0.012, 0.024])
def test_what_the_scan_says_moves_with_the_efforts(ur10, samples, late):
    """The recording has a lag of its own, which its friction may feign."""
    before, after = (lag_of(ur10, moved(samples, x), TERMS).time for x in (0.0, late))
    assert after - before == pytest.approx(late, abs=0.003)


@pytest.mark.parametrize(('late', 'word'), [(0.012, '12 ms late'), (-0.008, '8 ms early')])
def test_a_lag_is_told(ur10, late, word):
    exact = modelled_samples(ur10, inertial_parameters(ur10.robot), {'viscous': 1.0})
    assert lag_of(ur10, exact, LINK_SIDE).time == pytest.approx(0.0, abs=1e-9)
    lag = lag_of(ur10, moved(exact, late), LINK_SIDE)
    assert lag.time == pytest.approx(late, abs=1e-9)
    (message,) = checks.lag_warnings(lag)
    assert message.startswith(f'efforts are {word}')
    assert checks.lag_warnings(lag._replace(gain=0.01)) == []


def test_noise_of_a_joint_that_stands_still_shows_nothing():
    """Regression: friction of joints at rest was fitted to the noise of their encoders."""
    dynamics = kd.dynamics(kd.serial_chain(3))
    samples = modelled_samples(dynamics, inertial_parameters(dynamics.robot))
    for name in ('q', 'history', 'v', 'a', 'rates'):
        getattr(samples, name)[:, 2] *= 1e-3
    resting = checks.at_rest(samples, range(3), range(3))
    assert not resting.v[:, 2].any()
    assert samples.v[:, 2].any()
    assert (resting.q[:, :2] == samples.q[:, :2]).all()
    found = identify(dynamics, [resting])
    assert {'viscous joint_3', 'coulomb joint_3'} <= set(found.base.with_status('unseen'))
    assert found.friction['joint_3'][FrictionTerm('coulomb')] == pytest.approx(0.0, abs=5e-3)


def test_positions_far_beyond_ranges(ur10, samples):
    """Regression: of turns of motors, errors told of bodies or efforts."""
    names = ur10.robot.velocity_names
    checks.check_ranges(ur10.robot, names, samples.q)
    with pytest.raises(InvalidInputError, match="'shoulder_pan_joint' move .* ranges of the joi"):
        checks.check_ranges(ur10.robot, names, 60.0 * samples.q)


def test_efforts_that_hold_nothing(ur10, samples):
    """A lift alone, whose load is constant: friction with an offset explains any effort."""
    inertia = Inertia(20.0, np.zeros(3), np.eye(3))
    lift = kd.Joint('lift', kd.Prismatic((0.0, 0.0, 1.0)))
    slide = kd.dynamics(kd.Robot('lift', [kd.Body('slide', '', lift, Pose.identity(), inertia)]))
    q = samples.q[:, :1]
    assert checks.weight_warnings(slide, ['lift'], q, 196.0 + q) == []
    (message,) = checks.weight_warnings(slide, ['lift'], q, 4.0 + q)
    assert 'gravity by the URDF needs 2e+02 or more' in message
    names = ur10.robot.velocity_names
    assert checks.weight_warnings(ur10, names, samples.q, samples.tau) == []


def test_coupled_gears_are_told():
    """The motor of a joint whose friction goes with the speeds of two, as wrists have them."""
    dynamics = kd.dynamics(kd.serial_chain(3))
    samples = modelled_samples(dynamics, inertial_parameters(dynamics.robot), {'viscous': 1.0})
    assert checks.coupling_warnings(identify(dynamics, [samples]), samples) == []
    v, tau = samples.v, samples.tau.copy()
    tau[:, 1:] += 0.5 * np.ptp(tau, axis=0)[1:] * np.tanh((v[:, 1] + v[:, 2]) / 0.02)[:, None]
    tau[:, 0] += 0.15 * np.ptp(tau[:, 0]) * np.tanh(v[:, 1] / 0.02)  # one way alone
    coupled = replace(samples, tau=tau)
    (message,) = checks.coupling_warnings(identify(dynamics, [coupled]), coupled)
    assert message.startswith("residuals of 'joint_2' and 'joint_3' follow")
