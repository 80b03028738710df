# SPDX-License-Identifier: Apache-2.0
"""
Pinocchio in C++ without Python: its headers, compiled on this machine, called in a loop.

The headers are those of its wheel, with the definitions of the wheel's CMake target; Eigen is that
of the wheel `cmeel-eigen` or of the system. Nothing of the wheel's libraries is linked: they were
compiled for any processor of the family, with other alignments than `-march=native` has.
"""

from __future__ import annotations

import atexit
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pinocchio as pin

from kane_dynamics.typing import Floats
from studies.speed.timing import Effort

SOURCE = Path(__file__).with_name('pinocchio_calls.cpp')
FLAGS = ('-std=c++17', '-O3', '-march=native', '-DNDEBUG', '-w')
DEFINITIONS = (
    '-DBOOST_MPL_LIMIT_LIST_SIZE=30',
    '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30',
    '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS',
    '-DBOOST_FUSION_INVOKE_MAX_ARITY=12',
)
COMPILERS = ('g++', 'clang++', 'c++')
# header and call of each function
FUNCTIONS = {
    'rnea': ('rnea', 'pin::rnea(model, data, q, v, x)'),
    'aba': ('aba', 'pin::aba(model, data, q, v, x, pin::Convention::LOCAL)'),
    'forwardDynamics': (
        'contact-dynamics',
        'pin::forwardDynamics(model, data, q, v, x, J, gamma)',
    ),
}


class NoProgramError(RuntimeError):
    """There is no program to call: no compiler, or no headers."""


@dataclass(frozen=True, eq=False)
class Work:
    """
    What a program shall do.

    Parameters
    ----------
    function : str
        Key of `FUNCTIONS`.
    model : pinocchio.Model
        The robot.
    q, v, x : ndarray
        Coordinates, speeds, and accelerations or efforts, in Pinocchio's order.
    J, gamma : ndarray, shapes (k, nv), (k,)
        Rows of forward dynamics.
    in_our_order : callable
        Makes a result comparable with ours.

    """

    function: str
    model: pin.Model
    q: Floats
    v: Floats
    x: Floats
    in_our_order: Callable[[Floats], Floats]
    J: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    gamma: Floats = field(default_factory=lambda: np.zeros(0))


class Program:
    """
    A running program; it waits between its turns.

    Parameters
    ----------
    work : Work
        What it does.

    Attributes
    ----------
    name : str
        Who it is, for a race.
    result : ndarray
        What one call gave, in our order.

    Raises
    ------
    NoProgramError
        If there is no compiler, no Eigen, or the headers do not compile, or it cannot read the
        work.

    """

    def __init__(self, work: Work) -> None:
        self.name = f'pinocchio::{work.function} in C++, no Python'
        program = compiled(work.function)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([program], stdin=pipe, stdout=pipe, text=True)
        self._to = cast(IO[str], self._process.stdin)
        self._from = cast(IO[str], self._process.stdout)
        words = [*described(work), str(len(work.gamma)), *numbers(work.J, work.gamma)]
        given = np.array(self._answer(' '.join(words))['result'])
        self.result = work.in_our_order(given)

    def start(self, effort: Effort) -> Callable[[], float]:
        """Return a turn: the time of one call [s] in the fastest of its loops."""
        line = f'{effort.loop_time} {effort.loops}'
        self._answer(line)  # warms up
        return lambda: 1e-9 * self._answer(line)['ns']

    def close(self) -> None:
        """End the program."""
        self._process.communicate()

    def _answer(self, line: str) -> dict[str, Any]:
        print(line, file=self._to, flush=True)
        said = self._from.readline()
        if not said:
            raise NoProgramError(f'{self.name}: it ended and said why above')
        answer: dict[str, Any] = json.loads(said)
        return answer


@cache
def compiled(function: str) -> Path:
    """Return the program of a function; raises as `built`."""
    header, call = FUNCTIONS[function]
    place = (f'-DHEADER=<pinocchio/algorithm/{header}.hpp>', f'-DCALL={call}')
    return built(SOURCE, function, 'cmeel-eigen', (*FLAGS, *place))


def built(
    source: Path, name: str, packages: str, options: Sequence[str], libraries: Sequence[str] = ()
) -> Path:
    """
    Return a program with Pinocchio's headers, compiled in a folder that ends with this process.

    Raises
    ------
    NoProgramError
        If there is no compiler, or it does not compile: `packages` are what it needs.

    """
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise NoProgramError(f'no C++ compiler: there is none of {", ".join(COMPILERS)}')
    folder = Path(tempfile.mkdtemp(prefix='kane-benchmark-'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    includes = [part for path in _includes() for part in ('-isystem', str(path))]
    command = [compiler, *options, *DEFINITIONS, *includes, str(source), *libraries]
    done = subprocess.run(
        [*command, '-o', str(folder / name)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        first = next((x for x in done.stderr.splitlines() if 'error:' in x), done.stderr[-200:])
        first = re.sub(r'\S*/site-packages/', '', first)  # others read the figures that are kept
        raise NoProgramError(f'{compiler} does not compile it (pip install {packages}?): {first}')
    return folder / name


def _includes() -> Iterator[Path]:
    """Yield the folders of headers: those of the wheels, then Eigen's of the system."""
    wheels = Path(pin.__file__).parents[4] / 'include'
    for path in (wheels, wheels / 'eigen3', Path('/usr/include/eigen3')):
        if path.is_dir():
            yield path


def described(work: Work) -> Iterator[str]:
    """Yield the words that a program reads of a robot and its state."""
    model = work.model
    yield str(model.njoints - 1)
    for k in range(1, model.njoints):
        joint = model.joints[k]
        parts = list(joint.extract().joints) if 'Composite' in joint.shortname() else [joint]
        yield str(model.parents[k])
        yield str(len(parts))
        for part in parts:
            yield part.shortname()
            yield from numbers(getattr(part.extract(), 'axis', np.zeros(3)))
        place, inertia = model.jointPlacements[k], model.inertias[k]
        yield from numbers(place.rotation, place.translation)
        yield from numbers(inertia.mass, inertia.lever, inertia.inertia)
    yield from numbers(model.gravity.linear, model.armature, work.q, work.v, work.x)


def numbers(*values: Any) -> Iterator[str]:
    """Yield the entries of arrays as words."""
    for value in values:
        yield from map(repr, np.ravel(value).tolist())
