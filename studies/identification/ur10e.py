# SPDX-License-Identifier: Apache-2.0
"""
A UR10e whose recordings predict each other: terms of friction on motions that no rule has seen.

shamilmamedov/dynamic_calibration (Innopolis University; without a licence, so it is not here): six
recordings of 20 to 50 s at about 50 Hz, dataset_ur10e/identification_data/ur-20_02_*.csv as
FOLDER/*.csv, its ur10e.urdf beside them. Efforts are currents times the gains of its
UR10E_parameters.txt.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import kane_dynamics as kd
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.samples import Samples, prepared_samples
from studies import robots
from studies.report import Table

GAINS = np.array([10.0, 10.6956, 8.4566, 9.0029, 9.48, 10.1232])  # [N m/A]
RECORDINGS = (
    '20_02_10-20sec_7harm',
    '20_02_10-30sec_12harm',
    '20_02_12-40sec_12harm',
    '20_02_12-50sec_12harm',
    '20_02_19_14harm50sec',
    '20_02_19_15harm50sec',
)


def ur10e_samples(file: Path) -> Samples:
    """Return the longest samples of a recording."""
    rows = np.loadtxt(file, delimiter=',')
    columns = rows[:, 1:7], rows[:, 13:19] * GAINS, rows[:, 7:13]
    return max(prepared_samples(rows[:, 0], *columns, corner=5.0, rate=62.5), key=len)


def ur10e_tables(folder: Path) -> list[Table]:
    """Return errors of each recording on the others, with the terms of the start and selected."""
    robot = robots.read(folder / 'ur10e.urdf')
    dynamics, errors = kd.compile(robot), dict[str, list[list[float]]]()
    recordings = [ur10e_samples(folder / f'ur-{name}.csv') for name in RECORDINGS]
    for training in recordings:
        terms = {
            'motor side': dict.fromkeys(robot.velocity_names, MOTOR_SIDE),
            'selected terms': select_friction(dynamics, [training], start=MOTOR_SIDE),
        }
        for name, friction in terms.items():
            result = identify(dynamics, [training], friction=friction)
            tests = (test for test in recordings if test is not training)
            errors.setdefault(name, []).extend(result.errors(x).filtered.tolist() for x in tests)
    table = Table('UR10e, each of six recordings predicts the others', ('', *robot.velocity_names))
    for name, rows in errors.items():
        table.add(f'{name}, mean', *(f'{x:.2f}' for x in np.mean(rows, axis=0)))
        table.add(f'{name}, largest', *(f'{x:.2f}' for x in np.max(rows, axis=0)))
    return [table]
