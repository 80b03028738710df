# SPDX-License-Identifier: Apache-2.0
"""Other ways to have wheels in MuJoCo: contacts, equalities that go along, a commanded twist."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics.mujoco.plugin import WEIGHT
from kane_dynamics.typing import Floats
from studies import robots
from studies.mujoco_wheels.course import (
    RADIUS,
    SPAN,
    STEP,
    Course,
    course_of,
    ends,
    model_of,
    truth,
)
from studies.report import Table

TRACK = 0.42  # [m] of the shipped robot
CONTACTS = [(impratio, noslip) for noslip in (0, 10) for impratio in (1, 10, 100)]
SHAPES = 'cylinder', 'ellipsoid'
PLANE = mujoco.mjtGeom.mjGEOM_PLANE
Before = Callable[[Any, Any, int, float], None]  # of model, data, span and time in it


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


class Rolled(NamedTuple):
    """What a course on wheels of some kind showed."""

    slip: float  # the largest [m/s]
    pose: float  # the largest error at the end of a span [m, rad]
    cost: float  # of a step [us]
    q: Floats  # after each step, on a planar base
    v: Floats


def ways(seconds: float) -> Table:
    """Return the shipped robot on wheels of all kinds."""
    columns = 'wheels', 'impratio', 'noslip', 'slip [m/s]', 'pose [m, rad]', 'cost [us]'
    table = Table(f'The shipped robot for {seconds:g} s, implicitfast, 2 ms', columns)
    contacts = [(shape, *settings) for shape, settings in product(SHAPES, CONTACTS)]
    for name, *settings in [('exact',), ('equality',), ('twist',), *contacts]:
        seen = rolled(name, seconds, *settings)
        cells = f'{seen.slip:.1e}', f'{seen.pose:.1e}', f'{seen.cost:.2f}'
        table.add(name, *(map(str, settings) if settings else ('', '')), *cells)
    return table


def rolled(name: str, seconds: float, impratio: float = 1, noslip: int = 0) -> Rolled:
    """Drive the course on wheels: exact, equality, twist, or contacts of a shape."""
    course = course_of('nonholonomic', seconds)
    weight, edit, before = None, _unchanged, None
    if name == 'exact':
        weight = WEIGHT
    elif name == 'equality':
        edit, before = _connected, _move_along
    elif name == 'twist':
        before = _set_twist(seconds)
    else:
        shape = getattr(mujoco.mjtGeom, f'mjGEOM_{name.upper()}')
        edit = contact_wheels(shape, impratio, noslip)
    return _rolled(course, model_of(course, 'implicitfast', STEP, weight, edit), seconds, before)


def _unchanged(spec: Any) -> None:
    """Leave a model as it is."""


def _rolled(course: Course, model: Any, seconds: float, before: Before | None) -> Rolled:
    """Drive the course in a model, `before` each step not counted."""
    data, steps = mujoco.MjData(model), round(SPAN / model.opt.timestep)
    state = _planar if model.nq > course.robot.nq else _same
    arm = course.robot.nv - 3
    data.qpos[-arm:] = course.start[3:]
    engine, slip, worst, spent, states = kd.dynamics(course.robot, course.rows), 0.0, 0.0, 0.0, []
    wanted = ends('nonholonomic', seconds)
    for span, (effort, end) in enumerate(zip(course.efforts, wanted, strict=True)):
        data.qfrc_applied[-arm:] = effort[3:]
        for k in range(steps):
            if before is not None:
                before(model, data, span, k * model.opt.timestep)
            start = time.perf_counter()
            mujoco.mj_step(model, data)
            spent += time.perf_counter() - start
            states.append(state(data))
            if k % 10 == 0:
                q, v = states[-1]
                slip = max(slip, np.abs(engine.constraint_rows(q, v).matrix @ v).max())
        q = states[-1][0]
        turn = (q[2] - end[2] + np.pi) % (2.0 * np.pi) - np.pi
        worst = max(worst, np.abs([*(q - end)[:2], turn]).max())
    q, v = (np.array(x) for x in zip(*states, strict=True))
    return Rolled(slip, worst, 1e6 * spent / (steps * len(wanted)), q, v)


def _same(data: Any) -> tuple[Floats, Floats]:
    return data.qpos.copy(), data.qvel.copy()


def _planar(data: Any) -> tuple[Floats, Floats]:
    """Return q and v of the robot on a planar base from those on a free joint."""
    w, _, _, z = data.qpos[3:7]
    q = np.concatenate([data.qpos[:2], [2.0 * np.arctan2(z, w)], data.qpos[7:]])
    return q, np.concatenate([data.qvel[:2], data.qvel[5:]])


def _connected(spec: Any) -> None:
    """Connect the lowest point of each wheel with the world."""
    for joint in robots.WHEELS:
        body = spec.joint(joint).parent
        one = spec.add_equality(name=joint, type=mujoco.mjtEq.mjEQ_CONNECT)
        one.objtype, one.name1, one.name2 = mujoco.mjtObj.mjOBJ_BODY, body.name, 'world'
        one.solref = [2.0 * STEP, 1.0]


def _move_along(model: Any, data: Any, span: int, moment: float) -> None:
    """Move the connected points to where the wheels are."""
    mujoco.mj_kinematics(model, data)
    for joint in robots.WHEELS:
        body = model.joint(joint).bodyid[0]
        place = data.xpos[body] - [0.0, 0.0, RADIUS]
        equality = model.equality(joint).id
        model.eq_data[equality, :3] = data.xmat[body].reshape(3, 3).T @ (place - data.xpos[body])
        model.eq_data[equality, 3:6] = place


def _set_twist(seconds: float) -> Before:
    """Return what sets the speeds of the base to the true ones, as a plugin of twists does."""
    course, spans = course_of('nonholonomic', seconds), truth('nonholonomic', seconds)

    def set_twist(model: Any, data: Any, span: int, moment: float) -> None:
        data.qvel[:3] = spans[span](moment)[course.robot.nq :][:3]

    return set_twist
