# SPDX-License-Identifier: Apache-2.0
"""
Random paths retimed, their limits checked by other ways than those of the retiming.

``python -m studies.retiming [--paths 50] [--output FOLDER]``: TIAGo on its wheels, and a base on
four steered wheels with an arm, move from rest to rest along random paths of base and arm. Efforts
come from constrained inverse dynamics at moments between those of the grid, wheels and tipping
from contact pictures, accelerations back from forward dynamics; some motions are simulated with
these efforts. TIAGo's arm alone is compared with toppra on torques of Pinocchio.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.progress import track

import kane_dynamics as kd
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.trajectories.paths import RolledPath, SplinePath
from kane_dynamics.trajectories.retiming import Retimed, retime
from kane_dynamics.typing import Floats
from kane_dynamics.view.plots import LIMIT, legend_beside, paper_style, save_figure
from studies import report, robots
from studies.report import Table

KEPT = SafetyMargins(edge=0.02, friction=1.0, effort=1.0, speed=1.0)
FRICTION = 0.6
POINTS = 4  # of a path
MOMENTS, PICTURES = 1001, 41  # at which efforts and speeds, and contacts, are looked at
STEP, HELD = 2e-4, 30.0  # of simulations [s], their feedback [rad/s]
HEAD = ('head_1_joint', 'head_2_joint')
ARM = (120.0, 150.0, 100.0, 80.0, 50.0, 50.0)  # [N m] of the arm on steered wheels
"""Its largest torques of gravity are about half of these."""


@dataclass(frozen=True, eq=False)
class Rig:
    """
    A robot on wheels, and random paths of it.

    Parameters
    ----------
    dynamics : kane_dynamics.Dynamics
        In machine code.
    contacts : GroundContacts
        What it stands on.
    path : callable
        From a random generator.

    """

    dynamics: kd.CompiledDynamics
    contacts: GroundContacts
    path: Callable[[np.random.Generator], RolledPath]

    @property
    def motors(self) -> tuple[str, ...]:
        """Return the speeds with motors."""
        return self.dynamics.robot.velocity_names[3:]

    def retimed(self, seed: int, cells: int = 150) -> Retimed:
        """Return a random path with its fastest timing."""
        path = self.path(np.random.default_rng(seed))
        return retime(
            self.dynamics, path, self.motors, contacts=self.contacts, kept=KEPT, cells=cells
        )


def tiago() -> Rig:
    """Return TIAGo on its two wheels and four casters."""
    path = robots.example('tiago_description/robots/tiago_no_hand.urdf')
    robot = robots.read(path, base='planar', locked_joints=HEAD)
    corners = [(x, y, 0.0) for x in (0.19, -0.19) for y in (0.18, -0.18)]
    left, right = robots.WHEELS
    base = kd.bases.differential(robot, [left], [right], radius=0.0985, supports=corners)
    dynamics = kd.compile(robot, base.constraints)
    motors = robot.velocity_names[3:]

    def random(rng: np.random.Generator) -> RolledPath:
        points = _inside(robot, motors, rng)
        points[:, :2] = np.cumsum(rng.uniform(-3.0, 6.0, (POINTS, 2)), axis=0)
        return RolledPath(dynamics, motors, points, robot.neutral())

    return Rig(dynamics, kd.base_ground_contacts(base, friction=FRICTION), random)


def swerve() -> Rig:
    """Return a base on four steered wheels with an arm."""
    found = robots.swerve_base().robot
    bodies = [_limited(body, k) for k, body in enumerate(found.bodies)]
    robot = replace(found, bodies=bodies)
    base = kd.bases.swerve(robot, {f'steer_{k}': f'wheel_{k}' for k in range(4)}, radius=0.06)
    dynamics = kd.compile(robot, base.constraints)
    names = (*robot.velocity_names[:3], *robot.velocity_names[-6:])

    def random(rng: np.random.Generator) -> RolledPath:
        points = rng.uniform(-0.5, 0.5, (POINTS, 9))
        ahead = rng.uniform(-1.0, 1.0) + np.cumsum(rng.uniform(-0.5, 0.5, POINTS))
        steps = np.column_stack([np.cos(ahead), np.sin(ahead)])
        points[:, :2] = np.cumsum(rng.uniform(0.5, 1.0, (POINTS, 1)) * steps, axis=0)
        return RolledPath(dynamics, names, points, robot.neutral(), steered=base)

    return Rig(dynamics, kd.base_ground_contacts(base, friction=FRICTION), random)


def _limited(body: kd.Body, k: int) -> kd.Body:
    """Return a body whose joint has limits."""
    kind = body.joint.name.split('_')[0]
    effort = {'steer': 10.0, 'wheel': 3.0, 'joint': ARM[k - 9] if k >= 9 else 0.0}.get(kind, 0.0)
    speed = {'steer': 12.0, 'wheel': 40.0, 'joint': 3.0}.get(kind, 0.0)
    joint = replace(body.joint, effort_limit=effort or np.inf, velocity_limit=speed or np.inf)
    return replace(body, joint=joint)


def _inside(robot: kd.Robot, names: Sequence[str], rng: np.random.Generator) -> Floats:
    """Return points in the middle of the ranges of joints."""
    columns = [robot.coordinate_index(name) for name in names]
    low, high = np.clip(robot.lower[columns], -3, 3), np.clip(robot.upper[columns], -3, 3)
    points: Floats = low + (high - low) * rng.uniform(0.3, 0.7, (POINTS, len(columns)))
    return points


def exact_uses(rig: Rig, found: Retimed) -> dict[str, float]:
    """Return the largest use of each kind of limit, by other ways than those of the retiming."""
    robot, times = rig.dynamics.robot, np.linspace(0.0, found.duration, MOMENTS)
    q, v, a = found.at(times)
    efforts = found.efforts(times)
    # at rest friction has no sign, efforts that begin or end a motion have it
    back = rig.dynamics.acceleration(q[1:-1], v[1:-1], efforts[1:-1])
    uses = {
        'effort': float((np.abs(efforts) / robot.effort_limit).max()),
        'speed': float((np.abs(v) / robot.velocity_limit).max()),
        'friction': 0.0,
        'edge': np.inf,
        'accelerations back': float(np.abs(back - a[1:-1]).max() / np.abs(a).max()),
    }
    for k in np.linspace(0, MOMENTS - 1, PICTURES).astype(int):
        picture = picture_of(rig.contacts, q[k], v[k], a[k], rig.motors)
        wheels = (picture.contacts[name].use for name in rig.contacts.wheels)
        uses['friction'] = max(uses['friction'], *wheels)
        uses['edge'] = min(uses['edge'], picture.margins.margin)
    return uses


def simulated(rig: Rig, found: Retimed) -> tuple[float, float]:
    """
    Return how far a simulated motion under these efforts is off at most, and what holds it.

    An arm that stands up falls over without any feedback: PD holds the joints, but not the wheels.

    Returns
    -------
    error : float
        Largest error of a coordinate [rad or m].
    feedback : float
        Largest effort of feedback over the limit.

    """
    dynamics, points = rig.dynamics, found.points(STEP)
    robot, wheels = dynamics.robot, set(rig.contacts.wheels)
    held = np.array([name in rig.motors and name not in wheels for name in robot.velocity_names])
    wanted, efforts = points, np.asarray(points.efforts)
    inertia = held * np.diagonal(dynamics.mass_matrix(points.positions[0]))
    most, errors = [0.0], [0.0]

    def law(time: float, q: Floats, v: Floats) -> Floats:
        k = min(int(np.searchsorted(points.times, time, side='right')), len(efforts) - 1) - 1
        share = (time - points.times[k]) / (points.times[k + 1] - points.times[k])
        ahead = efforts[k] + min(share, 1.0) * (efforts[k + 1] - efforts[k])
        q_wanted, v_wanted, _ = wanted.at(min(time, found.duration))
        push = inertia * (HELD**2 * (q_wanted - q) + 2.0 * HELD * (v_wanted - v))
        most.append(float(np.abs(push / robot.effort_limit).max()))
        errors.append(float(np.abs(q_wanted - q).max()))
        return np.asarray(ahead + push)

    start = points.positions[0], np.zeros(robot.nv)
    dynamics.simulate(*start, found.duration, effort=law, step=STEP, integrator='semi_implicit')
    return max(errors), max(most)


def of_arm_alone(seed: int, cells: int = 200) -> tuple[float, float]:
    """Return the duration of TIAGo's arm alone, and that by toppra with Pinocchio's torques."""
    import pinocchio as pin
    import toppra
    import toppra.algorithm
    import toppra.constraint

    path = robots.example('tiago_description/robots/tiago_no_hand.urdf')
    wheels = (*robots.WHEELS, *HEAD)
    whole = robots.read(path, locked_joints=wheels)
    joints = [replace(body.joint, damping=0.0) for body in whole.bodies]  # toppra knows none
    robot = replace(
        whole,
        bodies=[replace(b, joint=j) for b, j in zip(whole.bodies, joints, strict=True)],
    )
    points = _inside(robot, robot.velocity_names, np.random.default_rng(seed))
    grid = 0.5 * (POINTS - 1) * (1.0 - np.cos(np.pi * np.arange(cells + 1) / cells))
    ours = retime(
        kd.compile(robot), SplinePath(points), robot.velocity_names, cells=cells
    ).duration
    model = pin.buildModelFromUrdf(str(path))
    kept = {*robot.velocity_names}
    held = [k for k in range(1, model.njoints) if model.names[k] not in kept]
    model = pin.buildReducedModel(model, held, pin.neutral(model))
    order = [robot.velocity_names.index(name) for name in list(model.names)[1:]]
    data = model.createData()

    def torques(q: Floats, v: Floats, a: Floats) -> Floats:
        return np.asarray(pin.rnea(model, data, q, v, a))

    both = np.array([-1.0, 1.0])
    limits = [
        toppra.constraint.JointVelocityConstraint(robot.velocity_limit[order, None] * both),
        toppra.constraint.JointTorqueConstraint(
            torques,
            robot.effort_limit[order, None] * both,
            robot.friction[order],
            discretization_scheme=toppra.constraint.DiscretizationType.Interpolation,
        ),
    ]
    spline = toppra.SplineInterpolator(np.arange(float(POINTS)), points[:, order])
    timed = toppra.algorithm.TOPPRA(limits, spline, gridpoints=grid, solver_wrapper='seidel')
    return ours, float(timed.compute_trajectory(0.0, 0.0).duration)


def random_table(
    rigs: dict[str, Rig], paths: int, simulations: int
) -> tuple[Table, list[dict[str, Any]]]:
    """Return the table of random paths and its numbers."""
    table = Table(
        f'{paths} random paths of each robot: largest use of limits, checked otherwise',
        (
            'robot',
            'duration [s]',
            'effort',
            'speed',
            'friction',
            'nearest edge [m]',
            'error [m, rad]',
            'feedback',
        ),
    )
    results: list[dict[str, Any]] = []
    for name, rig in rigs.items():
        for seed in track(range(paths), name):
            found = rig.retimed(seed)
            one: dict[str, Any] = {'robot': name, 'seed': seed, 'duration': found.duration}
            one |= {'slowed': found.slowed} | exact_uses(rig, found)
            if seed < simulations:
                one['error'], one['feedback'] = simulated(rig, found)
            results.append(one)
        own = [one for one in results if one['robot'] == name]
        durations = [one['duration'] for one in own]
        worst = {key: max(one[key] for one in own) for key in ('effort', 'speed', 'friction')}
        error, push = (max(one.get(key, 0.0) for one in own) for key in ('error', 'feedback'))
        table.add(
            name,
            f'{min(durations):.2f} to {max(durations):.2f}',
            *(f'{value:.5f}' for value in worst.values()),
            f'{min(one["edge"] for one in own):.4f}',
            f'{error:.2g}',
            f'{push:.2g}',
        )
        back = max(one['accelerations back'] for one in own)
        table.notes.append(
            f'{name}: forward dynamics gives the accelerations back to {back:.1g} of the largest; '
            f'{sum(one["slowed"] > 1.0 for one in own)} motions were slowed as a whole'
        )
    table.notes.append(
        f'the zero-moment point keeps {KEPT.edge:g} m; 1.001 is allowed of the rest'
    )
    table.notes.append(
        f'error and feedback: of {simulations} motions of each simulated with these efforts, of '
        'coordinates and as part of the efforts that there are'
    )
    return table, results


def arm_table(paths: int) -> tuple[Table, list[tuple[float, float]]]:
    """Return the comparison with toppra and its numbers."""
    found = [of_arm_alone(seed) for seed in track(range(paths), 'arm alone')]
    off = np.array([ours / theirs - 1.0 for ours, theirs in found])
    table = Table(
        f"TIAGo's arm alone, {paths} random paths: duration against toppra with Pinocchio",
        ('', 'least', 'median', 'largest'),
    )
    table.add('difference', *(f'{100.0 * x:+.3f} %' for x in np.quantile(off, (0.0, 0.5, 1.0))))
    table.notes.append('the same 200 cells; there each torque is bounded at both ends of a cell')
    return table, found


def draw(rig: Rig, found: Retimed, file: Path) -> None:
    """Draw efforts and speeds over their limits, and what wheels and edges use."""
    with paper_style():
        figure = Figure((7.0, 7.0), layout='constrained')
        _draw_uses(figure.subplots(3, 1, sharex=True), rig, found)
        figure.suptitle(f'{rig.dynamics.robot.name} along a path, retimed')
    save_figure(figure, file)


def _draw_uses(axes: Any, rig: Rig, found: Retimed) -> None:
    robot, times = rig.dynamics.robot, np.linspace(0.0, found.duration, MOMENTS)
    _, v, _ = found.at(times)
    efforts = found.efforts(times)
    places, u, x = found.profile.at(times)
    used = found.limits.at(places).use(u, x)
    for k, name in enumerate(robot.velocity_names[3:], start=3):
        axes[0].plot(times, efforts[:, k] / robot.effort_limit[k], label=name)
        axes[1].plot(times, v[:, k] / robot.velocity_limit[k])
    for kind in ('friction of', 'tip-over over'):
        for name in dict.fromkeys(n for n in found.limits.names if n.startswith(kind)):
            rows = [k for k, one in enumerate(found.limits.names) if one == name]
            axes[2].plot(times, used[:, rows].max(axis=1), label=name)
    labels = ('effort over limit [1]', 'speed over limit [1]', 'use of the ground [1]')
    for one, label in zip(axes, labels, strict=True):
        one.set_ylabel(label)
        one.axhline(1.0, color=LIMIT, linestyle='-', linewidth=0.8)
    for one in axes[::2]:
        legend_beside(one)
    axes[2].set_xlabel('time [s]')


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(prog='python -m studies.retiming', description=__doc__)
    parser.add_argument('--paths', type=int, default=50, help='number of paths of each robot')
    parser.add_argument('--simulated', type=int, default=3, help='how many of them are simulated')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    rigs = {'TIAGo': tiago(), 'swerve base with arm': swerve()}
    several, results['paths'] = random_table(rigs, options.paths, options.simulated)
    alone, results['arm'] = arm_table(options.paths)
    report.finish(console, options.output, 'retiming', results, [several, alone])
    for name, rig in rigs.items():
        file = options.output / f'retiming_{name.split()[0].lower()}.png'
        draw(rig, rig.retimed(0), file)
        console.print(f'written: {file}', highlight=False)


if __name__ == '__main__':
    main()
