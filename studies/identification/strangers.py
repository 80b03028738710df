# SPDX-License-Identifier: Apache-2.0
"""
Recordings of others through ``kane-dynamics identify`` alone.

FOLDER: ur10e.urdf, ur10e_{a,b}.csv of shamilmamedov/dynamic_calibration (20_02_12-40sec_12harm,
50sec); gen3.urdf, gen3_{a,b,c}.csv of wissem01chiha/dynamic-identification (quadratic,
opti_traj_testing1, 2); tx40.urdf, tx40_{pos,curr}.csv of thanhndv212/figaroh-plus, its wrist as in
doc/identification.md.
"""

import contextlib
import io
import json
import re
import tempfile
from pathlib import Path

import numpy as np

from kane_dynamics.cli import main
from studies.report import Table

CURRENTS = 14.87, 13.26, 11.13, 10.62, 11.03, 11.47  # of the UR10e [N m/A], from its scripts
GEARS = np.array([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])  # of the TX40, with zeros of its URDF:
ZERO = np.array([0.0, -0.5, 0.5, 0.0, 0.0, 0.0]) * np.pi
HALF = 16875  # samples at 5 kHz; it rests after 37500


def recordings(folder: Path) -> dict[str, list[np.ndarray]]:
    """Return time, positions, velocities and efforts by robot; the test comes last."""
    urs = [np.loadtxt(folder / f'ur10e_{x}.csv', delimiter=',')[:, :19] for x in 'ab']
    files = [folder / f'gen3_{x}.csv' for x in 'abc']
    gen3 = [np.genfromtxt(file, delimiter=',', skip_header=1)[:, :22] for file in files]
    files = [folder / f'tx40_{x}.csv' for x in ('pos', 'curr')]
    q, i = (np.loadtxt(file, delimiter=',', skiprows=1)[:37500] for file in files)
    signals = q / GEARS + ZERO, np.gradient(q / GEARS, 2e-4, axis=0), i * GEARS
    tx40 = np.column_stack([2e-4 * np.arange(len(q)), *signals])
    return {
        'ur10e': [x * np.r_[np.ones(13), CURRENTS] for x in urs],
        'gen3': [x * np.r_[1e-3, np.ones(21)] for x in gen3],  # milliseconds
        'tx40': [tx40[:HALF], tx40[HALF:]],
    }


def strangers(folder: Path) -> list[Table]:
    """Return errors on the last recording of each robot, identified from the others."""
    tables = []
    for robot, parts in recordings(folder).items():
        urdf = folder / f'{robot}.urdf'
        names = re.findall(r'<joint name="(\w+_joint|joint_\d)" type="rev', urdf.read_text())
        kinds = 'position', 'velocity', 'effort'
        head = ','.join(['time', *(f'{kind}:{name}' for kind in kinds for name in names)])
        with tempfile.TemporaryDirectory() as place:
            files = [f'{place}/{k}.csv' for k in range(len(parts))]
            for file, part in zip(files, parts, strict=True):
                np.savetxt(file, part, delimiter=',', header=head, comments='')
            bags = [word for file in files[:-1] for word in ('--bag', file)]
            options = *bags, '--validate', files[-1], '--output', place, '--json'
            with contextlib.redirect_stdout(io.StringIO()) as output:
                main(['identify', str(urdf), *options])
        facts = json.loads(output.getvalue())
        table = Table(robot, ('solution', *names), notes=facts['warnings'])
        for solution, row in facts['errors_percent'].items():
            table.add(solution, *(f'{row[name]:.1f}' for name in names))
        tables.append(table)
    return tables
