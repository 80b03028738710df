# SPDX-License-Identifier: Apache-2.0
"""What was seen in a soak: counts of each fault, and how late efforts were, minute by minute."""

import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

REMEMBERED = 20000  # states that efforts may answer
NEW = 5.0  # [s]: a stamp that comes again later is that of another life of the simulator


@dataclass
class Row:
    """What was seen during the faults of one kind, and while the nodes recovered from them."""

    fault: Any
    times: int = 0
    states: int = 0
    outputs: int = 0
    not_finite: int = 0
    unfounded: int = 0
    late: int = 0
    recovery: float = 0.0
    refused: Counter = field(default_factory=Counter)

    def figures(self):
        """Return the counts."""
        names = ('times', 'states', 'outputs', 'not_finite', 'unfounded', 'late', 'recovery')
        return {
            'fault': self.fault.name,
            **{name: getattr(self, name) for name in names},
            'refused': dict(self.refused),
        }


class Stamps:
    """The stamps that efforts may answer, and when each of these states was passed on."""

    def __init__(self):
        self._sent = {}

    def note(self, stamp):
        """Remember a stamp [ns]; the first message counts, odometry has those of joint_states."""
        now = time.time_ns()
        if now - self._sent.get(stamp, 0) > NEW * 1e9:
            self._sent.pop(stamp, None)
            self._sent[stamp] = now
        if len(self._sent) > REMEMBERED:
            del self._sent[next(iter(self._sent))]

    def age(self, stamp, said):
        """Return the wall time [s] from a state to what answered it; None: unknown state."""
        return (said - self._sent[stamp]) * 1e-9 if stamp in self._sent else None

    def newest(self):
        """Return the newest stamp, for messages."""
        return next(reversed(self._sent), 'none')

    def clear(self):
        """Forget all."""
        self._sent.clear()


class Ages:
    """Wall time from states to the efforts that answer them, of each node and minute."""

    def __init__(self):
        self._begin = time.monotonic()
        self._ages = defaultdict(list)
        self.minutes = defaultdict(list)

    def take(self, name, age):
        """Take the age [s] of one effort."""
        self._ages[name].append(age)

    def close_minute(self):
        """Sum up what came since the last call."""
        t = (time.monotonic() - self._begin) / 60.0
        for name, ages in self._ages.items():
            half, most = np.percentile(ages, [50.0, 99.0]) if ages else (math.nan, math.nan)
            figures = (half, most, max(ages, default=math.nan))
            self.minutes[name].append(
                {
                    'minute': round(t, 2),
                    'efforts': len(ages),
                    **{
                        key: round(1e3 * float(value), 3)
                        for key, value in zip(
                            ('half_ms', 'p99_ms', 'longest_ms'), figures, strict=True
                        )
                    },
                }
            )
            ages.clear()


class Refusals:
    """Counts what nodes say on ``/diagnostics`` that they have refused."""

    def __init__(self):
        self._before = {}

    def new(self, statuses):
        """
        Return how many messages each node has refused since the last call.

        A node that was started again, or has a new model, counts from zero.
        """
        found = Counter()
        for name, (_, _, values) in statuses.items():
            told = values.get('rejected', values.get('refused'))  # messages, or trajectories
            if told is None:
                continue
            number, before = int(told), self._before.get(name, 0)
            self._before[name] = number
            found[name.partition(':')[0]] += number - before if number >= before else number
        return found
