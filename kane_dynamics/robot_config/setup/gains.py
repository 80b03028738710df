# SPDX-License-Identifier: Apache-2.0
"""Gains and a start for a robot that nobody has tuned: from its mass matrix and its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

RATE = 250.0  # of the loop that the gains are for [Hz]
STATES = 8  # random ones, at which the robot's inertia is looked at
QUICKEST = 0.3  # rate of the fastest error times the period: far from the 2 of instability
RATIO = 10.0  # of p to d and the damping of the joint [1/s]
MOST_RATIO = 100.0  # of p to d: stable with a period of delay where the joint has no damping
HELD = 2.0  # times the stiffness of gravity, which may be negative
TILT = 1e-4  # of a coordinate, for the stiffness of gravity [rad or m]
ROOM = {'revolute': 0.3, 'prismatic': 0.05}  # to a limit at the start [rad, m]


@dataclass(frozen=True, eq=False)
class Tuning:
    """
    Where a robot begins, and its gains for a loop at `RATE`.

    Parameters
    ----------
    start : mapping of str to float
        Positions away from zero [rad or m].
    p, d : mapping of str to float
        Effort per position and per velocity error.

    """

    start: Mapping[str, float]
    p: Mapping[str, float]
    d: Mapping[str, float]


def proposed_tuning(dynamics: Dynamics, motors: Sequence[str]) -> Tuning:
    """
    Return gains with which errors of all joints die out evenly, whatever the joints carry.

    With the response R = d acceleration / d effort of the motors, errors obey
    e'' = -R ((D + B) e' + P e), B the damping of the joints. D is the inverse of R's largest
    diagonal entries, scaled so that the largest eigenvalue of R D is `QUICKEST` times the rate of
    the loop; P = `RATIO` (D + B), but so much that no pose falls away from its reference, `HELD`
    times the rows of dg/dq (then P + dg/dq is positive definite), and at most `MOST_RATIO` D.

    Parameters
    ----------
    dynamics : Dynamics
        The robot with its constraints.
    motors : sequence of str
        Speeds with a motor.

    """
    robot = dynamics.robot
    start = start_positions(robot)
    away = {name: x for name, x in start.items() if x}
    if not motors:  # a base that is commanded by velocity, without an arm
        return Tuning(away, {}, {})
    rng = np.random.default_rng(0)
    states = [_state(robot, start), *(_random_state(robot, start, rng) for _ in range(STATES))]
    responses = [_response(dynamics, q, motors) for q in states]
    largest = np.max([np.diag(response) for response in responses], axis=0)
    d = 1.0 / np.maximum(largest, np.finfo(float).tiny)
    quickest = max(float(np.abs(np.linalg.eigvals(r * d)).max()) for r in responses)
    d *= QUICKEST * RATE / quickest
    shown = {name: _rounded(value) for name, value in zip(motors, d.tolist(), strict=True)}
    damping = robot.damping[[robot.velocity_index(name) for name in motors]].tolist()
    stiff = np.max([_gravity_stiffness(dynamics, q, motors) for q in states], axis=0).tolist()
    p = {
        name: _rounded(min(max(RATIO * (value + local), HELD * g), MOST_RATIO * value))
        for (name, value), local, g in zip(shown.items(), damping, stiff, strict=True)
    }
    return Tuning(away, p, shown)


def start_positions(robot: Robot) -> dict[str, float]:
    """Return for each joint with limits the position nearest to zero with room on both sides."""
    start: dict[str, float] = {}
    for body in robot.bodies:
        joint = body.joint
        kind = type(joint.kind).__name__.lower()
        if body.mimic is not None or kind not in ROOM:
            continue
        room = min(ROOM[kind], 0.5 * (joint.upper - joint.lower))
        start[joint.name] = round(min(max(0.0, joint.lower + room), joint.upper - room), 4)
    return start


def _state(robot: Robot, positions: Mapping[str, float]) -> Floats:
    q = robot.neutral()
    for name, value in positions.items():
        q[robot.coordinate_index(name)] = value
    return q


def _random_state(robot: Robot, start: Mapping[str, float], rng: np.random.Generator) -> Floats:
    """Return q with each joint within its limits, and within half a turn of its start."""
    drawn = {}
    for name, value in start.items():
        joint = robot.bodies[robot.body_of_joint(name)].joint
        low, high = max(joint.lower, value - np.pi), min(joint.upper, value + np.pi)
        drawn[name] = float(rng.uniform(low, high)) if name not in robot.wheels else value
    return _state(robot, drawn)


def _response(dynamics: Dynamics, q: Floats, motors: Sequence[str]) -> Floats:
    """Return d acceleration / d effort of the motors at rest, shape (m, m)."""
    robot = dynamics.robot
    columns = [robot.velocity_index(name) for name in motors]
    at_rest, none = np.zeros(robot.nv), np.zeros(robot.nv)
    free = dynamics.acceleration(q, at_rest, none)
    pushed = [dynamics.acceleration(q, at_rest, np.eye(robot.nv)[k]) for k in columns]
    return (np.array(pushed) - free)[:, columns].T


def _gravity_stiffness(dynamics: Dynamics, q: Floats, motors: Sequence[str]) -> Floats:
    """Return the sums of |dg/dq| over the motors, of each row, shape (m,)."""
    robot = dynamics.robot
    rows = [robot.velocity_index(name) for name in motors]
    tilted = np.tile(q, (len(rows), 1))
    for k, name in enumerate(motors):
        tilted[k, robot.coordinate_index(name)] += TILT
    change = np.array([dynamics.gravity_force(one) for one in tilted]) - dynamics.gravity_force(q)
    return np.asarray(np.abs(change[:, rows]).sum(axis=0) / TILT)


def _rounded(x: float) -> float:
    """Return a number with three digits."""
    return float(f'{x:.3g}')
