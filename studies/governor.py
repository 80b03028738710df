# SPDX-License-Identifier: Apache-2.0
"""
Random drives that would tip a robot over, with and without the governor.

``python -m studies.governor [--runs 200] [--quick] [--output FOLDER]``: the shipped differential
drive carries 4 kg at its tool and swings its arm while commands of its base change twice a second,
as roughly as its drives can follow. Two judges see whether a wheel or the caster lifts: our
zero-moment point, and MuJoCo, where the same robot plays the same motion on stiff contacts. It
stands on three points, so that none can be without load unless the robot tips.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from rich.progress import track

import kane_dynamics as kd
from kane_dynamics.analysis.base_motion import DriveResponse, moving
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.control.governor import Governor
from kane_dynamics.typing import Floats
from studies import report
from studies.peers.load_watch import LoadWatch
from studies.peers.standing_twin import StandingTwin
from studies.report import Table
from studies.slope import CASTER, WHEELS
from studies.tip_over import GRIP, JOINTS, SETTLES, SOFTNESS, STEP, shipped, weight_of

LOAD = 4.0  # [kg] at the tool
DRIVES = DriveResponse(0.05, (4.0, 4.0, 8.0))
PERIOD, CHANGES, LASTS = 0.05, 0.5, 2.0  # of the governor, of the command, of a run [s]
LOOKS = 25  # steps between looks at the margin
EDGE = 0.02  # that the governor keeps [m]
MODES = ('free', 'governed')


@dataclass(frozen=True)
class Drive:
    """A swing of the arm, sines of all joints about a middle, and a command for each period."""

    size: Floats
    rate: Floats
    phase: Floats
    middle: Floats
    commands: Floats

    def arm(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return angles, speeds and accelerations of the arm, each (k, 5)."""
        angle = np.multiply.outer(times, self.rate) + self.phase
        q, v = self.middle + self.size * np.sin(angle), self.size * self.rate * np.cos(angle)
        return q, v, -self.size * self.rate**2 * np.sin(angle)


@dataclass(frozen=True)
class Played:
    """States q, v and accelerations a of the whole robot, (k, n), a step apart."""

    q: Floats
    v: Floats
    a: Floats


