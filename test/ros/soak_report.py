# SPDX-License-Identifier: Apache-2.0
"""The result of a soak: a table to read, what must not be, and figures for doc/reliability.md."""

import math

from soak_nodes import SIMULATOR

from studies import machine

REMARKS = 100  # that are kept
ENOUGH = 2  # times a fault was there, before each node must have counted it


def uncounted(soak):
    """Return faults that a node did not count: (fault, nodes)."""
    found = []
    for row in soak.rows.values():
        if row.fault.counted and row.times >= ENOUGH:
            told = row.fault.spoil != ''
            nodes = [n for n, peer in soak.peers.items() if peer.told or not told]
            found.append((row.fault.name, [n for n in nodes if not row.refused[n]]))
    return [(name, nodes) for name, nodes in found if nodes]


def failures(soak, counted):
    """Return what must not be, in words."""
    found = soak.dead()
    for row in soak.rows.values():
        if row.not_finite or row.unfounded or row.late or math.isinf(row.recovery):
            found.append(row.fault.name)
    if counted:
        found += [f'{name}: not counted by {", ".join(n)}' for name, n in uncounted(soak)]
    leaking = (name for name, memory in soak.memory.items() if memory.leaks())
    return [*found, *(f'memory of {name}' for name in leaking)]


def table(soak):
    """Return the table of all faults."""
    lines = [
        f'{"fault":34} {"times":>5} {"states":>8} {"outputs":>8} {"non-finite":>10} '
        f'{"unfounded":>9} {"late":>4} {"refused":>8} {"recovery [s]":>12}'
    ]
    for row in soak.rows.values():
        lines.append(
            f'{row.fault.name:34} {row.times:5} {row.states:8} {row.outputs:8} '
            f'{row.not_finite:10} {row.unfounded:9} {row.late:4} {row.refused.total():8} '
            f'{row.recovery:12.2f}'
        )
    missed = soak.bench.status(f'{SIMULATOR}: simulation')[2].get('missed periods', '?')
    lines.append(f'periods without efforts in time, this simulator: {missed}')
    for name in soak.peers:
        output = soak.bench.status(f'{name}: output')[2]
        late = f'{output.get("late outputs", "?")} of {output.get("outputs", "?")}'
        lines.append(f'outputs of {name} after the next state: {late}')
    lines += soak.unfounded
    lines += [f'memory of {name}: {memory.in_words()}' for name, memory in soak.memory.items()]
    return '\n'.join(lines)


def result(soak, found):
    """Return all figures."""
    return {
        'commit': machine.commit(),
        'machine': {**machine.describe(), 'versions': machine.versions()},
        'rate_hz': soak.rate,
        'failures': found,
        'remarks': soak.unfounded[:REMARKS],
        'faults': [row.figures() for row in soak.rows.values()],
        'efforts': dict(soak.ages.minutes),
        'memory': {name: memory.figures() for name, memory in soak.memory.items()},
    }
