# SPDX-License-Identifier: Apache-2.0
"""The core where Linux's modules and functions do not exist, as on Windows and macOS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# what each system lacks of what Linux has; a name that is None cannot be imported
MODULES = {'windows': ('fcntl', 'grp', 'pwd', 'resource', 'termios'), 'macos': ()}
FUNCTIONS = {
    'windows': ('fork', 'getuid', 'nice', 'register_at_fork', 'sched_getaffinity'),
    'macos': ('sched_getaffinity',),
}
CODE = """
import os, sys
sys.modules.update(dict.fromkeys({modules}))
for name in {functions}:
    delattr(os, name)
import numpy as np
import kane_dynamics as kd
assert not any(sys.modules.get(name) for name in {modules})
robot = kd.serial_chain(2)
rows = (kd.constraints.coupling(robot, *robot.joint_names, 0.5),)
# compiled, kept and loaded
for source in ('compiled', 'cache'):
    fast = kd.compile(robot, rows)
    assert fast.source == source, fast.remark
rng = np.random.default_rng(1)
q, v, tau = rng.normal(size=(3, 3000, robot.nv))
v[:, 0] = 0.5 * v[:, 1]  # as the coupling wants
found = fast.acceleration(q, v, tau)
for k in (0, 2999):
    expected = kd.forward_dynamics(robot, q[k], v[k], tau[k], rows).acceleration
    assert abs(found[k] - expected).max() < 1e-9 * abs(expected).max()
    assert abs(fast.acceleration(q[k], v[k], tau[k]) - found[k]).max() < 1e-9
fast.simulate(q[0], v[0], 0.1)
print('fine')
"""


@pytest.mark.parametrize('system', ['windows', 'macos'])
def test_core_without_what_other_systems_lack(system, tmp_path):
    code = CODE.format(modules=MODULES[system], functions=FUNCTIONS[system])
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'XDG_CACHE_HOME': str(tmp_path)}
    done = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )
    assert done.stdout.strip() == 'fine', done.stderr
