# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a run of the closed loop: states, odometry and efforts with their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kane_dynamics.demo.delays import Sample
from kane_dynamics.typing import Floats


class Answer(NamedTuple):
    """Efforts of all motors, and when they arrived on a steady clock [s]."""

    arrival: float
    effort: list[float]


@dataclass
class Recording:
    """
    Messages of one run, in the order of arrival.

    Attributes
    ----------
    names : tuple of str
        Joints in joint_states.
    stamps : list of int
        Stamps of joint_states [ns].
    arrivals : list of float
        When they arrived, on a steady clock [s].
    position, velocity, effort : list of list of float
        Fields of joint_states.
    odometry : list
        Rows stamp [s], x, y, yaw, vx, vy, yaw rate; velocities in the base frame.
    answers : dict
        The efforts for a stamp.
    samples : list of Sample
        What the thread did until each state.

    """

    names: tuple[str, ...] = ()
    stamps: list[int] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    position: list[list[float]] = field(default_factory=list)
    velocity: list[list[float]] = field(default_factory=list)
    effort: list[list[float]] = field(default_factory=list)
    odometry: list[list[float]] = field(default_factory=list)
    answers: dict[int, Answer] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)

    def latencies(self) -> Floats:
        """Return the time from the arrival of a state to that of its efforts [s]."""
        pairs = zip(self.stamps, self.arrivals, strict=True)
        return np.array([self.answers[s].arrival - t for s, t in pairs if s in self.answers])

    def indices(self, stamps: Sequence[int]) -> list[int]:
        """Return the numbers of the states with some stamps [ns]; others are left out."""
        return [self.stamps.index(stamp) for stamp in stamps if stamp in self.stamps]
