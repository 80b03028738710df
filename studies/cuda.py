# SPDX-License-Identifier: Apache-2.0
"""
What the kernels for graphics cards take of a card: registers, spills, code; no card is needed.

``python -m studies.cuda [--only tiago panda] [--architectures sm_90]``: inverse dynamics,
constrained forward dynamics and constrained inverse dynamics of TIAGo, the shipped robots and
others, in single and double precision. Ends with 1 where a kernel of the first two kinds spills
in single precision.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from rich.progress import track

from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.kernels.balance_graphs import constrained_effort
from kane_dynamics.kernels.build import Recipe
from kane_dynamics.kernels.cuda.prelude import TYPES
from kane_dynamics.kernels.cuda.toolchain import Card, cuda_code
from kane_dynamics.kernels.selection import row_plan
from kane_dynamics.kernels.trace import Tracer
from studies import report, robots
from studies.report import Table

ARCHITECTURES = ('sm_80', 'sm_90', 'sm_120')  # A100; H100, H200; RTX 50
ROBOTS: dict[str, Callable[[], robots.Case]] = {
    'tiago': robots.tiago,
    'nonholonomic': robots.nonholonomic,
    'nonholonomic, wheels locked': lambda: robots.nonholonomic(wheels=False),
    'holonomic': robots.holonomic,
    'chain of 9': lambda: robots.chain(9),
    'mobile arm': robots.mobile_arm,
    'panda': lambda: robots.arm('panda'),
    'ur5': lambda: robots.arm('ur5'),
    'swerve': lambda: robots.in_a_curve(robots.swerve_base()),
}
NAMES = {
    'inverse_dynamics': 'inverse dynamics',
    'forward_dynamics': 'forward dynamics',
    'constrained_effort': 'constrained inverse dynamics',
    'balance_derivatives': 'derivatives',
}


def graphs(
    case: robots.Case, derivatives: bool
) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Yield the graphs that are compiled, with their choices."""
    yield Tracer.inverse_dynamics, ()
    yield Tracer.forward_dynamics, ()
    if case.constraints:
        driven = tuple(n for n in case.robot.velocity_names if not n.startswith('base_'))
        yield constrained_effort, (driven, None)
    if derivatives:
        yield Tracer.balance_derivatives, ()


def rows(name: str, architectures: tuple[str, ...], derivatives: bool) -> Iterator[dict[str, Any]]:
    """Yield what each kernel of a robot takes."""
    case = ROBOTS[name]()
    constraints = ConstraintSet.of(case.robot, case.constraints)
    recipe = Recipe(case.robot, constraints, row_plan(constraints), (), (), True)
    for graph, choices in graphs(case, derivatives):
        for precision in TYPES:
            for architecture in architectures:
                code = cuda_code(recipe, graph, choices, Card(architecture), precision)
                yield {
                    'robot': name,
                    'kernel': graph.__name__,
                    'operations': code.kernel.instructions,
                    'precision': precision,
                    'architecture': architecture,
                    **asdict(code.usage),
                }


def table(found: list[dict[str, Any]]) -> Table:
    """Return registers, spills and code size."""
    columns = ('robot, kernel', 'operations', 'precision', 'card', 'registers', 'stack [B]')
    made = Table('Kernels on graphics cards', (*columns, 'spilled out, in [B]', 'code [kB]'))
    last = None
    for row in found:
        if last not in (None, row['robot']):
            made.line()
        last = row['robot']
        made.add(
            f'{row["robot"]}: {NAMES[row["kernel"]]}',
            f'{row["operations"]:,}',
            row['precision'],
            row['architecture'],
            str(row['registers']),
            str(row['stack']),
            f'{row["spill_stores"]}, {row["spill_loads"]}',
            f'{row["code"] / 1000:.0f}',
        )
    return made


def spilling(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the kernels that spill in single precision, but derivatives."""
    return [
        row
        for row in found
        if row['precision'] == 'float32'
        and row['kernel'] != 'balance_derivatives'
        and row['spill_stores']
    ]


def main() -> None:
    """Compile all."""
    parser = argparse.ArgumentParser(prog='python -m studies.cuda', description=__doc__)
    parser.add_argument('--only', nargs='+', choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument('--architectures', nargs='+', default=list(ARCHITECTURES))
    parser.add_argument('--derivatives', action='store_true', help='these too; minutes')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    architectures = tuple(options.architectures)
    found = [
        row
        for name in track(options.only, 'compiling')
        for row in rows(name, architectures, options.derivatives)
    ]
    results['kernels'] = found
    report.finish(console, options.output, 'cuda', results, [table(found)])
    sys.exit(bool(spilling(found)))


if __name__ == '__main__':
    main()
