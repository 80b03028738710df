# SPDX-License-Identifier: Apache-2.0
"""Contacts with friction: SimBenchmark's rolling balls, MuJoCo's pinched capsule."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import kane_dynamics as kd
from studies.suites.bodies import X, Y, inertia, prismatic
from studies.suites.case import Case, Outcome

G, BALLS, RADIUS = 9.8, 25, 0.1
FLOOR, BALL = 0.4, 0.8  # friction of the box on the floor, of a ball on the box
BOX_ACCELERATION = (150.0 - FLOOR * 35.0 * G) / (10.0 + BALLS * 2.0 / 7.0)


def balls_on_box() -> tuple[kd.Robot, dict[str, Any]]:
    """Return a box on the floor with balls on it, and what slides or sticks."""
    c = kd.constraints
    bodies = [
        kd.Body('box_x', '', prismatic('box_x', X)),
        kd.Body('box', 'box_x', prismatic('box_y', Y), inertia=inertia(10.0)),
    ]
    load = inertia(1.0, (0, 0, 0), np.full(3, 0.4 * RADIUS**2))
    for k in range(BALLS):
        bodies += [
            kd.Body(f'x_{k}', 'box', prismatic(f'x_{k}', X)),
            kd.Body(f'y_{k}', f'x_{k}', prismatic(f'y_{k}', Y)),
            kd.Body(f'ball_{k}', f'y_{k}', kd.Joint(f'spin_{k}', kd.Spherical()), inertia=load),
        ]
    robot = kd.Robot('balls on a box', bodies, (0, 0, -G))
    floor = c.point_slip(robot, 'box')
    contacts = {'floor': c.traction(floor, 35.0 * G, FLOOR)}
    for k in range(BALLS):
        slip = c.pfaffian(robot, partial(rolling, robot, k), label=f'ball {k}')
        contacts[f'ball {k}'] = c.traction(slip, G, BALL)
    return robot, contacts


def rolling(robot: kd.Robot, k: int, q: Any, t: Any) -> Any:
    """Return the rows of the slip of a ball on the box: x' - r w_y, y' + r w_x, w in the world."""
    w, x, y, z = q[robot.quaternion_slices[k][1]]
    first = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    second = [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    rows = np.zeros((2, robot.nv), dtype=object)
    speeds = slice(robot.velocity_index(f'x_{k}'), robot.velocity_index(f'x_{k}') + 5)
    rows[:, speeds] = [
        [1.0, 0.0, *(-RADIUS * entry for entry in second)],
        [0.0, 1.0, *(RADIUS * entry for entry in first)],
    ]
    return rows


def balls_roll(direction: float) -> Outcome:
    """Return the accelerations of box and balls that 150 N move along a direction [rad]."""
    robot, contacts = balls_on_box()
    along = np.array([np.cos(direction), np.sin(direction)])
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    tau[:2] = 150.0 * along
    rng = np.random.default_rng(1)
    errors = []
    began = time.thread_time()
    for speed in (0.0, 2.0):  # at rest, and rolling at a place on the way
        for _, part in robot.quaternion_slices:
            q[part] = (x := rng.normal(size=4)) / np.linalg.norm(x)
        v = rolled(robot, q, speed * along)
        a = kd.contact_forward_dynamics(robot, q, v, tau, contacts=list(contacts.values()))
        box = a.acceleration[:2]
        balls = [box + a.acceleration[j : j + 2] for j in places(robot)]
        errors += [box - BOX_ACCELERATION * along, *(x - 2 / 7 * box for x in balls)]
    return Outcome(float(np.abs(errors).max()), time.thread_time() - began, 0)


def places(robot: kd.Robot) -> list[int]:
    """Return where the speeds of each ball begin."""
    return [robot.velocity_index(f'x_{k}') for k in range(BALLS)]


def rolled(robot: kd.Robot, q: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the speeds where the box moves and the balls roll at 2/7 of its speed."""
    v = np.zeros(robot.nv)
    v[:2] = box
    for k, j in enumerate(places(robot)):
        v[j : j + 2] = -5 / 7 * box
        A = np.array(rolling(robot, k, q, 0.0), dtype=float)[:, j : j + 5]
        v[j + 2 : j + 5] = np.linalg.lstsq(A[:, 2:], -A[:, :2] @ v[j : j + 2], rcond=None)[0]
    return v


def pinched_capsule() -> Outcome:
    """Return how far a capsule creeps in 1 s that a finger pinches against a wall."""
    c = kd.constraints
    radius, half, mass, gravity = 0.02, 0.05, 0.1, 9.81
    tensor = np.diag([3e-4, 3e-4, 2e-5])
    bodies = [
        kd.Body(
            'capsule',
            '',
            kd.Joint('capsule', kd.Free()),
            inertia=kd.Inertia(mass, (0, 0, 0), tensor),
        ),
        kd.Body('finger', '', prismatic('finger', Y), inertia=inertia(0.05)),
    ]
    robot = kd.Robot('pinched capsule', bodies, (0, 0, -gravity))
    parts: dict[str, Any] = {}
    for name, z in (('top', half), ('bottom', -half)):
        slip = c.point_slip(robot, 'capsule', (0, -radius, z), (0, 1, 0))
        wall = c.point_contact(robot, 'capsule', (0, -radius, z), (0, 1, 0), -radius)
        parts[f'wall {name}'] = c.contact(wall, slip, friction=1.0)
    parts['finger'] = c.contact(
        c.holonomic(robot, lambda q, t: q[7] - q[1]),
        c.point_slip(robot, 'capsule', (0, radius, 0), (0, 1, 0)),
        friction=1.0,
    )
    simulation = kd.EventSimulation(robot, parts, step=1e-3, dynamics=kd.compile(robot))
    tau, start = np.zeros(robot.nv), simulation.q
    tau[-1] = -50.0 * mass * gravity / 2.0
    simulation.step(tau)  # compiles
    simulation.reset()
    began = time.thread_time()
    simulation.step(tau, 1000)
    return Outcome(float(np.abs(simulation.q - start).max()), time.thread_time() - began, 0)


CASES = (
    *(
        Case(
            f'25 balls roll on a box, {name}',
            'SimBenchmark; closed form',
            'accelerations [m/s^2]',
            1e-9,
            partial(balls_roll, direction),
        )
        for name, direction in (('along x', 0.0), ('diagonal', np.pi / 4))
    ),
    Case('pinched capsule, 1 s', 'MuJoCo #3328', 'creep [m]', 1e-15, pinched_capsule),
)
