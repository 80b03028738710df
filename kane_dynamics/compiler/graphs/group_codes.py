# SPDX-License-Identifier: Apache-2.0
"""From the traced steps of an algorithm on one body to the code of its group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion
from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.algebra.scalars import where
from kane_dynamics.compiler.graphs.body_groups import BodyGroup, GroupBody
from kane_dynamics.compiler.graphs.trace import column, symbols
from kane_dynamics.compiler.llvm.loop_spec import GroupCode, Places
from kane_dynamics.robot.state import is_unit


def own_symbols(group: BodyGroup, inputs: str) -> list[list[ca.SX]]:
    """Return symbols of a joint's own entries."""
    kind = group.body.kind
    return [symbols(x, kind.nq if x == 'q' else kind.nv) for x in inputs]


def group_code(
    group: BodyGroup,
    local: Mapping[str, list[ca.SX]],
    handed: Sequence[tuple[list[ca.SX], list[Any]]],
    results: Sequence[Any],
    indices: Places | None,
    inputs: str,
    rcond: Any = 1.0,
) -> GroupCode:
    """Return the code of a group; `inputs` are those of the kernel, `local` those of the joint."""
    if (quaternion := group.body.kind.quaternion) is not None:  # as in `quaternion_check`
        rcond = where(is_unit(local['q'][quaternion]), ca.SX(rcond), 0.0)
    if indices is None:
        indices = np.zeros((len(results), len(group.bodies)), dtype=int)
    body, count = group.body, len(group.bodies)
    tables = [(inputs.index(x), _places(group, x)) for x in local]
    arguments = [body.constants, *local.values()]
    for part, first in ((body.gravity, 0), (body.load, group.load)):
        if first is not None:  # of the parameters, which follow the inputs
            arguments.append(part)
            rows = np.arange(first, first + len(part))
            tables.append((len(inputs), np.repeat(rows[:, None], count, axis=1)))
    arguments += [enters for enters, _ in handed]
    function = body_function(arguments, [*[leaves for _, leaves in handed], results, [rcond]])
    return GroupCode(group.bodies, function, group.table, tables, indices)


def _places(group: BodyGroup, what: str) -> Places:
    """Return where a joint's own entries are in an input: q, h of (t, h), or along the speeds."""
    if what == 'h':
        return np.ones((1, len(group.bodies)), dtype=int)
    return group.indices('q' if what == 'q' else 'v')


def body_function(
    arguments: Sequence[Sequence[ca.SX]], values: Sequence[Sequence[Any]]
) -> ca.Function:
    """Return the function of one body, with common subexpressions shared."""
    shared = ca.cse([column(x) for x in values])
    return ca.Function('body', [column(x) for x in arguments], shared)


def fall_of(body: GroupBody) -> DualQuaternion:
    """Return the twist rate of the world that stands for gravity."""
    return DualQuaternion(ZERO, -pure(body.gravity))
