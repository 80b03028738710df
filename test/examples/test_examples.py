# SPDX-License-Identifier: Apache-2.0
"""The examples run as scripts: they end well, print their numbers and write their plots."""

import os
import subprocess
import sys

import pytest

SCRIPTS = {
    'rolling_disk_on_a_ramp': (
        "u1' = -2.242552 m/s^2",
        'multiplier 2.242552 N',
        'multiplier 18.430493 N',
        '0.112448   0.400000  rolls',
    ),
    'spherical_wrist': (
        '-5.756271199   -24.320968901     5.060000000',
        '-0.233342496    -0.319344174     1.262571283',
    ),
    'shopping_cart': (
        '0.239538   -0.458289   16.788274',
        'energy 13.333235 J; side force, pivot torque: -3.920859',
        'side force, pivot torque: 18.193640, 2.389502',
        '0.938350    0.893776    0.893776',
        'energy 12.213885 J',
        'q4 = 1.403348 rad',
    ),
    'base_that_accelerates': ('3.94e-02 rad', '(120x less)'),
    'wheel_forces': ('from 4 to 269 N', 'friction 0.54', 'tipping over 0.065 m'),
}


@pytest.mark.parametrize('name', SCRIPTS)
def test_script(name, root, tmp_path):
    output = tmp_path / 'new' / 'folder'
    command = [sys.executable, str(root / 'examples' / f'{name}.py'), '--output', str(output)]
    run = subprocess.run(
        command,
        cwd=tmp_path,  # they need nothing of the folder they run in
        # threads of BLAS only wait for each other on a busy machine
        env={**os.environ, 'MPLBACKEND': 'Agg', 'OMP_NUM_THREADS': '1'},
        capture_output=True,
        text=True,
        timeout=120,  # seconds; 3 on a free core
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for text in SCRIPTS[name]:
        assert text in run.stdout
    picture = (output / f'{name}.png').read_bytes()
    assert picture.startswith(b'\x89PNG') and len(picture) > 5000


def test_every_script_is_tested(root):
    assert {path.stem for path in (root / 'examples').glob('*.py')} == set(SCRIPTS)
