# SPDX-License-Identifier: Apache-2.0
"""
A cart that is pushed through a bend: its caster sticks, and breaks loose.

The rear axle does not slip sideways, and the caster's wheel follows its pivot. For a while dirt
holds the pivot: the speeds jump by the impulse that this takes, and the cart goes where the caster
points, until the torque on the pivot exceeds what the dirt can bear. Nothing jumps then.

Run ``python examples/scenarios/sticking_caster.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.view.animation import write_pictures
from kane_dynamics.view.drawing import Drawing, Shape, box
from kane_dynamics.view.event_recorder import EventRecorder
from kane_dynamics.view.plots import Panel
from kane_dynamics.view.recording import Recording

Floats = NDArray[np.float64]
PIVOT, TRAIL = 0.9, 0.15  # of the caster before the axle, and of its wheel behind the pivot [m]
PUSH, TWIST = 14.0, 2.0  # of the hands on the axle [N, N m]
BEARS = 1.2  # torque on the pivot that the dirt bears [N m]
CART, WHEEL = (0.35, 0.5, 0.75), (0.84, 0.37, 0.0)  # colours


def cart() -> kd.Robot:
    """Return a body on a plane, its origin in the middle of the axle, with a caster."""
    body = kd.Inertia(20.0, (0.4, 0, 0), np.diag([0, 0, 2.5]))
    wheel = kd.Inertia(1.5, (-TRAIL, 0, 0), np.diag([0, 0, 0.004]))
    pivot = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (PIVOT, 0, 0))
    hinge = kd.Joint('caster', kd.Revolute((0, 0, 1)))
    bodies = [
        kd.Body('cart', '', kd.Joint('base', kd.Planar()), inertia=body),
        kd.Body('caster', 'cart', hinge, pivot, wheel),
    ]
    return kd.Robot('cart', bodies, (0, 0, 0))


def drawing() -> Drawing:
    """Return two rear wheels, a frame and the caster, in top view."""
    moved = kd.Pose.from_rotation_and_position
    rail = Shape(0, *box((0.95, 0.06, 0.02)), CART).moved(moved((1, 0, 0, 0), (0.45, 0, 0)), 0)
    axle = Shape(0, *box((0.06, 0.6, 0.02)), CART)
    wheels = [
        Shape(0, *box((0.2, 0.05, 0.05)), WHEEL).moved(moved((1, 0, 0, 0), (0, y, 0)), 0)
        for y in (-0.32, 0.32)
    ]
    fork = Shape(1, *box((0.2, 0.03, 0.03)), CART).moved(moved((1, 0, 0, 0), (-0.07, 0, 0.02)), 1)
    tyre = Shape(1, *box((0.16, 0.06, 0.06)), WHEEL)
    tyre = tyre.moved(moved((1, 0, 0, 0), (-TRAIL, 0, 0.03)), 1)
    return Drawing((rail, axle, *wheels, fork, tyre))


def constraints(robot: kd.Robot) -> dict[str, Any]:
    """Return that neither the axle nor the caster's wheel slips sideways."""

    def row(q: Any, t: Any) -> list[Any]:
        yaw = q[2] + q[3]
        return [-np.sin(yaw), np.cos(yaw), PIVOT * np.cos(q[3]) - TRAIL, -TRAIL]

    return {
        'axle': kd.constraints.no_side_slip(robot),
        'caster wheel': kd.constraints.pfaffian(robot, row, label='caster/side_slip'),
    }


def hands(t: float, q: Floats, v: Floats) -> Floats:
    """Return the efforts of a push along the cart and of a couple, less a little damping."""
    along = PUSH - 6.0 * (np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1])
    couple = TWIST * np.sin(1.6 * t) - 1.0 * v[2]
    return np.array([along * np.cos(q[2]), along * np.sin(q[2]), couple, -0.02 * v[3]])


def simulate() -> Recording:
    """Return the recorded motion."""
    robot = cart()
    start = np.array([0.0, 0.0, 0.0, 0.5])
    simulation = kd.EventSimulation(robot, constraints(robot), start, step=0.02)
    recorder = EventRecorder(simulation, drawing(), rate=40.0)
    recorder.run(1.5, hands)
    simulation.add('dirt', kd.constraints.lock(robot, 'caster'), BEARS)
    recorder.run(3.5, hands)
    return recorder.recording()


def panels(recording: Recording) -> list[Panel]:
    """Return angle and rate of the caster, and the torque of the dirt."""
    torque = recording.force_names.index('caster/lock')
    return [
        Panel('caster [rad]', {'angle': recording.q[:, 3]}),
        Panel('rate [rad/s]', {'cart': recording.v[:, 2], 'caster': recording.v[:, 3]}),
        Panel('torque [N m]', {'pivot': recording.force_vectors[:, torque, 2]}),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print the events; write recording, plot and animation."""
    parser = argparse.ArgumentParser(description='a caster that sticks')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    recording = simulate()
    for time, text in zip(recording.event_times, recording.event_texts, strict=True):
        print(f'{time:9.6f} s  {text}')
    files = write_pictures(recording, chosen.output, 'sticking_caster', panels(recording), 'top')
    print(f'wrote {", ".join(map(str, files))}')


if __name__ == '__main__':
    main()
