# SPDX-License-Identifier: Apache-2.0
"""Computed torque and control by passivity: what their errors and energies do. No ROS needed."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import from_preset, model_of, parameters, time_message, trajectory, xyz
from scipy.integrate import solve_ivp
from support.base_urdf import BASES

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.analysis.tracking import COMPUTED, FEEDFORWARD, PASSIVE
from kane_dynamics.control.effort_controller import EffortController, Gains, tracking_efforts
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms
from kane_dynamics.control.frame_controllers import FrameTorqueController
from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.control.reference import Reference
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.parameters.spec import plain
from kane_dynamics.robot_config.parameters.tables import ComputedTorqueParameters
from kane_dynamics.robot_config.robot_source import build_model

ALL = Terms()


@cache
def compiled_preset(name):
    dynamics = Dynamics(model_of(name), CompileOptions(aims=True))
    dynamics.compile()
    return dynamics


@pytest.fixture(scope='module')
def compiled():
    return compiled_preset('nonholonomic')


@pytest.fixture(scope='module', params=['nonholonomic', 'holonomic'])
def law(request):
    dynamics = compiled_preset(request.param)
    law = EffortLaw(dynamics)
    law.model, law.engine = dynamics.model, dynamics.engine
    return law


def reference_of(model, *values):
    motor = np.arange(len(model.motors))
    return Reference(motor, model.q_index(model.motors), model.v_index(model.motors), *values)


def moving(law, rng):
    """Return a state on the rows, a reference, and what tau is in v of efforts of the motors."""
    model = law.model
    q = model.robot.neutral() + rng.uniform(-0.5, 0.5, model.robot.nq)
    known = [name for name in model.robot.velocity_names if name in model.motors]
    v = rng.uniform(-0.5, 0.5, model.robot.nv)
    v = law.engine.consistent_velocity(q, v, known) if model.constraints else v
    reference = reference_of(model, *rng.uniform(-0.5, 0.5, (3, len(model.motors))))

    def whole(efforts):
        tau = np.zeros(model.robot.nv)
        tau[law.motors.v] = efforts.motors
        return tau

    return q, v, reference, whole


@pytest.mark.parametrize('seed', range(3))
def test_errors_under_computed_torque_obey_their_equation(law, seed):
    rng = np.random.default_rng(seed)
    q, v, reference, whole = moving(law, rng)
    gains = Gains(*rng.uniform([[4.0], [1.0]], [[100.0], [20.0]], (2, len(law.motors.v))))
    efforts = tracking_efforts(law, COMPUTED, gains, q, v, reference, ALL)
    a = kd.forward_dynamics(law.model.robot, q, v, whole(efforts), law.model.constraints)
    error, rate = law.errors(q, v, reference)
    bend = reference.acceleration - a.acceleration[law.motors.v]
    equation = bend + gains.velocity * rate + gains.position * error
    assert_allclose(equation, 0.0, atol=1e-9)  # of terms up to 100


@pytest.mark.parametrize('seed', range(3))
def test_passivity_the_energy_of_the_error_of_speeds_falls_with_the_gains(law, seed):
    """d/dt (s'Ms/2) = -s'Ks - s'(friction at v - friction at v_r), at any state."""
    rng = np.random.default_rng(seed)
    q, v, reference, whole = moving(law, rng)
    gains = Gains(*rng.uniform(1.0, 8.0, (2, len(law.motors.v))))
    efforts = tracking_efforts(law, PASSIVE, gains, q, v, reference, ALL)
    vdot = law.engine.acceleration(q, v, whole(efforts))
    error, rate = law.errors(q, v, reference)
    v_ref = v.copy()
    v_ref[law.motors.v] = reference.velocity + gains.position * error
    slope = np.zeros(len(v))
    slope[law.motors.v] = reference.acceleration + gains.position * rate
    found = law.engine.constrained_inverse_dynamics(
        q, v, slope, law.model.actuated, None, known(law.model), reference=v_ref
    )
    s, sdot = v - found.velocity, vdot - found.acceleration

    def energy(h):
        moved = kd.integrate(law.model.robot, q, v, h)
        return 0.5 * (s + h * sdot) @ law.engine.mass_matrix(moved) @ (s + h * sdot)

    def power(h):
        return (energy(h) - energy(-h)) / (2.0 * h)

    h = 1e-3  # central differences, extrapolated: errors of h^4 and of 1e-14 / h
    found_power = (4.0 * power(0.5 * h) - power(h)) / 3.0
    drag = law.engine.friction_force(v) - law.engine.friction_force(found.velocity)
    own = s[law.motors.v]
    lost = own @ (gains.velocity * own) + s @ drag
    assert_allclose(found_power, -lost, rtol=1e-8, atol=1e-8)
    assert lost > 0.1


def known(model):
    return None if not model.constraints else tuple(model.motors)


def sine(model, t):
    """Return what all motors are to do, and where they begin."""
    k = np.arange(len(model.motors))
    rate = 1.0 + 0.2 * k
    values = np.sin(rate * t), rate * np.cos(rate * t), -(rate**2) * np.sin(rate * t)
    return reference_of(model, *(0.3 * x for x in values))


def followed(law, name, gains, duration=0.6):
    """Return times, errors and s'Ms/2 of a motion under a law, continuous in time."""
    model = law.model
    q, v, _, whole = moving(law, np.random.default_rng(2))
    assert model.robot.nq == model.robot.nv  # so that dq/dt = v

    def rates(t, state):
        q, v = np.split(state, 2)
        efforts = tracking_efforts(law, name, gains, q, v, sine(model, t), ALL)
        return np.r_[v, law.engine.acceleration(q, v, whole(efforts))]

    times = np.linspace(0.0, duration, 61)
    found = solve_ivp(rates, (0.0, duration), np.r_[q, v], 'RK45', times, rtol=1e-8, atol=1e-8)
    errors, energies = [], []
    for t, state in zip(found.t, found.y.T, strict=True):
        (q, v), reference = np.split(state, 2), sine(model, t)
        errors.append(law.errors(q, v, reference))
        v_ref = v.copy()
        v_ref[law.motors.v] = reference.velocity + gains.position * errors[-1][0]
        if model.constraints:
            v_ref = law.engine.consistent_velocity(q, v_ref, known(model))
        energies.append(0.5 * (v - v_ref) @ law.engine.mass_matrix(q) @ (v - v_ref))
    return found.t, np.array(errors), np.array(energies)


def test_errors_under_computed_torque_are_those_of_damped_springs(law):
    n = len(law.motors.v)
    gains = Gains(np.full(n, 64.0), np.full(n, 16.0))  # critically damped, 8 rad/s
    time, errors, _ = followed(law, COMPUTED, gains)
    start, rate = errors[0]
    grown = start + np.outer(time, rate + 8.0 * start)
    assert_allclose(errors[:, 0], np.exp(-8.0 * time)[:, None] * grown, rtol=0, atol=1e-6)
    assert np.abs(start).max() > 0.3


def test_passivity_the_energy_falls_until_the_reference_is_followed(law):
    n = len(law.motors.v)
    inertia = np.diag(law.engine.mass_matrix(law.model.robot.neutral()))[law.motors.v]
    gains = Gains(np.full(n, 6.0), 10.0 * inertia)
    _, errors, energies = followed(law, PASSIVE, gains)
    fall = np.diff(energies)
    assert (fall < 1e-6 * energies[0]).all()  # errors of the integrator
    assert energies[-1] < 0.2 * energies[0]
    assert np.linalg.norm(errors[-1, 0]) < 0.7 * np.linalg.norm(errors[0, 0])  # slope 6, 0.6 s


@pytest.mark.parametrize('named', [['arm_1_joint'], []])
def test_motors_that_are_not_named_keep_their_speeds(law, named):
    rng = np.random.default_rng(8)
    q, v, whole_reference, whole = moving(law, rng)
    chosen_ones = np.array([law.model.motors.index(n) for n in named], dtype=int)
    values = (
        x[chosen_ones]
        for x in (
            whole_reference.position,
            whole_reference.velocity,
            whole_reference.acceleration,
        )
    )
    reference = law.motors.reference(chosen_ones, *values)
    gains = Gains(np.full(len(law.motors.v), 30.0), np.full(len(law.motors.v), 5.0))
    for name in (COMPUTED, PASSIVE):
        efforts = tracking_efforts(law, name, gains, q, v, reference, ALL)
        a = law.engine.acceleration(q, v, whole(efforts))
        rest = np.delete(law.motors.v, chosen_ones)
        if name == COMPUTED or not named:
            assert_allclose(a[rest], 0.0, atol=1e-9)


def test_feedforward_and_pd_are_those_of_the_effort_law(law, rng):
    q, v, reference, _ = moving(law, rng)
    gains = Gains(np.full(len(law.motors.v), 3.0), np.full(len(law.motors.v), 0.5))
    found = tracking_efforts(law, FEEDFORWARD, gains, q, v, reference, ALL, 0.5)
    forward = law.feedforward(q, v, reference, ALL).motors
    feedback = law.feedback(q, v, reference, *gains)
    assert_allclose(found.motors, 0.5 * forward + feedback, atol=1e-12)


@pytest.mark.parametrize('name', [COMPUTED, PASSIVE])
def test_terms_are_switched_and_scaled(name, law, rng):
    q, v, reference, _ = moving(law, rng)
    none = np.zeros(len(law.motors.v))
    gains = Gains(np.full(len(none), 3.0), none)
    parts = [
        tracking_efforts(law, name, gains, q, v, reference, Terms((TERMS[i],))).motors
        for i in range(4)
    ]
    whole = tracking_efforts(law, name, gains, q, v, reference, ALL).motors
    assert_allclose(sum(parts), whole, atol=1e-9)
    assert all(np.abs(part).max() > 1e-3 for part in parts)
    half = tracking_efforts(law, name, gains, q, v, reference, ALL, 0.5).motors
    assert_allclose(half, 0.5 * whole, atol=1e-12)
    off = tracking_efforts(law, name, gains, q, v, reference, Terms(()))
    assert not off.motors.any()


@pytest.mark.parametrize('name', [COMPUTED, PASSIVE])
def test_both_engines_give_the_same(name, law, rng):
    q, v, reference, _ = moving(law, rng)
    gains = Gains(*rng.uniform(1.0, 8.0, (2, len(law.motors.v))))
    slow = EffortLaw(Dynamics(law.model))
    given, before = (name, gains, q, v, reference, ALL), law.engine.fallback_count
    expected = tracking_efforts(slow, *given).motors
    assert_allclose(tracking_efforts(law, *given).motors, expected, rtol=0, atol=1e-10)
    assert law.engine.fallback_count == before


@pytest.mark.parametrize('base_type', ['mecanum', 'swerve', 'skid_steer', 'ackermann'])
def test_energy_of_the_error_falls_where_motors_contradict_each_other(base_type):
    """d/dt (s'Ms/2) = -s'Ks with s = v - x, and x nearest to what the motors are to do."""
    text, settings, _, _ = BASES[base_type]
    own = {name.replace('.', '_'): plain(value) for name, value in settings.items()}
    own |= {'base_wheel_separation_multiplier': 1.0} if base_type == 'skid_steer' else {}
    model = build_model(parameters(ComputedTorqueParameters, base_type=base_type, **own), text)
    robot, law, rng = model.robot, EffortLaw(Dynamics(model)), np.random.default_rng(3)
    assert law.contradictory_wheels
    n, motors = len(model.motors), law.motors.v
    still = np.zeros(robot.nv)
    q = robot.neutral() + rng.uniform(-0.3, 0.3, robot.nq)
    wanted = reference_of(model, *rng.uniform(-1.0, 1.0, (3, n)))
    gains = Gains(*rng.uniform(1.0, 4.0, (2, n)))
    q, v, v_ref, _ = law.agreeing(q, rng.uniform(-1.0, 1.0, robot.nv), still, still, None)
    found = tracking_efforts(law, PASSIVE, gains, q, v, wanted, Terms(TERMS[:3]))
    tau = np.zeros(robot.nv)
    tau[motors] = found.motors
    drag = kd.friction_force(robot, v)  # not among the terms: taken away
    vdot = kd.forward_dynamics(robot, q, v, tau + drag, model.constraints).acceleration

    def sliding(h):
        """Return s after the motion and the reference have gone on for h, and M there."""
        place, speeds = kd.integrate(robot, q, v + 0.5 * h * vdot, h), v + h * vdot
        position = wanted.position + h * wanted.velocity + 0.5 * h * h * wanted.acceleration
        velocity = wanted.velocity + h * wanted.acceleration
        error = law.motors.error(wanted.motor, position, place[wanted.q_index])
        rate = velocity - speeds[motors]
        y, slope = speeds.copy(), np.zeros(robot.nv)
        y[motors] = velocity + gains.position * error
        slope[motors] = wanted.acceleration + gains.position * rate
        # steering has left where it agrees by h^2, its rates by h: they are what they are
        place, _, x, _ = law.agreeing(place, speeds, y, slope, None)
        return speeds - x, kd.mass_matrix(robot, place), y[motors] - x[motors]

    def energy(h):
        s, M, _ = sliding(h)
        return 0.5 * s @ M @ s

    h = 1e-5
    own_speeds, _, contradiction = sliding(0.0)
    lost = own_speeds[motors] @ (gains.velocity * own_speeds[motors])
    assert_allclose((energy(h) - energy(-h)) / (2.0 * h), -lost, rtol=1e-5)
    assert lost > 0.1
    assert np.abs(contradiction).max() > 0.1


# controller


def controller_of(name=COMPUTED, gains=(100.0, 20.0), **values):
    model = model_of('nonholonomic')
    clock = [10**12]
    controller = EffortController(
        Dynamics(model), lambda name: InputMonitor(name, 0.5, lambda: clock[0]), name
    )
    configure(controller, gains, **values)
    return controller, model, clock


def configure(controller, gains=(100.0, 20.0), **values):
    p = from_preset('nonholonomic', ComputedTorqueParameters, **{'ramp_time': 0.0, **values})
    controller.configure(p, *(np.full(len(controller.motors), x) for x in (*gains, 0.0)))


def test_controller_follows_by_its_law_within_limits_and_rises():
    controller, model, clock = controller_of(reference_start_tolerance=10.0)
    n = len(model.motors)
    assert controller.reference.take(trajectory(model.motors, np.full(n, 0.1)))
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    law = EffortLaw(Dynamics(model))
    gains = Gains(np.full(n, 100.0), np.full(n, 20.0))
    reference = reference_of(model, np.full(n, 0.1), np.zeros(n), np.zeros(n))
    expected = tracking_efforts(law, COMPUTED, gains, q, v, reference, ALL).motors
    found = controller.effort(clock[0], q, v)
    limit = np.asarray(model.robot.effort_limit)[model.v_index(model.motors)]
    assert_allclose(found, np.clip(expected, -limit, limit), atol=1e-10)
    assert np.abs(found).max() > 1.0
    configure(controller, ramp_time=1.0, reference_start_tolerance=10.0)
    controller.halt()
    assert not controller.effort(clock[0], q, v).any()
    assert_allclose(controller.effort(clock[0] + 250_000_000, q, v), 0.25 * found, atol=1e-10)
    assert controller.share == 0.25


@pytest.mark.parametrize('name', [COMPUTED, PASSIVE, FEEDFORWARD])
def test_terms_are_left_out_at_some_motors(name):
    controller, model, clock = controller_of(name, (9.0, 2.0), enforce_command_limits=False)
    n, rng = len(model.motors), np.random.default_rng(4)
    reference = reference_of(model, *rng.uniform(-0.5, 0.5, (3, n)))
    q, v = model.robot.neutral(), rng.uniform(-0.5, 0.5, model.robot.nv)
    v = kd.consistent_velocity(model.robot, q, v, model.constraints, model.motors)
    whole = controller.tracked(q, v, reference, None).motors
    alone = [Terms((term,)) for term in TERMS]
    law, gains = EffortLaw(Dynamics(model)), Gains(np.full(n, 9.0), np.full(n, 2.0))
    none = Terms(())
    pull = tracking_efforts(law, name, gains, q, v, reference, none).motors
    for term, k in (('inertia', 0), ('coriolis', 1), ('friction', 3)):
        excluded = {f'terms_{term}_excluded_joints': ('arm_2_joint', 'wheel_left_joint')}
        configure(controller, (9.0, 2.0), enforce_command_limits=False, **excluded)
        places = [model.motors.index(x) for x in ('arm_2_joint', 'wheel_left_joint')]
        part = tracking_efforts(law, name, gains, q, v, reference, alone[k]).motors - pull
        expected = whole.copy()
        expected[places] -= part[places]
        assert_allclose(controller.tracked(q, v, reference, None).motors, expected, atol=1e-9)
        assert np.abs(part[places]).max() > 1e-3
    with pytest.raises(
        InvalidInputError, match=r"terms.inertia_excluded_joints: no motors \['elbow'\]"
    ):
        configure(controller, terms_inertia_excluded_joints=('elbow',))


@pytest.mark.parametrize('name', [COMPUTED, PASSIVE])
def test_controller_holds_without_a_reference(name):
    controller, model, clock = controller_of(name)
    assert controller.timeout_action == 'hold_position'
    assert controller.joints_without_gain() == []
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    q[model.q_index(('arm_2_joint',))] = 0.7
    still = controller.effort(clock[0], q, v)
    assert_allclose(still, EffortLaw(Dynamics(model)).hold(q, ALL), atol=1e-9)
    pushed = q.copy()
    pushed[model.q_index(('arm_2_joint',))] = 0.8
    back = controller.effort(clock[0] + 1000, pushed, v)
    i = model.motors.index('arm_2_joint')
    assert back[i] < still[i] - 1.0


def test_controller_is_silent_where_it_shall_stop():
    controller, model, clock = controller_of(timeout_action='stop')
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    assert controller.effort(clock[0], q, v) is None


# a frame

HAND = 'tool_link'
ODOM = 'odom'


def pose_message(position, wxyz, stamp=0):
    orientation = SimpleNamespace(**dict(zip('wxyz', map(float, wxyz), strict=True)))
    header = SimpleNamespace(stamp=time_message(stamp), frame_id=ODOM)
    pose = SimpleNamespace(position=xyz(*map(float, position)), orientation=orientation)
    return SimpleNamespace(header=header, pose=pose)


def twist_message(linear, stamp=0):
    header = SimpleNamespace(stamp=time_message(stamp), frame_id=ODOM)
    twist = SimpleNamespace(linear=xyz(*map(float, linear)), angular=xyz())
    return SimpleNamespace(header=header, twist=twist)


def frame_controller(dynamics, clock, **values):
    values = {'space': 'task', 'ramp_time': 0.0, **values}
    p = from_preset('nonholonomic', ComputedTorqueParameters, **values)

    def new_guard(name):
        return InputMonitor(name, 0.5, lambda: clock[0])

    controller = FrameTorqueController(dynamics, new_guard, p)
    controller.configure(p, *np.zeros((3, len(dynamics.model.motors))))
    return controller


def bent(model):
    q = model.robot.neutral()
    q[model.q_index(('arm_2_joint', 'arm_3_joint', 'arm_4_joint'))] = 0.6, -0.8, 0.5
    return q, np.zeros(model.robot.nv)


GAINS_OF_A_FRAME = {
    COMPUTED: {
        'task_gains_p': (0.0,) * 3 + (100.0,) * 3,
        'task_gains_d': (0.0,) * 3 + (20.0,) * 3,
    },
    PASSIVE: {
        'task_passivity_gains_lambda': (0.0,) * 3 + (10.0,) * 3,
        'task_passivity_gains_k': (0.0,) * 3 + (40.0,) * 3,
    },
}


@pytest.mark.parametrize('name', GAINS_OF_A_FRAME)
def test_the_hand_follows_a_moving_target_while_the_base_drives(compiled, name):
    clock, model = [10**12], compiled.model
    gains = {'law': name, **GAINS_OF_A_FRAME[name]}
    # no posture: what the hand leaves open goes on as it is, and the base drives on
    free = {'posture_stiffness': 0.0, 'posture_damping': 0.0}
    controller = frame_controller(compiled, clock, enforce_command_limits=False, **gains, **free)
    q, v = bent(model)
    v[model.v_index(('wheel_left_joint', 'wheel_right_joint'))] = 2.0
    v = compiled.engine.consistent_velocity(q, v, model.joints)
    assert v[0] > 0.15
    robot, step, gaps = model.robot, 4_000_000, []
    start = kd.forward_kinematics(robot, q).pose(HAND)
    wxyz, speed = start.rotation.components, np.array([0.05, 0.0, 0.02])
    for k in range(150):
        target = start.position() + speed * (k * step * 1e-9)
        assert controller.targets['pose'].take(pose_message(target, wxyz, clock[0]))
        assert controller.targets['twist'].take(twist_message(speed, clock[0]))
        tau = np.zeros(robot.nv)
        tau[model.v_index(model.motors)] = controller.effort(clock[0], q, v)
        gaps.append(np.linalg.norm(kd.forward_kinematics(robot, q).pose(HAND).position() - target))
        q, v = compiled.engine.step(q, v, tau, step * 1e-9)
        clock[0] += step
    assert max(gaps) < 0.02  # the hand begins with the speed of the base
    # Coulomb friction is made up for by the sign of speeds near zero, and efforts are held
    assert gaps[-1] < 0.005
    assert q[0] > 0.045  # the base has driven; at the start speed limits bind
    assert np.abs(controller.reach.missed).max() < 1e-6
    assert controller.reach.rank == 3.0
    assert controller.reach.damping == 0.0


@pytest.mark.parametrize(
    ('policy', 'expected'), [('hold_position', 'held'), ('hold_gravity', 'held'), ('zero', 0.0)]
)
def test_a_frame_without_a_target_is_held_or_not(compiled, policy, expected):
    clock = [10**12]
    controller = frame_controller(compiled, clock, timeout_action=policy)
    q, v = bent(compiled.model)
    found = controller.effort(clock[0], q, v)
    still = EffortLaw(compiled).hold(q, ALL)
    assert_allclose(found, still if expected == 'held' else 0.0, atol=1e-9)
    away = q.copy()
    away[compiled.model.q_index(('arm_2_joint',))] += 0.05
    pulled = controller.effort(clock[0], away, v) - EffortLaw(compiled).hold(away, ALL)
    held = policy == 'hold_position'
    if expected == 'held':
        assert (np.abs(pulled).max() > 0.5) == held


def test_the_parameter_of_a_frame_that_is_not_set_is_named(compiled):
    with pytest.raises(
        NameNotFoundError, match="no link of parameter 'frame' named ''; there are"
    ):
        frame_controller(compiled, [1_000_000_000], frame='')


def test_a_frame_is_silent_where_it_shall_stop_and_far_targets_are_refused(compiled):
    clock = [10**12]
    controller = frame_controller(compiled, clock, timeout_action='stop')
    q, v = bent(compiled.model)
    place = kd.forward_kinematics(compiled.model.robot, q).pose(HAND)
    far = pose_message(place.position() + 1.0, place.rotation.components)
    assert controller.targets['pose'].take(far)
    assert controller.effort(clock[0], q, v) is None
    assert 'm away, tolerance' in controller.targets['pose'].guard.last_reason
    near = pose_message(place.position() + 0.1, place.rotation.components)
    assert controller.targets['pose'].take(near)
    assert controller.effort(clock[0], q, v) is not None
    clock[0] += 10**9  # stale by now
    assert controller.effort(clock[0], q, v) is None


def test_a_target_out_of_reach_is_said(compiled):
    clock, model = [10**12], compiled.model
    controller = frame_controller(compiled, clock, pose_tolerance=10.0)
    assert controller.note() == ''
    q, v = bent(model)
    start = kd.forward_kinematics(model.robot, q).pose(HAND)
    up, wxyz = start.position() + [0.0, 0.0, 2.0], start.rotation.components  # wheels do not help
    limit, speeds = (np.asarray(x) for x in (model.robot.effort_limit, model.robot.velocity_limit))
    places, remarks = model.v_index(model.motors), []
    for _ in range(500):
        assert controller.targets['pose'].take(pose_message(up, wxyz, clock[0]))
        tau = np.zeros(model.robot.nv)
        tau[places] = controller.effort(clock[0], q, v)
        assert (np.abs(tau[places]) <= limit[places]).all()
        assert (np.abs(v[places]) <= speeds[places]).all()
        remarks.append(controller.note())
        q, v = compiled.engine.step(q, v, tau, 0.004)
        clock[0] += 4_000_000
    assert remarks[0] == ''
    assert remarks[-1].startswith('target out of reach')


def test_what_a_frame_cannot_have_is_an_error(compiled):
    with pytest.raises(InvalidInputError, match="needs law 'computed_torque' or 'slotine_li'"):
        frame_controller(compiled, [0], law=FEEDFORWARD)
    with pytest.raises(NameNotFoundError, match='elbow'):
        frame_controller(compiled, [0], frame='elbow')


def test_errors_vanish_beside_a_base_that_others_drive():
    """The arm obeys its equation while the base moves as its own drives let it."""
    driven = {'base_command_interface': 'velocity'}
    model = model_of('nonholonomic', **driven)
    robot, law = model.robot, EffortLaw(Dynamics(model))
    rng, n = np.random.default_rng(6), len(model.motors)
    q, v = robot.neutral() + rng.uniform(-0.5, 0.5, robot.nq), rng.uniform(-0.5, 0.5, robot.nv)
    heading, across = np.array([[np.cos(q[2]), np.sin(q[2])], [-np.sin(q[2]), np.cos(q[2])]])
    speed, turn, gain, bend = 0.4, 0.5, 0.9, -0.6
    velocity = np.r_[speed * heading, turn]
    base = BaseState(velocity, np.r_[gain * heading + speed * turn * across, bend])
    v[:3] = velocity
    v = kd.consistent_velocity(
        robot, q, v, model.constraints, [x for x in robot.velocity_names if 'wheel' not in x]
    )
    gains = Gains(np.full(n, 64.0), np.full(n, 16.0))
    reference = reference_of(model, *rng.uniform(-0.5, 0.5, (3, n)))
    efforts = tracking_efforts(law, COMPUTED, gains, q, v, reference, ALL, base=base)
    tau = np.zeros(robot.nv)
    tau[law.motors.v], tau[model.v_index(model.drives)] = efforts
    a = kd.forward_dynamics(robot, q, v, tau, model.constraints).acceleration
    assert_allclose(a[:3], base.acceleration, atol=1e-8)
    error, rate = law.errors(q, v, reference)
    equation = reference.acceleration - a[law.motors.v] + 16.0 * rate + 64.0 * error
    assert_allclose(equation, 0.0, atol=1e-8)
    assert len(model.drives) == 2
    # with no error, reference speeds are the speeds, and passivity asks for the same
    still = reference_of(model, q[law.motors.q], v[law.motors.v], reference.acceleration)
    both = [
        tracking_efforts(law, name, gains, q, v, still, ALL, base=base)
        for name in (COMPUTED, PASSIVE)
    ]
    assert_allclose(both[0].motors, both[1].motors, atol=1e-9)
    assert_allclose(both[0].drives, both[1].drives, atol=1e-9)