class Rig:
    """The robot and its governor."""

    def __init__(self) -> None:
        self.robot = shipped().with_payload('tool_link', LOAD)
        supports = list(CASTER.values())
        self.base = kd.bases.differential(self.robot, WHEELS[:1], WHEELS[1:], supports=supports)
        self.ground_contacts = kd.base_ground_contacts(self.base)
        dynamics, rest = kd.dynamics(self.robot, self.base.constraints), np.zeros(self.robot.nv)
        self.rows = dynamics.constraint_rows(self.robot.neutral(), rest).matrix
        self.recursion = kd.casadi_function(self.robot, 'inverse_dynamics')
        self.governor = Governor(
            self.ground_contacts, DRIVES, WHEELS, margins=SafetyMargins(edge=EDGE)
        )

    def drawn(self, seed: int) -> Drive:
        """Return a random drive whose arm does not tip the robot while that stands still."""
        rng, count = np.random.default_rng(seed), round(LASTS / PERIOD)
        still = np.zeros((count, 3))
        while True:
            swing = rng.uniform((0.2, 1.0, 0.0), (0.5, 3.0, 6.0), (5, 3)).T
            middle = rng.uniform(-0.4, 0.4, 5)
            changes = count // round(CHANGES / PERIOD)
            sides, turns = rng.choice([-1.5, 1.5], changes), rng.uniform(-2.0, 2.0, changes)
            wanted = np.stack([sides, np.zeros(changes), turns], axis=1)
            drive = Drive(*swing, middle, np.repeat(wanted, count // changes, axis=0))
            standing = self.whole(drive, np.arange(count) * PERIOD, still, still)
            if self.least_margin(standing, 1) > EDGE:
                return drive

    def whole(self, drive: Drive, times: Floats, twists: Floats, rates: Floats) -> Played:
        """Return the motion of the robot from twists of its base and their derivatives."""
        q, v, a = np.zeros((3, len(times), self.robot.nv))
        q[:, 5:], v[:, 5:], a[:, 5:] = drive.arm(times)
        rolling = np.array([self.base.wheel_rates(one).rates for one in np.eye(3)[[0, 2]]])
        v[:, :3], v[:, 3:5] = twists, twists[:, [0, 2]] @ rolling
        a[:, :3], a[:, 3:5] = rates, rates[:, [0, 2]] @ rolling
        a[:, 1] += twists[:, 0] * twists[:, 2]  # the base's axes are the world's, always
        q[1:, 3:5] = np.cumsum(0.5 * np.diff(times)[:, None] * (v[1:, 3:5] + v[:-1, 3:5]), axis=0)
        return Played(q, v, a)

    def played(self, drive: Drive, governed: bool) -> Played:
        """Return what drives and arm do of a drive."""
        fine = np.arange(round(PERIOD / STEP)) * STEP
        twists, rates = [], []
        twist, applied = np.zeros((2, 3))
        for k, wanted in enumerate(drive.commands):
            if governed:
                state = np.zeros((3, self.robot.nv))
                state[:, 5:] = np.concatenate(drive.arm(np.array([k * PERIOD])))
                applied = self.governor.admit(*state, twist, applied, wanted).command
            else:
                applied = wanted
            motion = DRIVES.after(twist, applied, fine)
            twists.append(motion.twist)
            turning = moving(motion.twist, np.zeros_like(motion.twist)).acceleration
            rates.append(motion.acceleration - turning)
            twist = DRIVES.after(twist, applied, PERIOD).twist
        times = np.arange(len(twists) * len(fine)) * STEP
        return self.whole(drive, times, np.concatenate(twists), np.concatenate(rates))

    def least_margin(self, played: Played, looks: int = LOOKS) -> float:
        """Return the least distance of the zero-moment point from an edge [m]."""
        states = zip(played.q[::looks], played.v[::looks], played.a[::looks], strict=True)
        return min(self.ground_contacts.margins(*state).margin for state in states)

    def efforts(self, played: Played) -> Floats:
        """Return what drives and arm give, (k, nv - 3): the rows move what nothing drives."""
        states = played.q.T, played.v.T, played.a.T
        asked = np.array(self.recursion.map(len(played.q))(*states))
        pushes = np.linalg.solve(self.rows[:, :3].T, asked[:3])
        return (asked[3:] - self.rows[:, 3:].T @ pushes).T

    def least_load(self, played: Played) -> float:
        """Return the least load of a contact in MuJoCo, of the weight; 0 where one lifts."""
        efforts = self.efforts(played)
        twin = StandingTwin(self.robot, WHEELS, CASTER, SOFTNESS, GRIP, JOINTS, STEP)
        start, rest = played.q[0], np.zeros(self.robot.nv)
        twin.place(start)
        still = kd.inverse_dynamics(self.robot, start, rest, rest)[3:]
        for _ in range(round(SETTLES / STEP)):
            twin.step(start[3:], rest[3:], still)
        twin.move(np.r_[0.0, 0.0, played.v[0, 5:]])
        watch = LoadWatch(twin, weight_of(self.robot))
        for q, v, effort in zip(played.q, played.v, efforts, strict=True):
            twin.step(q[3:], v[3:], effort)
            if watch.lifted():
                return 0.0
        return watch.least


def judged(rig: Rig, seed: int) -> dict[str, tuple[float, float]]:
    """Return the least margin [m] and the least load in MuJoCo of a run, of both modes."""
    drive = rig.drawn(seed)
    runs = {mode: rig.played(drive, mode == 'governed') for mode in MODES}
    return {mode: (rig.least_margin(run), rig.least_load(run)) for mode, run in runs.items()}


def governor_table(runs: int) -> tuple[Table, list[dict[str, tuple[float, float]]]]:
    """Return the table and its numbers."""
    rig = Rig()
    found = [judged(rig, seed) for seed in track(range(runs), 'runs')]
    table = Table(
        f'{runs} random runs: what lifts a wheel or the caster',
        (
            'commands',
            'runs that lift one in MuJoCo',
            'by our margin',
            'both say the same',
            'least margin, median [mm]',
            'least load, median [% of the weight]',
        ),
    )
    for mode in MODES:
        margins, loads = np.array([one[mode] for one in found]).T
        table.add(
            mode,
            str(np.count_nonzero(loads == 0.0)),
            str(np.count_nonzero(margins < 0.0)),
            str(np.count_nonzero((margins < 0.0) == (loads == 0.0))),
            f'{1e3 * margins.min():.1f}, {1e3 * np.median(margins):.1f}',
            f'{1e2 * loads.min():.2f}, {1e2 * np.median(loads):.2f}',
        )
    table.notes.append(f'the governor keeps {EDGE:g} m for an arm that does not stop meanwhile')
    return table, found


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(prog='python -m studies.governor', description=__doc__)
    parser.add_argument('--runs', type=int, default=200, help='number of random runs')
    parser.add_argument('--quick', action='store_true', help='ten runs')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    table, results['governor'] = governor_table(10 if options.quick else options.runs)
    report.finish(console, options.output, 'governor', results, [table])


if __name__ == '__main__':
    main()
