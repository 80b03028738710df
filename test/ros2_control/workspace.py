# SPDX-License-Identifier: Apache-2.0
"""A workspace with kane_dynamics_cpp and its harness, built for the sourced ROS 2."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from ros_bench import ROOT

from kane_dynamics.deployment.controllers import write_cpp_package

HERE = Path(__file__).resolve().parent
WORKSPACE = ROOT / 'build' / 'ros2_control'


def built():
    """Return the install folder of the workspace; what has not changed is not built again."""
    sources = WORKSPACE / 'src'
    write_cpp_package(sources)
    shutil.copytree(HERE / 'harness', sources / 'harness', dirs_exist_ok=True)
    colcon = [sys.executable, '-m', 'colcon', 'build', '--base-paths', 'src']
    options = ['--executor', 'sequential', '--cmake-args', '-DBUILD_TESTING=OFF']
    done = subprocess.run([*colcon, *options], cwd=WORKSPACE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return WORKSPACE / 'install'


def sourced(install):
    """Return the environment with the packages of a workspace before those of the ROS."""
    environment = dict(os.environ)
    for variable, place in (('AMENT_PREFIX_PATH', ''), ('LD_LIBRARY_PATH', 'lib')):
        several = [str(p / place) for p in sorted(install.iterdir()) if (p / 'share').is_dir()]
        environment[variable] = os.pathsep.join([*several, environment.get(variable, '')])
    return environment


class Harness:
    """The harness of a controller: `run` sends a command and returns the answer."""

    def __init__(self, install, urdf, parameters, log):
        program = install / 'kane_dynamics_harness' / 'lib' / 'kane_dynamics_harness' / 'harness'
        preload = shlex.split(os.environ.get('ROS2_CONTROL_NODE', ''))[:-1]
        self.log = log
        self._process = subprocess.Popen(
            [*preload, program, urdf, parameters],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open('w'),
            text=True,
            env=sourced(install),
        )

    def run(self, *words):
        """Return the answer to a command."""
        print(*words, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, self.log.read_text()
        return answer.strip()

    def update(self, period=1e-3):
        """Return code, allocations and the numbers of an update."""
        code, allocations, *values = map(float, self.run('update', period).split())
        return int(code), int(allocations), np.array(values)

    def close(self):
        """End the harness; it must end well."""
        self._process.stdin.close()
        assert self._process.wait(30.0) == 0, self.log.read_text()
