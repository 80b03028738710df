# SPDX-License-Identifier: Apache-2.0
"""
What the kernels of one state take of GPUs in single precision, by ptxas: no GPU.

The results that are kept are the table of doc/gpu.md, which this writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import kane_dynamics as kd
from kane_dynamics.compiler.cuda.device import PtxCompiler
from kane_dynamics.compiler.cuda.kernel import kernel_code
from kane_dynamics.compiler.graphs.inverse_dynamics import constrained_effort
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.text import robot_files
from kane_dynamics.robot_config.robot_source import model_of_file
from studies.cuda import kernels, ptxas
from studies.report import Table
from studies.robots import Case, MissingRobotError

DOC = Path(__file__).resolve().parents[2] / 'doc'
KEPT, PAGE = DOC / 'results' / 'cuda_spills.json', DOC / 'gpu.md'
PRECISION = 'float32'
PRESET = 'preset '
_BLOCK = re.compile(r'(?<=<!-- spills -->\n).*?(?=<!-- end -->)', re.DOTALL)
Results = dict[str, Any]


class Subject(NamedTuple):
    """A robot, its constraints, and the speeds that have a motor."""

    robot: kd.Robot
    constraints: tuple[Any, ...]
    driven: tuple[str, ...]


def subjects() -> dict[str, Callable[[], Subject]]:
    """Return what makes the robots, by name: those of the other studies, and all presets."""
    made = {name: _of_case(case) for name, case in kernels.ROBOTS.items()}
    return made | {f'{PRESET}{name}': _of_preset(name) for name in robot_files()}


def _of_case(make: Callable[[], Case]) -> Callable[[], Subject]:
    def made() -> Subject:
        case = make()
        return Subject(case.robot, case.constraints, kernels.driven(case))

    return made


def _of_preset(name: str) -> Callable[[], Subject]:
    def made() -> Subject:
        try:
            model = model_of_file(name)
        except InvalidInputError as error:  # no URDF is named, or it is not installed
            raise MissingRobotError(str(error)) from error
        return Subject(model.robot, model.constraints, model.actuated)

    return made


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield what each kernel of a robot takes of each card."""
    robot, constraints, driven = subjects()[name]()
    recipe = kernels.recipe(robot, constraints)
    graphs: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (function_graph('inverse_dynamics'), ()),
        (Tracer.forward_dynamics, ()),
    ]
    if constraints:
        graphs.append((constrained_effort, (driven, None)))
    for graph, choices in graphs:
        code = kernel_code(recipe, graph, choices, PtxCompiler(), PRECISION)
        yield {
            'robot': name,
            'speeds': robot.nv,
            'rows': len(recipe.constraints.labels),
            'kernel': graph.__name__,
            'operations': code.instructions,
            'cards': {
                architecture: ptxas.assembled(code.code, architecture)._asdict()
                for architecture in kernels.ARCHITECTURES
            },
        }


def measured(names: Iterable[str]) -> Results:
    """Return the rows of robots, and of which there is no URDF."""
    found: list[dict[str, Any]] = []
    missing: dict[str, str] = {}
    compiler = f'{PtxCompiler().identity.partition(" ")[2]}, ptxas {ptxas.version()}'
    for name in names:
        try:
            found += rows(name)
        except MissingRobotError as error:
            missing[name] = str(error)
    return {'compiler': compiler, 'rows': found, 'missing': missing}


def spilling(results: Results) -> list[dict[str, Any]]:
    """Return the rows of kernels that spill."""
    return [row for row in results['rows'] if any(_each(row, 'spill_stores'))]


def _each(row: dict[str, Any], name: str) -> list[int]:
    return [usage[name] for usage in row['cards'].values()]


def table(results: Results) -> Table:
    """Return registers, stack, spills and size of code; one number where cards agree."""
    cards = ' / '.join(name.removeprefix('sm_') for name in kernels.ARCHITECTURES)
    columns = 'robot, speeds, rows: kernel', 'operations', f'registers sm_{cards}'
    made = Table(
        'Kernels on graphics cards, float32',
        (*columns, 'stack [B]', 'spilled out [B]', 'in [B]', 'cubin [kB]'),
    )
    for row in results['rows']:
        sizes = [round(size / 1000) for size in _each(row, 'code')]
        head = f'{row["robot"]}, {row["speeds"]}, {row["rows"]}: {kernels.NAMES[row["kernel"]]}'
        made.add(
            head,
            f'{row["operations"]:,}',
            *[_cell(_each(row, k)) for k in ('registers', 'stack', 'spill_stores', 'spill_loads')],
            _cell(sizes),
        )
    counts = [out > 0 for row in results['rows'] for out in _each(row, 'spill_stores')]
    made.notes.append(f'{results["compiler"]}: {sum(counts)} of {len(counts)} kernels spill')
    missing = ', '.join(name.removeprefix(PRESET) for name in results['missing'])
    if missing:
        made.notes.append(f'not compiled, for their URDF is not at hand: {missing}')
    return made


def _cell(numbers: list[int]) -> str:
    """Return numbers of cards, one where all are the same."""
    return str(numbers[0]) if len(set(numbers)) == 1 else ' / '.join(map(str, numbers))


def read() -> Results:
    """Return the results that are kept."""
    results: Results = json.loads(KEPT.read_text())
    return results


def updated(page: str, results: Results) -> str:
    """Return a page with its table renewed."""
    _, _, text = table(results).markdown().partition('\n\n')
    return _BLOCK.sub(lambda _: f'\n{text}\n', page)


def keep(results: Results) -> None:
    """Keep results in doc/results, and write the page."""
    KEPT.write_text(json.dumps(results, separators=(',', ':')) + '\n')
    PAGE.write_text(updated(PAGE.read_text(), results))
