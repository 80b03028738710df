# SPDX-License-Identifier: Apache-2.0
"""
Exact wheels inside MuJoCo, against our own dynamics, statics, and wheels that are contacts.

``python -m studies.mujoco_wheels [--seconds 60] [--minutes 10] [--output FOLDER]``. On each course
the wheels get other torques every 5 s; steering and arm swing on springs and dampers. The truth is
our forward dynamics by DOP853 at 1e-10.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np
from scipy.integrate import solve_ivp

import kane_dynamics as kd
from kane_dynamics.mujoco.plugin import INSTANCE, WEIGHT
from kane_dynamics.typing import Floats
from studies import report, robots
from studies.peers.mujoco_twin import add_bodies
from studies.report import Table

SPAN = 5.0  # [s] of one effort of the wheels
RADIUS, TRACK = 0.1, 0.42  # [m] of the shipped robot
TORQUE = 6.0  # [N m] of each wheel against a wall
HELD = 100.0  # [N m/rad] of each wheel meanwhile
SIDE = 10.0  # [N m] of the first joint of the arm, against a wall beside it
ROBOTS = 'nonholonomic', 'tiago', 'mecanum', 'swerve'
INTEGRATORS = 'rk4', 'implicitfast'
BESIDE = [0.5, 0.55, 1.0], [0.8, 0.3, 1.0]  # [m] place and half sizes of that wall
CIRCLE = 0.5, 0.0, 0.4  # [m/s, rad/s] for which the steered wheels are turned and locked
STEPS = 0.002, 0.005, 0.01
CONTACTS = [(impratio, noslip) for noslip in (0, 10) for impratio in (1, 10, 100)]
BOX, PLANE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE


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
    held = [kd.constraints.lock(robot, steering) for steering in base.steering]
    angles = base.steering_angles(CIRCLE).angles
    return (*base.constraints, *held), base.at_angles(angles, robot.neutral())


def _damped(robot: kd.Robot, damping: Floats) -> kd.Robot:
    """Return a robot with other dampers, and without dry friction."""
    bodies = [
        replace(body, joint=replace(body.joint, damping=float(damping[index.v][0]), friction=0.0))
        for body, index in zip(robot.bodies, robot.indices, strict=True)
    ]
    return kd.Robot(robot.name, bodies, robot.gravity, dict(robot.frames), dict(robot.wheels))


def truth(course: Course) -> Floats:
    """Return q at the end of each span."""
    robot = course.robot
    engine = kd.compile(robot, course.rows)
    state, ends = np.concatenate([course.start, np.zeros(robot.nv)]), []
    for effort in course.efforts:

        def rate(_: float, x: Floats, effort: Floats = effort) -> Floats:
            q, v = x[: robot.nq], x[robot.nq :]
            return np.concatenate([v, engine.acceleration(q, v, effort - course.stiffness * q)])

        made = solve_ivp(rate, (0.0, SPAN), state, 'DOP853', rtol=1e-10, atol=1e-11)
        state = made.y[:, -1]
        ends.append(state[: robot.nq])
    return np.array(ends)


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
    cost: float  # [us] of a step


def driven(course: Course, model: Any) -> Driven:
    """Drive a course."""
    data, steps = mujoco.MjData(model), round(SPAN / model.opt.timestep)
    data.qpos[:] = course.start
    ends, slip, spent, odometry = [], 0.0, 0.0, _Odometry(course)
    rows = len(course.rows) and model.nsensor
    for effort in course.efforts:
        data.qfrc_applied[:] = effort
        start = time.perf_counter()
        mujoco.mj_step(model, data, steps // 2)
        spent += time.perf_counter() - start
        for _ in range(steps - steps // 2):
            before = data.qpos.copy()
            mujoco.mj_step(model, data)
            if rows:
                values = data.sensor(INSTANCE).data
                slip = max(slip, np.abs(values[len(values) // 2 :]).max())
            odometry.add(before, data.qpos)
        ends.append(data.qpos.copy())
    cost = 1e6 * spent / (len(ends) * (steps // 2))
    return Driven(np.array(ends), slip, odometry.error, cost)


class _Odometry:
    """The way by the angles of the wheels, on the halves of the spans that are looked at."""

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


def courses(seconds: float) -> Table:
    """Return how robots with exact wheels follow our own dynamics."""
    columns = 'robot', 'integrator', 'step [ms]', 'slip [m/s]', 'odometry [m]', 'pose', 'cost [us]'
    table = Table(f'{seconds:g} s with exact wheels', (*columns, 'without wheels [us]'))
    for name in ROBOTS:
        course = course_of(name, seconds)
        wanted = truth(course)
        for integrator in INTEGRATORS:
            for step in STEPS:
                seen = driven(course, model_of(course, integrator, step))
                free = driven(course, model_of(course, integrator, step, None))
                pose = np.abs(seen.ends - wanted)[:, :3].max()
                cells = f'{seen.slip:.1e}', f'{seen.odometry:.1e}', f'{pose:.1e}'
                costs = f'{seen.cost:.2f}', f'{free.cost:.2f}'
                table.add(name, integrator, f'{1e3 * step:g}', *cells, *costs)
        table.line()
    return table


def contact_wheels(shape: Any, impratio: float, noslip: int) -> Callable[[Any], None]:
    """Return what puts a differential drive on a floor, its wheels contacts of MuJoCo."""

    def edit(spec: Any) -> None:
        spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, impratio
        spec.option.noslip_iterations = noslip
        spec.worldbody.add_geom(name='floor', type=PLANE, size=[0, 0, 1], condim=1)
        base = spec.worldbody.first_body()
        for joint in list(base.joints):
            spec.delete(joint)
        base.add_freejoint()
        cylinder = shape == mujoco.mjtGeom.mjGEOM_CYLINDER
        size = [RADIUS, 0.02, 0] if cylinder else [RADIUS, RADIUS, 0.02]
        across = [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]
        for joint in robots.WHEELS:
            body = spec.joint(joint).parent
            body.add_geom(
                type=shape, size=size, quat=across, mass=0.0, friction=[1.0, 0.005, 1e-4]
            )
        ball = mujoco.mjtGeom.mjGEOM_SPHERE
        base.add_geom(type=ball, size=[0.05, 0, 0], pos=[0.22, 0.0, 0.05], mass=0.0, condim=1)

    return edit


def ways(seconds: float) -> Table:
    """Return the shipped robot on wheels that are contacts of MuJoCo."""
    columns = 'wheels', 'impratio', 'noslip', 'slip [m/s]', 'pose [m, rad]', 'cost [us]'
    table = Table(f'The shipped robot for {seconds:g} s, implicitfast, 2 ms', columns)
    course = course_of('nonholonomic', seconds)
    wanted = truth(course)
    exact = driven(course, model_of(course, 'implicitfast', 0.002))
    pose = np.abs(exact.ends - wanted)[:, :3].max()
    table.add('exact', '', '', f'{exact.slip:.1e}', f'{pose:.1e}', f'{exact.cost:.2f}')
    for name in ('cylinder', 'ellipsoid'):
        shape = getattr(mujoco.mjtGeom, f'mjGEOM_{name.upper()}')
        for impratio, noslip in CONTACTS:
            edit = contact_wheels(shape, impratio, noslip)
            slip, pose, cost = _on_contacts(
                course, model_of(course, 'implicitfast', 0.002, None, edit), wanted
            )
            table.add(
                name, f'{impratio}', f'{noslip}', f'{slip:.1e}', f'{pose:.1e}', f'{cost:.2f}'
            )
    return table


def _on_contacts(course: Course, model: Any, wanted: Floats) -> tuple[float, float, float]:
    """Return largest slip, error of the pose and cost of a step on contacts."""
    data, steps = mujoco.MjData(model), round(SPAN / model.opt.timestep)
    data.qpos[7:] = course.start[3:]
    engine, slip, worst, spent = kd.dynamics(course.robot, course.rows), 0.0, 0.0, 0.0
    for effort, end in zip(course.efforts, wanted, strict=True):
        data.qfrc_applied[6:] = effort[3:]
        for k in range(steps):
            start = time.perf_counter()
            mujoco.mj_step(model, data)
            spent += time.perf_counter() - start
            if k % 10 == 0:
                q, v = _planar(data)
                slip = max(slip, np.abs(engine.constraint_rows(q, v).matrix @ v).max())
        q, _ = _planar(data)
        turn = (q[2] - end[2] + np.pi) % (2.0 * np.pi) - np.pi
        worst = max(worst, np.abs([*(q - end)[:2], turn]).max())
    return slip, worst, 1e6 * spent / (steps * len(wanted))


def _planar(data: Any) -> tuple[Floats, Floats]:
    """Return q and v of the robot on a planar base from those on a free joint."""
    w, _, _, z = data.qpos[3:7]
    q = np.concatenate([data.qpos[:2], [2.0 * np.arctan2(z, w)], data.qpos[7:]])
    return q, np.concatenate([data.qvel[:2], data.qvel[5:]])


def contacts() -> Table:
    """Return forces on walls beside statics."""
    columns = 'push', 'integrator', 'force [N]', 'statics [N]', 'of wheels [N]'
    table = Table('Forces of contacts, at rest after 20 s', columns)
    for integrator in INTEGRATORS:
        for push in ('ahead', 'aside'):
            force, statics, wheels = pushed(push, integrator)
            table.add(push, integrator, *(f'{x:.4f}' for x in (force, statics, wheels)))
    return table


def pushed(push: str, integrator: str) -> tuple[float, float, float]:
    """Return the force on a wall, by statics, and of the multipliers."""
    course = course_of('nonholonomic', SPAN)
    first = course.robot.velocity_index('arm_1_joint')
    if push == 'aside':
        stiffness = 5.0 * course.stiffness
        stiffness[first] = 0.0
        stiffness[[course.robot.velocity_index(x) for x in robots.WHEELS]] = HELD
        course = course._replace(stiffness=stiffness)

    def edit(spec: Any) -> None:
        place, size = ([0.55, 0, 0.3], [0.1, 0.3, 0.3]) if push == 'ahead' else BESIDE
        spec.worldbody.add_geom(name='wall', type=BOX, size=size, pos=place)
        body = 'base_footprint' if push == 'ahead' else course.robot.bodies[-1].name
        shape = {'size': [0.25, 0.18, 0.1], 'pos': [0.0, 0.0, 0.18]}
        if push == 'aside':
            shape = {'size': [0.02, 0.02, 0.02], 'pos': [0.0, 0.0, 0.0]}
            spec.joint('arm_2_joint').springref = 0.5 * np.pi  # it lies ahead
        spec.body(body).add_geom(type=BOX, mass=0.0, **shape)

    model = model_of(course, integrator, 0.002, edit=edit)
    data = mujoco.MjData(model)
    data.qpos[first + 1] = 0.5 * np.pi * (push == 'aside')
    if push == 'ahead':
        data.qfrc_applied[[course.robot.velocity_index(x) for x in robots.WHEELS]] = TORQUE
    else:
        data.qfrc_applied[first] = SIDE
    mujoco.mj_step(model, data, 10_000)
    force, moment = np.zeros(3), 0.0
    base = data.xanchor[first]
    for k, contact in enumerate(data.contact):
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, k, wrench)
        one = contact.frame.reshape(3, 3).T @ wrench[:3]
        force += one
        moment += float(np.cross(contact.pos - base, one)[2])
    found = float(np.hypot(*force[:2]))
    multipliers = data.sensor(INSTANCE).data
    if push == 'ahead':
        return found, 2.0 * TORQUE / RADIUS, float(multipliers[1] + multipliers[2])
    return found, found * SIDE / abs(moment), float(abs(multipliers[0]))


def weights(seconds: float) -> Table:
    """Return how far results depend on W."""
    columns = 'step [ms]', *(f'W {w:g}' for w in (1e1, 1e2, 1e3, 1e4, 1e5))
    table = Table('Pose beside that of the default W [m, rad], implicitfast', columns)
    course = course_of('nonholonomic', seconds)
    for step in (0.001, 0.002, 0.005, 0.01):
        wanted = driven(course, model_of(course, 'implicitfast', step)).ends[:, :3]
        apart = [
            np.abs(
                driven(course, model_of(course, 'implicitfast', step, w)).ends[:, :3] - wanted
            ).max()
            for w in (1e1, 1e2, 1e3, 1e4, 1e5)
        ]
        table.add(f'{1e3 * step:g}', *(f'{x:.1e}' for x in apart))
    return table


def limits(minutes: float) -> Table:
    """Return what random efforts at limits of joints do."""
    columns = 'step [ms]', 'past a limit [rad]', 'slip [m/s]', 'without wheels, past [rad]'
    table = Table(f'Random efforts against limits for {minutes:g} min', columns)
    course = course_of('nonholonomic', SPAN)
    course = course._replace(stiffness=np.zeros_like(course.stiffness))
    for step in (0.001, 0.002, 0.005):
        cells = []
        for weight in (WEIGHT, None):
            model = model_of(course, 'implicitfast', step, weight, _limited(course.robot))
            cells.append(_thrown(course, model, minutes))
        (past, slip), (alone, _) = cells
        table.add(f'{1e3 * step:g}', f'{past:.3f}', f'{slip:.1e}', f'{alone:.3f}')
    return table


def _limited(robot: kd.Robot) -> Callable[[Any], None]:
    def edit(spec: Any) -> None:
        for joint in spec.joints:
            if joint.name.startswith('arm'):
                place = robot.coordinate_index(joint.name)
                joint.limited, joint.range = True, [robot.lower[place], robot.upper[place]]

    return edit


def _thrown(course: Course, model: Any, minutes: float) -> tuple[float, float]:
    """Return how far joints were past their limits, and the largest slip."""
    data, random, robot = mujoco.MjData(model), np.random.default_rng(3), course.robot
    past = slip = 0.0
    every = round(0.05 / model.opt.timestep)
    for _ in range(round(minutes * 60.0 / 0.05)):
        data.qfrc_applied[3:] = random.normal(0.0, 0.3 * robot.effort_limit[3:])
        mujoco.mj_step(model, data, every)
        arm = data.qpos[5:]
        past = max(past, *(robot.lower[5:] - arm), *(arm - robot.upper[5:]))
        if model.nsensor:
            slip = max(slip, *np.abs(data.sensor(INSTANCE).data[3:]))
    return float(past), float(slip)


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(prog='python -m studies.mujoco_wheels', description=__doc__)
    parser.add_argument('--seconds', type=float, default=60.0, help='of a course')
    parser.add_argument('--minutes', type=float, default=10.0, help='of random efforts')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    seconds = options.seconds
    tables = [
        courses(seconds),
        ways(seconds),
        contacts(),
        weights(seconds),
        limits(options.minutes),
    ]
    results['tables'] = [[table.title, table.columns, table.rows] for table in tables]
    report.finish(console, options.output, 'mujoco_wheels', results, tables)


if __name__ == '__main__':
    main()
