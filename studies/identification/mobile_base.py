# SPDX-License-Identifier: Apache-2.0
"""
A mobile manipulator from simulated drives, on two driven wheels and on four mecanum ones.

The base drives from place to place while the arm reaches, at rest now and then: polynomials of
order 7 between random points. The simulated robot has masses of 80 to 120 % of the model's and
friction in all motors. Noise of 1 % of the rms of each signal is on efforts, positions, speeds and
odometry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.identification.constrained_samples import constrained_samples
from kane_dynamics.identification.friction import LINK_SIDE, FrictionTerm, friction_columns
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.result import Identification, relative_error
from kane_dynamics.identification.samples import Samples, prepared_samples
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters
from kane_dynamics.typing import Floats
from studies import robots
from studies.report import Table

RATE, DURATION = 1000.0, 60.0  # [Hz], [s]
CORNER = 4.0  # [Hz] of the filter
NOISE = 0.01  # of the rms of each signal
TRAINING, TEST, SEEDS = 11, 12, 5  # seeds of motions; how often noise is drawn
BASE = ('base_x', 'base_y', 'base_yaw')
SPANS = (1.0, 2.0)  # [s] of a motion from point to point
REACH = 1.2  # [rad] of each joint of the arm
SPEEDS = np.array([0.6, 0.4, 0.8])  # [m/s, m/s, rad/s] of the base at most
VISCOUS, COULOMB = 0.01, 0.03  # [s], - of the limit of an effort
STEP7 = np.array([-20.0, 70.0, -84.0, 35.0, 0.0, 0.0, 0.0, 0.0])  # from 0 to 1, at rest at both


@dataclass(frozen=True, eq=False)
class Drive:
    """
    A robot on wheels and what it truly is.

    Parameters
    ----------
    model : Dynamics
        As its URDF says.
    truth : Dynamics
        With other masses.
    motors : tuple of str
        All motors.
    observed : tuple of str
        Those whose speeds are independent.
    friction : dict
        Coefficients by motor and kind.

    """

    model: Any
    truth: Any
    motors: tuple[str, ...]
    observed: tuple[str, ...]
    friction: dict[str, dict[str, float]]

    @property
    def arm(self) -> tuple[str, ...]:
        """Return the motors of the arm."""
        return tuple(name for name in self.motors if name.startswith('arm'))

    def solution(self, result: Identification) -> Floats:
        """Return the true values of all unknowns."""
        friction = [
            self.friction[name].get(term.kind, 0.0) for name, term in result.equations.columns
        ]
        return np.concatenate([inertial_parameters(self.truth.robot), friction])


def mecanum_arm() -> kd.Robot:
    """Return the arm of the shipped robot on a base with four mecanum wheels."""
    arm = [b for b in robots.nonholonomic().robot.bodies if b.name.startswith('arm')]
    links = [replace(arm[0], parent='hull'), *arm[1:]]
    return kd.Robot('mecanum_arm', [*robots.mecanum_base().robot.bodies, *links])


def drive(name: str) -> Drive:
    """Return a robot, 'differential' or 'mecanum'."""
    robot = mecanum_arm() if name == 'mecanum' else robots.nonholonomic().robot
    rng = np.random.default_rng(1)
    factors = np.repeat(rng.uniform(0.8, 1.2, len(robot.bodies)), 10)
    other = with_inertial_parameters(robot, inertial_parameters(robot) * factors)
    rows = _mecanum if name == 'mecanum' else differential
    model, truth = (kd.compile(one, rows(one)) for one in (robot, other))
    motors = tuple(n for n in robot.velocity_names if n not in BASE)
    observed = tuple(n for n in motors if n != 'wheel_3')
    limits = np.where(np.isfinite(robot.effort_limit), robot.effort_limit, 30.0)
    friction = {
        n: {
            'viscous': VISCOUS * limits[robot.velocity_index(n)],
            'coulomb': COULOMB * limits[robot.velocity_index(n)],
        }
        for n in motors
    }
    return Drive(model, truth, motors, observed, friction)


def differential(robot: kd.Robot) -> tuple[Any, ...]:
    """Return the rows of both driven wheels."""
    return (kd.constraints.differential_drive(robot, *robots.WHEELS),)


def _mecanum(robot: kd.Robot) -> tuple[Any, ...]:
    return tuple(robots.on_mecanum_wheels(robot).constraints)


def point_to_point(t: Floats, size: float, rng: np.random.Generator, stay: float) -> Floats:
    """Return a path through random points, its first and second rate, shape (3, len(t))."""
    knots, ends = [0.0], [0.0]
    while knots[-1] < t[-1]:
        knots.append(knots[-1] + rng.uniform(*SPANS))
        ends.append(ends[-1] if rng.uniform() < stay else rng.uniform(-size, size))
    k = np.searchsorted(knots, t, side='right') - 1
    starts, spans, ways = np.array(knots)[k], np.diff(knots)[k], np.diff(ends)[k]
    x = (t - starts) / spans
    rows = [np.polyval(np.polyder(STEP7, m), x) * ways / spans**m for m in range(3)]
    rows[0] += np.array(ends)[k]
    return np.array(rows)


def motion(
    robot: Drive, seed: int, duration: float = DURATION
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return t, q, v, a of a drive."""
    model = robot.truth.robot
    rng, t = np.random.default_rng(seed), np.arange(0.0, duration, 1.0 / RATE)
    q, v, a = np.zeros((3, len(t), model.nv))
    for name in robot.arm:
        k = model.velocity_index(name)
        q[:, k], v[:, k], a[:, k] = point_to_point(t, REACH, rng, 0.2)
    twist = [point_to_point(t, size, rng, 0.2) for size in SPEEDS]
    if 'wheel_3' not in robot.motors:
        twist[1] = np.zeros_like(twist[1])
    (u, du, _), (s, ds, _), (w, dw, _) = twist
    yaw = np.cumsum(w) / RATE
    c, n = np.cos(yaw), np.sin(yaw)
    v[:, :3] = np.column_stack([u * c - s * n, u * n + s * c, w])
    a[:, 0] = du * c - ds * n - w * v[:, 1]
    a[:, 1] = du * n + ds * c + w * v[:, 0]
    a[:, 2], q[:, 2] = dw, yaw
    known = (*BASE, *robot.arm)
    v = robot.truth.consistent_velocity(q, v, known)
    a = robot.truth.consistent_acceleration(q, v, a, known)
    rolling = [k for k in range(model.nv) if model.velocity_names[k] not in robot.arm]
    q[:, rolling] = np.cumsum(v[:, rolling], axis=0) / RATE
    q[:, 2] = yaw
    return t, q, v, a


