# SPDX-License-Identifier: Apache-2.0
"""
FIGAROH 1.0.2 on the same samples, in an interpreter of its own, of a UR10 and of TIAGo.

TIAGo (thanhndv212/figaroh-plus, Apache-2.0): torso and arm, 100 Hz, 80 s; currents times the gear
ratios and torque constants of its own script. FOLDER has its tiago_{position,velocity,effort}.csv
and tiago_48_schunk.urdf.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np

import kane_dynamics as kd
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.result import relative_error
from kane_dynamics.identification.samples import Samples, prepared_samples
from kane_dynamics.typing import Floats
from studies import robots
from studies.identification.arms import halves, ur10, ur10_samples
from studies.report import Table

WORKER = Path(__file__).with_name('figaroh_worker.py')
GAINS = np.array([1.0, 13.6, 13.6, -8.7, -8.7, -20.6, -20.6, -20.6])  # of TIAGo [N m/A]
JOINTS = ('torso_lift_joint', *(f'arm_{k}_joint' for k in range(1, 8)))
PART = slice(921, 6791)  # that its script takes
CORNER = 2.0  # [Hz] of its script


def tiago(folder: Path) -> tuple[kd.Robot, Path, Samples]:
    """Return TIAGo with all but torso and arm locked, its URDF, and samples."""
    path = folder / 'tiago_48_schunk.urdf'
    every = robots.read(path)
    others = [name for name in every.joint_names if name not in JOINTS]
    robot = robots.read(path, locked_joints=others)
    tables = {
        name: np.loadtxt(folder / f'tiago_{name}.csv', delimiter=',', skiprows=1)[PART]
        for name in ('position', 'velocity', 'effort')
    }
    order = [1 + JOINTS.index(name) for name in robot.velocity_names]
    q, v, tau = (table[:, order] for table in tables.values())
    tau = tau * GAINS[np.array(order) - 1]
    time = tables['position'][:, 0]
    return robot, path, prepared_samples(time, q, tau, v, corner=CORNER, rate=25.0)[0]


def figaroh(
    python: Path, robot: kd.Robot, urdf: Path, training: Samples, test: Samples
) -> dict[str, Floats]:
    """Return what FIGAROH predicts for the test, by kind of fit."""
    arrays = {f'training_{x}': getattr(training, x) for x in ('q', 'v', 'a', 'tau')}
    arrays |= {f'test_{x}': getattr(test, x) for x in ('q', 'v', 'a')}
    with tempfile.TemporaryDirectory() as folder:
        source, target = (Path(folder) / name for name in ('in.npz', 'out.npz'))
        np.savez(source, joints=list(robot.velocity_names), **arrays)  # type: ignore[arg-type]
        subprocess.run([python, WORKER, source, target, urdf], check=True)
        with np.load(target) as found:
            return {name: found[name] for name in ('least_squares', 'weighted')}


def beside_figaroh(python: Path | None, folder: Path | None) -> list[Table]:
    """Return errors of both programs on the same halves, the same terms, and what we select."""
    (path,) = robots.arm('panda').path.parents[2].glob('*/*/ur10_robot.urdf')
    cases = {'UR10': (ur10(), path, ur10_samples())}
    if folder is not None:
        cases['TIAGo'] = tiago(folder)
    tables = []
    for name, (robot, urdf, samples) in cases.items():
        table = Table(f'{name}, half predicts half', ('way', 'program', *robot.velocity_names))
        if python is None:
            table.notes.append('FIGAROH is absent: --figaroh PYTHON, of an environment with it')
        dynamics = kd.compile(robot)
        for way, (training, test) in enumerate((halves(samples), halves(samples)[::-1])):
            rows = {}
            if python is not None:
                predicted = figaroh(python, robot, urdf, training, test)
                rows = {f'FIGAROH {x}': relative_error(test.tau, y) for x, y in predicted.items()}
            same = identify(dynamics, [training], friction=MOTOR_SIDE)
            terms = select_friction(dynamics, [training], start=MOTOR_SIDE)
            more = identify(dynamics, [training], friction=terms)
            rows['ours, base parameters, same terms'] = same.errors(test, 'least_squares').filtered
            rows['ours, consistent, same terms'] = same.errors(test).filtered
            rows['ours, consistent, selected terms'] = more.errors(test).filtered
            if python is not None:
                ours, theirs = rows['ours, consistent, selected terms'], rows['FIGAROH weighted']
                rows['selected terms / FIGAROH weighted'] = ours / theirs
            rows['efforts of 0'] = relative_error(test.tau, 0.0 * test.tau)
            for program, errors in rows.items():
                cells = (f'{x:.2f}' for x in errors)
                table.add(('1 -> 2', '2 -> 1')[way], program, *cells)
            table.notes += [f'{("1 -> 2", "2 -> 1")[way]}: {text}' for text in more.warnings]
        tables.append(table)
    return tables
