# SPDX-License-Identifier: Apache-2.0
"""
Messages of a run of the closed loop, and why periods were missed.

A sample is taken at each state. Between two samples the thread computed (processor time), was
ready but had no core (the run delay of Linux: another program or another thread had it), stood in
a garbage collection, or slept until a message or a timer came.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.typing import Floats

NO_CORE, COLLECTION, COMPUTING, WAITING = (
    'no core free',
    'garbage collection',
    'computing',
    'waiting for a message or timer',
)


class Sample(NamedTuple):
    """Times since some start [s]."""

    elapsed: float
    computed: float
    delayed: float
    collected: float


class DelayWatch:
    """Samples of one thread; to be closed."""

    def __init__(self) -> None:
        self._collected, self._begin = 0.0, 0.0
        gc.callbacks.append(self._on_collection)
        path = f'/proc/self/task/{threading.get_native_id()}/schedstat'
        self._statistics = os.open(path, os.O_RDONLY) if os.path.exists(path) else -1

    def sample(self) -> Sample:
        """Return a sample of now; no run delay but on Linux."""
        delayed = 0.0
        if self._statistics >= 0:
            delayed = 1e-9 * int(os.pread(self._statistics, 100, 0).split()[1])
        return Sample(time.monotonic(), time.thread_time(), delayed, self._collected)

    def close(self) -> None:
        """Stop watching."""
        gc.callbacks.remove(self._on_collection)
        if self._statistics >= 0:
            os.close(self._statistics)
            self._statistics = -1

    def _on_collection(self, phase: str, information: dict[str, Any]) -> None:
        if phase == 'start':
            self._begin = time.thread_time()
        else:
            self._collected += time.thread_time() - self._begin


def causes(samples: Sequence[Sample], missed: Sequence[int]) -> Counter[str]:
    """Return how many periods were missed for which cause."""
    counts: Counter[str] = Counter()
    if len(samples) < 3:
        return counts
    table = np.array(samples)
    spans = table[2:] - table[:-2]  # of two periods, around each state but the first and the last
    usual = np.median(spans, axis=0)
    for k in missed:
        elapsed, computed, delayed, collected = spans[min(max(k - 1, 0), len(spans) - 1)] - usual
        parts = {
            COLLECTION: collected,
            COMPUTING: computed - collected,
            NO_CORE: delayed,
            WAITING: elapsed - computed - delayed,
        }
        counts[max(parts, key=lambda name: parts[name])] += 1
    return counts


class Answer(NamedTuple):
    """Efforts of all motors, and when they arrived on a steady clock [s]."""

    arrival: float
    effort: list[float]


@dataclass
class LoopLog:
    """Messages of one run, in the order of arrival."""

    names: tuple[str, ...] = ()  # Joints in joint_states
    stamps: list[int] = field(default_factory=list)  # Stamps of joint_states [ns]
    arrivals: list[float] = field(default_factory=list)  # When they arrived, on a steady clock [s]
    position: list[list[float]] = field(default_factory=list)  # Fields of joint_states
    velocity: list[list[float]] = field(default_factory=list)  # Fields of joint_states
    effort: list[list[float]] = field(default_factory=list)  # Fields of joint_states
    odometry: list[list[float]] = field(default_factory=list)
    answers: dict[int, Answer] = field(default_factory=dict)  # The efforts for a stamp
    samples: list[Sample] = field(default_factory=list)  # What the thread did until each state

    def latencies(self) -> Floats:
        """Return the time from the arrival of a state to that of its efforts [s]."""
        pairs = zip(self.stamps, self.arrivals, strict=True)
        return np.array([self.answers[s].arrival - t for s, t in pairs if s in self.answers])

    def indices(self, stamps: Sequence[int]) -> list[int]:
        """Return the numbers of the states with some stamps [ns]; others are left out."""
        return [self.stamps.index(stamp) for stamp in stamps if stamp in self.stamps]
