# SPDX-License-Identifier: Apache-2.0
"""Machine code that is dropped leaves nothing behind."""

import subprocess
import sys
from pathlib import Path

import pytest

LOADS = 100
# 12 modules of about 9 kB that stayed with one linker for all were 10 MB
MOST = 4e6  # [bytes]; the heap settles within 1.5
SCRIPT = f"""
import gc, os
import kane_dynamics as kd
from support.machines import planar_2r

def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

def load(count):
    for _ in range(count):
        fast = kd.compile(robot)
        fast.engine()
        del fast
        gc.collect()
    assert kd.compile(robot).source == 'cache'

robot = planar_2r()
load(30)
before = resident()
load({LOADS})
print(resident() - before)
"""


@pytest.mark.thorough
@pytest.mark.skipif(not Path('/proc/self/statm').exists(), reason='tells memory by /proc')
def test_loading_a_robot_again_and_again_keeps_no_memory(pair):
    pair('planar_2r')  # its code is in the cache
    command = [sys.executable, '-c', SCRIPT]
    tests = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tests, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < MOST


AT_THE_END = """
import sys
import __main__
import kane_dynamics as kd
code = kd.compile(kd.serial_chain(2)).engine()._run.module
sys.modules_kept = __main__, kd  # so that names of the package end before those of the script
"""


def test_code_that_lives_to_the_end_of_python_goes_silently():
    """Regression: AttributeError in __del__, the list of what to drop was None by then."""
    command = [sys.executable, '-c', AT_THE_END]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, '')
