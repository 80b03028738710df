# SPDX-License-Identifier: Apache-2.0
"""Every kind of constraint on a robot and at a state in general position."""

from dataclasses import dataclass, replace

import numpy as np

import kane_dynamics as kd
from studies.random_robots import random_tree
from support.machines import (
    Z,
    at,
    differential_drive,
    four_bar,
    four_bar_coordinates,
    inertia,
    revolute,
    rolling_disc,
    turned,
)
from support.trees import random_state


@dataclass(frozen=True)
class Case:
    """A robot, a constraint on it, and a state that need not satisfy A v = b_0."""

    robot: kd.Robot
    constraint: object
    q: np.ndarray
    v: np.ndarray
    t: float = 0.0


@dataclass(frozen=True)
class Scaled:
    """Another constraint with every row multiplied by a factor."""

    inner: object
    factor: float

    @property
    def labels(self):
        return self.inner.labels

    def rows(self, robot, q, v, t):
        return [
            replace(
                row,
                coefficients={k: c * self.factor for k, c in row.coefficients.items()},
                velocity=row.velocity * self.factor,
                acceleration=row.acceleration * self.factor,
            )
            for row in self.inner.rows(robot, q, v, t)
        ]


def rows_at(case, q=None, v=None, t=None):
    """Return the stacked rows of a case, at another state where given."""
    q = case.q if q is None else q
    v = case.v if v is None else v
    t = case.t if t is None else t
    return kd.constraints.ConstraintSet(case.robot, (case.constraint,)).rows(
        np.asarray(q), np.asarray(v), t
    )


def free_body():
    """Return a body that moves freely, its centre of mass beside its frame."""
    load = inertia(1.3, (0.01, -0.02, 0.03), (0.1, 0.15, 0.12))
    return kd.Robot('body', [kd.Body('body', '', kd.Joint('base', kd.Free()), inertia=load)])


def wheeled(base='planar', **dynamics):
    """
    Return a base with a wheel on a caster: fork about z, wheel about an axis near y.

    With `base` 'floating' the wheel leans and lifts with the base.
    """
    kind = kd.Planar() if base == 'planar' else kd.Free()
    trunk = inertia(8.0, (0.1, -0.05, 0.2), (0.3, 0.4, 0.5))
    wheel = inertia(0.9, (0, 0, 0), (0.003, 0.005, 0.003))
    fork = inertia(0.5, (-0.02, 0.01, 0.03), (0.002, 0.001, 0.002))
    axis = (0.1, 1.0, 0.2) if base == 'floating' else (0.0, -1.0, 0.0)
    bodies = [
        kd.Body('base', '', kd.Joint('base', kind), inertia=trunk),
        kd.Body('fork', 'base', revolute('fork', Z, **dynamics), at(0.3, 0.1, 0.1), fork),
        kd.Body(
            'wheel', 'fork', revolute('wheel', axis), turned(Z, 0.2, (-0.05, 0.02, -0.01)), wheel
        ),
    ]
    return kd.Robot(f'{base}_wheel', bodies)


def limited():
    """Return a wheel on a caster that turns so far only."""
    return wheeled('planar', lower=-0.4, upper=0.3)


def rheonomic_rows(robot):
    """Return A(q, t) and b(q, t), nonlinear in both, of two rows."""

    def A(q, t):  # noqa: N802
        n = robot.nv
        first = [np.sin(q[k % len(q)] + 0.3 * k + t) for k in range(n)]
        second = [np.exp(0.3 * q[-1]) * (k - 1.5) + q[0] * q[1] * t for k in range(n)]
        return [first, second]

    def b(q, t):
        return [q[0] * np.cos(2.0 * t), 0.4 * q[1] ** 2 + t**3]

    return A, b


def rheonomic_guide(q, t):
    """Return Phi(q, t), nonlinear in both, of two rows."""
    return [q @ q * np.cos(t) - q[0] * q[-1] + t**3, np.sin(q[1] + t) + np.exp(0.3 * q[-2]) * q[3]]


def _door():
    """Return a body on a hinge that a closure makes, at a state on the closure."""
    load = inertia(1.3, (0.2, -0.1, 0.3), (0.1, 0.15, 0.12))
    body = kd.Body('leaf', '', kd.Joint('leaf', kd.Free()), inertia=load)
    frames = {
        'post': kd.Frame(-1, turned(Z, 0.4, (0.5, 0.2, 0.1))),
        'edge': kd.Frame(0, at(1, 0, 0)),
    }
    robot = kd.Robot('door', [body], frames=frames)
    axis = np.array((0.4, -0.3, 0.8)) / np.linalg.norm((0.4, -0.3, 0.8))
    hinge = kd.constraints.loop_closure(robot, 'post', 'edge', 'revolute', axis)
    pose = frames['post'].pose * turned(axis, 0.9) * at(-1, 0, 0)
    r, omega = pose.rotation, 1.7 * axis
    q = np.r_[pose.position(), r.w, r.x, r.y, r.z]
    return Case(robot, hinge, q, np.r_[omega, -np.cross(omega, (1.0, 0.0, 0.0))] + 0.1)


def _tree(base, seed=3):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, base)
    return robot, *random_state(robot, rng)[:2]


def _state(robot, seed=11):
    return random_state(robot, np.random.default_rng(seed))[:2]


