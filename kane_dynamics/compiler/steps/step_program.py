# SPDX-License-Identifier: Apache-2.0
"""
A time step, recorded.

The integrators of `simulation.integrators` run on traced states. Where they ask for accelerations
or impulses, the call is recorded with the expressions of its arguments, and fresh symbols stand
for its results; so a Runge-Kutta step holds one copy of the dynamics, not four. An implicit step
is a loop that ends when its speeds change no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import as_array, where
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.compiler.graphs.step_graphs import Call, Loop, Program
from kane_dynamics.compiler.law import Law
from kane_dynamics.robot.motion import coordinate_rates, integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.simulation.integrators import squared_change
from kane_dynamics.typing import NDArray

# Newton steps onto the holonomic rows. The first leaves the square of a step's drift, 1e-7 of
# 3e-4, the second roundoff; what is still off then goes to the reference.
_NEWTON_STEPS = 2
_MEMORY = 2  # turns that an implicit step remembers
_NEVER = 1e30  # a change before the first turn
_DEPENDENT = 1e-12  # of the squared size of a difference of turns: what is left beside another


@dataclass
class Recorder:
    """The dynamics of a robot as recorded calls; see `simulation.integrators.Dynamics`."""

    robot: Robot
    holonomic: bool = False
    calls: list[Call | Loop] = field(default_factory=list)
    passive: Law | None = None

    def force(self, q: Any, v: Any, tau: Any, t: Any) -> Any:
        """Trace held efforts and the passive force of a state."""
        passive = self.passive
        return tau if passive is None else tau + passive.traced((as_scalar(t), q, v), ())

    def acceleration(self, q: Any, v: Any, tau: Any, t: Any) -> NDArray:
        """Record a call of the constrained forward dynamics."""
        tau = self.force(q, v, tau, t)
        (result,) = self.call('acceleration', (q, v, tau, [as_scalar(t)]), (self.robot.nv,))
        return result

    def impulse(self, q: Any, v: Any, at: Any, tau: Any, t: Any, h: Any) -> NDArray:
        """Record a call of the velocity step with implicit friction."""
        clock, tau = [as_scalar(t), as_scalar(h)], self.force(q, at, tau, t)
        (result,) = self.call('impulse', (q, v, at, tau, clock), (self.robot.nv,))
        return result

    def kick(self, q: Any, v: Any, tau: Any, t: Any, h: Any) -> NDArray:
        """Record a call of the velocity step across a middle place."""
        clock, tau = [as_scalar(t), as_scalar(h)], self.force(q, v, tau, t)
        (result,) = self.call('kick', (q, v, tau, clock), (self.robot.nv,))
        return result

    def fixed_point(self, improve: Callable[[Any], Any], start: Any) -> NDArray:
        """Record a loop of iterations x = improve(x), accelerated as in the reference."""
        size, parts = len(start), 1 + 2 * _MEMORY
        vector, result = (as_array(symbols(name, parts * size + 1)) for name in ('x', 'solved'))
        x, *older = np.split(vector[:-1], parts)
        before, self.calls = self.calls, []
        image = improve(x)
        turn, self.calls = self.calls, before
        latest, (least,) = (image, image - x), vector[-1:]
        change = ca.SX(squared_change(image, x))
        sound = as_array([where(change > 4.0 * least, 0.0, 1.0)])  # else the mixture led astray
        turns = [(old, sound * moved) for old, moved in zip(older[::2], older[1::2], strict=True)]
        kept = [part for pair in [latest, *turns[:-1]] for part in pair]
        smaller = as_array([where(change < least, change, least)])
        better = np.concatenate([_mixture(*latest, turns), *kept, smaller])
        first = np.concatenate([start, np.zeros((parts - 1) * size), [_NEVER]])
        columns = [column(x) for x in (first, vector, better, [change], result)]
        self.calls.append(Loop(columns[0], columns[1], tuple(turn), *columns[2:]))
        return result[size : 2 * size]

    def check_energy(
        self, start: tuple[Any, Any], middle: tuple[Any, Any], end: tuple[Any, Any], h: Any
    ) -> None:
        """Record a check of the energy of a midpoint step."""
        self.call('balance', (*start, *middle, *end, [as_scalar(h)]), ())

    def check_jump(self, start: tuple[Any, Any], v_middle: Any, tau: Any, t: Any, h: Any) -> None:
        """Record a check of the middle speeds of a mechanism with loops."""
        if self.holonomic:
            tau = self.force(*start, tau, t)
            self.call('jump', (*start, v_middle, tau, [as_scalar(t), as_scalar(h)]), ())

    def place(self, q: Any, t: Any) -> NDArray:
        """Record calls of the projection of coordinates onto the holonomic constraints."""
        for _ in range(_NEWTON_STEPS):
            (q,) = self.call('place', (q, [as_scalar(t)]), (self.robot.nq,))
        return q

    def check_crossing(self, start: tuple[Any, Any], end: tuple[Any, Any]) -> None:
        """Record a check that no singular configuration lies between two (q, t)."""
        self.call('crossing', (start[0], end[0], [as_scalar(start[1]), as_scalar(end[1])]), ())

    def project(self, q: Any, v: Any, t: Any) -> tuple[NDArray, NDArray]:
        """Record a call of the projection of speeds onto the constraints; also their rank."""
        speeds, rank = self.call('project', (q, v, [as_scalar(t)]), (self.robot.nv, 1))
        return speeds, rank

    def slope(self, q: Any, v: Any, tau: Any, t: Any) -> tuple[NDArray, NDArray]:
        """Trace dq/dt in place, and record a call of the acceleration."""
        return coordinate_rates(self.robot, q, v), self.acceleration(q, v, tau, t)

    def retract(self, q: Any, v: Any, h: Any) -> NDArray:
        """Trace q (+) v h in place."""
        return integrate_coordinates(self.robot, q, v, as_scalar(h))

    def call(self, kernel: str, arguments: Sequence[Any], sizes: Sequence[int]) -> list[NDArray]:
        """Record a call and return its results as arrays of symbols."""
        names = [symbols(f'{kernel}{len(self.calls)}_{k}_', size) for k, size in enumerate(sizes)]
        self.calls.append(
            Call(kernel, tuple(column(a) for a in arguments), tuple(column(r) for r in names))
        )
        return [as_array(result) for result in names]


def as_scalar(x: Any) -> Any:
    """Return a number, or the traced scalar that an array of one entry holds."""
    return x[0] if isinstance(x, np.ndarray) else x


def _mixture(image: Any, change: Any, older: Sequence[tuple[Any, Any]]) -> Any:
    """Trace Anderson's mixture; `older` begins with the last turn, 0 for one that was not."""
    mixed = image
    basis: list[tuple[Any, Any, Any]] = []
    for old, before in older:
        step, moved = change - before, image - old
        whole = step @ step
        for along, payload, part in basis:
            share = part * as_array([along @ step])
            step, moved = step - share * along, moved - share * payload
        size: Any = step @ step
        used = where(size > _DEPENDENT * whole, where(before @ before > 0.0, 1.0, 0.0), 0.0)
        part = as_array([used / where(size > 0.0, size, 1.0)])  # one entry: see `record_step`
        mixed = mixed - part * as_array([step @ change]) * moved
        basis.append((step, moved, part))
    return mixed


