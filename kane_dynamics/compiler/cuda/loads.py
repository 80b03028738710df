# SPDX-License-Identifier: Apache-2.0
"""Gravity and payloads that differ from state to state of a batch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.compiler.cuda.device import Array, Device
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_mapping, as_numbers
from kane_dynamics.typing import ArrayLike, Floats

_PARTS = {'mass': (), 'center_of_mass': (3,), 'inertia': (3, 3)}


@dataclass(frozen=True, eq=False)
class Loads:
    """What each state of a batch is under."""

    values: Array  # shape (P,): What kernels read, on the device
    gravity: Floats  # shape (1, 3): [m/s^2]
    payloads: Mapping[str, tuple[Floats, Floats, Floats]]

    def put(self, state: int, load: Parameters) -> None:
        """Set gravity and payloads of one state."""
        state = min(state, len(self.gravity) - 1)  # one for all
        load.set_gravity(self.gravity[state])
        for frame in load.payloads.keys() - self.payloads.keys():
            load.set_payload(frame, 0.0)
        for frame, (mass, com, inertia) in self.payloads.items():
            load.set_payload(frame, float(mass[state]), com[state], inertia[state])


def loads(
    device: Device,
    dtype: np.dtype[Any],
    load: Parameters,
    gravity: ArrayLike | None,
    payloads: Mapping[str, Mapping[str, ArrayLike]] | None,
) -> Loads:
    """Return gravity and payloads of many states."""
    arguments = {
        'gravity': _rows('gravity', load.robot.gravity if gravity is None else gravity, (3,))
    }
    for frame, parts in as_mapping('payloads', payloads or {}).items():
        known = as_mapping(f"payload on '{frame}'", parts)
        for part, shape in _PARTS.items():
            name = f"{part} on '{frame}'"
            arguments[name] = _rows(name, known.get(part, np.zeros(shape)), shape)
    counts = {len(x) for x in arguments.values()} - {1}
    if len(counts) > 1:
        raise InvalidInputError(f'loads: numbers of rows differ, {sorted(counts)}')
    count = counts.pop() if counts else 1
    spread = {name: np.broadcast_to(x, (count, *x.shape[1:])) for name, x in arguments.items()}
    payload = {  # what is carried now stays
        frame: (np.full(count, x.mass), np.array([x.com] * count), np.array([x.tensor] * count))
        for frame, x in load.payloads.items()
    }
    for frame in payloads or {}:
        mass, com, inertia = (spread[f"{part} on '{frame}'"] for part in _PARTS)
        payload[frame] = mass, com, inertia
    local = load.copied()
    result = Loads(load.values, spread['gravity'], payload)
    values = np.empty((count, len(local.values)))
    if payloads:
        for state in range(count):
            result.put(state, local)
            values[state] = local.values
    else:
        values[:] = load.values
        values[:, :3] = result.gravity
    kept = values[0] if count == 1 else values
    return Loads(device.array(kept, dtype), result.gravity, result.payloads)


def _rows(name: str, x: Any, shape: tuple[int, ...]) -> Floats:
    """Return rows of an array that is one, or many."""
    array = as_numbers(name, x)
    if array.shape == shape:
        array = array[None]
    if array.shape[1:] != shape or array.ndim != 1 + len(shape) or not np.isfinite(array).all():
        many = ', '.join(['B', *map(str, shape)])
        raise InvalidInputError(
            f'{name}: need finite numbers, shape {shape} or ({many}), got {array.shape}'
        )
    return array
