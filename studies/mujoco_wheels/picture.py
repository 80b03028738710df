# SPDX-License-Identifier: Apache-2.0
"""
Exact wheels and contacts of MuJoCo side by side: a picture and an animation.

``python -m studies.mujoco_wheels.picture [--seconds 20] [--output doc/pictures]``
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from kane_dynamics.view.plots import CYCLE, paper_style, save_figure
from studies import robots
from studies.mujoco_wheels.course import RADIUS, SPAN, STEP, course_of, truth
from studies.mujoco_wheels.ways import TRACK, Rolled, rolled

WHEELS = {
    'exact': ('exact', 1),
    'contact, ellipsoids': ('ellipsoid', 100),
    'contact, cylinders': ('cylinder', 1),
}
TRUE: dict[str, Any] = {'color': 'black', 'linestyle': '-', 'linewidth': 3.0, 'alpha': 0.25}
EVERY = 50  # steps between two points of a curve
FRAMES = 60
BODY = np.array([[0.29, 0.18], [-0.21, 0.18], [-0.21, -0.18], [0.29, -0.18], [0.29, 0.18]])


def main() -> None:
    """Write the picture and the animation, and print where they are."""
    parser = argparse.ArgumentParser(description='pictures of wheels in MuJoCo')
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument('--output', type=Path, default=Path('doc/pictures'))
    options = parser.parse_args()
    found = {
        name: rolled(kind, options.seconds, impratio) for name, (kind, impratio) in WHEELS.items()
    }
    options.output.mkdir(parents=True, exist_ok=True)
    picture = options.output / 'mujoco_wheels.png'
    save_figure(figure_of(found, options.seconds), picture, also=())
    animation = options.output / 'mujoco_wheels.gif'
    animate(found, options.seconds, animation)
    for path in (picture, animation):
        print(f'wrote {path}, {path.stat().st_size / 1000:.0f} kB')


def figure_of(found: dict[str, Rolled], seconds: float) -> Figure:
    """Return paths, errors of odometry and of energy, and costs."""
    with paper_style():
        figure = Figure((7.2, 5.0), layout='constrained')
        (path, odometry), (energy, cost) = figure.subplots(2, 2)
        path.plot(*true_path(seconds).T, **TRUE, label='our dynamics')
        for (name, seen), colour in zip(found.items(), CYCLE, strict=False):
            times = STEP * np.arange(1, len(seen.q) + 1)[::EVERY]
            missing = np.abs(energy_error(seen, seconds))
            path.plot(*seen.q[::EVERY, :2].T, color=colour, label=name)
            odometry.semilogy(times[1:], odometry_error(seen)[::EVERY][1:], color=colour)
            energy.semilogy(times[1:], missing[::EVERY][1:], color=colour)
            cost.barh(name, seen.cost, color=colour)
        path.set(xlabel='x [m]', ylabel='y [m]', title='path of the base', aspect='equal')
        odometry.set(xlabel='time [s]', ylabel='[m]', title='odometry of the wheels: error')
        energy.set(xlabel='time [s]', ylabel='[J]', title='energy that is missing')
        cost.set(xlabel='[us]', title='cost of a step')
        cost.invert_yaxis()
        cost.grid(visible=False, axis='y')
        figure.legend(loc='outside lower center', ncols=4)
    return figure


def true_path(seconds: float) -> Floats:
    """Return x and y of our own dynamics."""
    moments = np.arange(0.0, SPAN, EVERY * STEP)
    return np.concatenate([span(moments)[:2].T for span in truth('nonholonomic', seconds)])


def odometry_error(seen: Rolled) -> Floats:
    """Return how far the way by the angles of the wheels is from the true one [m]."""
    robot = course_of('nonholonomic', SPAN).robot
    wheels = [robot.velocity_index(joint) for joint in robots.WHEELS]
    left, right = np.diff(seen.q[:, wheels], axis=0).T * RADIUS
    turn, way = (right - left) / TRACK, 0.5 * (left + right)
    heading = seen.q[0, 2] + np.cumsum(turn) - 0.5 * turn
    steps = (way * np.sinc(0.5 * turn / np.pi))[:, None]
    steps = steps * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    error = seen.q[0, :2] + np.cumsum(steps, axis=0) - seen.q[1:, :2]
    return np.concatenate([[0.0], np.hypot(*error.T)])


def energy_error(seen: Rolled, seconds: float) -> Floats:
    """Return energy less what motors gave and dampers took [J]."""
    course = course_of('nonholonomic', seconds)
    robot = course.robot
    efforts = np.repeat(course.efforts, round(SPAN / STEP), axis=0)
    power = (efforts * seen.v).sum(axis=1) - [kd.friction_force(robot, v) @ v for v in seen.v]
    energy = [
        kd.kinetic_energy(robot, q, v)
        + kd.potential_energy(robot, q)
        + 0.5 * course.stiffness @ (q * q)
        for q, v in zip(seen.q, seen.v, strict=True)
    ]
    work = np.concatenate([[0.0], np.cumsum(0.5 * STEP * (power[1:] + power[:-1]))])
    return np.array(energy) - energy[0] - work


def animate(found: dict[str, Rolled], seconds: float, path: Path) -> None:
    """Write the robots from above, each on its wheels."""
    with paper_style():
        figure = Figure((4.2, 4.2), layout='constrained')
        axes = figure.subplots()
        axes.plot(*true_path(seconds).T, **TRUE)
        artists = []
        for (name, seen), colour in zip(found.items(), CYCLE, strict=False):
            (line,) = axes.plot([], [], color=colour, label=name)
            (body,) = axes.plot([], [], color=colour, linestyle='-')
            artists.append((line, body, seen))
        all_places = np.concatenate([seen.q[:, :2] for seen in found.values()])
        low, high = all_places.min(axis=0) - 0.5, all_places.max(axis=0) + 0.5
        axes.set(xlabel='x [m]', ylabel='y [m]', aspect='equal')
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        figure.legend(loc='outside lower center', ncols=3)

        def show(frame: int) -> list[Any]:
            for line, body, seen in artists:
                k = frame * (len(seen.q) - 1) // (FRAMES - 1)
                line.set_data(*seen.q[: k + 1 : EVERY, :2].T)
                x, y, yaw = seen.q[k, :3]
                turned = BODY @ [[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]
                body.set_data(*np.add(turned, [x, y]).T)
            return []

        FuncAnimation(figure, show, frames=FRAMES).save(path, PillowWriter(fps=10), dpi=100)


if __name__ == '__main__':
    main()
