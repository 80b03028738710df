# SPDX-License-Identifier: Apache-2.0
"""Robots on courses: other torques of the wheels every 5 s, all else on springs and dampers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np
from scipy.integrate import solve_ivp

import kane_dynamics as kd
from kane_dynamics.mujoco.plugin import NAME, WEIGHT
from kane_dynamics.typing import Floats
from studies import robots
from studies.peers.mujoco_twin import add_bodies

SPAN = 5.0  # [s] of one effort of the wheels
BURST, ROUNDS = 200, 200  # steps of a timing, and timings
STEP = 0.002  # [s], where no other is said
RADIUS = 0.1  # [m] of the wheels of the shipped robot
CIRCLE = 0.5, 0.0, 0.4  # [m/s, rad/s] for which the steered wheels are turned and held


class Course(NamedTuple):
    """A robot, its rows, and what moves it."""

    robot: kd.Robot
    rows: tuple[Any, ...]
    start: Floats
    stiffness: Floats
    efforts: Floats  # of each span


@cache
def course_of(name: str, seconds: float) -> Course:
    """Return a robot on its course: springs and dampers hold all that is no wheel."""
    if name in ('nonholonomic', 'tiago'):
        robot = getattr(robots, name)().robot
    else:
        robot = getattr(robots, f'{name}_base')().robot
    names, nv = robot.velocity_names, robot.nv
    wheels = np.array([x.startswith('wheel') for x in names])
    held = ~wheels & (np.arange(nv) > 2)
    M = kd.mass_matrix(robot, robot.neutral())
    stiffness = np.where(held, 100.0 * np.diag(M), 0.0)  # gravity pulls by 0.1 rad
    damping = np.where(held, 10.0 / np.diag(np.linalg.inv(M)), np.where(wheels, 0.5, 0.0))
    robot = _damped(robot, damping)
    rows, start = _on_wheels(name, robot)
    start = start + np.where(held & [not x.startswith('steer') for x in names], 0.2, 0.0)
    random = np.random.default_rng(5).normal(0.0, 1.0, (int(np.ceil(seconds / SPAN)), nv))
    return Course(robot, rows, start, stiffness, random * wheels)


def _on_wheels(name: str, robot: kd.Robot) -> tuple[tuple[Any, ...], Floats]:
    """Return the rows of a robot, and a position that they allow."""
    if name in ('nonholonomic', 'tiago'):
        drive = kd.constraints.differential_drive(robot, *robots.WHEELS)
        return (drive,), robot.neutral()
    if name == 'mecanum':
        return tuple(robots.on_mecanum_wheels(robot).constraints), robot.neutral()
    base = robots.on_steered_wheels(robot)
    start = base.at_angles(base.steering_angles(CIRCLE).angles, robot.neutral())
    return (*base.constraints, _held(robot, base.steering, start)), start


def _held(robot: kd.Robot, joints: Sequence[str], start: Floats) -> Any:
    """Return the rows that hold joints where they are."""
    places = [robot.coordinate_index(joint) for joint in joints]
    return kd.constraints.holonomic(robot, lambda q, t: [q[k] - start[k] for k in places], 'held')


def _damped(robot: kd.Robot, damping: Floats) -> kd.Robot:
    """Return a robot with other dampers, and without dry friction."""
    bodies = [
        replace(body, joint=replace(body.joint, damping=float(damping[index.v][0]), friction=0.0))
        for body, index in zip(robot.bodies, robot.indices, strict=True)
    ]
    return kd.Robot(robot.name, bodies, robot.gravity, dict(robot.frames), dict(robot.wheels))


@cache
def truth(name: str, seconds: float) -> tuple[Any, ...]:
    """Return q and v of each span at any time in it, by our dynamics and DOP853 at 1e-10."""
    course = course_of(name, seconds)
    robot = course.robot
    engine = kd.compile(robot, course.rows)
    state, spans = np.concatenate([course.start, np.zeros(robot.nv)]), []
    for effort in course.efforts:

        def rate(_: float, x: Floats, effort: Floats = effort) -> Floats:
            q, v = x[: robot.nq], x[robot.nq :]
            return np.concatenate([v, engine.acceleration(q, v, effort - course.stiffness * q)])

        options = {'rtol': 1e-10, 'atol': 1e-11, 'dense_output': True}
        spans.append(solve_ivp(rate, (0.0, SPAN), state, 'DOP853', **options).sol)
        state = spans[-1](SPAN)
    return tuple(spans)


def ends(name: str, seconds: float) -> Floats:
    """Return q at the end of each span."""
    nq = course_of(name, seconds).robot.nq
    return np.array([span(SPAN)[:nq] for span in truth(name, seconds)])


def model_of(
    course: Course,
    integrator: str,
    step: float,
    weight: float | None = WEIGHT,
    edit: Callable[[Any], None] = lambda spec: None,
) -> Any:
    """Return the robot in MuJoCo, with exact wheels unless `weight` is None."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity, spec.option.timestep = course.robot.gravity, step
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f'mjINT_{integrator.upper()}')
    add_bodies(spec, course.robot)
    for joint in spec.joints:
        value = course.stiffness[course.robot.velocity_index(joint.name)]
        joint.stiffness = [value, 0.0, 0.0] if np.ndim(joint.stiffness) else value
    edit(spec)
    if weight is not None:
        kd.mujoco.attach(spec, course.robot, course.rows, weight=weight)
    return spec.compile()


