# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a soak: the one list of faults, for the short test and for `make soak`."""

import itertools
from dataclasses import dataclass
from typing import Any

HOUR = 3600
KILL_EVERY = 5  # rounds of about 50 s: a process must live for minutes to show leaks


@dataclass(frozen=True)
class Fault:
    """
    A fault between the simulator and the controller.

    Attributes
    ----------
    name : str
        In words.
    change : callable
        State and its number to a list of (delay, state) that are sent instead; a delay is in
        periods, or negative in seconds, of simulated time.
    blind : bool
        Whether no state that is sent may be used.
    reference : callable
        Changes the reference.
    action : str
        What happens once at the beginning: reset, kill, describe again, describe badly.

    """

    name: str
    change: Any = lambda state, k: [(0.0, state)]
    blind: bool = False
    reference: Any = lambda message: message
    action: str = ''


def _with(**fields):
    """Return a change of some fields of a state; each function gets the field's list."""

    def change(state, k):
        for name, function in fields.items():
            setattr(state, name, function(list(getattr(state, name))))
        return [(0.0, state)]

    return change


def _all_but_first(state, k):
    return _with(**dict.fromkeys(('name', 'position', 'velocity', 'effort'), lambda x: x[1:]))(
        state, k
    )


def _future(state, k):
    state.header.stamp.sec += HOUR
    return [(0.0, state)]


class _Overtaken:
    """Sends each second state after the one that follows it, whenever that comes."""

    def __init__(self):
        self._held = None

    def __call__(self, state, k):
        held, self._held = self._held, state if k % 2 else None
        if k % 2:
            return []
        return [(0.0, state)] if held is None else [(0.0, state), (0.5, held)]


def _backwards(state, k):
    return _with(**dict.fromkeys(('name', 'position', 'velocity', 'effort'), lambda x: x[::-1]))(
        state, k
    )


def _reference(field, values):
    def change(message):
        setattr(message.points[0], field, values(list(getattr(message.points[0], field))))
        return message

    return change


NAN, INFINITE, HUGE = float('nan'), float('inf'), 1e160
FAULTS = (
    Fault('none'),
    Fault('a position is NaN', _with(position=lambda x: [NAN, *x[1:]]), True),
    Fault('a velocity is infinite', _with(velocity=lambda x: [*x[:-1], INFINITE]), True),
    Fault('a velocity is 1e160', _with(velocity=lambda x: [*x[:-1], HUGE]), True),
    Fault('states 0.3 s late', lambda state, k: [(-0.3, state)], True),
    Fault('states reordered', _Overtaken()),
    Fault('a joint is missing', _all_but_first, True),
    Fault('positions too short', _with(position=lambda x: x[1:]), True),
    Fault('a joint comes twice', _with(name=lambda x: [x[-1], *x[1:-1], x[-1]]), True),
    Fault('stamps one hour ahead', _future, True),
    Fault('no states', lambda state, k: [], True),
    Fault('every second state lost', lambda state, k: [(0.0, state)] * (k % 2)),
    Fault('states twice', lambda state, k: [(0.0, state), (0.0, state)]),
    Fault('joints in another order', _backwards),
    Fault('reference NaN', reference=_reference('positions', lambda x: [NAN] * len(x))),
    Fault('reference 1e160', reference=_reference('velocities', lambda x: [HUGE] * len(x))),
    Fault(
        'reference too short', reference=_reference('accelerations', lambda x: x[1:] or [1.0, 2.0])
    ),
    Fault('time jumps back', action='reset'),
    Fault('model published again', action='describe again'),
    Fault('model is nonsense', action='describe badly'),
    Fault('simulator killed', action='kill'),
)


def rounds():
    """Yield all faults in turn, for ever; the simulator is killed in the first of five rounds."""
    for number in itertools.count():
        for fault in FAULTS:
            if fault.action != 'kill' or number % KILL_EVERY == 0:
                yield fault
