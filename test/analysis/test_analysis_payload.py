# SPDX-License-Identifier: Apache-2.0
"""Payloads from efforts: known answers (D2), laws, and what a motion does not show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import at, differential_drive, inertia, prismatic, revolute
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.analysis.payload import (
    PARAMETERS,
    SCALE,
    PayloadEstimate,
    estimate_payload,
    fitted_payload,
    payload_regressor,
)
from kane_dynamics.exceptions import InvalidInputError

STATES = [
    ((0.4, 0.7), (0.5, -0.8), (1.2, -2.0)),
    ((-0.3, 1.5), (-1.0, 0.6), (-0.7, 3.0)),
    ((1.1, -0.9), (0.2, 1.4), (2.5, 1.0)),
]
EFFORTS = [(5.216370171, 1.480021386), (5.254200568, 1.67255713), (7.467327703, 4.404317524)]
PLANAR = [PARAMETERS.index(name) for name in ('m', 'mx', 'my', 'Jzz')]
PHI = [0.8, 0.368, 0.024, 0.174]


def links():
    """Return two links in the vertical plane x, y, without mass of their own."""
    bodies = [
        kd.Body('upper', '', revolute('q1')),
        kd.Body('lower', 'upper', revolute('q2'), at(0.5, 0, 0)),
    ]
    robot = kd.Robot('arm', bodies, (0, -9.81, 0), {'tip': kd.Frame(1, at(0.4, 0, 0))})
    return kd.dynamics(robot)


def planar(regressor):
    """Return the columns of m, m c_x, m c_y and J_zz; the others cause nothing here."""
    others = np.setdiff1d(np.arange(10), PLANAR)
    assert_allclose(regressor[:, others], 0.0, atol=1e-14)
    return regressor[:, PLANAR]


def test_regressor_and_efforts_have_the_printed_digits():
    found = [planar(payload_regressor(links(), 'lower', *state)) for state in STATES]
    printed = [
        (4.817804176, 4.654283804, -8.810400365, -0.8),
        (0.0, 4.989210474, -9.033669541, -0.8),
    ]
    assert_allclose(found[0], printed, rtol=0, atol=6e-10)  # nine decimals
    assert_allclose([Y @ PHI for Y in found], EFFORTS, rtol=0, atol=6e-9)
    assert_allclose(np.linalg.cond(np.concatenate(found)), 7.30482, rtol=1e-6)


def test_three_states_give_the_payload_back():
    rows = np.concatenate([payload_regressor(links(), 'lower', *state) for state in STATES])
    found = fitted_payload(rows, np.concatenate(EFFORTS))
    assert_allclose(found.parameters[PLANAR], PHI, rtol=0, atol=1e-9)
    assert found.rank == 4
    assert found.visible == ('m', 'mx', 'my', 'Jzz')
    assert_allclose(found.com[:2], (0.46, 0.03), rtol=1e-8)
    assert_allclose(found.inertia[2, 2], 0.004, atol=1e-9)


def test_at_rest_the_inertia_is_hidden():
    still = [(q, np.zeros(2), np.zeros(2)) for q, _, _ in STATES]
    rows = np.concatenate([payload_regressor(links(), 'lower', *state) for state in still])
    efforts = planar(rows) @ PHI
    assert_allclose(efforts[:2], (5.041935766, 1.427692425), rtol=1e-9)
    found = fitted_payload(rows, efforts)
    assert (found.rank, found.visible) == (3, ('m', 'mx', 'my'))
    assert_allclose(found.parameters[PLANAR[:3]], PHI[:3], rtol=1e-8)
    hidden = np.setdiff1d(np.arange(10), PLANAR[:3])
    assert_allclose(found.deviations[hidden], SCALE[hidden])


def test_a_point_mass_with_errors_is_estimated_as_printed():
    Y = payload_regressor(links(), 'tip', STATES[0][0], np.zeros(2), np.zeros(2))[:, 0]
    assert_allclose(0.8 * Y, (5.038172285, 1.423928944), rtol=1e-9)
    assert_allclose(Y @ (0.8 * Y + (0.05, -0.02)) / (Y @ Y), 0.8065209454, rtol=1e-9)


def loaded(robot, frame):
    """Return a payload that is no point, and a robot that carries it on a frame."""
    tensor = np.array([[0.03, 0.002, -0.004], [0.002, 0.05, 0.003], [-0.004, 0.003, 0.04]])
    com = np.array([0.05, -0.02, 0.11])
    return (2.3, com, tensor), robot.with_payload(frame, 2.3, com, tensor)


@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
def test_the_regressor_is_what_newton_and_euler_say(base):
    robot, q, v = tree_and_state(3, base)[:3]
    frame, rng = robot.bodies[-1].name, np.random.default_rng(5)
    a = rng.uniform(-2, 2, robot.nv)
    (m, c, tensor), carrying = loaded(robot, frame)
    J = tensor + m * (c @ c * np.eye(3) - np.outer(c, c))
    phi = np.r_[m, m * c, J[np.triu_indices(3)]]
    more = kd.inverse_dynamics(carrying, q, v, a) - kd.inverse_dynamics(robot, q, v, a)
    Y = payload_regressor(kd.dynamics(robot), frame, q, v, a)
    assert np.abs(more).max() > 1.0
    assert_allclose(Y @ phi, more, rtol=0, atol=1e-11)


def samples(robot, rows, count=12):
    """Return a motion on wheels with an arm, and the efforts of its motors."""
    rng, dynamics = np.random.default_rng(8), kd.dynamics(robot, rows)
    names = [n for n in robot.velocity_names if not n.startswith('base')]
    found = []
    for _ in range(count):
        q, v, a = rng.uniform(-1.5, 1.5, (3, robot.nv))
        v = dynamics.consistent_velocity(q, v, names)
        a = dynamics.consistent_acceleration(q, v, a, names)
        effort = dynamics.constrained_inverse_dynamics(q, v, a, names).effort
        found.append((q, v, a, effort))
    return names, [np.array(x) for x in zip(*found, strict=True)]


def test_a_payload_on_an_arm_on_wheels_is_found():
    """Inertia included, whatever the wheels' forces are."""
    robot = differential_drive(arm=True, damping=0.2)
    (m, c, tensor), carrying = loaded(robot, 'fore')
    rows = [
        [kd.constraints.differential_drive(r, 'left', 'right', 0.0975)] for r in (robot, carrying)
    ]
    names, motion = samples(carrying, rows[1])
    bare = kd.dynamics(robot, rows[0])
    found = estimate_payload(bare, 'fore', *motion, ObservedSpeeds(bare, names))
    assert (found.rank, found.visible) == (10, PARAMETERS)
    assert_allclose(found.mass, m, rtol=1e-8)
    assert_allclose(found.com, c, atol=1e-8)
    assert_allclose(found.inertia, tensor, atol=1e-7)


