# SPDX-License-Identifier: Apache-2.0
"""
An arm swings into the end of its elbow's range.

The stop is a contact of the coordinate: it strikes with restitution, bounces a few times, comes to
rest in finite time, and then pushes with what the drive and gravity leave to it. It lets go when
its force would pull.

Run ``python examples/scenarios/arm_end_stop.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.view.animation import write_pictures
from kane_dynamics.view.drawing import Drawing, Shape, cylinder, sphere, stick
from kane_dynamics.view.event_recorder import EventRecorder
from kane_dynamics.view.plots import Panel
from kane_dynamics.view.recording import Recording

Floats = NDArray[np.float64]
LENGTH, MASS, RESTITUTION = 0.5, 2.0, 0.4
END = 1.2  # of the elbow's range [rad]
COLOURS = ((0.35, 0.5, 0.75), (0.84, 0.37, 0.0))


def arm() -> kd.Robot:
    """Return two rods that swing about y; the elbow's range ends at 1.2 rad."""
    rod = kd.Inertia(
        MASS, (LENGTH / 2, 0, 0), np.diag([0.001, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12])
    )
    shoulder = kd.Joint('shoulder', kd.Revolute((0, 1, 0)), damping=1.5)
    elbow = kd.Joint('elbow', kd.Revolute((0, 1, 0)), damping=0.05, lower=-END, upper=END)
    up = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (0, 0, 1.2))
    along = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (LENGTH, 0, 0))
    return kd.Robot(
        'arm',
        [
            kd.Body('upper arm', '', shoulder, up, rod),
            kd.Body('forearm', 'upper arm', elbow, along, rod),
        ],
    )


def drawing() -> Drawing:
    """Return a stand and two rods with their hinges."""
    turned = kd.Pose.from_rotation_and_position((np.sqrt(0.5), np.sqrt(0.5), 0, 0), (0, 0, 0))
    stand = Shape(-1, *stick((0, 0, 0), (0, 0, 1.2), 0.04))
    rods = [
        Shape(i, *stick((0, 0, 0), (LENGTH, 0, 0), 0.03), colour)
        for i, colour in enumerate(COLOURS)
    ]
    hinges = [Shape(i, *cylinder(0.05, 0.09)).moved(turned, i) for i in (0, 1)]
    tip = Shape(1, *sphere(0.05), COLOURS[1])
    tip = tip.moved(kd.Pose.from_rotation_and_position((1, 0, 0, 0), (LENGTH, 0, 0)), 1)
    return Drawing((stand, *rods, *hinges, tip))


def drive(t: float, q: Floats, v: Floats) -> Floats:
    """Return torques: the shoulder holds itself, the elbow swings out, presses and comes back."""
    hold = -60.0 * (q[0] + 0.4) - 6.0 * v[0] - 14.0
    return np.array([hold, 6.0 if t < 1.2 else -4.0])


def simulate() -> Recording:
    """Return the recorded motion."""
    robot = arm()
    end = kd.constraints.joint_limit(robot, 'elbow', 'upper')
    stop = kd.constraints.contact(end, restitution=RESTITUTION)
    simulation = kd.EventSimulation(robot, {'stop': stop}, [-0.4, -1.0], step=0.01)
    recorder = EventRecorder(simulation, drawing(), rate=50.0)
    recorder.run(2.0, drive)
    return recorder.recording()


def panels(recording: Recording) -> list[Panel]:
    """Return angles, rates and the torque of the stop."""
    stop = recording.force_names.index('elbow/upper')
    end = np.full(len(recording.time), END)
    q, v = recording.q, recording.v
    return [
        Panel('angle [rad]', {'shoulder': q[:, 0], 'elbow': q[:, 1], 'limit': end}),
        Panel('rate [rad/s]', {'shoulder': v[:, 0], 'elbow': v[:, 1]}),
        Panel('torque [N m]', {'stop': recording.force_vectors[:, stop, 1]}),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print the events; write recording, plot and animation."""
    parser = argparse.ArgumentParser(description='an arm and its end stop')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    recording = simulate()
    for time, text in zip(recording.event_times, recording.event_texts, strict=True):
        print(f'{time:9.6f} s  {text}')
    files = write_pictures(recording, chosen.output, 'arm_end_stop', panels(recording), 'side')
    print(f'wrote {", ".join(map(str, files))}')


if __name__ == '__main__':
    main()
