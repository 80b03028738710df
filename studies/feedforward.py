# SPDX-License-Identifier: Apache-2.0
"""
What filled efforts are worth to an arm under joint_trajectory_controller (JTC), on a moving base.

``python -m studies.feedforward [--robot tiago] [--quick] [--output FOLDER]``: an arm follows a
plan with a point every 0.1 s, as MoveIt makes them, while its base, driven by velocity, starts and
stops with 1 m/s^2 and turns. Printed are the error of efforts that JTC takes linearly between
points, before and after points are put in between, and the tracking errors of the model of JTC in
closed loop: with efforts of the whole robot, of the arm alone, of the planner's points only, and
without. Gravity is compensated by the drives in half of the runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.trajectory_efforts import PlannedEfforts, following, resting
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import (
    model_of_file,
    parameters_of_file,
    read_parameter_file,
)
from kane_dynamics.trajectories.effort_points import EffortFunction, line_error, with_efforts
from kane_dynamics.trajectories.joint_trajectory import UNNAMED, BaseTrajectory, JointTrajectory
from kane_dynamics.typing import Floats
from kane_dynamics.view.plots import paper_style, save_figure
from studies import report
from studies.report import Table
from studies.trajectory_controller import Settings, TrajectoryController

PERIOD, STEPS = 0.002, 4  # of the controller [s]; of the integration in it
SPACING = 0.1  # of the planner's points [s]: resample_dt of MoveIt
ERROR = 0.05  # of efforts between points that is asked for [N m]
STIFFNESS, DAMPING = 15.0, 0.7  # of the feedback: natural frequency [rad/s], ratio
DRIVES = DriveResponse(0.05, (1.0, 1.0, 2.0))  # of the base: 1 m/s^2
START, TURN = np.array([0.0, 0.0, 0.0]), np.array([0.6, 0.0, 0.8])
MODES = {'effort': Settings(), 'position, effort': Settings(position=True)}


@dataclass(frozen=True, eq=False)
class Run:
    """Errors of the joints over time: times (n,), errors (n, k)."""

    times: Floats
    errors: Floats

    @property
    def largest(self) -> float:
        """Return the largest error [rad or m]."""
        return float(np.abs(self.errors).max())


class Rig:
    """A robot, its plan, and its base."""

    def __init__(self, name: str, lasts: float) -> None:
        table = TrajectoryFeedforwardParameters
        self.model = model_of_file(name, table=table)
        self.names = tuple(n for n in self.model.motors if n.startswith('arm_'))
        dynamics = Dynamics(self.model)
        dynamics.compile()
        self.engine = dynamics.engine
        self.efforts = PlannedEfforts(dynamics, parameters_of_file(name, table))
        self.parameters = parameters_of_file(name, table)
        self.q = self.model.robot.neutral()
        start = 'initial_positions.'
        for key, value in read_parameter_file(name).items():
            if key.startswith(start) and key.removeprefix(start) in self.model.joints:
                self.q[self.model.robot.coordinate_index(key.removeprefix(start))] = value
        self.arm_q = self.model.q_index(self.names)
        self.arm_v = self.model.v_index(self.names)
        self.base = following(self.model.child_frame, self.q, DRIVES, START, TURN)
        self.plan = self._plan(lasts)

    def _plan(self, lasts: float) -> JointTrajectory:
        """Return points of a smooth swing of all joints that begins and ends at rest."""
        rng = np.random.default_rng(11)
        size = rng.uniform(0.2, 0.5, len(self.names)) * rng.choice([-1.0, 1.0], len(self.names))
        ends = self.q[self.arm_q] + np.outer([0.0, 1.0, 0.2], size)
        rest = np.zeros_like(ends)
        whole = JointTrajectory(UNNAMED, [0.0, 0.5 * lasts, lasts], ends, rest, rest)
        times = np.linspace(0.0, lasts, round(lasts / SPACING) + 1)
        rows = [np.array(x) for x in zip(*(whole.at(t) for t in times), strict=True)]
        return JointTrajectory(self.names, times, *rows)

    def needed(self, base: BaseTrajectory, gravity: bool) -> EffortFunction:
        """Return the efforts of the arm along the plan, without gravity where drives have it."""
        compensated = () if gravity else self.names
        self.efforts.configure(replace(self.parameters, gravity_compensated_joints=compensated))
        return self.efforts.along(self.names, self.q, base)

    def acceleration(self, gravity: bool) -> Callable[..., Floats]:
        """Return the exact acceleration of the arm on its moving base under efforts."""
        engine = self.engine  # of which only functions of the free tree are asked

        def accelerated(time: float, position: Floats, velocity: Floats, tau: Floats) -> Floats:
            place, speed, rate = self.base.at(time)
            q, v, a = self.q.copy(), np.zeros_like(self.q), np.zeros_like(self.q)
            q[:3], v[:3], a[:3] = place, speed, rate
            q[self.arm_q], v[self.arm_v] = position, velocity
            # wheels stay as they are: their spin does not reach the arm
            asked = engine.inverse_dynamics(q, v, a)[self.arm_v]
            if not gravity:
                asked = asked - engine.gravity_force(q)[self.arm_v]
            inertia = engine.mass_matrix(q)[np.ix_(self.arm_v, self.arm_v)]
            return np.linalg.solve(inertia, tau - asked)

        return accelerated

    def run(self, mode: str, points: JointTrajectory, gravity: bool) -> Run:
        """Return what the plant does under the controller and a trajectory."""
        inertia = self.engine.mass_matrix(self.q).diagonal()[self.arm_v]
        p, d = inertia * STIFFNESS**2, 2.0 * DAMPING * STIFFNESS * inertia
        settings = replace(MODES[mode], period=PERIOD, p=p, d=d)
        x, v = self.plan.positions[0].copy(), np.zeros(len(self.names))
        controller = TrajectoryController(self.names, settings, x)
        controller.send(points, 0.0)
        motion, accelerated = self.plan, self.acceleration(gravity)
        times = np.arange(0.0, float(self.plan.times[-1]), PERIOD)
        errors, before = [], x
        for time in times:
            command = controller.update(time, x, v)
            errors.append(x - motion.at(time)[0])
            tau, target, rate = np.asarray(command.effort), x, v
            if command.position is not None:  # the drive closes its own loop, on what it is sent
                target, rate = command.position, (command.position - before) / PERIOD
                before = command.position
            for k in range(STEPS):
                t, h = time + k * PERIOD / STEPS, PERIOD / STEPS
                applied = tau
                if command.position is not None:
                    applied = tau + p * (target - x) + d * (rate - v)
                v = v + h * accelerated(t, x, v, applied)
                x = x + h * v
        return Run(times, np.array(errors))


def line_table(rig: Rig) -> tuple[Table, dict[str, float]]:
    """Return errors of efforts between points, before and after points are put in."""
    effort = rig.needed(rig.base, gravity=True)
    table = Table(
        'efforts that are linear between points', ('points', 'number', 'largest error [N m]')
    )
    plan = rig.plan
    sparse = JointTrajectory(
        plan.names, plan.times[::5], *(np.asarray(x)[::5] for x in _rows(plan))
    )
    found = {}
    for label, points, bound in (
        ('the planner, every 0.5 s', sparse, np.inf),
        ('put in between', sparse, ERROR),
        ('the planner, every 0.1 s', plan, np.inf),
        ('put in between ', plan, ERROR),
    ):
        made = with_efforts(points, effort, error=bound)
        found[label.strip()] = worst = float(line_error(made, effort).max())
        table.add(label, str(len(made.times)), f'{worst:.3f}')
    table.notes.append(f'points are put in between for {ERROR} N m')
    return table, found


def tracking_table(rig: Rig) -> tuple[Table, list[dict[str, object]], dict[str, Run]]:
    """Return tracking errors in closed loop, their numbers, and the runs with gravity."""
    table = Table(
        'largest tracking error [mrad]',
        (
            'controller',
            'gravity',
            'no efforts',
            'arm alone',
            "planner's points",
            'filled',
            'ratio',
        ),
    )
    numbers: list[dict[str, object]] = []
    shown: dict[str, Run] = {}
    plan = replace(rig.plan, efforts=None)
    for mode in MODES:
        for gravity in (True, False):
            whole = rig.needed(rig.base, gravity)
            dense, coarse = with_efforts(plan, whole, error=ERROR), with_efforts(plan, whole)
            alone = with_efforts(plan, rig.needed(resting(rig.q), gravity), error=ERROR)
            runs = [rig.run(mode, points, gravity) for points in (plan, alone, coarse, dense)]
            worst = [1e3 * run.largest for run in runs]
            ratio = worst[0] / worst[-1]
            by = 'controller' if gravity else 'drives'
            table.add(mode, by, *(f'{x:.3g}' for x in worst), f'{ratio:.0f}')
            numbers.append({'mode': mode, 'gravity by': by, 'errors': worst, 'ratio': ratio})
            if not gravity:
                shown |= {f'{mode}, no efforts': runs[0], f'{mode}, filled': runs[-1]}
    table.notes.append('ratio: no efforts over filled; gravity: who carries it')
    return table, numbers, shown


def plot(runs: dict[str, Run], file: Path) -> None:
    """Draw the largest error of the joints over time, drives carrying gravity."""
    with paper_style():
        figure = Figure((6.0, 3.4), layout='constrained')
        axes = figure.subplots()
        for k, (label, run) in enumerate(runs.items()):
            width = 2.8 if 2 * k < len(runs) else 1.2  # two may lie on each other
            largest = 1e3 * np.abs(run.errors).max(axis=1)
            x, y = run.times[largest > 0.0], largest[largest > 0.0]
            axes.semilogy(x, y, label=label, linewidth=width)
        axes.set(xlabel='time [s]', ylabel='largest error of a joint [mrad]')
        axes.set_ylim(bottom=1e-4)
        axes.set_title('An arm under JTC, its base starts with 1 m/s$^2$; drives carry gravity')
        title = 'what JTC commands, efforts of the trajectory'
        figure.legend(loc='outside lower center', ncols=2, title=title)
    save_figure(figure, file)


def _rows(points: JointTrajectory) -> list[Floats]:
    rows = (points.positions, points.velocities, points.accelerations)
    return [np.asarray(x) for x in rows if x is not None]


def main() -> None:
    """Print the tables; write figures, report and plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', default='nonholonomic', choices=('nonholonomic', 'tiago'))
    parser.add_argument('--quick', action='store_true', help='half the time')
    report.add_output(parser)
    chosen = parser.parse_args()
    console, results = report.begin()
    rig = Rig(chosen.robot, 1.5 if chosen.quick else 3.0)
    lines, errors = line_table(rig)
    tracking, numbers, runs = tracking_table(rig)
    results |= {'robot': chosen.robot, 'line errors': errors, 'tracking': numbers}
    report.finish(console, chosen.output, 'feedforward', results, [lines, tracking])
    file = chosen.output / f'feedforward_{chosen.robot}.png'
    plot(runs, file)
    console.print(f'written: {file}', highlight=False)


if __name__ == '__main__':
    main()