def test_deviations_are_those_of_many_fits():
    rng = np.random.default_rng(2)
    rows, phi = rng.normal(size=(60, 10)), np.r_[2.0, 0.1, 0.3, -0.2, 0.1, 0, 0, 0.1, 0, 0.1]
    fits = [fitted_payload(rows, rows @ phi + rng.normal(0, 0.05, 60)) for _ in range(400)]
    spread = np.std([fit.parameters for fit in fits], axis=0)
    # 400 fits: 3.5 % of a deviation, four times that
    assert_allclose(fits[0].deviations, spread, rtol=0.35)  # each fit has its own noise: 10 %
    assert_allclose(np.mean([f.deviations for f in fits], axis=0), spread, rtol=0.15)
    com = np.std([fit.com for fit in fits], axis=0)
    assert_allclose(np.mean([f.com_deviations for f in fits], axis=0), com, rtol=0.15)


def test_the_centre_of_mass_varies_as_mass_and_moments_do_together():
    rng = np.random.default_rng(9)
    root = 0.01 * rng.normal(size=(10, 10))
    root[1:4] += 0.4 * root[0]  # a heavier payload has larger moments
    phi = np.r_[3.0, 1.2, -0.9, 0.6, np.zeros(6)]
    draws = phi + rng.normal(size=(4000, 10)) @ root.T
    spread = np.std(draws[:, 1:4] / draws[:, :1], axis=0)
    told = PayloadEstimate(phi, root @ root.T, 10).com_deviations
    assert_allclose(told, spread, rtol=0.06)  # 4000 draws: 1.1 %, five times that


