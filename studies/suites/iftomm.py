# SPDX-License-Identifier: Apache-2.0
"""The library of mechanisms of IFToMM: A01 to A05 (Gonzalez, Dopico, Lugris, Cuadrado 2006)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import kane_dynamics as kd
from studies.suites.bodies import X, Y, Z, at, box, inertia, prismatic, revolute
from studies.suites.case import Case, Model, simulated

PENDULUM = {
    1.0: (-0.986291751131875, -0.165010853125541),
    5.0: (0.942305435043757, -0.334754338414001),
    10.0: (0.275087462576117, -0.961419205099125),
}
WINDOWS = {
    2: {
        1.0: (-0.195020301949, -0.980799205662),
        4.0: (0.117616102376, 0.993059138451),
        10.0: (0.328458111533, 0.944518538181),
    },
    10: {
        1.0: (-0.129306015051, -0.991604737015),
        4.0: (0.077711926447, 0.996975855519),
        10.0: (0.204353560983, 0.978897145830),
    },
    40: {
        1.0: (-0.115356880632, -0.993324113300),
        4.0: (0.069342032227, 0.997592944325),
        10.0: (0.180512226681, 0.983572740583),
    },
}
BRICARD = {
    0.5: (0.968283679107, -1.224625159436, 0.750146609438),
    1.0: (0.510501461187, -1.649167599395, 0.140123114553),
    2.0: (-0.969340344778, -1.221246894956, 0.754278010780),
    5.0: (0.999999997738, -1.000067257698, 0.999932740040),
    10.0: (0.999999963806, -1.000269012696, 0.999730951120),
}
GOVERNOR = {
    0.1: (0.523836476, 0.496173869, 0.62210668, 6.10371781),
    0.5: (0.743249425, 0.259491382, 2.80767949, 5.10341542),
    1.0: (0.501420922, 0.521833302, 5.58634697, 6.27112574),
    5.0: (0.535563103, 0.482874578, 27.94253199, 6.02249651),
    10.0: (0.619622917, 0.390073701, 55.93540992, 5.54820362),
}
STIFFNESS, DAMPING, REST = 8e5, 4e4, 0.5  # [N/m], [N s/m], [m]


def direction(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return where the end of a bar of 1 m is that turns by the first joint."""
    return np.array([np.cos(q[0]), np.sin(q[0])])


def pendulum() -> Model:
    """Return a point on a massless bar, at rest and horizontal."""
    body = kd.Body('bar', '', revolute('pin'), inertia=inertia(1.0, X))
    return Model(kd.Robot('pendulum', [body], (0, -9.81, 0)), (), [0.0], [0.0])


def windows(count: int) -> Model:
    """Return bars of 1 m and 1 kg, as many windows in a row, cranks upright."""
    load = inertia(1.0, (0.5, 0, 0), (0, 1 / 12, 1 / 12))
    bodies, frames = [], {}
    for k in range(count + 1):
        bodies.append(kd.Body(f'crank_{k}', '', revolute(f'pin_{k}'), at(k, 0, 0), load))
        frames[f'top_{k}'] = kd.Frame(len(bodies) - 1, at(1, 0, 0))
        if k < count:
            hinge = revolute(f'hinge_{k}')
            bodies.append(kd.Body(f'coupler_{k}', f'crank_{k}', hinge, at(1, 0, 0), load))
            frames[f'end_{k}'] = kd.Frame(len(bodies) - 1, at(1, 0, 0))
    robot = kd.Robot(f'{count} windows', bodies, (0, -9.81, 0), frames)
    loops = [
        kd.constraints.loop_closure(robot, f'end_{k}', f'top_{k + 1}', 'revolute', Z)
        for k in range(count)
    ]
    turns = np.array([1.0 if name.startswith('pin') else -1.0 for name in robot.velocity_names])
    return Model(robot, loops, turns * np.pi / 2, -turns)