def wheel_cases():
    """Return the cases whose rows speak of wheels on the ground, by name."""
    c = kd.constraints
    drive, disc = differential_drive(arm=True), rolling_disc()
    planar, floating = wheeled('planar'), wheeled('floating')
    tree, q, v = _tree('planar')
    coin = free_body()
    return {
        'no_side_slip': Case(drive, c.no_side_slip(drive), *_state(drive)),
        'no_side_slip_behind': Case(tree, c.no_side_slip(tree, -0.37), q, v),
        'differential_drive': Case(
            drive, c.differential_drive(drive, 'left', 'right', 0.0975), *_state(drive)
        ),
        'caster_wheel': Case(planar, c.rolling_wheel(planar, 'wheel', 0.08), *_state(planar)),
        'floating_wheel': Case(
            floating, c.rolling_wheel(floating, 'wheel', 0.12), *_state(floating)
        ),
        'coin': Case(coin, c.rolling_wheel(coin, 'base', 0.26, (0.9, 0.2, -0.4)), *_state(coin)),
        'ball': Case(coin, c.rolling_ball(coin, 'base', 0.11, (0.03, -0.02, 0.05)), *_state(coin)),
        'eccentric_wheel': Case(
            floating,
            c.rolling_wheel(floating, 'wheel', 0.12, centre=(0.05, 0.03, -0.02)),
            *_state(floating),
        ),
        'leaning_disc': Case(disc, c.rolling_wheel(disc, 'spin', 0.26), *_state(disc)),
        **_other_wheels(planar, floating, coin),
    }


SLOPE = kd.Plane((0.2, -0.3, 1.1), 0.15)


def _other_wheels(planar, floating, free):
    """Return wheels on a slope, with round tyres, with rollers, and knife edges."""
    c = kd.constraints
    made = {
        'round_tyre': (
            free,
            c.rolling_wheel(
                free, 'base', 0.305, (0.9, 0.2, -0.4), (0.03, 0, 0), plane=SLOPE, tyre_radius=0.045
            ),
        ),
        'ball_on_slope': (free, c.rolling_ball(free, 'base', 0.11, plane=SLOPE)),
        'tyre_on_slope': (
            floating,
            c.rolling_wheel(floating, 'wheel', 0.12, plane=SLOPE, tyre_radius=0.03),
        ),
        'roller_wheel': (planar, c.roller_wheel(planar, 'wheel', 0.6, 0.08)),
        'roller_on_slope': (floating, c.roller_wheel(floating, 'wheel', -0.8, 0.12, plane=SLOPE)),
        'knife_edge': (planar, c.knife_edge(planar, 'fork', (0.1, -0.2, 0), (0.3, 0.9, 0))),
        'edge_on_slope': (
            floating,
            c.knife_edge(floating, 'fork', (0.1, -0.2, 0.3), (1, 0.4, -0.3), plane=SLOPE),
        ),
    }
    return {name: Case(robot, row, *_state(robot)) for name, (robot, row) in made.items()}


def joint_cases():
    """Return the cases whose rows speak of joints and frames, by name."""
    c = kd.constraints
    tree, q, v = _tree('floating')
    bar, fork = four_bar(), limited()
    A, b = rheonomic_rows(tree)
    return {
        'lock': Case(tree, c.lock(tree, 'helical_joint'), q, v),
        'lock_planar': Case(tree, c.lock(tree, 'planar_joint'), q, v),
        'lock_spherical': Case(tree, c.lock(tree, 'spherical_joint'), q, v),
        'coupling': Case(
            tree, c.coupling(tree, 'helical_joint', 'prismatic_joint', -1.7, 0.2), q, v
        ),
        'loop_planar': Case(
            bar,
            c.loop_closure(bar, 'coupler_end', 'rocker_end'),
            four_bar_coordinates(0.9),
            _state(bar)[1],
        ),
        'loop_open': Case(bar, c.loop_closure(bar, 'coupler_end', 'rocker_end'), *_state(bar)),
        'loop_spatial': Case(tree, c.loop_closure(tree, 'spherical', 'free'), q, v),
        'loop_to_world': Case(tree, c.loop_closure(tree, 'anchor', 'tool'), q, v),
        'ball_open': Case(tree, c.loop_closure(tree, 'spherical', 'free', 'ball'), q, v),
        'ball_planar': Case(
            bar,
            c.loop_closure(bar, 'coupler_end', 'rocker_end', 'ball'),
            four_bar_coordinates(0.9),
            _state(bar)[1],
        ),
        'hinge_open': Case(
            tree, c.loop_closure(tree, 'prismatic', 'free', 'revolute', (0.3, -0.5, 0.7)), q, v
        ),
        'hinge_to_world': Case(
            tree, c.loop_closure(tree, 'planar', 'anchor', 'revolute', (0, 0, -2)), q, v
        ),
        'hinge_door': _door(),
        'joint_limit': Case(fork, c.joint_limit(fork, 'fork', 'upper'), *_state(fork)),
        'point_contact': Case(
            tree, c.point_contact(tree, 'tool', (0.1, -0.2, 0.3), (0.3, -1.0, 2.0), 0.2), q, v
        ),
        'holonomic': Case(tree, c.holonomic(tree, rheonomic_guide, 'guide'), q, v, 0.6),
        'pfaffian': Case(tree, c.pfaffian(tree, A, b, 'user'), q, v, 0.6),
    }


def all_cases():
    """Return every case by name."""
    return {**wheel_cases(), **joint_cases()}


CASES = all_cases()
