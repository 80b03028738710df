# SPDX-License-Identifier: Apache-2.0
"""
A task for optimal control: a mobile manipulator carries an object to a shelf.

The robot with its load, its minimal speeds, in which no wheel can slip, the graphs of its
dynamics, the limits of its drives and the shelf. `drive_to_a_shelf.py` solves it with CasADi,
`with_crocoddyl.py` follows a part of it with crocoddyl.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.robot.resources import resolve

Floats = NDArray[np.float64]
URDF = 'package://kane_dynamics/robots/nonholonomic.urdf'
WHEELS = ('wheel_left_joint', 'wheel_right_joint')
NAMES = (*WHEELS, *(f'arm_{k}_joint' for k in range(1, 6)))  # of the minimal speeds
RADIUS, TRACK = 0.1, 0.42  # of the wheels [m]; `speeds` compares them with the URDF

# the robot beyond its URDF
LOAD = 1.0  # what it carries [kg]
DRY = np.array([0.4, 0.4, 0.8, 0.8, 0.5, 0.2, 0.1])  # dry friction of wheels and arm [N m]
SWITCH = 0.2  # [rad/s]: planned with F tanh(u / SWITCH) instead of F sign(u)
GRIP = 8.0  # [N m]: a wheel with more would spin, on a floor with friction 0.35

# the shelf: boxes, lowest and highest corner [m]
BOXES = {
    'cabinet': ((1.5, -0.5, 0.0), (1.9, 0.7, 0.5)),
    'board': ((1.5, -0.5, 0.9), (1.9, 0.7, 0.93)),
}
OPENING = (0.5, 0.9)  # heights between them [m]
ROUND = 0.02  # [m]: of the edges, as they are planned
START = np.array([0.0, 0.7, -0.9, 0.0, 0.0, 0.0, -1.2, 2.2, 0.0, 0.6])  # the arm is tucked
READY = np.array([0.9, 0.1, 0.0, 0.0, 0.0, 0.0, 0.6, 1.18, 0.0, -0.21])  # a guess of the end
PLACE = np.array([1.65, 0.1, 0.6])  # of the object's middle at the end
DECK = 0.28  # height of the base's top [m]: the arm stays above

# spheres around the robot: frame, where in it [m], radius [m]
SPHERES = {
    'front': ('base_link', (0.13, 0.0, 0.0), 0.24),
    'rear': ('base_link', (-0.05, 0.0, 0.0), 0.24),
    'elbow': ('arm_3_link', (0.0, 0.0, 0.0), 0.06),
    'forearm': ('arm_4_link', (0.0, 0.0, 0.0), 0.05),
    'wrist': ('arm_5_link', (0.0, 0.0, 0.0), 0.05),
    'hand': ('tool_link', (0.0, 0.0, 0.0), 0.05),
    'object': ('tool_link', (0.0, 0.0, 0.1), 0.06),
}
RADII = np.array([radius for _, _, radius in SPHERES.values()])
OBJECT, HAND, ON_ARM = -1, -2, slice(2, None)  # of the spheres


def loaded_robot(dry: bool = True, damping: Floats | float = 0.0) -> kd.Robot:
    """
    Return the robot with its load and its spheres as frames, with or without dry friction.

    Damping of its drives [N m s/rad] is damping of its joints, which is implicit in simulations.
    """
    robot = kd.load_urdf(resolve(URDF), base='planar')
    frames = dict(robot.frames)
    for name, (link, place, _) in SPHERES.items():
        frame = robot.frame(link)
        there = kd.Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), place)
        frames[name] = kd.Frame(frame.body, frame.pose * there)
    base, *moved = robot.bodies
    more = robot.damping[3:] + damping
    bodies = [
        replace(body, joint=replace(body.joint, friction=friction, damping=viscous))
        for body, friction, viscous in zip(moved, DRY * dry, more, strict=True)
    ]
    robot = replace(robot, bodies=(base, *bodies), frames=frames)
    return robot.with_payload('object', LOAD)


def rolling(robot: kd.Robot) -> kd.constraints.Constraint:
    """Return the rows of the wheels."""
    return kd.constraints.differential_drive(robot, *WHEELS)


def speeds(robot: kd.Robot) -> kd.GeneralizedSpeeds:
    """
    Return the minimal speeds: of both wheels and of the arm's joints [rad/s].

    v = W(q) u is all that the wheels allow, so that no plan can slip.
    """

    def map_of_speeds(q: Any, t: Any) -> list[list[Any]]:
        ahead, turn = RADIUS / 2, RADIUS / TRACK
        rows = [
            [ahead * np.cos(q[2])] * 2 + [0.0] * 5,
            [ahead * np.sin(q[2])] * 2 + [0.0] * 5,
            [-turn, turn] + [0.0] * 5,
        ]
        return [*rows, *np.eye(7).tolist()]

    chosen = kd.generalized_speeds(robot, map_of_speeds, names=NAMES)
    rows = kd.casadi_function(robot, 'constraint_rows', (rolling(robot),))
    A = np.array(rows(q=START)['A'])
    slip = np.abs(A @ chosen.matrices(START)[0]).max()
    if slip > 1e-12:
        raise ValueError(f'RADIUS and TRACK are not those of the URDF: slip {slip} m/rad')
    return chosen


def limits() -> tuple[Floats, Floats]:
    """Return the limits of |u| [rad/s] and of the efforts [N m] of wheels and arm."""
    robot = loaded_robot()
    effort = robot.effort_limit[3:].copy()
    effort[:2] = GRIP
    return robot.velocity_limit[3:], effort


def drives() -> ca.Function:
    """
    Return the graph of the drives: (q, u, udot) -> dq/dt, efforts.

    Kane's equations in minimal speeds: W'(M vdot + C v + g + D v) + friction = efforts, with
    v = W u and vdot = W udot + dW/dt u. Nothing is inverted, and no multiplier is needed.
    """
    robot = loaded_robot(dry=False)
    chosen = speeds(robot)
    needed = kd.casadi_function(robot, 'inverse_dynamics')
    q, u, du = (ca.SX.sym(name, n) for name, n in (('q', robot.nq), ('u', 7), ('du', 7)))
    W = chosen.values(q, 0.0)[:, :-1]
    v = W @ u
    W_rate = chosen.rates(q, v, 0.0)[:, :-1]
    effort = W.T @ needed(q, v, W @ du + W_rate @ u) + DRY * ca.tanh(u / SWITCH)
    names = (['q', 'u', 'du'], ['dq', 'effort'])  # dq/dt = v: the base is planar
    return ca.Function('drives', [q, u, du], ca.cse([v, effort]), *names)


def spheres() -> ca.Function:
    """Return the graph of the middles of the spheres: q -> (n, 3) [m]."""
    robot = loaded_robot()
    poses = kd.casadi_function(robot, 'frame_poses', frames=tuple(SPHERES))
    q = ca.SX.sym('q', robot.nq)
    return ca.Function('spheres', [q], [poses(q)[:, :3]], ['q'], ['middles'])


def clearances() -> ca.Function:
    """
    Return the graph of what keeps the robot off the shelf: q -> distances, the arm's heights [m].

    A sphere is in front of the shelf, or above the cabinet and below the board: the larger of two
    distances, made smooth: `ROUND / 2` too large at an edge, and right elsewhere.
    """
    q = ca.SX.sym('q', len(START))
    middles = spheres()(q)
    front, (cabinet, board) = BOXES['cabinet'][0][0], OPENING
    x, z = middles[:, 0], middles[:, 2]
    ahead = front - x
    apart = [
        0.5 * (ahead + d + ca.sqrt((ahead - d) ** 2 + ROUND**2)) for d in (z - cabinet, board - z)
    ]
    return ca.Function('clearances', [q], [ca.horzcat(*apart), z[ON_ARM]])


def box(name: str) -> tuple[Floats, Floats]:
    """Return middle and half sizes of a box of the shelf [m]."""
    low, high = np.array(BOXES[name])
    return (low + high) / 2, (high - low) / 2


def middles_of(q: Floats) -> Floats:
    """Return the middles of the spheres in states (n, nq), shape (spheres, n, 3) [m]."""
    return np.array(spheres().map(len(q))(q.T)).reshape(len(SPHERES), len(q), 3)


def objects(q: Floats) -> Floats:
    """Return where the object is in states (n, nq), shape (n, 3) [m]."""
    return middles_of(q)[OBJECT]


def least_clearance(q: Floats) -> float:
    """Return the least distance of spheres from the boxes in states (n, nq) [m]."""
    ways = [np.abs(middles_of(q) - middle) - half for middle, half in map(box, BOXES)]
    apart = [np.linalg.norm(np.maximum(way, 0.0), axis=-1) for way in ways]
    return float((np.array(apart) - RADII[:, None]).min())
