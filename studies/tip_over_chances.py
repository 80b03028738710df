# SPDX-License-Identifier: Apache-2.0
"""
How likely a robot tips: margins of random motions with random payloads (Monte Carlo).

``python -m studies.tip_over_chances [--items 20000] [--workers 2] [--folder FOLDER]``: the shipped
differential drive on level ground, its arm in random poses and motions, its base speeding up,
braking and turning at random within bounds, with a mass in the gripper. Each bound of the base's
acceleration and each mass is a case of one sweep, which goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import kane_dynamics as kd
from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.analysis.tip_over import edge_moments
from kane_dynamics.sweep import Job, Sweep, SweepResult, grid, run
from kane_dynamics.trajectories.path_limits import ground_wrenches
from kane_dynamics.typing import Floats
from kane_dynamics.view.plots import CYCLE, paper_style, save_figure
from studies import report
from studies.report import Table
from studies.slope import CASTER, WHEELS
from studies.tip_over import shipped

MASSES = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)  # at the tool [kg]
BRAKING = (0.5, 1.0, 2.0, 3.0)  # largest acceleration of the base [m/s^2]
SPEED, TURN = 1.0, 1.0  # largest of the base [m/s], [rad/s]; TURN also [rad/s^2]
ARM_RATE, ARM_ACCELERATION = 0.5, 5.0  # part of the joints' limits, [rad/s^2]
QUANTILES = (0.001, 0.01, 0.1, 0.5)
FIGURE = 'tip_over_chances.svg'


class Drive(NamedTuple):
    """
    A base at the origin: what its speeds and accelerations are multiples of, shapes (nv,).

    Parameters
    ----------
    ahead, turning : ndarray
        Speeds at 1 m/s and at 1 rad/s, with those of the wheels.
    bend : ndarray
        Accelerations at both, with neither speeding up.
    polygon : SupportPolygon
        What it stands on.

    """

    ahead: Floats
    turning: Floats
    bend: Floats
    polygon: SupportPolygon


def drive_of(robot: kd.Robot) -> Drive:
    """Return how the shipped robot moves from the origin."""
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=list(CASTER.values()))
    still = kd.dynamics(robot, base.constraints)
    q, units = robot.neutral(), np.eye(robot.nv)
    known = ['base_x', 'base_yaw', *robot.velocity_names[5:]]
    ahead, turning = (still.consistent_velocity(q, units[k], known) for k in (0, 2))
    bend = still.consistent_acceleration(q, ahead + turning, np.zeros(robot.nv), known)
    return Drive(ahead, turning, bend, kd.base_ground_contacts(base).polygon(q))


def motions(job: Job, drive: Drive) -> tuple[Floats, Floats, Floats]:
    """Return q, v and a of the items, shapes (n, nq), (n, nv), (n, nv), the base at the origin."""
    robot = job.parameters['robot']
    bounds = np.r_[SPEED, TURN, job.parameters['acceleration'], TURN]
    draws = np.array([rng.uniform(-1.0, 1.0, 19) for rng in job.generators()])
    speed, turn, push, twist = (draws[:, :4] * bounds).T[..., None]
    q = np.zeros((len(job), robot.nq))
    q[:, 5:] = draws[:, 4:9] * robot.upper[5:]
    v = speed * drive.ahead + turn * drive.turning
    v[:, 5:] = draws[:, 9:14] * ARM_RATE * robot.velocity_limit[5:]
    a = push * drive.ahead + twist * drive.turning + speed * turn * drive.bend
    a[:, 5:] = draws[:, 14:] * ARM_ACCELERATION
    return q, v, a


def margins(job: Job) -> dict[str, Any]:
    """Return the distance of the zero-moment point from the nearest edge [m], and that edge."""
    robot = job.parameters['robot']
    drive = drive_of(robot)
    loaded = robot.with_payload('tool_link', job.parameters['mass'])
    wrench = ground_wrenches(loaded, *motions(job, drive), gravity=True)
    pressing = wrench[:, 3:] @ drive.polygon.normal
    distances = edge_moments(drive.polygon, wrench) / pressing[:, None]
    return {'margin': distances.min(axis=1), 'edge': distances.argmin(axis=1)}


def sweep(items: int, seed: int = 0) -> Sweep:
    """Return the sweep over all masses and accelerations."""
    cases = grid(robot=[shipped()], acceleration=BRAKING, mass=MASSES)
    return Sweep('studies.tip_over_chances:margins', cases, items, seed, chunk=5000)


def chances(found: SweepResult) -> list[dict[str, Any]]:
    """Return quantiles of the margin [m] and the part of motions that tip, of each case."""
    arrays = found.arrays()
    rows = []
    for number, case in enumerate(found.sweep.cases):
        margin = arrays['margin'][arrays['case'] == number]
        quantiles = dict(zip(QUANTILES, np.quantile(margin, QUANTILES).tolist(), strict=True))
        told = {name: case[name] for name in ('acceleration', 'mass')}
        rows.append({**told, 'tips': float(np.mean(margin < 0.0)), 'quantiles': quantiles})
    return rows


def table(rows: list[dict[str, Any]], items: int) -> Table:
    """Return the chances as a table."""
    heads = (*(f'{100.0 * part:g} % below' for part in QUANTILES), 'tips')
    found = Table('Tip-over margins of random motions', ('m/s^2, kg', *heads))
    for row in rows:
        cells = [f'{1e3 * value:.1f} mm' for value in row['quantiles'].values()]
        name = f'{row["acceleration"]:g}, {row["mass"]:g}'
        found.add(name, *cells, f'{100.0 * row["tips"]:.3f} %')
    found.notes.append(f'{items} motions in each row, {items * len(rows)} in all')
    return found


@paper_style()
def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw quantiles of the margin, and the chance to tip, over the mass."""
    figure = Figure((7.0, 3.0), layout='constrained')
    left, right = figure.subplots(1, 2)
    for colour, bound in enumerate(BRAKING):
        own = [row for row in rows if row['acceleration'] == bound]
        masses = [row['mass'] for row in own]
        for part, style in zip(QUANTILES[1:], (':', '--', '-'), strict=True):
            heights = [1e3 * row['quantiles'][part] for row in own]
            left.plot(masses, heights, style, color=CYCLE[colour])
        chance = [100.0 * row['tips'] for row in own]
        right.plot(masses, chance, 'o-', color=CYCLE[colour], label=f'{bound:g} m/s²')
    left.axhline(0.0, color='black', linewidth=0.8)
    left.set(xlabel='mass in the gripper [kg]', ylabel='margin [mm]')
    left.set_title('1 % (dotted), 10 % (dashed), median')
    right.legend(title='base, up to', loc='upper left', bbox_to_anchor=(1.01, 1.0))
    right.set(xlabel='mass in the gripper [kg]', ylabel='motions that tip [%]')
    right.set_ylim(bottom=0.0)
    save_figure(figure, path, also=('.png', '.pdf'))


def main() -> int:
    """Run the sweep as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--items', type=int, default=20_000, help='motions of each case')
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--folder', type=Path, help='of the sweep; chances in the output if none')
    report.add_output(parser)
    chosen = parser.parse_args()
    console, results = report.begin()
    folder = chosen.folder or chosen.output / 'chances'
    found = run(sweep(chosen.items), folder, workers=chosen.workers)
    rows = results['chances'] = chances(found)
    report.finish(console, chosen.output, 'tip_over_chances', results, [table(rows, chosen.items)])
    draw(rows, chosen.output / FIGURE)
    return len(found.failures)


if __name__ == '__main__':
    raise SystemExit(main())
