# SPDX-License-Identifier: Apache-2.0
"""
FIGAROH 1.0.2 as it is, in an interpreter of its own, on halves of a UR10 and of TIAGo.

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
from studies.identification.arms import halves, ur10, ur10_recording
from studies.report import Table

WORKER = Path(__file__).with_name('figaroh_worker.py')
GAINS = np.array([1.0, 13.6, 13.6, -8.7, -8.7, -20.6, -20.6, -20.6])  # of TIAGo [N m/A]
JOINTS = ('torso_lift_joint', *(f'arm_{k}_joint' for k in range(1, 8)))
PART = slice(921, 6791)  # that its script takes
Recording = tuple[Floats, Floats, Floats, Floats]  # time, positions, efforts, velocities


def tiago(folder: Path) -> tuple[kd.Robot, Path, Recording, float, float]:
    """Return TIAGo with all but torso and arm locked, its URDF, its recording, corner and rate."""
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
    return robot, path, (tables['position'][:, 0], q, tau, v), 2.0, 25.0  # corner of its script


def figaroh(
    robot: kd.Robot, python: Path, urdf: Path, recording: Recording, corner: float, *parts: Samples
) -> dict[str, Floats]:
    """Return what FIGAROH predicts for the second half, of the first as recorded, by fit."""
    (training, test), time = parts, recording[0]
    inside = (time >= training.time[0]) & (time <= training.time[-1])
    arrays = dict(zip(('time', 'q', 'tau', 'v'), (x[inside] for x in recording), strict=True))
    arrays |= {f'test_{x}': getattr(test, x) for x in ('q', 'v', 'a', 'tau')}
    arrays |= {'sampling': 1.0 / np.median(np.diff(time)), 'cutoff': np.array(corner)}
    with tempfile.TemporaryDirectory() as folder:
        source, target = (Path(folder) / name for name in ('in.npz', 'out.npz'))
        np.savez(source, joints=list(robot.velocity_names), **arrays)  # type: ignore[arg-type]
        command = [python, WORKER, source, target, urdf]
        subprocess.run(command, check=True, capture_output=True)
        with np.load(target) as efforts:
            return dict(efforts)


def beside_figaroh(python: Path | None, folder: Path | None) -> list[Table]:
    """Return errors of both programs on the same halves, the same terms, and what we select."""
    (path,) = robots.arm('panda').path.parents[2].glob('*/*/ur10_robot.urdf')
    time, x = ur10_recording(None)
    signals = time, x['position'], x['effort'], x['velocity']
    cases = {'UR10': (ur10(), path, signals, 5.0, 62.5)}
    if folder is not None:
        cases['TIAGo'] = tiago(folder)
    tables = []
    for name, (robot, urdf, recording, corner, rate) in cases.items():
        (samples,) = prepared_samples(*recording, corner=corner, rate=rate)
        table = Table(f'{name}, half predicts half', ('way', 'program', *robot.velocity_names))
        if python is None:
            table.notes.append('FIGAROH is absent: --figaroh PYTHON, of an environment with it')
        dynamics = kd.compile(robot)
        for way, (training, test) in enumerate((halves(samples), halves(samples)[::-1])):
            rows = {}
            if python is not None:
                predicted = figaroh(robot, python, urdf, recording, corner, training, test)
                rows = {f'FIGAROH {x}': relative_error(test.tau, y) for x, y in predicted.items()}
            same = identify(dynamics, [training], friction=MOTOR_SIDE)
            terms = select_friction(dynamics, [training], start=MOTOR_SIDE)
            more = identify(dynamics, [training], friction=terms)
            rows['ours, base parameters, same terms'] = same.errors(test, 'least_squares').filtered
            rows['ours, consistent, same terms'] = same.errors(test).filtered
            rows['ours, consistent, selected terms'] = more.errors(test).filtered
            if python is not None:
                theirs = np.min([x for key, x in rows.items() if 'FIGAROH' in key], axis=0)
                rows['selected terms / best FIGAROH'] = more.errors(test).filtered / theirs
            rows['efforts of 0'] = relative_error(test.tau, 0.0 * test.tau)
            for program, errors in rows.items():
                cells = (f'{x:.2f}' for x in errors)
                table.add(('1 -> 2', '2 -> 1')[way], program, *cells)
            table.notes += [f'{("1 -> 2", "2 -> 1")[way]}: {text}' for text in more.warnings]
        tables.append(table)
    return tables
