# SPDX-License-Identifier: Apache-2.0
"""The functions that a library of a robot may have, with the meaning of their arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.compiler.build import (
    Makers,
    forward_dynamics,
    loop_makers,
    straight_line,
    tracer_of,
)
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.by_name import graph_of
from kane_dynamics.compiler.graphs.inverse_dynamics import constrained_effort
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.parameters import load_function
from kane_dynamics.compiler.recipe import FORWARD, Recipe, as_loops, too_large
from kane_dynamics.dynamics.table import FUNCTIONS as TABLE
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError

_EFFORTS = 'N m or N'


@dataclass(frozen=True)
class Meaning:
    """What a function computes."""

    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: tuple[str, ...]


FUNCTIONS = {
    row.kernel: Meaning(
        ' '.join(row.text.split()).rstrip('.'), row.inputs, (row.name,), (row.unit,)
    )
    for row in TABLE.values()
    if row.text and 'consistent' not in row.name  # which takes names
} | {
    'motor_efforts': Meaning(
        'the efforts of the motors that produce a motion under the constraints',
        ('q', 'v', 'a', 'time'),
        ('effort', 'multipliers', 'velocity', 'acceleration', 'quality'),
        (
            _EFFORTS,
            'N or N m',
            'rad/s or m/s',
            'rad/s^2 or m/s^2',
            'rank, unbalanced force, norm of A v - b0',
        ),
    ),
    'constraint_rows': Meaning(
        'A v = b0, A a = b and the violation Phi of holonomic rows',
        ('q', 'v', 'time'),
        ('A', 'b0', 'b', 'Phi'),
        ('-', 'rad/s or m/s', 'rad/s^2 or m/s^2', 'rad or m'),
    ),
    'load': Meaning(
        'the `parameters` (its own are not read) under gravity and payloads: of each frame named '
        'for these mass, centre of mass, and inertia about it as xx, xy, xz, yy, yz, zz',
        ('gravity', 'payloads'),
        ('load',),
        ('as parameters',),
    ),
}


BY_DEFAULT = (
    'inverse_dynamics',
    'bias_force',
    'gravity_force',
    'friction_force',
    'mass_matrix',
    'forward_dynamics',
    'motor_efforts',
    'constraint_rows',
    'frame_poses',
    'frame_jacobians',
    'load',
)


def motor_efforts(
    actuated: tuple[str, ...], known: tuple[str, ...] | None, tracer: Tracer
) -> KernelSpec:
    """Trace constrained inverse dynamics with all terms and motors alike, one output for each."""
    whole = constrained_effort(tracer, actuated, known)
    q, v, a, weights, terms, t, *more = whole.function.sx_in()
    ones = (ca.SX(np.ones(x.shape)) for x in (weights, terms))
    numbers, rcond = whole.function.call([q, v, a, *ones, t, *more])
    nv = tracer.robot.nv
    ends = [0, nv, numbers.numel() - 2 * nv - 3, numbers.numel() - nv - 3, numbers.numel() - 3]
    parts = ca.vertsplit(numbers, [*ends, numbers.numel()])
    function = ca.Function('motor_efforts', [q, v, a, t, *more], [*parts, rcond])
    shapes = tuple((part.numel(),) for part in parts)
    sizes = tuple(x.numel() for x in (q, v, a, t))
    return KernelSpec('motor_efforts', sizes, shapes, function, whole.parameters)


def load_spec(recipe: Recipe) -> KernelSpec:
    """Trace the parameters of gravity and payloads."""
    function = load_function(recipe.robot, recipe.payloads)
    sizes, shape = (function.numel_in(0), function.numel_in(1)), (function.numel_out(0),)
    return KernelSpec('load', sizes, (shape,), function)


def makers(
    recipe: Recipe,
    actuated: tuple[str, ...],
    known: tuple[str, ...] | None,
    symbols: Mapping[str, str] | None = None,
) -> Makers:
    """Return what makes the kernel of each function that a robot has, by name."""
    made: Makers = {}
    tracer = tracer_of(recipe)
    if not too_large(recipe.robot, recipe.constraints):
        for name, graph in _graphs(recipe, actuated, known).items():
            made[name] = partial(straight_line, graph, tracer)
        made[FORWARD] = partial(forward_dynamics, tracer, symbols)
    if recipe.payloads:
        made['load'] = partial(load_spec, recipe)
    if as_loops(recipe.robot, recipe.constraints, whole_graphs=False):
        loops = LoopTracer(recipe.robot, recipe.frames, recipe.payloads)
        of_loops = loop_makers(recipe, tracer, loops, symbols)
        made |= {name: loop for name, loop in of_loops.items() if name in FUNCTIONS}
    # of v alone: there is no quaternion to check
    made['friction_force'] = partial(function_graph('friction_force'), tracer)
    return made


def _graphs(
    recipe: Recipe, actuated: tuple[str, ...], known: tuple[str, ...] | None
) -> dict[str, Callable[..., Any]]:
    rows = [row for row in TABLE.values() if row.kernel in FUNCTIONS and row.kernel != FORWARD]
    graphs = {row.name: graph_of(row.name) for row in rows}
    if not recipe.constraints:
        del graphs['multipliers']
        return graphs
    more = {'constraint_rows': Tracer.constraint_rows}
    return graphs | more | {'motor_efforts': partial(motor_efforts, actuated, known)}


def selected_functions(available: Makers, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the functions that are asked for; by default those of `BY_DEFAULT`."""
    for name in names:
        if name not in FUNCTIONS:
            raise NameNotFoundError('function', name, FUNCTIONS)
        if name not in available:
            raise InvalidInputError(
                f"this robot has no machine code of '{name}': it has no constraints, or is too "
                f'large; there are {", ".join(available)}'
            )
    return tuple(name for name in available if name in (names or BY_DEFAULT))
