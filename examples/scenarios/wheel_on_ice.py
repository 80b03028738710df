# SPDX-License-Identifier: Apache-2.0
"""
A driven wheel comes onto ice, spins, and recovers behind it.

Rolling is a constraint that holds as long as the friction that it needs is within mu N; on ice it
is not, the wheel slips and spins up under its drive. Behind the ice dry friction brings the slip
down, and the wheel rolls again from the instant at which it is zero. No speed jumps.

Run ``python examples/scenarios/wheel_on_ice.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.view.animation import write_pictures
from kane_dynamics.view.drawing import Drawing, Shape, box, cylinder
from kane_dynamics.view.event_recorder import EventRecorder
from kane_dynamics.view.plots import Panel
from kane_dynamics.view.recording import Recording

Floats = NDArray[np.float64]
RADIUS, CAR, WHEEL = 0.15, 12.0, 3.0  # [m, kg, kg]
DRY, ICE = 0.7, 0.05  # Coulomb's coefficients
BEGINS, ENDS = 0.6, 1.4  # of the ice [m]
DRIVE = 3.0  # torque [N m]
GRAVITY = 9.81


def car() -> kd.Robot:
    """Return a body that slides along x, half its weight on a wheel that it drives."""
    inertia = np.diag([0.02, 0.5 * WHEEL * RADIUS**2, 0.02])
    up = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (0, 0, RADIUS))
    return kd.Robot(
        'car',
        [
            kd.Body(
                'car',
                '',
                kd.Joint('along', kd.Prismatic((1, 0, 0))),
                up,
                kd.Inertia(CAR, (0, 0, 0), np.zeros((3, 3))),
            ),
            kd.Body(
                'wheel',
                'car',
                kd.Joint('spin', kd.Revolute((0, 1, 0))),
                inertia=kd.Inertia(WHEEL, (0, 0, 0), inertia),
            ),
        ],
    )


def drawing() -> Drawing:
    """Return the ice, the car and the wheel with two spokes."""
    moved, turned = kd.Pose.from_rotation_and_position, (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    ice = Shape(-1, *box((ENDS - BEGINS, 0.5, 0.02)), (0.6, 0.85, 0.95))
    ice = ice.moved(moved((1, 0, 0, 0), (0.5 * (BEGINS + ENDS), 0, -0.012)), -1)
    body = Shape(0, *box((0.5, 0.2, 0.1)), (0.35, 0.5, 0.75))
    body = body.moved(moved((1, 0, 0, 0), (-0.1, 0, 0.2)), 0)
    tyre = Shape(1, *cylinder(RADIUS, 0.06), (0.3, 0.3, 0.3)).moved(moved(turned, (0, 0, 0)), 1)
    spokes = Shape(1, *box((1.6 * RADIUS, 0.09, 0.03)), (0.95, 0.6, 0.1))
    return Drawing((ice, body, tyre, spokes))


def grounds(robot: kd.Robot) -> dict[str, Contact]:
    """Return the contact of the wheel on dry ground and on ice."""
    row = kd.constraints.pfaffian(robot, lambda q, t: [1.0, -RADIUS], label='slip')
    load = (0.5 * CAR + WHEEL) * GRAVITY
    return {
        'dry ground': kd.constraints.traction(row, load, DRY),
        'ice': kd.constraints.traction(row, load, ICE),
    }


def simulate() -> Recording:
    """Return the recorded motion."""
    robot = car()
    ground = grounds(robot)
    here = 'dry ground'
    simulation = kd.EventSimulation(robot, {here: ground[here]}, step=0.01)
    recorder = EventRecorder(simulation, drawing(), rate=50.0)
    while simulation.time < 2.2:
        recorder.run(simulation.step_size, lambda t, q, v: np.array([0.0, DRIVE]))
        below = 'ice' if BEGINS < simulation.q[0] < ENDS else 'dry ground'
        if below != here:
            simulation.remove(here)
            simulation.add(below, ground[below])
            here = below
    return recorder.recording()


def panels(recording: Recording) -> list[Panel]:
    """Return the speeds of the car and of the rim, the slip and the friction."""
    friction = recording.force_names.index('slip')
    car_speed, rim = recording.v[:, 0], RADIUS * recording.v[:, 1]
    return [
        Panel('speed [m/s]', {'car': car_speed, 'rim': rim}),
        Panel('slip [m/s]', {'wheel': car_speed - rim}),
        Panel('friction [N]', {'wheel': recording.force_vectors[:, friction, 0]}),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print the events; write recording, plot and animation."""
    parser = argparse.ArgumentParser(description='a wheel on ice that recovers')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    recording = simulate()
    for time, text in zip(recording.event_times, recording.event_texts, strict=True):
        print(f'{time:9.6f} s  {text}')
    files = write_pictures(recording, chosen.output, 'wheel_on_ice', panels(recording))
    print(f'wrote {", ".join(map(str, files))}')


if __name__ == '__main__':
    main()
