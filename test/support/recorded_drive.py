# SPDX-License-Identifier: Apache-2.0
"""A drive of the shipped robot on two wheels with its arm, as a table of a recording has it."""

import numpy as np

import kane_dynamics as kd
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters

MOTORS = ('wheel_left_joint', 'wheel_right_joint', *(f'arm_{k}_joint' for k in range(1, 6)))


def recorded_drive(heavier=1.0):
    """Return columns of a robot that is heavier than its URDF says."""
    before = kd.load_robot('nonholonomic')
    robot = with_inertial_parameters(before, heavier * inertial_parameters(before))
    dynamics = kd.dynamics(robot, [kd.constraints.differential_drive(robot, *MOTORS[:2])])
    t, rng = np.arange(0.0, 9.0, 0.02), np.random.default_rng(4)
    motors = [robot.velocity_index(name) for name in MOTORS]
    q, v, a, tau = np.zeros((4, len(t), robot.nv))
    for k in range(1, 5):
        size, phase = rng.uniform(0.3, 0.8, len(motors)), rng.uniform(-np.pi, np.pi, len(motors))
        angle = 0.9 * k * t[:, None] + phase
        v[:, motors] += size * np.cos(angle)
        a[:, motors] -= 0.9 * k * size * np.sin(angle)
    for i in range(len(t)):
        v[i] = dynamics.consistent_velocity(q[i], v[i], MOTORS)
        a[i] = dynamics.consistent_acceleration(q[i], v[i], a[i], MOTORS)
        tau[i] = dynamics.constrained_inverse_dynamics(q[i], v[i], a[i], MOTORS).effort
        if i + 1 < len(t):
            q[i + 1] = kd.integrate(robot, q[i], v[i] + 0.5 * t[1] * a[i], t[1])
    columns = {f'position:{name}': q[:, k] for k, name in enumerate(robot.coordinate_names)}
    columns |= {f'velocity:{name}': v[:, k] for k, name in enumerate(robot.velocity_names)}
    columns |= {f'effort:{name}': tau[:, robot.velocity_index(name)] for name in MOTORS}
    return {'time': t, **columns}
