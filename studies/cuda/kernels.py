# SPDX-License-Identifier: Apache-2.0
"""Registers, spills and size of code of kernels for graphics cards; no card is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import kane_dynamics as kd
from kane_dynamics.compiler.cuda.device import PtxCompiler
from kane_dynamics.compiler.cuda.kernel import kernel_code
from kane_dynamics.compiler.cuda.kernel_ir import ELEMENTS
from kane_dynamics.compiler.cuda.rollouts import ROLLOUT, steps_code
from kane_dynamics.compiler.graphs.inverse_dynamics import constrained_effort
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.constraints.constraint_set import ConstraintSet
from studies import robots
from studies.cuda.ptxas import assembled
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
    'rollout': 'step of rk4',
}


def recipe_of(case: robots.Case, precision: str = 'float64') -> Recipe:
    """Return what the kernels of a case are made of."""
    return recipe(case.robot, case.constraints, precision)


def recipe(robot: kd.Robot, constraints: Sequence[Any], precision: str = 'float64') -> Recipe:
    """Return what the kernels of a robot are made of."""
    rows = ConstraintSet.of(robot, constraints)
    return Recipe(robot, rows, row_plan(rows), (), (), True, precision)


def driven(case: robots.Case) -> tuple[str, ...]:
    """Return the speeds that have a motor: of joints, and those of a base without wheel joints."""
    wheels = len(ConstraintSet.of(case.robot, case.constraints).labels) >= 3
    free = ('base_x', 'base_y', 'base_yaw') if wheels else ('base_y',)
    return tuple(name for name in case.robot.velocity_names if name not in free)


def graphs(
    case: robots.Case, derivatives: bool
) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Yield the graphs that are compiled, with their choices."""
    yield function_graph('inverse_dynamics'), ()
    yield Tracer.forward_dynamics, ()
    if case.constraints:
        yield constrained_effort, (driven(case), None)
    if derivatives:
        yield Tracer.balance_derivatives, ()


def rows(name: str, architectures: tuple[str, ...], derivatives: bool) -> Iterator[dict[str, Any]]:
    """Yield what each kernel of a robot takes."""
    case = ROBOTS[name]()
    made_of, projection, compiler = recipe_of(case), bool(case.constraints), PtxCompiler()
    for precision in ELEMENTS:
        codes = {
            graph.__name__: kernel_code(made_of, graph, choices, compiler, precision)
            for graph, choices in graphs(case, derivatives)
        }
        codes[ROLLOUT] = steps_code(made_of, 'rk4', projection, compiler, precision)
        for architecture in architectures:
            for kernel, code in codes.items():
                yield {
                    'robot': name,
                    'kernel': kernel,
                    'operations': code.instructions,
                    'precision': precision,
                    'architecture': architecture,
                    **assembled(code.code, architecture)._asdict(),
                }


def table(found: list[dict[str, Any]]) -> Table:
    """Return registers, spills and code size."""
    columns = ('robot, kernel', 'operations', 'precision', 'gpu', 'registers', 'stack [B]')
    made = Table('Kernels on graphics cards', (*columns, 'spilled out, in [B]', 'cubin [kB]'))
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
    """Return the kernels that spill and must not: of one state, but derivatives."""
    return [
        row
        for row in found
        if row['precision'] == 'float32'
        and row['kernel'] not in ('balance_derivatives', 'rollout')
        and row['spill_stores']
    ]
