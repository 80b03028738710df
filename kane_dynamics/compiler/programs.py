# SPDX-License-Identifier: Apache-2.0
"""A time step as a program: expressions between calls of other kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Call:
    """One call of a kernel."""

    kernel: str  # Name of the kernel
    arguments: tuple[ca.SX, ...]
    results: tuple[ca.SX, ...]  # Columns of symbols


@dataclass(frozen=True)
class Loop:
    """Calls that are repeated until a vector changes no more."""

    start: ca.SX  # The vector at first, in what is known before the loop
    vector: ca.SX  # Symbols of the vector before a turn
    calls: tuple[Call | Loop, ...]  # Of one turn
    better: ca.SX  # The vector after a turn
    change: ca.SX  # How much it changed, see `simulation.integrators.squared_change`
    result: ca.SX  # Symbols of the vector after the last turn


@dataclass(frozen=True)
class Program:
    """A step (q, v, tau, t, h) -> (q, v, rank) with its calls."""

    inputs: tuple[ca.SX, ...]
    calls: tuple[Call | Loop, ...]  # In order
    outputs: tuple[ca.SX, ...]  # Columns q, v and the rank of the rows at the end

    @property
    def kernels(self) -> list[str]:
        """Return the kernels in the order in which they are called, each turn of a loop once."""
        return [call.kernel for call in _flat(self.calls)]

    def segments(self) -> Iterator[ca.Function]:
        """Yield functions of the values known so far, in the order of the program."""
        known = list(self.inputs)
        yield from _segments(self.calls, known)
        yield _segment(known, self.outputs)


def _flat(calls: Sequence[Call | Loop]) -> Iterator[Call]:
    for call in calls:
        if isinstance(call, Loop):
            yield from _flat(call.calls)
        else:
            yield call


def _segments(calls: Sequence[Call | Loop], known: list[ca.SX]) -> Iterator[ca.Function]:
    """Yield the segments of calls, and append their results to what is known."""
    for call in calls:
        if isinstance(call, Loop):
            yield _segment(known, [call.start])
            inside = [*known, call.vector]
            yield from _segments(call.calls, inside)
            yield _segment(inside, [call.better, call.change])
            known.append(call.result)
        else:
            yield _segment(known, call.arguments)
            known += call.results


def _segment(known: Sequence[ca.SX], values: Sequence[ca.SX]) -> ca.Function:
    return ca.Function('segment', list(known), ca.cse(list(values)))