def bricard() -> Model:
    """Return five bars between six hinges, at rest: one freedom, five rows of rank four."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)])
    axes = Y, Z, X, Y, Z, X
    bodies = []
    for k, (along, axis) in enumerate(zip(np.diff(points, axis=0), axes, strict=False)):
        sides = np.where(along != 0, 1.0, 0.1)
        place = at(*(points[k] - points[max(k - 1, 0)]))
        parent = f'bar_{k - 1}' if k else ''
        load = box(1.0, along / 2, *sides)
        bodies.append(kd.Body(f'bar_{k}', parent, revolute(f'hinge_{k}', axis), place, load))
    frames = {
        'P3': kd.Frame(3, at(0, 0, 0)),
        'P5': kd.Frame(4, at(*(points[5] - points[4]))),
        'ground': kd.Frame(-1, at(*points[5])),
    }
    robot = kd.Robot("Bricard's loop", bodies, (0, -9.81, 0), frames)
    loop = kd.constraints.loop_closure(robot, 'P5', 'ground', 'revolute', X)
    return Model(robot, (loop,), np.zeros(5), np.zeros(5))


def place_of(model: Model, frame: str) -> Callable[..., np.ndarray]:
    """Return a function of the state: where a frame is."""

    def observed(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(kd.forward_kinematics(model.robot, q).pose(frame).position())

    return observed


def governor() -> Model:
    """Return a shaft, a slider on it, and two arms with balls that springs hold to the slider."""
    bodies = [
        kd.Body('shaft', '', revolute('turn'), inertia=box(0.3, (0, 0, 0.5), 0.01, 0.01, 1.0)),
        kd.Body('slider', 'shaft', prismatic('s', Z), inertia=box(3.0, (0, 0, 0), 0.1, 0.1, 0.1)),
    ]
    for name, side in (('right', 1.0), ('left', -1.0)):
        load = box(0.3, (side * 0.5, 0, 0), 1.0, 0.01, 0.01) + inertia(5.0, (side, 0, 0))
        hinge = revolute(name, (0.0, side, 0.0))
        hub = at(side * 0.05, 0, 1.0)
        bodies.append(kd.Body(f'rod_{name}', 'shaft', hinge, hub, load))
    robot = kd.Robot('governor', bodies, (0, 0, -9.81))
    q, v = np.array([0.0, 0.5, np.pi / 6, np.pi / 6]), np.array([2 * np.pi, 0.0, 0.0, 0.0])
    return Model(robot, (), q, v, springs)


def springs(t: Any, q: Any, v: Any) -> list[Any]:
    """Return the efforts of the springs from the middle of a rod to the slider."""
    efforts = [0.0, 0.0]
    for k in (2, 3):
        cos, sin = np.cos(q[k]), np.sin(q[k])
        out, height = 0.5 * cos, 1.0 - 0.5 * sin - q[1]
        length = np.sqrt(out * out + height * height)
        out_rate, height_rate = -0.5 * sin * v[k], -0.5 * cos * v[k] - v[1]
        rate = (out * out_rate + height * height_rate) / length
        pull = (STIFFNESS * (length - REST) + DAMPING * rate) / length
        efforts[1] = efforts[1] + pull * height
        efforts.append(pull * (0.5 * sin * out + 0.5 * cos * height))
    return efforts


SOURCE = 'IFToMM library; answers by Lagrange in CasADi'
CASES = (
    Case(
        'A01 pendulum, 10 s',
        'closed form',
        'position [m]',
        1e-9,
        lambda: simulated(pendulum(), direction, PENDULUM),
    ),
    *(
        Case(
            f'A02 {count} windows, 10 s',
            SOURCE,
            'position [m]',
            1e-4,
            partial(lambda count: simulated(windows(count), direction, WINDOWS[count]), count),
        )
        for count in WINDOWS
    ),
    Case(
        "A04 Bricard's loop, 10 s",
        SOURCE,
        'position of P3 [m]',
        1e-8,
        lambda: simulated(bricard(), place_of(bricard(), 'P3'), BRICARD),
    ),
    Case(
        'A05 governor, 10 s',
        'Lagrange in CasADi, BDF 1e-10',
        'slider [m], angles [rad], rate [rad/s]',
        1e-6,
        lambda: simulated(governor(), lambda q, v: [q[1], q[2], q[0], v[0]], GOVERNOR, step=1e-4),
    ),
)
