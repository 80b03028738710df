# SPDX-License-Identifier: Apache-2.0
"""A minute of unforced motion in compiled steps: side slip and energy."""

from pathlib import Path

import numpy as np
import pytest

import kane_dynamics as kd

ROBOTS = Path(__file__).parents[2] / 'robots'
MINUTE = 60.0
# The free arm whips its wrist round at 200 rad/s: order 4 needs a step that resolves that turn
# (0.025 rad a step); the midpoint rule of order 2 is held to not growing.
STEPS = {'rk4': (1.25e-4, 1e-8), 'midpoint': (1e-3, 1e-2)}


@pytest.mark.thorough
@pytest.mark.parametrize('integrator', STEPS)
def test_a_minute_without_slip_and_without_energy_drift(integrator):
    step, bound = STEPS[integrator]
    text = (ROBOTS / 'nonholonomic.urdf').read_text()
    damped = kd.load_urdf(text, base='planar')
    # friction is the only loss: without it the energy is a constant of the motion
    bodies = [_without_friction(body) for body in damped.bodies]
    robot = kd.Robot('free', bodies, damped.gravity, damped.frames, damped.wheels)
    wheels = kd.constraints.differential_drive(robot, 'wheel_left_joint', 'wheel_right_joint')
    compiled = kd.compile(robot, [wheels])
    rng = np.random.default_rng(5)
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-0.3, 0.3, robot.nv), 1.0)
    _, v = kd.simulation.project(robot, [wheels], q, rng.uniform(-0.3, 0.3, robot.nv), 0.0)
    motion = compiled.simulate(q, v, MINUTE, step=step, integrator=integrator)
    yaw, speed = motion.q[:, 2], motion.v
    lateral = np.cos(yaw) * speed[:, 1] - np.sin(yaw) * speed[:, 0]
    assert np.abs(lateral).sum() * step <= 1e-8  # [m]
    kinetic = compiled.kinetic_energy(motion.q, motion.v)
    energy = kinetic + compiled.potential_energy(motion.q)
    drift = np.abs(energy - energy[0]).max() / np.abs(energy).max()
    assert drift <= bound
    first, last = np.split(np.abs(energy[1:] - energy[0]), 2)
    assert integrator == 'rk4' or last.max() < 3.0 * first.max()
    print(f'{integrator}: slip {np.abs(lateral).sum() * step:.1e} m, energy drift {drift:.1e}')


def _without_friction(body):
    joint = body.joint
    free = kd.Joint(joint.name, joint.kind, joint.armature)
    return kd.Body(body.name, body.parent, free, body.placement, body.inertia, body.mimic)
