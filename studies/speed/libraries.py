# SPDX-License-Identifier: Apache-2.0
"""
The same functions in a library of ``kane-dynamics build`` and in this process.

Both are called from one loop in C, so that neither Python nor ctypes is in the figures; a call of
the library is that of its public function, which reads the status.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.compiler.llvm.module import kernel_ir
from kane_dynamics.compiler.llvm.native import Linker, NativeModule, compile_object
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.deployment.core import Plan, c_compiler, write_core
from kane_dynamics.deployment.functions import makers
from kane_dynamics.typing import Floats
from studies import robots
from studies.speed.rows import TIME, Row
from studies.speed.timing import Effort, race

_LOOP = """
typedef double (*Of)(const double *, const double *, const double *, const double *, double *);
void loop(Of f, const double *q, const double *v, const double *x, const double *p, double *out,
          long count) {
  for (long k = 0; k < count; k++) f(q, v, x, p, out);
}
"""
FUNCTIONS = ('inverse_dynamics', 'forward_dynamics')
_SLOWEST = 1.2  # times as long as in this process
_ROBOTS = {
    'shipped robot on two wheels (nv 10, 3 rows)': robots.nonholonomic,
    'TIAGo on its wheels (nv 15, 3 rows)': robots.tiago,
}


@dataclass(frozen=True)
class InALoop:
    """
    A function of (q, v, x, parameters, out) in machine code.

    Parameters
    ----------
    name : str
        Who it is.
    run : callable
        run(count): calls it.

    """

    name: str
    run: Callable[[int], None]

    def start(self, effort: Effort) -> Callable[[], float]:
        """Warm up; return a turn."""
        count = 1
        while (took := self._time(count)) < 0.5 * effort.loop_time:
            count *= 2
        calls = max(1, round(count * effort.loop_time / took))
        return lambda: min(self._time(calls) for _ in range(effort.loops)) / calls

    def _time(self, count: int) -> float:
        start = time.perf_counter()
        self.run(count)
        return time.perf_counter() - start


def library_rows(effort: Effort) -> Iterator[Row]:
    """Yield functions of libraries beside those of this process, and a library for any PC."""
    for name, make in _ROBOTS.items():
        case = make()
        constraints = ConstraintSet.of(case.robot, case.constraints)
        with tempfile.TemporaryDirectory(prefix='kane-benchmark-') as folder:
            yield from _rows(name, case, constraints, Path(folder), effort)


def _rows(
    name: str, case: robots.Case, constraints: ConstraintSet, folder: Path, effort: Effort
) -> Iterator[Row]:
    loop = compiled_loop(folder)
    plans = {
        cpu: Plan(case.robot, constraints, cpu, (), functions=FUNCTIONS, cpu=cpu)
        for cpu in ('native', 'generic')
    }
    for plan in plans.values():
        write_core(plan, folder)
    for function in FUNCTIONS:
        module = linked(makers(plans['native'].recipe(), (), None), function)
        addresses = {'here': module.address(function)}
        libraries = {cpu: ctypes.CDLL(str(folder / f'lib{cpu}.so')) for cpu in plans}
        for cpu, library in libraries.items():
            public = getattr(library, f'{cpu}_{function}')
            addresses[cpu] = ctypes.cast(public, ctypes.c_void_p).value
        x = case.a if function == 'inverse_dynamics' else case.tau
        parameters = np.array(case.robot.gravity)
        results = {who: np.empty(case.robot.nv) for who in addresses}
        contenders = [
            contender(who, loop, address, case.q, case.v, x, parameters, results[who])
            for who, address in addresses.items()
        ]
        us = {who: 1e6 * timing.median for who, timing in race(contenders, effort).items()}
        yield from _compared(f'{function}, {name}', us, results)


def linked(made: Mapping[str, Callable[[], Any]], function: str) -> NativeModule:
    """Return the machine code of a function with that of the kernels that it calls."""
    spec = made[function]()
    names = getattr(spec, 'external', {}).values()
    called = [made[name.removeprefix('@')]() for name in names]
    code = [compile_object(kernel_ir(one)) for one in (spec, *called)]
    return NativeModule(code, [function], Linker())


def _compared(work: str, us: dict[str, float], results: dict[str, Floats]) -> Iterator[Row]:
    size, peer = np.abs(results['here']).max(), 'the same in this process'
    for cpu, least in (('native', 1.0 / _SLOWEST), ('generic', None)):
        differ = float(np.abs(results[cpu] - results['here']).max() / size)
        yield Row(
            f'library for {cpu} processors, {work}',
            TIME,
            us[cpu],
            peer,
            us['here'],
            least_ratio=least,
            agreement=differ,
        )


def contender(who: str, loop: Any, address: int, *arrays: NDArray[Any]) -> InALoop:
    """Return a function whose five arguments are these arrays, which must outlive it."""
    places = [ctypes.c_void_p(x.ctypes.data) for x in arrays]
    return InALoop(who, lambda count: loop(ctypes.c_void_p(address), *places, count))


def compiled_loop(folder: Path) -> Any:
    """Return the loop over calls of a function of five pointers."""
    (folder / 'loop.c').write_text(_LOOP)
    command = [*c_compiler(), '-O2', '-fPIC', '-shared', 'loop.c', '-o', 'libloop.so']
    subprocess.run(command, cwd=folder, check=True)
    loop = ctypes.CDLL(str(folder / 'libloop.so')).loop
    loop.restype = None
    loop.argtypes = [*[ctypes.c_void_p] * 6, ctypes.c_long]
    return loop
