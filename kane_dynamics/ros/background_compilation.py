# SPDX-License-Identifier: Apache-2.0
"""
Compiles the dynamics of a robot in a process of its own, while a node already works.

The result goes to the cache on disk, where the node finds it. Nodes that start together take
turns, so that a robot is compiled once.
"""

import contextlib
import fcntl
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import kane_dynamics as kd
from kane_dynamics.background import BackgroundTask
from kane_dynamics.compiler.cache import cache_folder
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.robot_config.parameters.tables import RobotParameters
from kane_dynamics.robot_config.robot_source import build_model

NICENESS = 10


class CompilationError(KaneDynamicsError, RuntimeError):
    """The dynamics of a robot could not be compiled."""


# the class is a name here: LLVM is loaded when it is needed
class Compilation(BackgroundTask['kd.CompiledDynamics']):
    """The compiled algorithms of a model in the making, beside the callbacks."""

    def __init__(self, parameters: RobotParameters, dynamics: Dynamics) -> None:
        self.dynamics, self.progress = dynamics, ''
        self._parameters, self._stopped = parameters, False
        self._process: Any = None
        super().__init__(self._compile)

    def stop(self) -> None:
        """End it; the result does not count any more."""
        self._stopped = True
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def _compile(self) -> 'kd.CompiledDynamics':
        """Return what a process has put into the cache; `progress` says how far it is."""
        process: Any = subprocess.Popen(
            [sys.executable, '-m', 'kane_dynamics.ros.background_compilation'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
            start_new_session=True,
        )
        with process:
            request = self._parameters, self.dynamics.model.text, self.dynamics.options
            process.stdin.write(pickle.dumps(request))
            process.stdin.close()
            self._process = process  # `stop` does not break the pipe of the request
            if self._stopped:
                self.stop()
            for line in process.stdout:
                self.progress = line.decode(errors='replace').strip()
        if process.returncode:
            said = self.progress if process.returncode > 0 else ''  # no signal: its last line
            raise CompilationError(said or f'the compiler ended with code {process.returncode}')
        result = self.dynamics.find()
        if result is None:
            raise CompilationError('the compiled dynamics cannot be kept in the cache')
        return result


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    """Wait until no other process of this user compiles."""
    folder = cache_folder()  # without one the compilation is in vain
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / 'warm_up.lock').open('w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Compile what comes on the standard input; return 0 if the cache has it now."""
    os.nice(NICENESS)
    parameters, text, options = pickle.load(sys.stdin.buffer)
    try:
        dynamics = Dynamics(build_model(parameters, text), options)
        with _turn():
            dynamics.compile(progress=_report)
    except Exception as error:  # noqa: BLE001 - the node tells whatever a compiler raises
        sys.stdout.write(f'{error}\n')
        return 1
    return 0


def _report(what: str, done: int, total: int) -> None:
    """Tell the process that waits how far the compilation is."""
    sys.stdout.write(f'{done} of {total}: {what}\n')
    sys.stdout.flush()


if __name__ == '__main__':
    sys.exit(main())
