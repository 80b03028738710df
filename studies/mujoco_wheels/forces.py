# SPDX-License-Identifier: Apache-2.0
"""Forces of contacts of a robot on exact wheels, beside statics."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from kane_dynamics.mujoco.plugin import NAME
from studies import robots
from studies.mujoco_wheels.course import RADIUS, SPAN, STEP, course_of, model_of
from studies.report import Table

INTEGRATORS = 'rk4', 'implicitfast'
TORQUE = 6.0  # [N m] of each wheel against a wall
HELD = 100.0  # [N m/rad] of each wheel meanwhile
SIDE = 10.0  # [N m] of the first joint of the arm, against a wall beside it
BESIDE = [0.5, 0.55, 1.0], [0.8, 0.3, 1.0]  # [m] place and half sizes of that wall
BOX_MASS, GRIP = 0.5, 20.0  # [kg] of a free box, [N] of each finger
BOX = mujoco.mjtGeom.mjGEOM_BOX


def contacts() -> Table:
    """Return forces of contacts beside statics."""
    columns = 'contact', 'integrator', 'force [N]', 'statics [N]', 'of wheels [N]'
    table = Table('Forces of contacts, at rest after 20 s', columns)
    for integrator in INTEGRATORS:
        for push in ('ahead', 'aside'):
            force, statics, wheels = pushed(push, integrator)
            table.add(push, integrator, *(f'{x:.4f}' for x in (force, statics, wheels)))
        for name, force, statics in (*dropped(integrator), *grasped(integrator)):
            table.add(name, integrator, f'{force:.4f}', f'{statics:.4f}', '')
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
    points, all_forces = contact_forces(model, data)
    moment = np.cross(points - data.xanchor[first], all_forces)[:, 2].sum()
    found = float(np.hypot(*all_forces.sum(axis=0)[:2]))
    multipliers = data.sensor(NAME).data
    if push == 'ahead':
        return found, 2.0 * TORQUE / RADIUS, float(multipliers[1] + multipliers[2])
    return found, found * SIDE / abs(moment), float(abs(multipliers[0]))


def contact_forces(model: Any, data: Any, body: str = '') -> tuple[Any, Any]:
    """Return points and forces [N] of contacts in world axes: on a body, where one is named."""
    points, forces = [], []
    for k, contact in enumerate(data.contact):
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, k, wrench)
        force = contact.frame.reshape(3, 3).T @ wrench[:3]  # on the second geom
        pair = [model.body(model.geom_bodyid[geom]).name for geom in contact.geom]
        if body and body not in pair:
            continue
        points.append(contact.pos.copy())
        forces.append(force if not body or pair[1] == body else -force)
    return np.array(points), np.array(forces)


def add_box(spec: Any, place: list[float]) -> None:
    """Add a free box."""
    box = spec.worldbody.add_body(name='box', pos=place)
    box.add_freejoint()
    box.add_geom(type=BOX, size=[0.05, 0.05, 0.05], mass=BOX_MASS, friction=[1.0, 0.005, 1e-4])


def dropped(integrator: str) -> list[tuple[str, float, float]]:
    """Return the force of a box that fell onto the base, which then drives off with it."""
    course = course_of('nonholonomic', SPAN)

    def edit(spec: Any) -> None:
        deck = spec.body('base_footprint')
        deck.add_geom(type=BOX, size=[0.25, 0.18, 0.1], pos=[0.0, 0.0, 0.18], mass=0.0)
        add_box(spec, [-0.2, 0.0, 0.5])
        spec.option.impratio = 100.0
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC

    model = model_of(course, integrator, STEP, edit=edit)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 10_000)
    rest, _ = _mean_force(model, data)
    wheels = [model.joint(x).dofadr[0] for x in robots.WHEELS]
    data.qfrc_applied[wheels] = 1.0
    force, change = _mean_force(model, data)
    return [('dropped', rest[2], BOX_MASS * 9.81), ('carried', force[0], BOX_MASS * change[0])]


def _mean_force(model: Any, data: Any) -> tuple[Any, Any]:
    """Return the mean force on the box in the next second [N], and its acceleration [m/s^2]."""
    address = model.body('box').dofadr[0]
    before, forces = data.qvel[address : address + 3].copy(), []
    for _ in range(round(1.0 / STEP)):
        mujoco.mj_step(model, data)
        forces.append(contact_forces(model, data, 'box')[1].sum(axis=0))
    return np.mean(forces, axis=0), data.qvel[address : address + 3] - before


def grasped(integrator: str) -> list[tuple[str, float, float]]:
    """Return forces of two fingers on a box between them, held and lifted by friction."""
    course = course_of('nonholonomic', SPAN)

    def edit(spec: Any) -> None:
        hand = spec.body(course.robot.bodies[-1].name)
        for name, side in (('left', 1.0), ('right', -1.0)):
            finger = hand.add_body(name=name, pos=[0.0, 0.08 * side, 0.08])
            finger.add_joint(
                name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, -side, 0.0], damping=20.0
            )
            finger.add_geom(
                type=BOX, size=[0.03, 0.01, 0.03], mass=0.1, friction=[2.0, 0.005, 1e-4]
            )
        add_box(spec, [0.0, 0.0, 0.0])
        spec.option.impratio = 100.0
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC

    model = model_of(course, integrator, STEP, edit=edit)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    place = 0.5 * (data.body('left').xpos + data.body('right').xpos)
    start = model.jnt_qposadr[model.body('box').jntadr[0]]
    data.qpos[start : start + 3] = place
    data.qpos[start + 3 : start + 7] = data.body('left').xquat
    data.qfrc_applied[[model.joint(x).dofadr[0] for x in ('left', 'right')]] = GRIP
    mujoco.mj_step(model, data, 10_000)
    forces = contact_forces(model, data, 'box')[1]
    across = data.body('left').xmat.reshape(3, 3)[:, 1]
    grip = np.abs(forces @ across).sum() / 2.0
    return [
        ('grip', grip, GRIP),
        ('grasped', forces.sum(axis=0)[2], BOX_MASS * 9.81),
    ]
