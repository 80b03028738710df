# SPDX-License-Identifier: Apache-2.0
"""The examples run as scripts: they end well, print their numbers and write their plots."""

import os
import re
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
    'base_that_accelerates': ('3.98e-02 rad', '(118x less)'),
    'mppi_door': ('not there after 0.60 s', 'least clearance', '12800 steps a period'),
    'wheel_forces': ('from 4 to 269 N', 'friction 0.54', 'tipping over 0.065 m'),
}
SHORT = {'mppi_door': ('--seconds', '0.6')}  # of 6 s


def run_of(name, root, folder, *options):
    """Return what a script says that writes into a folder below one that it runs in."""
    script, output = root / 'examples' / f'{name}.py', folder / 'new' / 'folder'
    run = subprocess.run(
        [sys.executable, str(script), '--output', str(output), *options],
        cwd=folder,  # they need nothing of the folder they run in
        # threads of BLAS only wait for each other on a busy machine
        env={**os.environ, 'MPLBACKEND': 'Agg', 'OMP_NUM_THREADS': '1'},
        capture_output=True,
        text=True,
        timeout=120,  # seconds; 3 on a free core
        check=False,
    )
    assert run.returncode == 0, run.stderr
    picture = (output / f'{name}.png').read_bytes()
    assert picture.startswith(b'\x89PNG') and len(picture) > 5000
    return run.stdout


@pytest.mark.parametrize(
    'name', [pytest.param(x, marks=[pytest.mark.thorough] * (x in SHORT)) for x in SCRIPTS]
)
def test_script(name, root, tmp_path):
    printed = run_of(name, root, tmp_path, *SHORT.get(name, ()))
    for text in SCRIPTS[name]:
        assert text in printed


@pytest.mark.thorough
@pytest.mark.parametrize('seed', ['1', '2', '3'])
def test_the_robot_comes_through_the_door(seed, root, tmp_path):
    printed = run_of('mppi_door', root, tmp_path, '--seed', seed)
    ((seconds, off),) = re.findall(r'at the goal after ([\d.]+) s; hand ([\d.]+) cm', printed)
    assert float(seconds) < 10.0 and float(off) <= 5.0
    (clearance,) = re.findall(r'least clearance (-?[\d.]+) cm', printed)
    assert float(clearance) > 2.0  # of the 8 cm on each side
    again = run_of('mppi_door', root, tmp_path, '--seed', seed)  # all but the computing times
    assert again.splitlines()[:2] == printed.splitlines()[:2]


def test_every_script_is_tested(root):
    assert {path.stem for path in (root / 'examples').glob('*.py')} == set(SCRIPTS)
    folders = {path.parent.name for path in (root / 'examples').glob('*/*.py')}
    assert folders == {'scenarios', 'optimal_control'}  # with test files of their own
