# SPDX-License-Identifier: Apache-2.0
"""Bodies that roll: a bicycle, a rattleback, a coin, Euler's disc."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import kane_dynamics as kd
from studies.suites.bicycle import ACCELERATION, NAMES, STATE, bicycle
from studies.suites.bodies import X, Y, Z, inertia, prismatic, revolute
from studies.suites.case import Case, Model, Outcome, simulated

G = 9.81
AXES = np.array([0.20, 0.03, 0.02])  # of the rattleback's ellipsoid [m]
CENTRE = 0.01  # [m] from its mass centre down to the ellipsoid's, up in axes with z down
BELOW = {
    1.0: (-0.0060043785, 0.0231674066, -4.2661114654),
    2.0: (-0.1049102455, 0.0434142161, -6.3575564683),
    3.0: (-0.0454995368, 0.0517406455, -6.7710794267),
    5.0: (-0.0469311349, 0.0144529744, -2.7501613135),
}
COIN = {
    0.1: (0.001407083805, 0.001455183248),
    0.25: (-0.001037922578, -0.003220298617),
    0.5: (0.002004947021, 0.002596923104),
    1.0: (-0.002971005661, -0.001293378381),
}


def accelerations(model: Model, names: Any, answer: Any) -> Outcome:
    """Return how far accelerations at the first state are from an answer."""
    dynamics = kd.compile(model.robot, model.rows)
    began = time.thread_time()
    a = dynamics.acceleration(model.q, model.v, np.zeros(model.robot.nv))
    spent = time.thread_time() - began
    places = [model.robot.velocity_index(name) for name in names]
    return Outcome(float(np.abs(a[places] - answer).max()), spent, 0)


def basu_mandal() -> Model:
    """Return the bicycle at the state of Table 1; the wheels give the place and its rates."""
    robot, rows = bicycle()
    q, v = np.zeros(9), np.zeros(9)
    for name, (angle, rate) in STATE.items():
        q[NAMES.index(name)], v[NAMES.index(name)] = angle, rate
    lean, steer = NAMES.index('lean'), NAMES.index('steer')
    exact = kd.constraints.holonomic(
        robot, lambda x, t: [x[lean] - STATE['lean'][0], x[steer] - STATE['steer'][0]]
    )
    q, _ = kd.simulation.project(robot, (*rows, exact), q, np.zeros(9), 0.0)
    A = kd.constraints.ConstraintSet(robot, rows).rows(q, v, 0.0).matrix
    v[:3] = np.linalg.lstsq(A[:, :3], -A[:, 3:] @ v[3:], rcond=None)[0]
    return Model(robot, rows, q, v)


def on_three_slides(*hinges: tuple[str, Any], load: kd.Inertia, gravity: float) -> kd.Robot:
    """Return a body on slides x, y, z and three hinges, all of its mass on the last."""
    joints = [prismatic('x', X), prismatic('y', Y), prismatic('z', Z)]
    joints += [revolute(name, axis) for name, axis in hinges]
    parents = ['', *(joint.name for joint in joints)]
    bodies = [
        kd.Body(joint.name, parent, joint, inertia=load if joint is joints[-1] else inertia(0.0))
        for joint, parent in zip(joints, parents, strict=False)
    ]
    return kd.Robot('rolling', bodies, (0.0, 0.0, gravity))


def turn(axis: int, angle: Any) -> Any:
    """Return the matrix of a turn about an axis of the frame, of numbers or traced."""
    c, s = np.cos(angle), np.sin(angle)
    one, none = 1.0 + 0.0 * angle, 0.0 * angle
    rows = {
        0: [[one, none, none], [none, c, -s], [none, s, c]],
        1: [[c, none, s], [none, one, none], [-s, none, c]],
        2: [[c, -s, none], [s, c, none], [none, none, one]],
    }
    return np.array(rows[axis])


def rattleback() -> Model:
    """Return the ellipsoid of Kane and Levinson (1982) as rows of one's own, axes with z down."""
    tensor = np.array([[2e-4, -2e-5, 0.0], [-2e-5, 1.6e-3, 0.0], [0.0, 0.0, 1.7e-3]])
    hinges = (('gamma', Z), ('alpha', X), ('beta', Y))
    robot = on_three_slides(*hinges, load=kd.Inertia(1.0, (0, 0, 0), tensor), gravity=G)

    def contact(q: Any) -> tuple[Any, Any]:
        """Return the contact from the mass centre, in the world, and its depth."""
        R = turn(2, q[3]) @ turn(0, q[4]) @ turn(1, q[5])
        down = R.T[:, 2]
        depth = np.sqrt(sum(AXES**2 * down * down))
        return R @ (AXES**2 * down / depth - CENTRE * np.array(Z)), depth - CENTRE * down[2]

    def sliding(q: Any, t: Any) -> Any:
        """Return the rows of the horizontal velocity of the point in contact."""
        r, yawed = contact(q)[0], turn(2, q[3])
        axes = np.array(Z), yawed[:, 0], (yawed @ turn(0, q[4]))[:, 1]
        moved = np.array([np.cross(axis, r) for axis in axes]).T
        return [[1.0, 0.0, 0.0, *moved[0]], [0.0, 1.0, 0.0, *moved[1]]]

    c = kd.constraints
    rows = (
        c.holonomic(robot, lambda q, t: q[2] + contact(q)[1], 'floor'),
        c.pfaffian(robot, sliding, label='no slip'),
    )
    q = np.r_[0.0, 0.0, 0.0, 0.0, np.deg2rad([0.5, 0.5])]
    q[2] = -contact(q)[1]
    # body rates (0, 0, -5): R = Rz(gamma) Rx(alpha) Ry(beta)
    alpha, beta = q[4:]
    rates = np.array(
        [
            [-np.cos(alpha) * np.sin(beta), np.cos(beta), 0.0],
            [np.sin(alpha), 0.0, 1.0],
            [np.cos(alpha) * np.cos(beta), np.sin(beta), 0.0],
        ]
    )
    v = np.r_[0.0, 0.0, 0.0, np.linalg.solve(rates, [0.0, 0.0, -5.0])]
    v = kd.consistent_velocity(robot, q, v, rows, known=robot.velocity_names[3:])
    return Model(robot, rows, q, v)


