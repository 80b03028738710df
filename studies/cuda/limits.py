# SPDX-License-Identifier: Apache-2.0
"""What a graphics card can do at most, by its own figures."""

from __future__ import annotations

from typing import Any, NamedTuple

# Lanes of a multiprocessor in single and double precision by kind of card: CUDA C++ Programming
# Guide, throughput of native arithmetic instructions.
_LANES = {
    '70': (64, 32),
    '75': (64, 2),
    '80': (64, 32),
    '86': (128, 2),
    '89': (128, 2),
    '90': (128, 64),
    '100': (128, 64),
    '120': (128, 2),
}


class Limits(NamedTuple):
    """Operations [1/s] and bytes [1/s] that a card can do at most; None where not known."""

    operations: float | None
    memory: float | None


def limits(xp: Any, precision: str) -> Limits:
    """Return the limits of the present card of CuPy; it tells clocks in kHz, widths in bits."""
    runtime, device = xp.cuda.runtime, xp.cuda.Device()

    def ask(attribute: str) -> int:
        number: int = runtime.deviceGetAttribute(getattr(runtime, attribute), device.id)
        return number

    cycles = ask('cudaDevAttrMultiProcessorCount') * ask('cudaDevAttrClockRate') * 1e3
    single, double = _LANES.get(device.compute_capability, (0, 0))
    transfers = 2.0 * ask('cudaDevAttrMemoryClockRate') * 1e3  # two a cycle
    memory = transfers * ask('cudaDevAttrGlobalMemoryBusWidth') / 8.0
    lanes = single if precision == 'float32' else double
    return Limits(cycles * lanes or None, memory or None)


def bound(row: dict[str, Any]) -> tuple[float | None, str]:
    """Return the most states a second by a row's operations and bytes, and which it is."""
    by = {
        kind: row['limits'][kind] / row[of]
        for kind, of in (('operations', 'operations'), ('memory', 'bytes'))
        if row['limits'][kind] and row[of]
    }
    if not by:
        return None, 'not known'
    kind = min(by, key=lambda kind: by[kind])
    return by[kind], kind
