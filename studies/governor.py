# SPDX-License-Identifier: Apache-2.0
"""
Random drives that would tip a robot over, with and without the governor.

``python -m studies.governor [--runs 200] [--output FOLDER]``: the shipped differential drive
carries 4 kg at its tool and swings its arm while commands of its base change twice a second, as
roughly as its drives can follow. A run lifts a wheel where the zero-moment point leaves the
support polygon.
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.progress import track

import kane_dynamics as kd
from kane_dynamics.control.base_motion import DriveResponse
from kane_dynamics.control.governor import Governor
from kane_dynamics.control.motion_limits import Reserve
from kane_dynamics.resources import resolve
from kane_dynamics.typing import Floats
from studies import report
from studies.report import Table

WHEELS = ('wheel_left_joint', 'wheel_right_joint')
POINTS = ((0.25, 0.0, 0.0), (-0.25, 0.0, 0.0))
LOAD = 4.0  # [kg] at the tool
DRIVES = DriveResponse(0.05, (4.0, 4.0, 8.0))
PERIOD, CHANGES, LASTS = 0.05, 0.5, 2.0  # of the governor, of the command, of a run [s]
FINE = 0.0125  # between looks at the margin [s]
EDGE = 0.02  # that the governor keeps [m]


class Rig:
    """The robot and its governor."""

    def __init__(self) -> None:
        robot = kd.load_urdf(resolve('package://kane_dynamics/robots/nonholonomic.urdf'), 'planar')
        self.robot = robot.with_payload('tool_link', LOAD)
        base = kd.bases.differential(self.robot, WHEELS[:1], WHEELS[1:], supports=POINTS)
        self.stance = kd.base_stance(base)
        self.governor = Governor(self.stance, DRIVES, WHEELS, reserve=Reserve(edge=EDGE))

    def least_margin(self, seed: int, governed: bool) -> float:
        """Return the least distance of the zero-moment point from an edge in a run [m]."""
        rng, robot = np.random.default_rng(seed), self.robot
        size, rate, phase = rng.uniform((0.2, 1.0, 0.0), (0.5, 3.0, 6.0), (5, 3)).T
        middle = rng.uniform(-0.4, 0.4, 5)

        def arm(t: float) -> tuple[Floats, Floats, Floats]:
            q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
            angle = rate * t + phase
            q[5:] = middle + size * np.sin(angle)
            v[5:], a[5:] = size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)
            return q, v, a

        twist, applied, wanted, least = *np.zeros((3, 3)), np.inf
        for k in range(round(LASTS / PERIOD)):
            if k % round(CHANGES / PERIOD) == 0:
                wanted = np.array([rng.choice([-1.5, 1.5]), 0.0, rng.uniform(-2.0, 2.0)])
            if governed:
                state = arm(k * PERIOD)
                applied = self.governor.admit(*state, twist, applied, wanted).command
            else:
                applied = wanted
            for t in np.arange(0.0, PERIOD, FINE):
                motion = DRIVES.after(twist, applied, t)
                q, v, a = arm(k * PERIOD + t)
                v[:3], a[:3] = motion.twist, motion.acceleration  # the base's axes are the world's
                least = min(least, self.stance.margins(q, v, a).margin)
            twist = DRIVES.after(twist, applied, PERIOD).twist
        return least


def governor_table(runs: int) -> tuple[Table, list[dict[str, float]]]:
    """Return the table and its numbers."""
    rig = Rig()
    found = [
        {mode: rig.least_margin(seed, mode == 'governed') for mode in ('free', 'governed')}
        for seed in track(range(runs), 'runs')
    ]
    table = Table(
        f'{runs} random runs: least distance of the zero-moment point from an edge [m]',
        ('commands', 'runs that lift a wheel', 'least', 'median'),
    )
    for mode in ('free', 'governed'):
        margins = np.array([one[mode] for one in found])
        lifted = int(np.count_nonzero(margins < 0.0))
        table.add(mode, str(lifted), f'{margins.min():.4f}', f'{np.median(margins):.4f}')
    table.notes.append(f'the governor keeps {EDGE:g} m for an arm that does not stop meanwhile')
    return table, found


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(prog='python -m studies.governor', description=__doc__)
    parser.add_argument('--runs', type=int, default=200, help='number of random runs')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    table, results['governor'] = governor_table(options.runs)
    report.finish(console, options.output, 'governor', results, [table])


if __name__ == '__main__':
    main()
