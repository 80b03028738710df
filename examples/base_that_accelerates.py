# SPDX-License-Identifier: Apache-2.0
"""
An arm that holds its pose while its base, driven by velocity, accelerates at 1 m/s^2.

The drives of the base follow a command; nobody sends them efforts. The arm's drives compensate
gravity themselves and have springs and dampers. Without the coupling of the base in its efforts
the arm is thrown back; with it, computed from the same command, it stays.

Run ``python examples/base_that_accelerates.py``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.robot.resources import resolve
from kane_dynamics.view.plots import Panel, write_curves

Floats = NDArray[np.float64]
URDF = 'package://kane_dynamics/robots/nonholonomic.urdf'
ARM = tuple(f'arm_{k}_joint' for k in range(1, 6))
WHEELS = ('wheel_left_joint', 'wheel_right_joint')
POSE = np.array([0.4, 0.5, -0.5, 0.2, 0.3])  # [rad]
STIFFNESS, DAMPING = np.array([20.0, 120.0, 30.0, 3.0, 3.0]), np.array([1.0, 6.0, 1.5, 0.1, 0.15])
DRIVES = DriveResponse(0.02, (1.0, 1.0, 2.0))  # 1 m/s^2, and 2 rad/s^2 of the yaw
STIFF = 1e5  # of the drives [N s/m]
STEP, DURATION, SPEED = 0.004, 1.6, 0.6  # [s], [s], [m/s]


def robots() -> tuple[kd.Robot, kd.Robot]:
    """Return the robot, and as it is simulated: slowed by the dampers of its stiff drives."""
    robot = kd.load_urdf(resolve(URDF), base='planar', locked_joints=WHEELS)
    base, *others = robot.bodies
    damped = replace(base, joint=replace(base.joint, damping=STIFF))
    return robot, replace(robot, bodies=(damped, *others))


def errors(coupled: bool) -> tuple[Floats, Floats]:
    """Return times, and how far each joint is from its pose [rad], with or without coupling."""
    robot, driven = robots()
    d, simulation = kd.dynamics(robot), kd.Simulation(driven, (), STEP)
    q = robot.neutral()
    places = [robot.coordinate_index(name) for name in ARM]
    speeds = [robot.velocity_index(name) for name in ARM]
    q[places] = POSE
    simulation.reset(q)
    twist, times, found = np.zeros(3), [], []
    for k in range(round(DURATION / STEP)):
        command = np.array([SPEED if k * STEP < DURATION / 2 else 0.0, 0.0, 0.0])
        base = DRIVES.after(twist, command, 0.0)
        q, v, a = simulation.q, simulation.v, np.zeros(robot.nv)
        a[:3] = base.acceleration if coupled else 0.0  # the base does not turn: C is the world
        needed = d.inverse_dynamics(q, v, a) - d.gravity_force(q)
        effort = np.array(d.gravity_force(q))  # of the drives that compensate it
        feedback = STIFFNESS * (POSE - q[places]) - DAMPING * v[speeds]
        effort[speeds] += needed[speeds] + feedback
        twist = DRIVES.after(twist, command, STEP).twist
        effort[:3] = STIFF * twist
        simulation.step(effort)
        times.append(simulation.time)
        found.append(simulation.q[places] - POSE)
    return np.array(times), np.array(found)


def main(arguments: list[str] | None = None) -> None:
    """Print the largest errors and write the plot."""
    parser = argparse.ArgumentParser(description='an arm on a base that accelerates')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    time, alone = errors(coupled=False)
    _, held = errors(coupled=True)
    ratio = np.abs(alone).max() / np.abs(held).max()
    print(f'largest error without the coupling {np.abs(alone).max():.2e} rad')
    print(f'largest error with it              {np.abs(held).max():.2e} rad ({ratio:.0f}x less)')
    names = [name.removesuffix('_joint') for name in ARM]
    panels = [
        Panel(f'{what} [rad]', dict(zip(names, rows.T, strict=True)))
        for what, rows in (('without coupling', alone), ('with coupling', held))
    ]
    events = [(0.0, 'accelerates'), (DURATION / 2, 'brakes')]
    chosen.output.mkdir(parents=True, exist_ok=True)
    path = chosen.output / 'base_that_accelerates.png'
    title = 'Errors of the arm as its base moves'
    print(f'wrote {write_curves(path, title, time, panels, events)}')


if __name__ == '__main__':
    main()
