# SPDX-License-Identifier: Apache-2.0
"""A time step as a program: expressions between calls of other kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Call:
    """
    One call of a kernel.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    arguments : tuple of casadi.SX
        Columns of expressions in the inputs of the program and in earlier results.
    results : tuple of casadi.SX
        Columns of symbols.

    """

    kernel: str
    arguments: tuple[ca.SX, ...]
    results: tuple[ca.SX, ...]


@dataclass(frozen=True)
class Loop:
    """
    Calls that are repeated until a vector changes no more.

    Parameters
    ----------
    start : casadi.SX
        The vector at first, in what is known before the loop.
    vector : casadi.SX
        Symbols of the vector before a turn.
    calls : tuple of Call
        Of one turn.
    better : casadi.SX
        The vector after a turn.
    change : casadi.SX
        How much it changed, see `simulation.integrators.squared_change`.
    result : casadi.SX
        Symbols of the vector after the last turn.

    """

    start: ca.SX
    vector: ca.SX
    calls: tuple[Call | Loop, ...]
    better: ca.SX
    change: ca.SX
    result: ca.SX


@dataclass(frozen=True)
class Program:
    """
    A step (q, v, tau, t, h) -> (q, v, rank) with its calls.

    Parameters
    ----------
    inputs : tuple of casadi.SX
        Columns q, v, tau, (t, h), and the parameters, none where no gains are among them.
    calls : tuple of Call or Loop
        In order.
    outputs : tuple of casadi.SX
        Columns q, v and the rank of the rows at the end; 0 without projection.

    """

    inputs: tuple[ca.SX, ...]
    calls: tuple[Call | Loop, ...]
    outputs: tuple[ca.SX, ...]

    @property
    def kernels(self) -> list[str]:
        """Return the kernels in the order in which they are called, each turn of a loop once."""
        return [call.kernel for call in _flat(self.calls)]

    def segments(self) -> Iterator[ca.Function]:
        """
        Yield functions of the values known so far, in the order of the program.

        Arguments of each call; start, then calls, then vector and change of each loop; outputs.
        """
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