def test_what_is_wrong_is_refused():
    dynamics = links()
    one = [np.array([x]) for x in STATES[0]]
    with pytest.raises(InvalidInputError, match='efforts: need more than the'):
        estimate_payload(dynamics, 'lower', *one, [EFFORTS[0]])
    with pytest.raises(InvalidInputError, match='tau: need finite numbers'):
        estimate_payload(dynamics, 'lower', *one, [[np.nan, 0.0]])
    with pytest.raises(InvalidInputError, match='v: need'):
        estimate_payload(dynamics, 'lower', one[0], one[1][0], one[2], [EFFORTS[0]])


def test_rows_that_depend_on_time_carry_no_payload():
    """Two sliders whose direction time turns, on a belt: forces of the row are not weights."""
    bodies = [
        kd.Body('a', '', prismatic('x'), inertia=inertia(1.0)),
        kd.Body('b', 'a', prismatic('z', (0, 0, 1)), inertia=inertia(2.0)),
    ]
    robot = kd.Robot('cross', bodies)
    rows = [kd.constraints.pfaffian(robot, lambda q, t: [1.0, np.sin(t)], lambda q, t: 0.3 + t)]
    bare, rng = kd.dynamics(robot, rows), np.random.default_rng(4)
    loaded = kd.dynamics(robot.with_payload('b', 0.7, (0.1, 0.0, 0.0)), rows)
    times = np.linspace(0.0, 3.0, 12)
    q, v, tau = rng.uniform(-1.0, 1.0, (3, 12, 2))
    v = bare.consistent_velocity(q, v, ['z'], times)
    a = loaded.acceleration(q, v, tau, times)
    speeds = ObservedSpeeds(bare, ['z'])
    found = estimate_payload(bare, 'b', q, v, a, tau, speeds, times)
    assert_allclose(found.mass, 0.7, rtol=1e-6)
    with pytest.raises(InvalidInputError, match='time .s.: need one or 12, got 3'):
        estimate_payload(bare, 'b', q, v, a, tau, speeds, times[:3])


def test_a_belt_of_constant_speed_carries_no_payload():
    """Its speed was taken for a motion of the arm: -6.7 kg were estimated instead of 0.7."""
    bodies = [
        kd.Body('a', '', prismatic('x'), inertia=inertia(1.0)),
        kd.Body('b', 'a', prismatic('z', (0, 0, 1)), inertia=inertia(2.0)),
    ]
    robot, rng = kd.Robot('cross', bodies), np.random.default_rng(4)
    rows = [kd.constraints.pfaffian(robot, lambda q, t: [1.0, -0.5], lambda q, t: 0.3)]
    bare = kd.dynamics(robot, rows)
    loaded = kd.dynamics(robot.with_payload('b', 0.7, (0.1, 0.0, 0.0)), rows)
    q, v, tau = rng.uniform(-1.0, 1.0, (3, 12, 2))
    v = bare.consistent_velocity(q, v, ['z'])
    a = loaded.acceleration(q, v, tau)
    found = estimate_payload(bare, 'b', q, v, a, tau, ObservedSpeeds(bare, ['z']))
    assert_allclose(found.mass, 0.7, rtol=1e-9)


def test_rows_that_depend_on_time_need_times():
    robot = links().robot
    rows = kd.constraints.pfaffian(robot, lambda q, t: [[2.0 + np.sin(t), 1.0]])
    dynamics = kd.dynamics(robot, [rows])
    speeds = ObservedSpeeds(dynamics, ['q1'])
    q, v, a = (np.repeat(np.array(part), 4, axis=0) for part in zip(*STATES, strict=True))
    times = np.linspace(0.0, 3.0, len(q))
    efforts = [payload_regressor(dynamics, 'lower', *state) for state in zip(q, v, a, strict=True)]
    tau = np.array(efforts)[:, :, PLANAR] @ PHI
    with pytest.raises(InvalidInputError, match=r'time \[s\]: .* depend on it, need one or 12'):
        estimate_payload(dynamics, 'lower', q, v, a, tau, speeds)
    known = estimate_payload(dynamics, 'lower', q, v, a, tau, speeds, times)
    assert_allclose(known.parameters[PLANAR], PHI, rtol=1e-6)
