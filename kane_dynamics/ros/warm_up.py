# SPDX-License-Identifier: Apache-2.0
"""
Compiles the dynamics of a robot in a process of its own, while a node already works.

The result goes to the cache on disk, where the node finds it. Nodes that start together take
turns, so that a robot is compiled once.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.kernels.cache import cache_folder
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.robot_source import build_model
from kane_dynamics.ros.robot_tables import RobotParameters
from kane_dynamics.ros.spec import plain

NICENESS = 10


class WarmUp:
    """
    A running compilation.

    Parameters
    ----------
    parameters : RobotParameters
        How to build the model.
    text : str
        URDF.

    """

    def __init__(self, parameters: RobotParameters, text: str) -> None:
        names = RobotParameters.__dataclass_fields__
        values = {k: v for k, v in asdict(parameters).items() if k in names}
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'kane_dynamics.ros.warm_up'],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
            start_new_session=True,
        )
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps({'parameters': values, 'text': text}).encode())
            self._process.stdin.close()

    def done(self) -> bool:
        """Return whether the compilation has ended, well or not."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the compilation."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    """Wait until no other process of this user compiles."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = folder / 'warm_up.lock'
    except OSError:
        place = Path(tempfile.gettempdir()) / f'kane_dynamics_{os.getuid()}.lock'
    with place.open('w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Compile what comes on the standard input; return 0 if the cache has it now."""
    os.nice(NICENESS)
    request = json.load(sys.stdin)
    values = {name: plain(value) for name, value in request['parameters'].items()}
    try:
        dynamics = Dynamics(build_model(RobotParameters(**values), request['text']))
        with _turn():
            dynamics.compile()
    except (KaneDynamicsError, OSError):
        return 1
    return 0 if dynamics.load() else 1


if __name__ == '__main__':
    sys.exit(main())
