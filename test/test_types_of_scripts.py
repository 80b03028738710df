# SPDX-License-Identifier: Apache-2.0
"""A user's script is checked by mypy: functions and methods of all engines have their types."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('mypy')
ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import kane_dynamics as kd
import kane_dynamics.dynamics as module

robot = kd.serial_chain(2)
q, v, a = [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]
reference: module.Dynamics = kd.dynamics(robot)
fast = kd.compile(robot)
card = kd.compile(robot, device='cuda')
reveal_type(kd.inverse_dynamics(robot, q, v, a))  # ndarray
reveal_type(kd.kinetic_energy(robot, q, v))  # float
reveal_type(kd.forward_dynamics(robot, q, v, a))  # Motion
reveal_type(reference.mass_matrix(q))  # ndarray
reveal_type(fast)  # CompiledDynamics
reveal_type(fast.centroidal_momentum_rate(q, v, a))  # ndarray
reveal_type(fast.constrained_inverse_dynamics(q, v, a, ('joint_1',)))  # ConstrainedEffort
reveal_type(card)  # CudaDynamics
reveal_type(card.acceleration(q, v, a))  # ndarray
kd.mass_matrix(robot, q, wrong=1)  # Unexpected keyword argument "wrong"
fast.mass_matrix()  # Missing positional argument "q"
kd.gravity_force(q, robot)  # Argument 1
"""


def test_what_mypy_says_of_a_script(tmp_path):
    path = tmp_path / 'script.py'
    path.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, '-m', 'mypy', '--config-file=', '--ignore-missing-imports', str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, 'MYPYPATH': str(ROOT), 'PYTHONPATH': ''},
    )
    said = re.findall(r'script\.py:(\d+): (.*)', run.stdout)
    for number, line in enumerate(SCRIPT.splitlines(), start=1):
        _, _, wanted = line.partition('  # ')
        here = [text for where, text in said if int(where) == number]
        assert not wanted or any(wanted in text for text in here), (line, here, run.stderr)
        assert wanted or not here, (line, here)
