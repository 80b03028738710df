# SPDX-License-Identifier: Apache-2.0
"""Mechanical problems of the IVP test set, and the heavy top."""

from __future__ import annotations

from typing import Any

import numpy as np

import kane_dynamics as kd
from studies.suites.bodies import X, Y, at, inertia, prismatic, revolute
from studies.suites.case import Case, Model, simulated

MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
INERTIA = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
STIFFNESS, LENGTH, MOTOR = 4530.0, 0.07785, 0.033
D, DA, E, EA, RR, RA, SS = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035
SA, SB, SC, SD, TA, TB = 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
U, UA, UB, ZF, ZT, FA = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
ANGLES = ('beta', 'Theta', 'gamma', 'Phi', 'delta', 'Omega', 'epsilon')
START = (
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982120,
)
SQUEEZED = {
    0.03: (
        15.8107711951538,
        -15.7563710584119,
        0.0408222401196,
        -0.5347301163421,
        0.52440996588,
        0.5347301163421,
        1.0480807410419,
    ),
    0.05: (
        33.8258677669549,
        -33.5834315174643,
        0.1133950738125,
        -0.407852865602,
        0.526060444917,
        0.407852865602,
        1.0569024294349,
    ),
}
CAR = {
    3.0: (
        0.0493455784275402809,
        0.496989460230171154,
        1.04174252488542152,
        0.373911027265361257,
        -0.0770583684040972358,
        0.00744686658723778553,
        0.0175568157537232222,
        0.770341043779251976,
    )
}
TOP = {
    0.2: (0.605550561377, 0.598957681795, -0.523983027430),
    1.0: (0.173343964098, 0.640088592070, -0.748490791134),
    2.0: (-0.150416822746, -0.724165591637, -0.673022269560),
}


def squeezer() -> Model:
    """Return Andrews' squeezing mechanism: seven bars whose ends meet in one point."""

    def bar(k: int, parent: str, place: kd.Pose, com: Any) -> kd.Body:
        tensor = np.full(3, INERTIA[k])
        load = inertia(MASS[k], (*com, 0.0), tensor)
        return kd.Body(f'K{k + 1}', parent, revolute(ANGLES[k]), place, load)

    bodies = [
        bar(0, '', at(0, 0, 0), (RA, 0)),
        bar(1, 'K1', at(RR, 0, 0), (-DA, 0)),
        bar(2, '', at(*B, 0), (SA, SB)),
        bar(4, '', at(*A, 0), (TA, TB)),
        bar(3, 'K5', at(ZT, 0, 0), (0, EA - E)),
        bar(6, '', at(*A, 0), (UA, UB)),
        bar(5, 'K7', at(0, -U, 0), (ZF - FA, 0)),
    ]
    names = [body.name for body in bodies]
    ends = {'K2': (-D, 0), 'K3': (0, -SS), 'K4': (0, -E), 'K6': (ZF, 0)}
    frames = {f'{k}_end': kd.Frame(names.index(k), at(*end, 0)) for k, end in ends.items()}
    robot = kd.Robot('squeezer', bodies, (0, 0, 0), frames)
    loops = [
        kd.constraints.loop_closure(robot, 'K2_end', f'{k}_end', 'ball')
        for k in ('K3', 'K4', 'K6')
    ]
    crank, lever = (robot.velocity_index(name) for name in ('beta', 'gamma'))

    def forces(t: Any, q: Any, v: Any) -> list[Any]:
        """Return the motor's effort and that of the spring between C and the lever."""
        cos, sin = np.cos(q[lever]), np.sin(q[lever])
        x, y = SD * cos + SC * sin, SD * sin - SC * cos
        reach_x, reach_y = x + B[0] - C[0], y + B[1] - C[1]
        length = np.sqrt(reach_x * reach_x + reach_y * reach_y)
        push = -STIFFNESS * (length - LENGTH) / length
        efforts: list[Any] = [0.0] * robot.nv
        efforts[crank] = MOTOR
        efforts[lever] = push * (reach_y * x - reach_x * y)
        return efforts

    places = [ANGLES.index(name) for name in robot.velocity_names]
    return Model(robot, loops, np.array(START)[places], np.zeros(7), forces)


def angles(model: Model) -> Any:
    """Return a function of the state: the angles in the order of the test set."""
    places = [model.robot.velocity_index(name) for name in ANGLES]
    return lambda q, v: q[places]


def car_axis() -> Model:
    """Return two points on springs, the road under one of them in time: rows of q and t."""
    point = inertia(5e-4)
    bodies = []
    for side in ('left', 'right'):
        bodies += [
            kd.Body(f'{side}_x', '', prismatic(f'{side}_x', X)),
            kd.Body(side, f'{side}_x', prismatic(f'{side}_y', Y), inertia=point),
        ]
    robot = kd.Robot('car axis', bodies, (0, -1.0, 0))

    def road(t: Any) -> tuple[Any, Any]:
        y = 0.1 * np.sin(10.0 * t)
        return np.sqrt(1.0 - y * y), y

    def rows(q: Any, t: Any) -> list[Any]:
        x, y = road(t)
        apart = q[0] - q[2], q[1] - q[3]
        distance = np.sqrt(apart[0] * apart[0] + apart[1] * apart[1])
        return [q[0] * x + q[1] * y, distance - 1.0]

    def springs(t: Any, q: Any, v: Any) -> list[Any]:
        efforts = []
        for (x, y), (foot_x, foot_y) in (((q[0], q[1]), (0.0, 0.0)), ((q[2], q[3]), road(t))):
            dx, dy = x - foot_x, y - foot_y
            length = np.sqrt(dx * dx + dy * dy)
            pull = (0.5 - length) / length
            efforts += [pull * dx, pull * dy]
        return efforts

    q, v = np.array([0.0, 0.5, 1.0, 0.5]), np.array([-0.5, 0.0, -0.5, 0.0])
    return Model(robot, (kd.constraints.holonomic(robot, rows),), q, v, springs)


def heavy_top() -> Model:
    """Return a fast top on a ball joint, its mass centre 1 m from it."""
    load = inertia(15.0, Y, (0.234375, 0.46875, 0.234375))
    robot = kd.Robot(
        'heavy top',
        [kd.Body('top', '', kd.Joint('ball', kd.Spherical()), inertia=load)],
        (0, 0, -9.81),
    )
    return Model(robot, (), robot.neutral(), np.array([0.0, 150.0, -4.61538]))


def mass_centre(model: Model) -> Any:
    """Return a function of the state: where the mass centre of the top is."""
    return lambda q, v: kd.forward_kinematics(model.robot, q).pose('top').rotation_matrix()[:, 1]


CASES = (
    Case(
        "A03 Andrews' squeezer, 0.05 s",
        'IVP test set; IFToMM',
        'angles [rad]',
        1e-7,
        lambda: simulated(squeezer(), angles(squeezer()), SQUEEZED, step=5e-6),
    ),
    Case(
        'car axis, 3 s',
        'IVP test set',
        'positions [m], speeds [m/s]',
        1e-8,
        lambda: simulated(car_axis(), lambda q, v: np.r_[q, v], CAR, step=2e-4),
    ),
    Case(
        'heavy top, 2 s',
        'Terze, Mueller, Zlatar 2016; Exudyn',
        'mass centre [m]',
        1e-7,
        lambda: simulated(heavy_top(), mass_centre(heavy_top()), TOP, step=1e-4),
    ),
)
