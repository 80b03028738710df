# SPDX-License-Identifier: Apache-2.0
"""Recorded programs as code of any language: segments of expressions between calls and loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from kane_dynamics.compiler.llvm.straight_line import Block, append_graph
from kane_dynamics.compiler.programs import Call, Loop, Program

TURNS = 40  # of a loop: a step that gains less than a digit in two turns is the reference's


Code = TypeVar('Code', bound=Block)


class ProgramWriter(ABC, Generic[Code]):
    """
    Code of one program under construction.

    Parameters
    ----------
    block : Block
        What takes the code.
    program : Program
        The program.

    """

    def __init__(self, block: Code, program: Program) -> None:
        self.block, self._segments = block, program.segments()

    def values(self, known: list[list[str]]) -> list[list[str]]:
        """Append the next segment and return its outputs, which are dense, in order."""
        outputs = append_graph(self.block, next(self._segments), known)
        return [[values[k] for k in range(len(values))] for values in outputs]

    def append(self, calls: Sequence[Call | Loop], known: list[list[str]]) -> None:
        """Append calls and loops, and their results to what is known."""
        for call in calls:
            if isinstance(call, Loop):
                known.append(self._loop(call, known))
            else:
                known += self._call(call, known)

    @abstractmethod
    def _call(self, call: Call, known: list[list[str]]) -> list[list[str]]:
        """Append a call and return its results."""

    @abstractmethod
    def _loop(self, loop: Loop, known: list[list[str]]) -> list[str]:
        """Append a loop that ends where the change is small, or after TURNS."""