def thin_disc(radius: float, mass: float) -> kd.Robot:
    """Return a thin disc, its axis along x where yaw, lean and spin vanish."""
    load = inertia(mass, (0, 0, 0), mass * radius**2 * np.array([0.5, 0.25, 0.25]))
    return on_three_slides(('yaw', Z), ('lean', Y), ('spin', X), load=load, gravity=-G)


def disc(radius: float, mass: float, lean: float, yaw_rate: float, spin: float) -> Model:
    """Return a thin disc that rolls, its edge at the origin."""
    robot = thin_disc(radius, mass)
    rows = (kd.constraints.rolling_wheel(robot, 'spin', radius),)
    q = np.array([radius * np.sin(lean), 0.0, radius * np.cos(lean), 0.0, lean, 0.0])
    v = np.array([0.0, 0.0, 0.0, yaw_rate, 0.0, spin])
    return Model(
        robot, rows, q, kd.consistent_velocity(robot, q, v, rows, known=('yaw', 'lean', 'spin'))
    )


def edge(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return where the coin touches the floor."""
    yaw, lean = q[3], q[4]
    return q[:2] - 0.01 * np.sin(lean) * np.array([np.cos(yaw), np.sin(yaw)])


def euler_disc() -> Outcome:
    """Return the accelerations of a disc of 75 mm that turns about its centre at 10 degrees."""
    radius, inclination = 0.0375, np.deg2rad(10.0)
    rate = np.sqrt(4.0 * G / (radius * np.sin(inclination)))
    lean = np.pi / 2 - inclination
    model = disc(radius, 0.44, lean, rate, rate * np.sin(lean))
    return accelerations(model, model.robot.velocity_names, 0.0)


CASES = (
    Case(
        "Whipple's bicycle, nonlinear",
        'Basu-Mandal et al. 2007, Table 1',
        'six accelerations [rad/s^2]',
        1e-11,
        lambda: accelerations(basu_mandal(), ACCELERATION, list(ACCELERATION.values())),
    ),
    Case(
        'rattleback, 5 s',
        'Kane and Levinson 1982',
        'angles [rad]',
        1e-8,
        lambda: simulated(rattleback(), lambda q, v: q[[4, 5, 3]], BELOW, step=5e-5),
    ),
    Case(
        'rolling coin, 1 s',
        'Rill and Schaeffer 2010; Exudyn',
        'contact point [m]',
        1e-11,
        lambda: simulated(
            disc(0.01, 1.0, np.deg2rad(1.0), 10 * np.pi, 0.0), edge, COIN, step=2.5e-4
        ),
    ),
    Case("Euler's disc", 'closed form', 'accelerations [m/s^2, rad/s^2]', 1e-9, euler_disc),
)