class Driven(NamedTuple):
    """What a course showed."""

    ends: Floats  # q at the end of each span
    slip: float  # [m/s]
    odometry: float  # [m], NaN without a differential drive


def driven(course: Course, model: Any) -> Driven:
    """Drive a course on exact wheels."""
    data, steps = mujoco.MjData(model), round(SPAN / model.opt.timestep)
    data.qpos[:] = course.start
    ends, slip, odometry = [], 0.0, _Odometry(course)
    for effort in course.efforts:
        data.qfrc_applied[:] = effort
        for _ in range(steps):
            before = data.qpos.copy()
            mujoco.mj_step(model, data)
            values = data.sensor(NAME).data
            slip = max(slip, np.abs(values[len(values) // 2 :]).max())
            odometry.add(before, data.qpos)
        ends.append(data.qpos.copy())
    return Driven(np.array(ends), slip, odometry.error)


def costs(course: Course, models: Sequence[Any]) -> list[float]:
    """Return the least times of a step of some models, taken in turn [us]."""
    least = [np.inf] * len(models)
    for _ in range(ROUNDS):
        for k, model in enumerate(models):
            data = mujoco.MjData(model)
            data.qpos[-course.robot.nq + 3 :] = course.start[3:]
            data.qfrc_applied[-course.robot.nv + 3 :] = course.efforts[0][3:]
            start = time.perf_counter()
            mujoco.mj_step(model, data, BURST)
            least[k] = min(least[k], 1e6 * (time.perf_counter() - start) / BURST)
    return least


class _Odometry:
    """The way by the angles of the wheels."""

    def __init__(self, course: Course) -> None:
        names = course.robot.velocity_names
        self._wheels = [names.index(x) for x in robots.WHEELS] if robots.WHEELS[0] in names else []
        self._radius = [course.robot.wheels[x].radius for x in robots.WHEELS if self._wheels]
        self._way, self._true, self.error = np.zeros(2), np.zeros(2), np.nan

    def add(self, before: Floats, after: Floats) -> None:
        """Add a step: a straight line at the heading in its middle."""
        if not self._wheels:
            return
        forward = float(np.mean(self._radius * (after - before)[self._wheels]))
        heading = 0.5 * (before[2] + after[2])
        half = 0.5 * (after[2] - before[2])
        chord = forward * np.sinc(half / np.pi)
        self._way += chord * np.array([np.cos(heading), np.sin(heading)])
        self._true += after[:2] - before[:2]
        self.error = float(np.hypot(*(self._way - self._true)))
