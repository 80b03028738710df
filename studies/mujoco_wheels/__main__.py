# SPDX-License-Identifier: Apache-2.0
"""
Exact wheels inside MuJoCo, against our own dynamics, statics, and other ways to have wheels.

``python -m studies.mujoco_wheels [--seconds 60] [--minutes 10] [--output FOLDER]``. On each course
the wheels get other torques every 5 s; steering is held, the arm swings on springs and dampers.
The truth is our forward dynamics by DOP853 at 1e-10.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics.mujoco.plugin import NAME, WEIGHT
from studies import report
from studies.mujoco_wheels.course import (
    SPAN,
    STEP,
    Course,
    costs,
    course_of,
    driven,
    ends,
    model_of,
)
from studies.mujoco_wheels.forces import INTEGRATORS, contacts
from studies.mujoco_wheels.ways import contact_wheels, ways
from studies.report import Table

ROBOTS = 'nonholonomic', 'tiago', 'mecanum', 'swerve'
STEPS = 0.002, 0.005, 0.01
WEIGHTS = 1e1, 1e2, 1e3, WEIGHT, 1e5


def courses(seconds: float) -> Table:
    """Return how robots with exact wheels follow our own dynamics."""
    columns = 'robot', 'integrator', 'step [ms]', 'slip [m/s]', 'odometry [m]', 'pose [m, rad]'
    table = Table(f'{seconds:g} s with exact wheels', columns)
    for name in ROBOTS:
        course = course_of(name, seconds)
        wanted = ends(name, seconds)
        for integrator in INTEGRATORS:
            for step in STEPS:
                seen = driven(course, model_of(course, integrator, step))
                pose = np.abs(seen.ends - wanted)[:, :3].max()
                odometry = '' if np.isnan(seen.odometry) else f'{seen.odometry:.1e}'
                cells = f'{seen.slip:.1e}', odometry, f'{pose:.1e}'
                table.add(name, integrator, f'{1e3 * step:g}', *cells)
        table.line()
    return table


def step_costs() -> Table:
    """Return costs of a step with exact wheels, without any, and on contacts."""
    columns = (
        'robot',
        'integrator',
        'exact [us]',
        'without wheels [us]',
        'ratio',
        'ellipsoids [us]',
    )
    table = Table('Least cost of a step, 2 ms', columns)
    for name in ROBOTS:
        course = course_of(name, SPAN)
        for integrator in INTEGRATORS:
            models = [model_of(course, integrator, STEP, w) for w in (WEIGHT, None)]
            if name == ROBOTS[0]:
                edit = contact_wheels(mujoco.mjtGeom.mjGEOM_ELLIPSOID, 100, 0)
                models.append(model_of(course, integrator, STEP, None, edit))
            exact, without, *contact = costs(course, models)
            cells = (f'{x:.2f}' for x in (exact, without, exact / without, *contact))
            table.add(name, integrator, *cells, *([] if contact else ['']))
    return table


def weights(seconds: float) -> Table:
    """Return how far results depend on W."""
    columns = 'step [ms]', *(f'W {w:g}' for w in WEIGHTS)
    table = Table('Pose beside that of the default W [m, rad], implicitfast', columns)
    course = course_of('nonholonomic', seconds)
    for step in (0.001, 0.002, 0.005, 0.01):
        models = {w: model_of(course, 'implicitfast', step, w) for w in WEIGHTS}
        poses = {w: driven(course, model).ends[:, :3] for w, model in models.items()}
        apart = [np.abs(pose - poses[WEIGHT]).max() for pose in poses.values()]
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
            slip = max(slip, *np.abs(data.sensor(NAME).data[3:]))
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
        step_costs(),
        ways(seconds),
        contacts(),
        weights(seconds),
        limits(options.minutes),
    ]
    results['tables'] = [[table.title, table.columns, table.rows] for table in tables]
    report.finish(console, options.output, 'mujoco_wheels', results, tables)


if __name__ == '__main__':
    main()
