# SPDX-License-Identifier: Apache-2.0
"""
What the wheels of a mobile manipulator feel while it drives a curve and swings its arm.

A robot with two driven wheels and two casters speeds up, turns and brakes; its arm swings with
2 kg at the tool. Normal forces, the part of the friction that each wheel uses, and the distance
of the zero-moment point from the edge of the support polygon, over time.

Run ``python examples/wheel_forces.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.analysis.wheel_forces import WheelForces, picture_of
from kane_dynamics.robot.resources import resolve
from kane_dynamics.view.plots import Panel, write_curves

Floats = NDArray[np.float64]
URDF = 'package://kane_dynamics/robots/nonholonomic.urdf'
WHEELS = ('wheel_left_joint', 'wheel_right_joint')
CASTERS = ((0.25, 0.0, 0.0), (-0.25, 0.0, 0.0))
FRICTION, LOAD = 0.6, 2.0  # mu, [kg]
DRIVES = DriveResponse(0.15, (1.2, 1.2, 2.5))
COMMANDS = {0.0: (0.8, 0.0, 0.0), 1.2: (0.8, 0.0, 1.0), 2.4: (0.0, 0.0, 0.0)}  # from [s] on
SWING, RATE = 0.5, 2.5  # of the shoulder [rad], [rad/s]
STEP, DURATION = 0.04, 3.6  # [s]


def arm_motion(robot: kd.Robot, t: float) -> tuple[Floats, Floats, Floats]:
    """Return coordinates, speeds and accelerations with the arm swinging and the base at rest."""
    q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[robot.coordinate_index('arm_3_joint')] = -0.6
    k = robot.velocity_index('arm_2_joint')
    q[robot.coordinate_index('arm_2_joint')] = 0.5 - SWING * np.cos(RATE * t)
    v[k], a[k] = SWING * RATE * np.sin(RATE * t), SWING * RATE**2 * np.cos(RATE * t)
    return q, v, a


def pictures() -> tuple[Floats, list[WheelForces]]:
    """Return times and the contact pictures of the drive."""
    robot = kd.load_urdf(resolve(URDF), base='planar').with_payload('tool_link', LOAD)
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=CASTERS)
    ground_contacts = kd.base_ground_contacts(base, friction=FRICTION)
    motors = [name for name in robot.velocity_names if not name.startswith('base')]
    known = [name for name in robot.velocity_names if name not in WHEELS]
    twist, times, found = np.zeros(3), np.arange(0.0, DURATION, STEP), []
    for t in times:
        command = COMMANDS[max(start for start in COMMANDS if start <= t + 1e-9)]
        q, v, a = arm_motion(robot, t)
        now = DRIVES.after(twist, command, 0.0)
        v[:3], a[:3] = now  # where the base is does not matter: its axes are those of the world
        v = kd.consistent_velocity(robot, q, v, base.constraints, known)
        a = kd.consistent_acceleration(robot, q, v, a, base.constraints, known)
        found.append(picture_of(ground_contacts, q, v, a, motors))
        twist = DRIVES.after(twist, command, STEP).twist
    return times, found


def main(arguments: list[str] | None = None) -> None:
    """Print the extremes and write the plot."""
    parser = argparse.ArgumentParser(description='wheel forces of a drive')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    times, found = pictures()
    names = {'wheel_left_joint': 'left wheel', 'wheel_right_joint': 'right wheel'}
    names |= {'support 0': 'front caster', 'support 1': 'rear caster'}
    normal = {
        shown: np.array([one.contacts[name].normal for one in found])
        for name, shown in names.items()
    }
    use = {names[name]: np.array([one.contacts[name].use for one in found]) for name in WHEELS}
    margin = np.array([one.margins.margin for one in found])
    least, most = (extreme(list(normal.values())) for extreme in (np.min, np.max))
    print(f'normal forces are {found[0].loads.determined}: from {least:.0f} to {most:.0f} N')
    print(f'largest use of the friction {max(map(np.max, use.values())):.2f} (1: it slips)')
    print(f'least distance from tipping over {margin.min():.3f} m')
    panels = [
        Panel('normal force [N]', normal),
        Panel('friction use [1]', use),
        Panel('ZMP to edge [m]', {'ZMP': margin}),
    ]
    events = [(0.0, 'speeds up'), (1.2, 'turns'), (2.4, 'brakes')]
    chosen.output.mkdir(parents=True, exist_ok=True)
    path = chosen.output / 'wheel_forces.png'
    print(f'wrote {write_curves(path, "Wheels of a drive", times, panels, events)}')


if __name__ == '__main__':
    main()
