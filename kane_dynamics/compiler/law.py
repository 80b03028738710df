# SPDX-License-Identifier: Apache-2.0
"""Efforts that time steps contain, as functions of the state: traced once, when they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import as_array, traced_values
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import NDArray

EffortLaw = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Law:
    """Efforts as a function of the state that steps contain; made by `Law.of`."""

    function: EffortLaw  # function(t, q, v), or function(t, q, v, gains) where there are any
    gains: tuple[float, ...]  # Numbers that can be others when the code runs: its last parameters
    graph: Any  # casadi.Function: what the function makes of symbols t, q, v, gains
    passive: Law | None = None  # A force law inside the stages of an integrator

    @classmethod
    def of(
        cls,
        robot: Robot,
        function: EffortLaw,
        gains: Sequence[float] = (),
        passive: Law | None = None,
        what: str = 'the effort law',
    ) -> Law:
        """Return the law of a robot, traced."""
        t, *state = symbols('t', 1), symbols('q', robot.nq), symbols('v', robot.nv)
        more = symbols('gain', len(gains))
        values = (t[0], *map(as_array, state), *([as_array(more)] if more else []))
        efforts = traced_values(what, function, values, InvalidInputError)
        if efforts.shape != (robot.nv,):
            raise InvalidInputError(f'{what} must give {robot.nv} efforts, gave {efforts.shape}')
        inputs = [column(x) for x in (t, *state, more)]
        graph = ca.Function('law', inputs, [column(efforts)])
        return cls(function, tuple(gains), graph, passive)

    def __call__(self, t: Any, q: Any, v: Any) -> Any:
        """Return the efforts with these gains."""
        return self.function(t, q, v, *([np.array(self.gains)] if self.gains else []))

    def traced(self, state: Sequence[Any], gains: Sequence[Any]) -> NDArray:
        """Return the efforts at t, q, v as traced scalars."""
        t, q, v = state
        return as_array(ca.vertsplit(self.graph(t, column(q), column(v), column(gains))))

    @property
    def content(self) -> str:
        """Return the graph with all its numbers, digit for digit; not the values of gains."""
        text: str = self.graph.serialize()
        return text if self.passive is None else text + self.passive.content
