# SPDX-License-Identifier: Apache-2.0
"""
Pinocchio's generated code: C for one robot, by CasADi and by CppADCodeGen, beside ours.

`pinocchio_generated.cpp` runs Pinocchio's templates on symbols. The C of both is compiled by every
C compiler that is found; the fastest of all stands in the table. Results are compared first: what
differs is not measured. Where Pinocchio has several algorithms, that of the fewest operations is
taken; CasADi's common subexpressions are found once more before its C is written.
"""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.deployment.core import Plan
from kane_dynamics.deployment.functions import makers
from kane_dynamics.typing import Floats
from studies import robots
from studies.peers.pinocchio_twin import PinocchioTwin
from studies.speed.libraries import InALoop, compiled_loop, contender, linked
from studies.speed.rows import TIME, Row
from studies.speed.single_calls import difference, forward, rnea
from studies.speed.timing import Contender, Effort, Racer, race
from studies.speed.without_python import NoProgramError, Work, built, described, numbers

SOURCE = Path(__file__).with_name('pinocchio_generated.cpp')
PROGRAM_FLAGS = ('-std=c++17', '-O0', '-DNDEBUG', '-w')  # it runs once: only what it writes counts
COMPILERS = {'gcc -O3': 'gcc', 'clang -O3': 'clang'}
C_FLAGS = ('-O3', '-march=native', '-fPIC', '-shared', '-w')
OURS = 'ours'
_NONE = np.zeros(0)  # what a function of fewer than five pointers does not read
FROM_C, FROM_PYTHON, MEDIAN = 1.5, 1.3, 1.8
_LARGEST_DIFFERENCE = 1e-9
_ROBOTS: dict[str, Callable[[], robots.Case]] = {
    'shipped robot on two wheels (nv 10)': robots.nonholonomic,
    'TIAGo on its wheels (nv 15)': robots.tiago,
    'UR5 (nv 6)': lambda: robots.arm('ur5'),
    'xarm7 (nv 7)': lambda: robots.arm('xarm7'),
}
_WRAPPER = """#include <math.h>
int generated(const double **arg, double **res, long long *iw, double *w, int mem) {{
  const double *x = arg[0];
  double *y = res[0];
  {lines}
  return 0;
}}
long long generated_n_in(void) {{ return 1; }}
long long generated_n_out(void) {{ return 1; }}
static const long long in[3] = {{{inputs}, 1, 1}}, out[3] = {{{outputs}, 1, 1}};
const long long *generated_sparsity_in(long long i) {{ return in; }}
const long long *generated_sparsity_out(long long i) {{ return out; }}
"""


@dataclass(frozen=True, eq=False)
class Task:
    """A function of a robot, ours and the algorithms of Pinocchio that compute it."""

    name: str
    ours: str  # kernel
    theirs: tuple[str, ...]  # functions of `pinocchio_generated.cpp`
    case: robots.Case  # without constraints where they play no part
    work: Work  # the state in Pinocchio's order
    rows: tuple[str, ...] = ('0', '0')  # as the program reads the rows of wheels

    @property
    def inputs(self) -> tuple[Floats, ...]:
        """Return what ours takes."""
        last = self.case.a if self.ours == 'inverse_dynamics' else self.case.tau
        return (self.case.q,) if self.ours == 'mass_matrix' else (self.case.q, self.case.v, last)


class Rival:
    """Generated C of a task that is compiled and loaded, with its result in our order."""

    def __init__(self, name: str, path: Path, task: Task) -> None:
        self.name, self._path = name, path
        function = ca.external('generated', str(path))
        x = np.concatenate([task.work.q, task.work.v, task.work.x])
        y = np.full(function.numel_out(0), np.nan)
        self._buffer, self._call = function.buffer()
        self._buffer.set_arg(0, memoryview(x))
        self._buffer.set_res(0, memoryview(y))
        self._call()
        self.result = task.work.in_our_order(y)
        pointers = [np.array([array.ctypes.data], np.uintp) for array in (x, y)]
        memory = np.zeros(function.sz_iw() + 1, np.int64), np.zeros(function.sz_w() + 1)
        self._arguments, self._kept = [*pointers, *memory, _NONE], (x, y)

    def from_c(self, loop: Any) -> InALoop:
        """Return it in a loop of C."""
        address = ctypes.cast(ctypes.CDLL(str(self._path)).generated, ctypes.c_void_p).value
        return contender(self.name, loop, address or 0, *self._arguments)

    def from_python(self) -> Contender:
        """Return its call from Python: buffers are bound once, the state is written into them."""
        return Contender(self.name, 'f()', {'f': self._call})


