# SPDX-License-Identifier: Apache-2.0
"""A kernel that is a loop over bodies, before it is machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kane_dynamics.compiler.llvm.loop_levels import Levels, levels_of
from kane_dynamics.typing import Floats

Places = NDArray[np.int64]


@dataclass(frozen=True)
class TreePass:
    """One way over the tree."""

    outward: bool  # From the base to the tips, or back. Inward, what children hand on is summed
    width: int  # How many numbers are handed on


@dataclass(frozen=True, eq=False)
class GroupCode:
    """The code of the bodies of one group."""

    bodies: tuple[int, ...]  # Which bodies
    function: ca.Function
    table: Floats  # shape (constants, bodies): Values of the constants
    local: Sequence[tuple[int, Places]]
    indices: Places  # shape (results, bodies): Where in the output each result is added

    @cached_property
    def levels(self) -> Levels:
        """Return the values of the graph with their levels."""
        local = 1 + len(self.local)
        passes = self.function.n_in() - local
        return levels_of(self.function, local, passes, [0])

    @property
    def rcond(self) -> int | None:
        """Return the node of the health, None where it is always 1."""
        (node,) = self.levels.outputs[-1]
        value = self.levels.nodes[node]
        return None if value.operation == ca.OP_CONST and value.constant == 1.0 else node


@dataclass(frozen=True, eq=False)
class LoopSpec:
    """A kernel whose code is a loop over bodies."""

    name: str  # Name of the kernel
    input_sizes: tuple[int, ...]  # Length of each input
    output_shapes: tuple[tuple[int, ...], ...]  # Shape of the one output
    parents: tuple[int, ...]  # Parent of each body, -1 for the world
    passes: tuple[TreePass, ...]  # In order
    groups: tuple[GroupCode, ...]  # All bodies; those on the world take nothing from their parent
    parameters: int = 0  # Length of the vector of numbers that stay the same from call to call

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Return the number of entries of the output."""
        return tuple(prod(shape) for shape in self.output_shapes)

    @property
    def operations(self) -> int:
        """Return the number of operations of one call: each body's graph, once for each body."""
        return sum(len(g.bodies) * g.function.n_instructions() for g in self.groups)
