# SPDX-License-Identifier: Apache-2.0
"""
Gravity and payloads as inputs of machine code that are set, not passed.

One vector: gravity, then for each body that may carry a payload its whole inertia, payload
included, in its own frame and in its canonical one. So a payload costs the code nothing but the
zeros of that body's inertia, and what is added up is added up once, when it is set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.inertia import UPPER, Inertia
from kane_dynamics.algebra.scalars import as_array, where
from kane_dynamics.algebra.traced_scalar import symbols
from kane_dynamics.robot.canonical_frames import FrameInBody, body_frames, inertia_in
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import (
    POINT,
    GravityAndPayloads,
    loaded_inertias,
    with_loads,
)
from kane_dynamics.simulation.motions import PayloadRows
from kane_dynamics.typing import ArrayLike, Floats

GRAVITY = 3
INERTIA = 10  # mass, centre of mass, xx, xy, xz, yy, yz, zz


def carriers(robot: Robot, payloads: Sequence[str]) -> tuple[int, ...]:
    """Return the bodies that may carry a payload, each once."""
    return tuple(sorted({robot.moving_body(frame) for frame in payloads}))


def parameter_count(robot: Robot, payloads: Sequence[str]) -> int:
    """Return how many parameters gravity and payloads take."""
    return GRAVITY + 2 * INERTIA * len(carriers(robot, payloads))


def load_places(robot: Robot, payloads: Sequence[str], *, canonical: bool) -> dict[int, int]:
    """Return where the inertias of bodies that may carry a payload are among the parameters."""
    first = GRAVITY + (INERTIA if canonical else 0)
    bodies = carriers(robot, payloads)
    return {body: first + 2 * INERTIA * k for k, body in enumerate(bodies)}


def with_symbols(
    robot: Robot, canonical: Robot, payloads: Sequence[str]
) -> tuple[list[ca.SX], Robot, Robot]:
    """Return the parameters as symbols, and a robot in its own and canonical frames with them."""
    bodies = carriers(robot, payloads)
    size = parameter_count(robot, payloads)
    numbers = symbols('parameter', size)
    gravity = as_array(numbers[:GRAVITY])
    inertias = [_traced(numbers[k : k + INERTIA]) for k in range(GRAVITY, size, INERTIA)]
    local = dict(zip(bodies, inertias[::2], strict=True))
    moved = dict(zip(bodies, inertias[1::2], strict=True))
    return numbers, with_loads(robot, gravity, local), with_loads(canonical, gravity, moved)


def _traced(symbols: Sequence[ca.SX]) -> Inertia:
    return Inertia.traced(symbols[0], symbols[1:4], symbols[4:])


def inertia_numbers(inertias: Sequence[Inertia], canonical: Sequence[FrameInBody]) -> list[Any]:
    """Return what the parameters hold of bodies: each in its own and in its canonical frame."""
    values: list[Any] = []
    for local, frame in zip(inertias, canonical, strict=True):
        for inertia in (local, inertia_in(local, frame)):
            values += [inertia.mass, *inertia.com.tolist(), *inertia.tensor[UPPER].tolist()]
    return values


def load_function(robot: Robot, payloads: Sequence[str]) -> ca.Function:
    """Trace the parameters of gravity and payloads, and whether no mass is negative."""
    gravity = symbols('gravity', GRAVITY)
    numbers = symbols('payload', INERTIA * len(payloads))
    starts = range(0, len(numbers), INERTIA)
    payload = {
        frame: _traced(numbers[k : k + INERTIA]) for frame, k in zip(payloads, starts, strict=True)
    }
    loaded, selection = loaded_inertias(robot, payload), body_frames(robot)
    bodies = carriers(robot, payloads)
    of_bodies = inertia_numbers([loaded[k] for k in bodies], [selection[k] for k in bodies])
    values = ca.vertcat(*gravity, *[ca.SX(x) for x in of_bodies])
    rcond = ca.SX(1.0)
    for k in starts:
        rcond = where(numbers[k] >= 0.0, rcond, 0.0)
    inputs = [ca.vertcat(*gravity), ca.vertcat(*numbers)]
    return ca.Function('load', inputs, [ca.densify(values), rcond])


class Parameters(GravityAndPayloads):
    """The present parameters of a compiled robot."""

    def __init__(self, robot: Robot, payloads: Sequence[str]) -> None:
        super().__init__(robot, payloads)
        self._links, self._bodies = payloads, carriers(robot, payloads)
        selection = body_frames(robot) if payloads else []
        self._axes = [selection[body] for body in self._bodies]
        self.values: Floats = np.array([*robot.gravity.tolist(), *self._inertias()])
        self._copies: list[Floats] = []

    def copied(self) -> Parameters:
        """Return others that begin with the present gravity and payloads."""
        other = copy(self)
        other.values, other._copies = self.values.copy(), []
        return other

    def take(self, other: Parameters) -> None:
        """Set gravity and payloads to those of another load of the robot."""
        self.robot, self._payloads = other.robot, other._payloads
        self.values[:] = other.values
        self._copy_again()

    def rows(
        self, count: int, gravity: Floats | None, payloads: Mapping[str, PayloadRows]
    ) -> Floats:
        """Return the parameters under other gravity and payloads, shape (count, P) or (1, P)."""
        local = self._of_payloads(count, payloads) if payloads else self.values[None]
        if gravity is not None:
            local = np.repeat(local, count, axis=0) if len(local) == 1 else local
            local[:, :GRAVITY] = gravity
        return local

    def rollout_rows(
        self,
        count: int,
        gains: Floats,
        gravity: Floats | None,
        payloads: Mapping[str, PayloadRows],
    ) -> Floats:
        """Return what steps read, gains after the parameters, (count, P); (1, P) where all do."""
        parts = self.rows(count, gravity, payloads), np.atleast_2d(gains)
        rows = max(map(len, parts))
        joined = np.hstack([np.broadcast_to(x, (rows, x.shape[1])) for x in parts])
        return np.ascontiguousarray(joined)  # of rows that are all one numpy makes columns

    def _of_payloads(self, count: int, payloads: Mapping[str, PayloadRows]) -> Floats:
        numbers = np.zeros((count, len(self._links), INERTIA))
        for frame, at in zip(self._links, numbers.transpose(1, 0, 2), strict=True):
            if frame in payloads:
                mass, com, inertia = payloads[frame]
                at[:, 0], at[:, 1:4], at[:, 4:] = mass, com, inertia[(slice(None), *UPPER)]
            elif frame in self.payloads:
                payload = self.payloads[frame]
                at[:, 0], at[:, 1:4] = payload.mass, payload.com
                at[:, 4:] = payload.tensor[UPPER]
        gravity = np.repeat(self.values[:GRAVITY, None], count, axis=1)
        values, _ = self._function(gravity, numbers.reshape(count, -1).T)
        return np.ascontiguousarray(np.array(values).T)

    @cached_property
    def _function(self) -> ca.Function:
        return load_function(self.bare, self._links)

    def with_more(self, more: Floats) -> Floats:
        """Return a vector of the parameters and more; it follows what is set later."""
        copied = np.concatenate([self.values, more])
        self._copies.append(copied[: len(self.values)])
        return copied

    def _copy_again(self) -> None:
        for copied in self._copies:
            copied[:] = self.values

    def set_gravity(self, vector: ArrayLike) -> None:
        """Set the gravity acceleration; see `Load.set_gravity`."""
        super().set_gravity(vector)
        self.values[:GRAVITY] = self.robot.gravity
        self._copy_again()

    def set_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> None:
        """Set what a frame carries; see `Load.set_payload`."""
        super().set_payload(frame, mass, com, inertia)
        self.values[GRAVITY:] = self._inertias()
        self._copy_again()

    def _inertias(self) -> list[float]:
        local = [self.robot.bodies[body].inertia for body in self._bodies]
        return inertia_numbers(local, self._axes)
