# SPDX-License-Identifier: Apache-2.0
"""
A mobile manipulator docks onto a cart and pushes it round a bend.

The gripper touches the cart's handle: a contact that strikes without a rebound. At that instant
it closes: a loop through both. Then base, arm and cart move as one mechanism with two
freedoms, whose wheels do not slip; opened again, the gripper lets the cart roll on.

Run ``python examples/scenarios/dock_and_push.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.view.animation import write_pictures
from kane_dynamics.view.drawing import Drawing, Shape, box, cylinder
from kane_dynamics.view.event_recorder import EventRecorder
from kane_dynamics.view.plots import Panel
from kane_dynamics.view.recording import Recording

Floats = NDArray[np.float64]
ARM, HANDLE = 0.45, -0.45  # of the gripper on the arm, of the handle on the cart [m]
CART_AT = 1.0  # where the cart waits [m]
STIFFNESS, DAMPING = 120.0, 12.0  # of the arm's drive [N m/rad, N m s/rad]
STEERED = 0.3  # angle of the arm in the bend [rad]
AT = kd.Pose.from_rotation_and_position
UNIT = (1.0, 0.0, 0.0, 0.0)


def robot_and_cart() -> kd.Robot:
    """Return a base with an arm, and a cart, all in the plane."""
    flat = np.diag([0.0, 0.0, 1.0])
    bodies = [
        kd.Body(
            'base',
            '',
            kd.Joint('base', kd.Planar()),
            inertia=kd.Inertia(40.0, (0, 0, 0), 1.8 * flat),
        ),
        kd.Body(
            'arm',
            'base',
            kd.Joint('arm', kd.Revolute((0, 0, 1)), damping=DAMPING),
            AT(UNIT, (0.25, 0, 0.3)),
            kd.Inertia(3.0, (0.22, 0, 0), 0.06 * flat),
        ),
        kd.Body(
            'cart',
            '',
            kd.Joint('cart', kd.Planar()),
            AT(UNIT, (CART_AT + 0.5, 0, 0)),
            kd.Inertia(15.0, (0.1, 0, 0), 1.2 * flat),
        ),
    ]
    frames = {
        'gripper': kd.Frame(1, AT(UNIT, (ARM, 0, 0))),
        'handle': kd.Frame(2, AT(UNIT, (HANDLE, 0, 0.3))),
    }
    return kd.Robot('robot and cart', bodies, (0, 0, 0), frames)


def drawing() -> Drawing:
    """Return base, arm, gripper and cart."""
    blue, orange, grey = (0.35, 0.5, 0.75), (0.84, 0.37, 0.0), (0.3, 0.3, 0.3)
    across = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    base = Shape(0, *box((0.5, 0.4, 0.2)), blue).moved(AT(UNIT, (0, 0, 0.18)), 0)
    link = Shape(1, *box((ARM, 0.06, 0.06)), orange).moved(AT(UNIT, (ARM / 2, 0, 0)), 1)
    jaw = Shape(1, *box((0.06, 0.16, 0.08)), orange).moved(AT(UNIT, (ARM - 0.03, 0, 0)), 1)
    tray = Shape(2, *box((0.7, 0.5, 0.06)), (0.75, 0.65, 0.5)).moved(AT(UNIT, (0, 0, 0.15)), 2)
    bar = Shape(2, *box((0.04, 0.45, 0.2)), grey).moved(AT(UNIT, (HANDLE + 0.05, 0, 0.25)), 2)
    tyres = [
        Shape(body, *cylinder(radius, 0.05), grey).moved(AT(across, (0, side, radius)), body)
        for body, radius, y in ((0, 0.1, 0.23), (2, 0.08, 0.28))
        for side in (-y, y)
    ]
    return Drawing((base, link, jaw, tray, bar, *tyres))


def parts(robot: kd.Robot) -> dict[str, Any]:
    """Return the wheels of both, and the gripper that may touch the handle."""
    x = robot.coordinate_index('cart_x')

    def axle(q: Any, t: Any) -> list[Any]:
        return [0.0, 0.0, 0.0, 0.0, -np.sin(q[x + 2]), np.cos(q[x + 2]), 0.0]

    def gap(q: Any, t: Any) -> Any:  # while both stand in line
        handle = CART_AT + 0.5 + q[x] + HANDLE * np.cos(q[x + 2])
        return handle - q[0] - 0.25 * np.cos(q[2]) - ARM * np.cos(q[2] + q[3])

    return {
        'wheels': kd.constraints.no_side_slip(robot),
        'cart wheels': kd.constraints.pfaffian(robot, axle, label='cart/no_side_slip'),
        'gripper': kd.constraints.contact(kd.constraints.holonomic(robot, gap, 'touch')),
    }


def drives(t: float, q: Floats, v: Floats) -> Floats:
    """Return the efforts of wheels and arm: forward, and from 1.5 s on the arm steers."""
    speed = np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1]
    forward = 80.0 * (0.6 - speed)
    steer = STIFFNESS * (np.clip(t - 1.5, 0.0, 1.0) * STEERED - q[3])
    along = forward * np.array([np.cos(q[2]), np.sin(q[2])])
    return np.concatenate([along, [0.0, steer, 0.0, 0.0, 0.0]])


def simulate(pushed_until: float = 5.0) -> Recording:
    """Return the recorded motion; the gripper opens at a time [s]."""
    robot = robot_and_cart()
    simulation = kd.EventSimulation(robot, parts(robot), step=0.02)
    recorder = EventRecorder(simulation, drawing(), rate=40.0)
    while simulation.states['gripper'] == 'open':
        recorder.run(simulation.step_size, drives)
    simulation.remove('gripper')
    simulation.add('latch', kd.constraints.loop_closure(robot, 'handle', 'gripper'))
    recorder.run(pushed_until - simulation.time, drives)
    simulation.remove('latch')
    recorder.run(0.8, lambda t, q, v: drives(t, q, v) * 0.0)
    return recorder.recording()


def panels(recording: Recording) -> list[Panel]:
    """Return speeds, angles, and the force of the gripper."""
    v, q = recording.v, recording.q
    names = recording.force_names
    latch = [k for k, name in enumerate(names) if name.startswith('handle=gripper')]
    along = [k for k in latch if recording.force_units[k] == 'N']
    force = np.linalg.norm(recording.force_vectors[:, along].sum(axis=1), axis=-1)
    return [
        Panel('speed [m/s]', {'base': np.hypot(*v[:, :2].T), 'cart': np.hypot(*v[:, 4:6].T)}),
        Panel('yaw [rad]', {'base': q[:, 2], 'cart': q[:, 6]}),
        Panel('force [N]', {'latch': force}),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print the events; write recording, plot and animation."""
    parser = argparse.ArgumentParser(description='a mobile manipulator docks and pushes a cart')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    recording = simulate()
    for time, text in zip(recording.event_times, recording.event_texts, strict=True):
        print(f'{time:9.6f} s  {text}')
    files = write_pictures(recording, chosen.output, 'dock_and_push', panels(recording))
    print(f'wrote {", ".join(map(str, files))}')


if __name__ == '__main__':
    main()
