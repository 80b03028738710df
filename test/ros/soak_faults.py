# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a soak: the one list of faults, for the short test and for `make soak`."""

import itertools
from dataclasses import dataclass
from typing import Any

from rclpy.serialization import serialize_message

HOUR = 3600
KILL_EVERY = 8  # rounds of some 100 s: a process must live for minutes to show leaks
TORN = 40  # bytes of a state before its last name ends
KILLS = ('kill', 'kill a peer')


@dataclass(frozen=True)
class Fault:
    """
    A fault between the nodes.

    Attributes
    ----------
    name : str
        In words.
    change : callable
        State and its number to a list of (delay, state) that are sent instead; a delay is in
        periods, or negative in seconds, of simulated time. Bytes are sent as they are.
    blind : bool
        Whether no state that is sent may be used.
    grace : float
        Simulated time [s] for which states may be used all the same.
    odometry : callable
        Odometry to a list of those that are sent instead; None: it passes.
    clock : callable
        Simulated time [s] to that on ``/clock``; None: nothing is sent.
    spoil : str
        How commands are spoiled, a key of `soak_nodes.SPOILERS`.
    action : str
        What happens once at the beginning, a key of `Soak.actions`.
    counted : bool
        Whether each node must count messages that it refuses.

    """

    name: str
    change: Any = lambda state, k: [(0.0, state)]
    blind: bool = False
    grace: float = 0.0
    odometry: Any = None
    clock: Any = lambda t: t
    spoil: str = ''
    action: str = ''
    counted: bool = False


def _with(**fields):
    """Return a change of some fields of a state; each function gets the field's list."""

    def change(state, k):
        for name, function in fields.items():
            setattr(state, name, function(list(getattr(state, name))))
        return [(0.0, state)]

    return change


def _all_fields(function):
    return _with(**dict.fromkeys(('name', 'position', 'velocity', 'effort'), function))


def _future(state, k):
    state.header.stamp.sec += HOUR
    return [(0.0, state)]


def _torn(state, k):
    """Return a state of which DDS lost the end, or whose counts are beyond all memory."""
    whole = serialize_message(state)
    return [(0.0, whole[: k % TORN] if k % 2 else whole[:12] + b'\xff' * (k % 200))]


class _Overtaken:
    """Sends each second state after the one that follows it, whenever that comes."""

    def __init__(self):
        self._held = None

    def __call__(self, state, k):
        held, self._held = self._held, state if k % 2 else None
        if k % 2:
            return []
        return [(0.0, state)] if held is None else [(0.0, state), (0.5, held)]


def _odometry(where, name, value):
    """Return a change of one field of an odometry."""

    def change(message):
        setattr(where(message), name, value)
        return [message]

    return change


def _refused(name, change, **more):
    return Fault(name, change, blind=True, counted=True, **more)


NAN, INFINITE, HUGE = float('nan'), float('inf'), 1e160
ODOM_GRACE = 0.3  # [s]: odometry is fresh for 0.25 s, and a clock may be 0.1 s behind the states
FAULTS = (
    Fault('none'),
    _refused('a position is NaN', _with(position=lambda x: [NAN, *x[1:]])),
    _refused('a velocity is infinite', _with(velocity=lambda x: [*x[:-1], INFINITE])),
    _refused('a velocity is 1e160', _with(velocity=lambda x: [*x[:-1], HUGE])),
    _refused('states 0.3 s late', lambda state, k: [(-0.3, state)]),
    Fault('states reordered', _Overtaken(), counted=True),
    _refused('a joint is missing', _all_fields(lambda x: x[1:])),
    _refused('a joint has another name', _with(name=lambda x: ['nobody', *x[1:]])),
    _refused('positions too short', _with(position=lambda x: x[1:])),
    _refused('a joint comes twice', _with(name=lambda x: [x[-1], *x[1:-1], x[-1]])),
    _refused('stamps one hour ahead', _future),
    Fault('states are torn bytes', _torn, blind=True),
    Fault('no states', lambda state, k: [], blind=True),
    Fault('every second state lost', lambda state, k: [(0.0, state)] * (k % 2)),
    Fault('states twice', lambda state, k: [(0.0, state), (0.0, state)]),
    Fault('joints in another order', _all_fields(lambda x: x[::-1])),
    Fault('no odometry', blind=True, grace=ODOM_GRACE, odometry=lambda message: []),
    Fault(
        'odometry NaN',
        blind=True,
        grace=ODOM_GRACE,
        odometry=_odometry(lambda m: m.twist.twist.linear, 'x', NAN),
        counted=True,
    ),
    Fault(
        'odometry of another frame',
        blind=True,
        grace=ODOM_GRACE,
        odometry=_odometry(lambda m: m, 'child_frame_id', 'nowhere'),
        counted=True,
    ),
    Fault('clock 10 s ahead', blind=True, grace=0.05, clock=lambda t: t + 10.0, counted=True),
    Fault('clock 1 s behind', blind=True, grace=0.05, clock=lambda t: t - 1.0, counted=True),
    Fault('clock stands', blind=True, grace=ODOM_GRACE, clock=lambda t: None, counted=True),
    Fault('commands NaN', spoil='nan', counted=True),
    Fault('commands 1e160', spoil='huge'),
    Fault('commands too short', spoil='short'),
    Fault('commands of another frame or joint', spoil='elsewhere'),
    Fault('commands one hour old', spoil='old'),
    Fault('commands are torn bytes', spoil='torn'),
    Fault('time jumps back', action='reset'),
    Fault('parameters change', action='parameters'),
    Fault('model published again', action='describe again'),
    Fault('another model', action='describe another'),
    Fault('model is nonsense', action='describe badly'),
    Fault('a node stands still', action='stop a node'),
    Fault('a peer killed', action='kill a peer'),
    Fault('simulator killed', action='kill'),
)


def rounds():
    """Yield all faults in turn, for ever; nodes are killed in the first of eight rounds."""
    for number in itertools.count():
        for fault in FAULTS:
            if fault.action not in KILLS or number % KILL_EVERY == 0:
                yield fault
