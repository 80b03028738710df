# SPDX-License-Identifier: Apache-2.0
"""The forces on wheels that the demonstration draws are those of the recorded efforts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.base_urdf import BASES, RADIUS
from test_demo_motion import NAMES, SIDES, moved

import kane_dynamics as kd
from kane_dynamics.demo.figures import STEP, Answer, LoopLog, Sample, Setup, evaluate
from kane_dynamics.demo.motion import demo_motion
from kane_dynamics.messages.loop_statistics import LoopStatistics

RATE, STATES = 250.0, 51
EVERY = round(1.0 / (RATE * STEP))
DRY = 2.0  # friction of a wheel [N m]
SETTLED = 10  # states after which the speed changes by less than 3 percent in a step


@pytest.fixture(scope='module')
def compiled():
    """Return the machine code of a base whose wheels turn with dry friction, and its motion."""
    text = BASES['skid_steer'][0].replace(
        '<axis xyz="0 1 0"/>', f'<axis xyz="0 1 0"/><dynamics friction="{DRY}"/>'
    )
    robot, wheels, motion = moved(text, NAMES, base='skid_steer', **SIDES)
    rows = (*wheels.constraints, *wheels.assumed)
    return kd.compile(robot, rows, cache=False), motion


def recorded(compiled, efforts):
    """Return what is recorded of a base at efforts of its wheels, held from state to state."""
    robot, nothing = compiled.robot, np.zeros(len(NAMES))
    columns = [robot.velocity_index(name) for name in NAMES]
    each_step = np.zeros((len(efforts) * EVERY, robot.nv))
    each_step[:, columns] = np.repeat(efforts, EVERY, axis=0)
    motion = compiled.simulate(
        robot.neutral(),
        np.zeros(robot.nv),
        len(each_step) * STEP,
        effort=each_step,
        step=STEP,
        integrator='semi_implicit',
    )
    q, v, count = motion.q[::EVERY], motion.v[::EVERY], len(efforts) + 1
    recording = LoopLog(
        names=NAMES,
        stamps=[round(k * 1e9 / RATE) for k in range(count)],
        arrivals=[k / RATE for k in range(count)],
        position=q[:, [robot.coordinate_index(name) for name in NAMES]].tolist(),
        velocity=v[:, columns].tolist(),
        effort=[nothing.tolist(), *efforts.tolist()],  # of the period before each state
        odometry=[[k / RATE, *q[k, :3], *v[k, :3]] for k in range(count)],
        answers={0: Answer(0.0, nothing.tolist())},
        samples=[Sample(0.0, 0.0, 0.0, 0.0)] * count,
    )
    return recording, motion.v


def forces_of(compiled, motion, recording):
    setup = Setup('base', (), RATE, compiled, motion)
    return evaluate(setup, recording, LoopStatistics()).forces


@pytest.mark.parametrize('changes', [(0.5, -0.5), (4.0, 4.0)])
def test_forces_on_wheels_accelerate_the_base_as_it_was_recorded(compiled, changes):
    """Held by friction, with efforts that change from state to state, and driven against it."""
    compiled, motion = compiled
    efforts = np.resize(changes, STATES - 1)[:, None] * np.ones(len(NAMES))
    recording, v = recorded(compiled, efforts)
    setup = Setup('base', (), RATE, compiled, motion)
    forces = evaluate(setup, recording, LoopStatistics()).forces
    total = sum(force for label, force in forces.items() if 'rolling' in label)
    mass = sum(body.inertia.mass for body in compiled.robot.bodies)
    rate = np.gradient(v[::EVERY, 0], 1.0 / RATE)
    driven = changes[0] > DRY
    assert (np.abs(mass * rate).max() > 10.0) == driven
    # friction is F v / max(|v|, vs), and in a step the new speed stands above, the old one below
    assert_allclose(total[SETTLED:], mass * rate[SETTLED:], rtol=0.02, atol=0.05)
    if driven:
        wheels = len(NAMES) * (changes[0] - DRY) / RADIUS  # what is left to push, and to turn them
        turning = len(NAMES) * 0.1 / RADIUS**2  # [kg]: inertia of the wheels, seen by the base
        assert_allclose(total[-1], wheels * mass / (mass + turning), rtol=0.02)


FINGER = """<robot name="finger"><link name="palm"/>
  <link name="tip"><inertial><mass value="0.01"/>
    <inertia ixx="1e-7" iyy="1e-7" izz="1e-7" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="palm"/><child link="tip"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="1" effort="9" velocity="9"/></joint></robot>"""


def finger_energy_error(position, velocity, effort):
    """Return the energy error of a finger that is recorded so, from state to state."""
    robot = kd.load_urdf(FINGER)
    count, nothing = len(position), np.zeros((len(position), 7))
    recording = LoopLog(
        names=('hinge',),
        stamps=[round(k * 1e9 / RATE) for k in range(count)],
        arrivals=[k / RATE for k in range(count)],
        position=position[:, None].tolist(),
        velocity=velocity[:, None].tolist(),
        effort=effort[:, None].tolist(),
        odometry=nothing.tolist(),
        answers={0: Answer(0.0, [0.0])},
        samples=[Sample(0.0, 0.0, 0.0, 0.0)] * count,
    )
    motion = demo_motion(robot, (), ('hinge',), {'hinge': 0.5}, 4.0)
    setup = Setup('finger', (), RATE, kd.compile(robot), motion)
    return evaluate(setup, recording, LoopStatistics()).energy_error


def test_a_finger_that_is_pressed_on_its_stop_does_not_end_the_demo():
    """Its efforts without the stop are 5e7 rad/s^2: a replay of them diverges."""
    position = np.zeros(500)
    assert finger_energy_error(position, 0.0 * position, np.full(500, -5.0)) == 0.0
    position[0] = 1e-3  # it comes to its stop, which takes the work
    taken = finger_energy_error(position, 0.0 * position, np.full(500, -5.0))
    assert taken == pytest.approx(1.0)


def test_the_audit_sees_energy_that_no_effort_brought():
    """The finger turns freely, and at half time without an effort twice as fast."""
    t, inertia, speed = np.arange(500) / RATE, 1e-7, 0.1
    pull = 1e-8  # [N m]
    velocity = speed + pull / inertia * t
    position = speed * t + 0.5 * pull / inertia * t**2
    effort = np.full(500, pull)
    assert finger_energy_error(position, velocity, effort) < 1e-9
    velocity[250:] *= 2.0
    assert finger_energy_error(position, velocity, effort) > 0.5
