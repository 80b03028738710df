# SPDX-License-Identifier: Apache-2.0
"""Motions with events: their arrows obey Newton's and Euler's laws, friction of slip too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import inertia, prismatic
from test_view_forces import BODY, momentum_rate, total, weight

import kane_dynamics as kd
from kane_dynamics.view.event_recorder import EventRecorder, Instant, part_forces
from kane_dynamics.view.forces import STATES

C = kd.constraints


@pytest.mark.parametrize('spin', [0.0, 2.0])
def test_a_body_that_slides_on_a_point(spin):
    robot = kd.Robot('body', [kd.Body('body', '', kd.Joint('base', kd.Free()), inertia=BODY)])
    place = (0.0, 0.0, -0.2)
    foot = C.contact(
        C.point_contact(robot, 'body', place), C.point_slip(robot, 'body', place), friction=0.3
    )
    q = np.array([0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0])
    v = np.array([0.0, 0.0, spin, 1.5, -0.4, 0.0])
    simulation = kd.EventSimulation(robot, {'foot': foot}, q, v)
    assert simulation.states == {'foot': 'slips'}
    arrows = part_forces(simulation, Instant.now(simulation), simulation.forces)
    a = simulation.motion.acceleration
    expected = momentum_rate(robot, q, simulation.v, a) - weight(robot, q)
    assert_allclose(total(arrows), expected, rtol=0, atol=1e-6)
    push, *rub = arrows
    assert push.vector[2] > 1.0
    assert_allclose(np.linalg.norm(sum(one.vector for one in rub)), 0.3 * push.vector[2])
    assert {one.state for one in arrows} == {'slips'}


def block(speed):
    """Return a block that slides on a plane in one direction, its load given."""
    robot = kd.Robot('block', [kd.Body('block', '', prismatic('x'), inertia=inertia(2.0))])
    slip = C.pfaffian(robot, lambda q, t: [1.0], label='slip')
    ground = C.traction(slip, 2.0 * 9.81, 0.25)
    return kd.EventSimulation(robot, {'ground': ground}, [0.0], [speed], step=0.01)


def test_a_recording_has_the_instants_of_events_and_what_contacts_do():
    simulation = block(1.0)
    recorder = EventRecorder(simulation, rate=20.0)
    recorder.run(1.0)
    recorder.run(0.5, lambda t, q, v: [3.0])  # less than the friction holds
    recording = recorder.recording()
    stop = 1.0 / (0.25 * 9.81)
    assert_allclose(recording.event_times, [stop], atol=1e-9)
    assert recording.event_texts == ('ground sticks',)
    k = recording.at(stop)
    assert_allclose(recording.time[k], stop, atol=1e-9)
    words = [STATES[i] for i in recording.force_states[:, 0]]
    assert words[: k - 1] == ['slips'] * (k - 1) and words[k:] == ['sticks'] * (len(words) - k)
    rub = recording.force_vectors[:, 0, 0]
    assert_allclose(rub[: k - 1], -0.25 * 2.0 * 9.81, atol=1e-9)
    assert_allclose(rub[-5:], -3.0, atol=1e-9)
    regular = np.delete(recording.time, k)
    assert_allclose(regular, 0.05 * np.arange(31), atol=1e-9)


def test_the_first_instant_has_the_forces_of_the_first_efforts():
    recorder = EventRecorder(block(0.0))
    recorder.run(0.1, [3.0])  # less than the friction holds
    recording = recorder.recording()
    assert recording.time[0] == 0.0
    assert_allclose(recording.force_vectors[:, 0, 0], -3.0, atol=1e-9)


def test_a_recording_without_a_step_has_the_present_instant():
    recording = EventRecorder(block(1.0)).recording()
    assert recording.time.tolist() == [0.0]
    assert_allclose(recording.force_vectors[0, 0, 0], -0.25 * 2.0 * 9.81, atol=1e-9)


def test_constraints_that_come_and_go_are_named():
    simulation = block(0.2)
    recorder = EventRecorder(simulation)
    simulation.add('brake', C.lock(simulation.robot, 'x'))
    recorder.run(0.1)
    simulation.remove('brake')
    recorder.run(0.1)
    recording = recorder.recording()
    assert recording.event_texts == ('ground sticks, brake holds', 'brake is gone')
    k = recording.force_names.index('x/lock')
    words = {STATES[i] for i in recording.force_states[:, k]}
    assert words == {'open', 'holds'}


def test_open_contacts_have_no_arrow():
    robot = kd.Robot(
        'ball', [kd.Body('ball', '', prismatic('z', (0, 0, 1)), inertia=inertia(1.0))]
    )
    stop = C.contact(C.point_contact(robot, 'ball'), restitution=0.5)
    simulation = kd.EventSimulation(robot, {'floor': stop}, [1.0], [0.0])
    assert part_forces(simulation, Instant.now(simulation), simulation.forces) == []
