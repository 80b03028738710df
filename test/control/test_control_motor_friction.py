# SPDX-License-Identifier: Apache-2.0
"""Friction that laws feed forward: that of the identification, and of the URDF where none is."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.identified import samples_of

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.analysis.joint_friction import KINDS, FrictionTerm, presliding_states
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.bags import computing
from kane_dynamics.control.effort_controller import (
    COMPUTED,
    FEEDFORWARD,
    EffortController,
    Gains,
    tracking_efforts,
)
from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.motor_friction import MotorFriction
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.reference import Reference
from kane_dynamics.control.trajectory_efforts import PlannedEfforts
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.equations import Equations
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot.inertial_parameters import inertial_parameters
from kane_dynamics.robot_config.parameters.tables import (
    FrictionParameters,
    InverseDynamicsParameters,
    TrajectoryFeedforwardParameters,
)
from kane_dynamics.robot_config.robot_source import build_model, read_description
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory

BARE = FrictionParameters()
EVERY = FrictionParameters(
    **{'viscous': 0.7, 'coulomb': 1.3, 'coulomb_velocity': 0.05, 'stribeck': -0.4},
    **{'stribeck_velocity': 0.3, 'offset': -0.2, 'rotor_inertia': 0.15},
    **{'presliding': 0.9, 'presliding_travel': 0.03},
)
LEAN = FrictionParameters(coulomb=0.6, stribeck=0.5, presliding=0.4)
MIXED = EVERY, BARE, LEAN
URDF = """<robot name="arm"><link name="world"/>{}</robot>"""
JOINT = """<link name="l{0}"><inertial><origin xyz="0.1 0.02 0.3"/><mass value="{1}"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
<joint name="j{0}" type="revolute"><parent link="{2}"/><child link="l{0}"/>
<origin xyz="0 0.1 0.4"/><axis xyz="{3}"/><limit lower="-3" upper="3" effort="99" velocity="9"/>
<dynamics damping="0.4" friction="0.25"/></joint>"""
JOINTS = ('j1', 'j2', 'j3')


@pytest.fixture(scope='module')
def model():
    """Return an arm of three joints with friction in its URDF."""
    rows = (1, 4, 'world', '0 0 1'), (2, 3, 'l1', '0 1 0'), (3, 2, 'l2', '0 1 0')
    p = InverseDynamicsParameters(
        robot_description=URDF.format(''.join(JOINT.format(*x) for x in rows))
    )
    return build_model(p, read_description(p))


def dynamics_of(model, parameters=MIXED):
    """Return dynamics with the friction of motors."""
    dynamics = Dynamics(model)
    dynamics.friction = MotorFriction.of(model, parameters)
    return dynamics


def terms_of(p):
    """Return the coefficients of a joint as the identification has them."""
    scales = {'stribeck': p.stribeck_velocity, 'presliding': p.presliding_travel}
    return {
        FrictionTerm(kind, scales.get(kind, 0.0), p.coulomb_velocity): getattr(p, kind)
        for kind in KINDS
    }


def reversing(count=400, step=0.01):
    """Return time, positions, speeds, accelerations of sines that turn often, and rests."""
    t = step * np.arange(count)
    rate, size = np.array([3.0, 5.0, 7.0]), np.array([0.4, 0.3, 0.2])
    q, v, a = np.sin(rate * t[:, None]), np.cos(rate * t[:, None]), -np.sin(rate * t[:, None])
    q, v, a = size * q, size * rate * v, size * rate**2 * a
    q[300:], v[300:], a[300:] = q[min(299, count - 1)], 0.0, 0.0
    return t, q, v, a


def fitted(model, motion, parameters):
    """Return W phi + F f, the efforts of an identification, of the joints with friction."""
    dynamics = kd.dynamics(model.robot)
    samples = samples_of(*motion, 0.0 * motion[1])
    known = dict(zip(JOINTS, map(terms_of, parameters), strict=True))
    equations = Equations(dynamics, ObservedSpeeds(dynamics), {n: [*x] for n, x in known.items()})
    coefficients = [value for terms in known.values() for value in terms.values()]
    return equations.predicted(samples, np.r_[inertial_parameters(model.robot), coefficients])


def followed(controller, motion):
    """Return the efforts of a controller that is where its reference is."""
    motor, efforts = np.arange(3), []
    for q, v, a in zip(*motion[1:], strict=True):
        reference = Reference(motor, motor, motor, q, v, a)
        efforts.append(controller.tracked(q, v, reference, None).motors)
    return np.array(efforts)


def controller_of(dynamics, law=FEEDFORWARD, **values):
    """Return a controller without gains."""
    controller = EffortController(
        dynamics, lambda name: InputMonitor(name, 1.0, now=lambda: 0), law
    )
    p = InverseDynamicsParameters(friction_compensation=1.0, **values)
    controller.configure(p, *np.zeros((3, 3)))
    return controller


@pytest.mark.parametrize('law', [FEEDFORWARD, COMPUTED])
def test_laws_take_what_the_identification_fitted(model, law):
    """W phi + F f to 1e-12 along reversals and a rest; joints without it have the URDF's."""
    motion = reversing()
    efforts = followed(controller_of(dynamics_of(model), law), motion)
    expected = fitted(model, motion, MIXED)
    v = motion[2][:, 1]
    expected[:, 1] += 0.4 * v + 0.25 * np.sign(v)
    assert np.abs(expected).max() > 5.0
    assert_allclose(efforts, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_bag_is_computed_with_the_same_friction(model):
    """Presliding follows the positions of the bag, smoothed ones have the speeds."""
    t, q, v, a = reversing()
    states = [computing.State(round(x * 1e9), *one, None) for x, *one in zip(t, q, v, strict=True)]
    bare = {'presliding_travel': 0.03}
    difference = []
    for z in (0.0, 1.0):
        dynamics = dynamics_of(model, [FrictionParameters(presliding=z, **bare)] * 3)
        dynamics.friction = replace(dynamics.friction, replaced=(np.zeros(3), np.zeros(3)))
        series, _ = computing.efforts(dynamics, Terms(), states, (), 0.05, 1.0)
        difference.append(series.values)
    times = series.stamps * 1e-9
    for k in range(3):
        expected = presliding_states(q[:, k], 0.03)[np.searchsorted(t, times, 'right') - 1]
        assert_allclose((difference[1] - difference[0])[:, k], expected, rtol=0, atol=1e-12)


def test_a_trajectory_is_filled_with_the_same_friction(model):
    """The states at its points are those of a walk along it."""
    t, q, v, _ = reversing(300)
    points = JointTrajectory(JOINTS, t[::10], q[::10], v[::10])
    p = TrajectoryFeedforwardParameters(interpolation_tolerance=0.0, enforce_command_limits=False)
    first, second = (
        PlannedEfforts(dynamics_of(model, [x] * 3), p).fill(points, q[0], v[0])[0]
        for x in (FrictionParameters(presliding=1e-9), FrictionParameters(presliding=1.0))
    )
    walk = np.arange(0.0, points.end + 1e-9, 1e-4)
    way = np.array([points.at(x)[0] for x in walk])
    states = np.column_stack([presliding_states(x, 0.01) for x in way.T])
    expected = states[np.searchsorted(walk, first.times[:-1] + 1e-9) - 1]
    found = (second.efforts - first.efforts)[:-1]
    assert np.abs(expected).max() > 0.99
    assert_allclose(found, expected, rtol=0, atol=2e-3)


def test_presliding_is_kept_by_its_caller_and_begins_anew_after_a_halt(model):
    dynamics, motion = dynamics_of(model), reversing(120)
    first, second = controller_of(dynamics), controller_of(dynamics)
    alone = followed(first, motion)
    both = [
        followed(x, [part[k : k + 1] for part in motion]) for k in range(120) for x in (second,)
    ]
    assert_allclose(np.concatenate(both), alone, rtol=0, atol=0)
    first.halt()
    assert_allclose(followed(first, motion), alone, rtol=0, atol=0)
    again = followed(second, motion)
    assert np.abs(again - alone).max() > 0.1


def test_changed_parameters_leave_the_state(model):
    dynamics, motion = dynamics_of(model), reversing(120)
    controller = controller_of(dynamics)
    followed(controller, motion)
    last = [part[-1:] for part in motion]
    before = followed(controller, last)
    controller.configure(InverseDynamicsParameters(friction_compensation=1.0), *np.zeros((3, 3)))
    assert_allclose(followed(controller, last), before, rtol=0, atol=0)


@pytest.mark.parametrize('term', [*TERMS, None])
def test_terms_choose_what_is_fed_forward(model, term):
    """Rotors are inertia, the rest is friction; the sum of all terms is the whole."""
    friction, (_, q, v, a) = dynamics_of(model).friction, reversing(50)
    names = TERMS if term is None else (term,)
    state = friction.moved(friction.moved(None, q[6]), q[7])
    expected = np.zeros(3)
    for k, p in ((0, EVERY), (2, LEAN)):
        x, sign = v[7, k], np.tanh(v[7, k] / p.coulomb_velocity)
        z = np.sign(q[7, k] - q[6, k]) * -np.expm1(-abs(q[7, k] - q[6, k]) / p.presliding_travel)
        if 'inertia' in names:
            expected[k] += p.rotor_inertia * a[7, k]
        if 'friction' in names:
            dry = p.coulomb + p.stribeck * np.exp(-abs(x) / p.stribeck_velocity)
            expected[k] += p.viscous * x + dry * sign + p.offset + p.presliding * z
            expected[k] -= 0.4 * x + 0.25 * np.sign(x)
    assert_allclose(friction.effort(names, v[7], a[7], state), expected, rtol=0, atol=1e-14)


def test_a_part_of_dry_friction_is_fed_forward_at_the_speeds_that_are_wanted(model):
    """As of the URDF; viscous friction stays that of measured speeds."""
    dynamics, still = dynamics_of(model, [LEAN] * 3), np.zeros(3)
    q, motor, wanted = np.array([0.1, 0.2, 0.3]), np.arange(3), np.array([0.5, -0.5, 0.0])
    law, gains = EffortLaw(dynamics), Gains(still, still)
    reference = Reference(motor, motor, motor, q, wanted, still)
    efforts = [
        tracking_efforts(law, COMPUTED, gains, q, still, reference, Terms(coulomb=x)).motors
        for x in (0.0, 0.5, 1.0)
    ]
    unit = 0.6 + 0.5 * np.exp(-5.0)
    assert_allclose(efforts[2] - efforts[0], unit * np.array([1.0, -1.0, 0.0]), atol=1e-12)
    assert_allclose(2.0 * (efforts[1] - efforts[0]), efforts[2] - efforts[0], atol=1e-12)


def test_friction_that_drives_is_refused(model):
    bad = FrictionParameters(coulomb=0.2, stribeck=-0.3)
    with pytest.raises(InvalidInputError, match="friction of 'j2': coulomb . stribeck is below"):
        MotorFriction.of(model, [BARE, bad, BARE])