def record_step(
    recorder: Recorder,
    integrate: Any,
    projection: bool = False,
    law: Law | None = None,
    parameters: int = 0,
) -> Program:
    """Return the program of one step: efforts of a law, an integrator, projections."""
    robot = recorder.robot
    q, v, tau = symbols('q', robot.nq), symbols('v', robot.nv), symbols('tau', robot.nv)
    t, h = symbols('th', 2)
    state: list[np.ndarray[Any, Any]] = [as_array(part) for part in (q, v, tau)]
    # time as arrays of one entry: numpy then multiplies arrays of traced scalars entry by entry
    clock, length = as_array([t]), as_array([h])
    read: list[ca.SX] = []
    if law is not None:
        read = symbols('parameter', parameters + len(law.gains)) if law.gains else []
        state[2] = state[2] + law.traced((t, *state[:2]), read[parameters:])
        recorder.passive = law.passive
    q_end, v_end = integrate(recorder, *state, clock, length)
    rank: Any = [0.0]
    if projection:
        if recorder.holonomic:
            q_end = recorder.place(q_end, clock + length)
            recorder.check_crossing((state[0], clock), (q_end, clock + length))
        v_end, rank = recorder.project(q_end, v_end, clock + length)
    inputs = (column(q), column(v), column(tau), column([t, h]), column(read))
    return Program(inputs, tuple(recorder.calls), tuple(map(column, (q_end, v_end, rank))))


def record_start(recorder: Recorder) -> Program:
    """Return the program that moves a state onto the constraints, with the inputs of a step."""
    robot = recorder.robot
    q, v, tau = symbols('q', robot.nq), symbols('v', robot.nv), symbols('tau', robot.nv)
    clock = symbols('th', 2)
    place, time = as_array(q), as_array(clock[:1])
    if recorder.holonomic:
        place = recorder.place(place, time)
    speeds, rank = recorder.project(place, as_array(v), time)
    inputs = (column(q), column(v), column(tau), column(clock), column([]))
    return Program(inputs, tuple(recorder.calls), tuple(map(column, (place, speeds, rank))))