def generated_rows(quick: bool, effort: Effort) -> Iterator[Row]:
    """Yield ours beside the fastest generated C, from C and from Python, and the medians."""
    ratios: dict[str, list[float]] = {'C': [], 'Python': []}
    for name, make in _ROBOTS.items():
        if quick and 'TIAGo' in name:
            continue
        for task in tasks(name, make()):
            sources, missing = sources_of(task)
            for where, row in zip(ratios, task_rows(task, sources, missing, effort), strict=True):
                ratios[where] += [] if row.ratio is None else [row.ratio]
                yield row
    for where, least in (('C', MEDIAN), ('Python', None)):
        if ratios[where]:
            work = f'median of the {len(ratios[where])} ratios to generated code, from {where}'
            middle = statistics.median(ratios[where])
            yield Row(work, 'times', 1.0, 'fastest generated C', middle, least_ratio=least)


def task_rows(
    task: Task, sources: Mapping[str, str], missing: Sequence[str], effort: Effort
) -> tuple[Row, Row]:
    """Return the rows of a task, from C and from Python; what is `missing` is said there."""
    robot, constraints = task.case.robot, ConstraintSet.of(task.case.robot, task.case.constraints)
    fast = kd.compile(robot, task.case.constraints)
    call = getattr(fast, task.ours.replace('forward_dynamics', 'acceleration'))
    result = call(*task.inputs)
    out, gravity = np.full_like(result, np.nan), np.array(robot.gravity)
    plan = Plan(robot, constraints, 'robot', ())
    module = linked(makers(plan.recipe(), (), None), task.ours)
    with tempfile.TemporaryDirectory(prefix='kane-benchmark-') as folder:
        loop, address = compiled_loop(Path(folder)), module.address(task.ours)
        unused = [_NONE] * (3 - len(task.inputs))
        mine = contender(OURS, loop, address, *task.inputs, gravity, out, *unused)
        mine.run(1)
        rivals, differing = _rivals(task, sources, (out, result), Path(folder))
        note = '; '.join([*missing, *differing])
        names = dict(zip('xyz', task.inputs, strict=False)) | {'f': call, 'r': result}
        statement = f'f({", ".join("xyz"[: len(task.inputs)])}, out=r)'
        of_c = [mine, *(rival.from_c(loop) for rival in rivals)]
        from_c = _row(f'{task.name}, from C', of_c, rivals, out, FROM_C, note, effort)
        of_python = [Contender(OURS, statement, names), *(x.from_python() for x in rivals)]
        work = f'{task.name}, from Python'
        return from_c, _row(work, of_python, rivals, result, FROM_PYTHON, note, effort)


def _row(
    work: str,
    contenders: Sequence[Racer],
    rivals: Sequence[Rival],
    result: Floats,
    least: float,
    note: str,
    effort: Effort,
) -> Row:
    """Race all; return ours beside the fastest rival."""
    us = {name: 1e6 * timing.median for name, timing in race(contenders, effort).items()}
    if not rivals:
        return Row(work, TIME, us[OURS], 'generated code: NOT MEASURED', note=note)
    best = min(rivals, key=lambda rival: us[rival.name])
    theirs, differ = us[best.name], difference(best.result, result)
    return Row(work, TIME, us[OURS], best.name, theirs, least, agreement=differ, note=note)


def _rivals(
    task: Task, sources: Mapping[str, str], results: Sequence[Floats], folder: Path
) -> tuple[list[Rival], list[str]]:
    """Return what was compiled and gives our results, and what is missing or does not."""
    found, missing = [], []
    for k, (name, text) in enumerate(sources.items()):
        for label, command in COMPILERS.items():
            if shutil.which(command) is None:
                missing.append(f'{label} NOT MEASURED: there is no {command}')
                continue
            path = folder / f'{k}_{command}.so'
            source = path.with_suffix('.c')
            source.write_text(text)
            subprocess.run([command, *C_FLAGS, str(source), '-o', str(path)], check=True)
            rival = Rival(f'{name}, {label}', path, task)
            differ = max(difference(rival.result, result) for result in results)
            if differ <= _LARGEST_DIFFERENCE:
                found.append(rival)
            else:
                missing.append(f'{rival.name} NOT MEASURED: it differs by {differ:.0e}')
    return found, list(dict.fromkeys(missing))