def efforts(robot: Drive, t: Floats, q: Floats, v: Floats, a: Floats) -> Floats:
    """Return the efforts of all motors with friction."""
    tau = robot.truth.constrained_inverse_dynamics(
        q, v, a, robot.motors, terms=('inertia', 'coriolis', 'gravity')
    ).effort.copy()
    every = Samples(t, q, v, a, tau, tau, q, v, np.zeros_like(v), np.arange(len(t)))
    for name, terms in robot.friction.items():
        columns = friction_columns(
            robot.truth.robot, every, name, [FrictionTerm(kind) for kind in terms]
        )
        tau[:, robot.truth.robot.velocity_index(name)] += columns @ list(terms.values())
    return tau


def recorded(robot: Drive, motion_seed: int, noise_seed: int, noise: float = NOISE) -> Samples:
    """Return the samples of a recording with noise on efforts, positions and speeds."""
    t, q, v, a = motion(robot, motion_seed)
    rng = np.random.default_rng(noise_seed)
    q, tau, v = (
        x + noise * x.std(axis=0) * rng.normal(size=x.shape)
        for x in (q, efforts(robot, t, q, v, a), v)
    )
    (samples,) = prepared_samples(t, q, tau, v, corner=CORNER, rate=12.5 * CORNER)
    return constrained_samples(robot.model, ObservedSpeeds(robot.model, robot.observed), samples)


def identified(robot: Drive, samples: Samples, names: Sequence[str]) -> Identification:
    """Return what the efforts of some motors say, with friction of all motors among them."""
    speeds = ObservedSpeeds(robot.model, [name for name in names if name in robot.observed])
    return identify(
        robot.model, [samples], friction=dict.fromkeys(names, LINK_SIDE), speeds=speeds
    )


def without_wheels(whole: Identification, arm: Identification) -> Floats:
    """Return what the arm alone says, in the unknowns of all motors."""
    solution = np.zeros(len(whole.equations.names))
    for name, value in zip(arm.equations.names, arm.solutions['consistent'], strict=True):
        solution[whole.equations.names.index(name)] = value
    return solution


def simulated() -> list[Table]:
    """Return how well both robots are identified."""
    columns = 'base', 'rank', 'condition', 'sd', 'largest', 'beyond 3'
    parameters = Table('Errors of all base parameters over their deviations', columns)
    heads = 'base', 'motors', 'URDF', 'all motors', 'arm alone'
    table = Table('Errors on a new motion [% of the range], largest of the motors', heads)
    for name in ('differential', 'mecanum'):
        robot = drive(name)
        results = [
            identified(robot, recorded(robot, TRAINING, seed), robot.motors)
            for seed in range(SEEDS)
        ]
        ratios = np.concatenate([error_ratios(robot, one) for one in results])
        base = results[0].base
        sizes = np.abs(ratios)
        numbers = f'{np.sqrt(np.mean(ratios**2)):.2f}', f'{sizes.max():.1f}'
        beyond = f'{(sizes > 3.0).sum()} of {len(sizes)}'
        parameters.add(name, str(base.rank), f'{base.condition:.0f}', *numbers, beyond)
        test, whole = recorded(robot, TEST, 100), results[0]
        arm = identified(robot, recorded(robot, TRAINING, 0), robot.arm)
        measured = whole.equations.efforts(test, test.tau)
        solutions = [whole.solutions[x] for x in ('nominal', 'consistent')]
        errors = [
            relative_error(measured, whole.equations.predicted(test, x))
            for x in (*solutions, without_wheels(whole, arm))
        ]
        wheels = [k for k, motor in enumerate(robot.observed) if motor not in robot.arm]
        for part, indices in (('wheels', wheels), ('arm', range(len(wheels), measured.shape[1]))):
            table.add(name, part, *(f'{x[list(indices)].max():.2f}' for x in errors))
    return [parameters, table]


def error_ratios(robot: Drive, result: Identification) -> Floats:
    """Return errors of the base parameters over their deviations."""
    errors = result.fit.values - result.base.matrix @ robot.solution(result)
    return np.asarray(errors / np.sqrt(np.diag(result.fit.covariance)))
