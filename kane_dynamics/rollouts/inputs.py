# SPDX-License-Identifier: Apache-2.0
"""What differs from rollout to rollout, checked and spread over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.robot.checks import as_finite, as_mapping, as_numbers, as_shaped
from kane_dynamics.robot.robot import payload_inertia
from kane_dynamics.robot.state import GravityAndPayloads, is_unit
from kane_dynamics.simulation.motions import PayloadRows
from kane_dynamics.typing import ArrayLike, Bools, Floats

GRAVITY = 'gravity [m/s^2]'
_PAYLOAD = {'mass': (), 'center_of_mass': (3,), 'inertia': (3, 3)}


@dataclass(frozen=True, eq=False)
class Inputs:
    """Arrays with one row for each rollout; rows that are all the same take the memory of one."""

    q: Floats  # Where motions start
    v: Floats
    efforts: Floats  # shape (B, K, nv): K pieces of equal length
    gains: Floats | None  # shape (B, P): Of the law in the time steps
    gravity: Floats | None  # shape (B, 3): [m/s^2]; that of the dynamics where None
    payloads: Mapping[str, PayloadRows]  # By frame

    def __len__(self) -> int:
        return len(self.q)

    @property
    def one_start(self) -> bool:
        """Return whether all rollouts start in one place."""
        return len(self) == 1 or self.q.strides[0] == 0

    @property
    def loaded(self) -> bool:
        """Return whether rollouts have gravity or payloads of their own."""
        return self.gravity is not None or bool(self.payloads)

    def piece(self, steps: int) -> int:
        """Return for how many steps efforts are held."""
        return max(1, steps // self.efforts.shape[1])

    def part(self, begin: int, end: int) -> Inputs:
        """Return those of some rollouts."""
        rows = slice(begin, end)
        payloads = {
            frame: (mass[rows], com[rows], inertia[rows])
            for frame, (mass, com, inertia) in self.payloads.items()
        }
        names = ('q', 'v', 'efforts', 'gains', 'gravity')
        arrays = {name: x[rows] for name in names if (x := getattr(self, name)) is not None}
        return replace(self, **arrays, payloads=payloads)

    def load(self, dynamics: Dynamics, row: int) -> GravityAndPayloads:
        """Return gravity and payloads of one rollout."""
        load = dynamics.load()
        set_row(load, row, self.gravity, self.payloads)
        return load


def set_row(
    load: GravityAndPayloads,
    row: int,
    gravity: Floats | None,
    payloads: Mapping[str, PayloadRows],
) -> None:
    """Set gravity and payloads that have a row for each state to those of one."""
    if gravity is not None:
        load.set_gravity(gravity[row])
    for frame, (mass, com, inertia) in payloads.items():
        load.set_payload(frame, float(mass[row]), com[row], inertia[row])


def inputs(
    dynamics: Dynamics,
    steps: int,
    q: ArrayLike,
    v: ArrayLike,
    effort: ArrayLike | None,
    gains: ArrayLike | None,
    gravity: ArrayLike | None,
    payloads: Mapping[str, Mapping[str, ArrayLike]] | None,
) -> Inputs:
    """Return the arguments of `rollout` with a row for each rollout."""
    robot = dynamics.robot
    arguments = {
        'q': _rows('q', q, (robot.nq,)),
        'v': _rows('v', v, (robot.nv,)),
        'effort': _efforts(effort, robot.nv, steps),
    }
    if gains is not None:
        arguments['gains'] = _gains(gains, dynamics.gains)
    spread, loaded = load_rows(dynamics.load(), gravity, payloads, arguments)
    _check_quaternions(dynamics, arguments['q'])
    states = spread['q'], spread['v'], spread['effort'], spread.get('gains')
    return Inputs(*states, spread.get(GRAVITY), loaded)


def load_rows(
    load: GravityAndPayloads,
    gravity: ArrayLike | None,
    payloads: Mapping[str, Mapping[str, ArrayLike]] | None,
    others: Mapping[str, Floats],
) -> tuple[dict[str, Floats], dict[str, PayloadRows]]:
    """
    Return arrays by name, gravity among them, and payloads by frame, all with as many rows.

    The load, which may be written, says which frames may carry any.
    """
    arguments = dict(others)
    if gravity is not None:
        arguments[GRAVITY] = as_finite(GRAVITY, _rows(GRAVITY, gravity, (3,)))
    frames = as_mapping('payloads', {} if payloads is None else payloads)
    for frame, parts in frames.items():
        arguments |= _payload(frame, parts)
    counts = {name: len(x) for name, x in arguments.items() if len(x) != 1}
    if len(set(counts.values())) > 1:
        listed = ', '.join(f'{name}: {count}' for name, count in counts.items())
        raise InvalidInputError(f'numbers of rows differ, {listed}')
    count = next(iter(counts.values()), 1)
    spread = {name: np.broadcast_to(x, (count, *x.shape[1:])) for name, x in arguments.items()}
    of_frames = {}
    for frame in frames:
        mass, com, inertia = (spread[f"{part} on '{frame}'"] for part in _PAYLOAD)
        of_frames[frame] = mass, com, inertia
        _check_payload(load, frame, of_frames[frame])
    return spread, of_frames


def _rows(name: str, x: Any, shape: tuple[int, ...]) -> Floats:
    """Return rows of an array that is one, or many."""
    array = as_numbers(name, x)
    if array.shape == shape:
        array = array[None]
    if array.shape[1:] != shape or array.ndim != 1 + len(shape):
        many = ', '.join(['B', *map(str, shape)])
        raise InvalidInputError(f'{name}: need shape {shape} or ({many}), got {array.shape}')
    return np.require(array, None, ['C', 'A'])


def _efforts(effort: ArrayLike | None, nv: int, count: int) -> Floats:
    """Return efforts, shape (1 or B, K, nv)."""
    if effort is None:
        return np.zeros((1, 1, nv))
    if callable(effort):
        raise InvalidInputError(
            'effort: need an array here, got a function; compile it, kd.compile(..., effort=)'
        )
    array = as_shaped('effort', effort, (nv,), ('B', nv), ('B', 'K', nv))
    axes = {1: (0, 1), 2: (1,)}.get(array.ndim, ())  # of rollouts, and of pieces
    pieces = np.expand_dims(array, axes)
    if not pieces.shape[1] or count % pieces.shape[1]:
        raise InvalidInputError(
            f'effort: {count} steps are not a whole number for each of {pieces.shape[1]} pieces'
        )
    return np.require(pieces, None, ['C', 'A'])


def _gains(gains: ArrayLike, known: Sequence[float]) -> Floats:
    if not known:
        raise InvalidInputError(
            'gains: need dynamics with a law that takes them, got those without; compile it, '
            'kd.compile(..., effort=law, gains=...)'
        )
    return as_finite('gains', _rows('gains', gains, (len(known),)))


def _payload(frame: str, parts: Any) -> dict[str, Floats]:
    """Return the arrays of a payload by names for messages."""
    arguments = as_mapping(f"payload on '{frame}'", parts)
    if 'mass' not in arguments or not arguments.keys() <= _PAYLOAD.keys():
        raise InvalidInputError(
            f"payload on '{frame}': need 'mass' and perhaps 'center_of_mass' and 'inertia', got "
            f'{sorted(arguments)}'
        )
    arrays = {}
    for part, shape in _PAYLOAD.items():
        name = f"{part} on '{frame}'"
        rows = _rows(name, arguments.get(part, np.zeros(shape)), shape)
        arrays[name] = as_finite(name, rows)
    return arrays


def _check_quaternions(dynamics: Dynamics, q: Floats) -> None:
    for joint, place in dynamics.robot.quaternion_slices:
        wrong = ~is_unit(list(q[:, place].T)) & np.isfinite(q).all(axis=1)
        for row in np.flatnonzero(wrong).tolist():
            raise InvalidInputError(
                f"q: joint '{joint}' needs a unit quaternion (w, x, y, z), got {q[row, place]} "
                f'in row {row}'
            )


def _check_payload(load: GravityAndPayloads, frame: str, rows: PayloadRows) -> None:
    load.set_payload(frame, 0.0)  # whether the frame may carry any
    distinct = len(rows[0]) if any(x.strides[0] for x in rows) else 1
    for row in np.flatnonzero(~_surely_bodies(*rows)[:distinct]).tolist():
        mass, com, inertia = (x[row] for x in rows)
        try:
            payload_inertia(frame, float(mass), com, inertia)
        except KaneDynamicsError as error:
            error.args = (f'row {row}: {error}',)
            raise


def _surely_bodies(mass: Floats, _: Floats, tensor: Floats) -> Bools:
    """Return which payloads have mass and inertia of a body; others are looked at one by one."""
    moments = np.linalg.eigvalsh(tensor)
    symmetric = (tensor == tensor.transpose(0, 2, 1)).all(axis=(1, 2))
    possible = (moments[:, 0] >= 0.0) & (moments[:, 2] <= moments[:, 0] + moments[:, 1])
    return (mass >= 0.0) & symmetric & possible