def tasks(name: str, case: robots.Case) -> Iterator[Task]:
    """Yield what is measured of a robot."""
    peer, free = PinocchioTwin(case.robot), replace(case, constraints=())
    work = rnea(peer, free).work
    yield Task(f'inverse dynamics, {name}', 'inverse_dynamics', ('rnea',), free, work)
    work, theirs = forward(peer, free).work, ('aba', 'aba-world', 'factors')
    yield Task(f'forward dynamics, {name}', 'forward_dynamics', theirs, free, work)
    work = replace(work, in_our_order=lambda entries: peer.V.T @ symmetric(entries) @ peer.V)
    yield Task(f'mass matrix, {name}', 'mass_matrix', ('crba', 'crba-world'), free, work)
    if case.constraints:
        work, theirs = forward(peer, case).work, ('forwardDynamics', 'factors')
        name = f'constrained forward dynamics, {name}, 3 rows'
        yield Task(name, 'forward_dynamics', theirs, case, work, rows_of(case, peer))


def symmetric(entries: Floats) -> Floats:
    """Return the matrix of which these are the rows of the upper triangle."""
    n = int(np.sqrt(2 * len(entries)))
    M = np.zeros((n, n))
    M[np.triu_indices(n)] = entries
    return M + np.triu(M, 1).T


def rows_of(case: robots.Case, peer: PinocchioTwin) -> tuple[str, ...]:
    """Return the rows of wheels as a constant, a cosine and a sine part of the base's heading."""
    rows = ConstraintSet(case.robot, case.constraints)

    def at(heading: float) -> Floats:
        q, v = case.q.tolist(), [0.0] * case.robot.nv
        q[2] = heading
        return peer.speeds(rows.rows(q, v, 0.0).matrix.astype(float))

    constant = 0.5 * (at(0.0) + at(np.pi))
    parts = np.stack([constant, at(0.0) - constant, at(0.5 * np.pi) - constant])
    parts[np.abs(parts) < 1e-14] = 0.0
    base = peer.model.joints[peer.model.getJointId(case.robot.bodies[0].joint.name)]
    return str(parts.shape[1]), str(base.idx_q + 2), *numbers(parts)


def sources_of(task: Task) -> tuple[dict[str, str], list[str]]:
    """Return the C of each generator by name, and what is missing."""
    sources: dict[str, str] = {}
    function, missing = task.theirs[0], []
    for generator, write in {'CasADi': _by_casadi, 'CppADCodeGen': _by_cppad}.items():
        program = _program(generator)
        if isinstance(program, str):
            missing.append(f'{generator} NOT MEASURED: {program}')
            continue
        function, text = write(program, task, function)
        sources[f'pinocchio {function}, {generator}'] = text
    return sources, missing


def _by_casadi(program: Path, task: Task, _: str) -> tuple[str, str]:
    """Return the algorithm of the fewest operations, and its C."""
    graphs = {}
    for name in task.theirs:
        graph = ca.Function.load(str(_written(program, name, task)))
        x = ca.SX.sym('x', graph.numel_in(0))
        graphs[name] = ca.Function('generated', [x], [ca.cse(graph(x))])
    name = min(graphs, key=lambda name: graphs[name].n_instructions())
    generator = ca.CodeGenerator('generated.c')
    generator.add(graphs[name])
    return name, generator.dump()


def _by_cppad(program: Path, task: Task, function: str) -> tuple[str, str]:
    """Return an algorithm and its C, callable as CasADi's."""
    lines, model = _written(program, function, task).read_text(), task.work.model
    outputs = model.nv * (model.nv + 1) // 2 if task.ours == 'mass_matrix' else model.nv
    return function, _WRAPPER.format(lines=lines, inputs=model.nq + 2 * model.nv, outputs=outputs)


def _written(program: Path, function: str, task: Task) -> Path:
    """Return the file that a program writes."""
    path = program.with_name('written')
    words = ' '.join([*described(task.work), *task.rows])
    subprocess.run([str(program), function, str(path)], input=words, text=True, check=True)
    return path


@cache
def _program(generator: str) -> Path | str:
    """Return the program of a generator, or why there is none."""
    folder = Path(ca.__file__).parent
    packages, options, libraries = {
        'CasADi': (
            'casadi cmeel-eigen',
            ('-DON_CASADI', '-isystem', str(folder / 'include')),
            (f'-L{folder}', f'-Wl,-rpath,{folder}', '-lcasadi'),
        ),
        'CppADCodeGen': ('cmeel-cppad cmeel-cppadcodegen cmeel-eigen', (), ('-ldl',)),
    }[generator]
    try:
        return built(SOURCE, generator, packages, (*PROGRAM_FLAGS, *options), libraries)
    except NoProgramError as error:
        return str(error)
