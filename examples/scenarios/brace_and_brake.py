# SPDX-License-Identifier: Apache-2.0
"""
A rolling robot braces its arm on a table and brakes by its friction.

The base rolls freely at 0.8 m/s. The arm comes down on the table, strikes, and presses: its tip
slides with friction against the motion until the base stands, then it sticks, and holds the robot
against a push. The wheels take no part.

Run ``python examples/scenarios/brace_and_brake.py``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.view.animation import write_pictures
from kane_dynamics.view.drawing import Drawing, Shape, box, cylinder, sphere, stick
from kane_dynamics.view.event_recorder import EventRecorder
from kane_dynamics.view.plots import Panel
from kane_dynamics.view.recording import Recording

Floats = NDArray[np.float64]
UPPER, FORE, TABLE = 0.45, 0.4, 0.6  # lengths of the arm, height of the table [m]
FRICTION, SPEED = 0.6, 0.8  # of the tip on the table, of the base at first [m/s]
READY, PRESSING = np.array([-0.2, 0.6]), np.array([0.25, 0.9])  # wanted angles [rad]
STIFFNESS, DAMPING = np.array([220.0, 160.0]), (14.0, 4.0)
PUSH = 25.0  # on the base, from 1.6 s on [N]


def robot_on_rails() -> kd.Robot:
    """Return a base that rolls along x with an arm of two links about y."""
    at = kd.Pose.from_rotation_and_position
    unit = (1.0, 0.0, 0.0, 0.0)
    base = kd.Inertia(25.0, (0, 0, 0.3), np.diag([0.5, 0.5, 0.5]))
    upper = kd.Inertia(3.0, (UPPER / 2, 0, 0), np.diag([0.005, 0.05, 0.05]))
    fore = kd.Inertia(2.0, (FORE / 2, 0, 0), np.diag([0.003, 0.03, 0.03]))
    bodies = [
        kd.Body('base', '', kd.Joint('roll', kd.Prismatic((1, 0, 0))), inertia=base),
        kd.Body(
            'upper',
            'base',
            kd.Joint('shoulder', kd.Revolute((0, 1, 0)), damping=DAMPING[0]),
            at(unit, (0, 0, 0.9)),
            upper,
        ),
        kd.Body(
            'fore',
            'upper',
            kd.Joint('elbow', kd.Revolute((0, 1, 0)), damping=DAMPING[1]),
            at(unit, (UPPER, 0, 0)),
            fore,
        ),
    ]
    return kd.Robot('robot', bodies)


def drawing() -> Drawing:
    """Return the robot and its table."""
    at, turned = kd.Pose.from_rotation_and_position, (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    unit = (1.0, 0.0, 0.0, 0.0)
    top = Shape(-1, *box((1.2, 0.6, 0.04)), (0.75, 0.65, 0.5))
    leg = Shape(-1, *box((0.06, 0.5, TABLE)), (0.75, 0.65, 0.5))
    body = Shape(0, *box((0.4, 0.35, 0.7)), (0.35, 0.5, 0.75))
    wheels = [Shape(0, *cylinder(0.1, 0.4), (0.3, 0.3, 0.3)) for _ in range(2)]
    mast = Shape(0, *stick((0, 0, 0.8), (0, 0, 0.9), 0.05))
    links = [
        Shape(1, *stick((0, 0, 0), (UPPER, 0, 0), 0.035), (0.84, 0.37, 0.0)),
        Shape(2, *stick((0, 0, 0), (FORE, 0, 0), 0.028), (0.95, 0.6, 0.1)),
        Shape(2, *sphere(0.035), (0.3, 0.3, 0.3)).moved(at(unit, (FORE, 0, 0)), 2),
    ]
    places = [at(turned, (x, 0, 0.1)) for x in (-0.13, 0.13)]
    return Drawing(
        (
            top.moved(at(unit, (1.55, 0, TABLE - 0.055)), -1),
            leg.moved(at(unit, (2.0, 0, 0.5 * TABLE - 0.04)), -1),
            body.moved(at(unit, (0, 0, 0.45)), 0),
            *(wheel.moved(place, 0) for wheel, place in zip(wheels, places, strict=True)),
            mast,
            *links,
        )
    )


def arm(t: float, q: Floats, v: Floats) -> Floats:
    """Return a push on the base, and the torques of springs that the arm follows."""
    part = np.clip((t - 0.2) / 0.4, 0.0, 1.0)
    wanted = READY + part * (PRESSING - READY)
    torque = STIFFNESS * (wanted - q[1:])
    return np.concatenate([[PUSH if t >= 1.6 else 0.0], torque])


def simulate() -> Recording:
    """Return the recorded motion."""
    robot, tip = robot_on_rails(), (FORE, 0.0, 0.0)
    distance = kd.constraints.point_contact(robot, 'fore', tip, offset=TABLE)
    slip = kd.constraints.point_slip(robot, 'fore', tip)
    along = replace(slip, labels=('tip/slip',), directions=((1.0, 0.0, 0.0),))  # in the plane
    table = kd.constraints.contact(distance, along, friction=FRICTION)
    start = np.concatenate([[0.0], READY])
    simulation = kd.EventSimulation(robot, {'tip': table}, start, [SPEED, 0.0, 0.0], step=0.01)
    recorder = EventRecorder(simulation, drawing(), rate=40.0)
    recorder.run(2.2, arm)
    return recorder.recording()


def panels(recording: Recording) -> list[Panel]:
    """Return the speed of the base and the forces of the table."""
    press, rub = (recording.force_names.index(n) for n in ('fore/contact', 'tip/slip'))
    vectors = recording.force_vectors
    return [
        Panel('base [m/s]', {'speed': recording.v[:, 0]}),
        Panel('arm [rad]', {'shoulder': recording.q[:, 1], 'elbow': recording.q[:, 2]}),
        Panel('force [N]', {'normal': vectors[:, press, 2], 'friction': vectors[:, rub, 0]}),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print the events; write recording, plot and animation."""
    parser = argparse.ArgumentParser(description='a robot that braces its arm and brakes')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    recording = simulate()
    for time, text in zip(recording.event_times, recording.event_texts, strict=True):
        print(f'{time:9.6f} s  {text}')
    files = write_pictures(recording, chosen.output, 'brace_and_brake', panels(recording), 'side')
    print(f'wrote {", ".join(map(str, files))}')


if __name__ == '__main__':
    main()
