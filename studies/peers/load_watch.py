# SPDX-License-Identifier: Apache-2.0
"""Which contact of a robot in MuJoCo lifts: its load is nothing for longer than it chatters."""

from __future__ import annotations

from collections import deque

import numpy as np

from studies.peers.standing_twin import StandingTwin

LIFTED = 1e-3  # of the weight: below it a contact counts as lifted
CHATTER = 0.01  # time over which loads are averaged: contacts of spheres that roll chatter [s]


class LoadWatch:
    """
    Looks at the loads of a robot after each step.

    Parameters
    ----------
    twin : StandingTwin
        The robot.
    weight : float
        Of the robot [N].

    Attributes
    ----------
    least : float
        Least averaged load of a contact so far, as a part of the weight.

    """

    def __init__(self, twin: StandingTwin, weight: float) -> None:
        self._twin, self._weight = twin, weight
        self._recent: deque[list[float]] = deque(maxlen=round(CHATTER / twin.model.opt.timestep))
        self.least = np.inf

    def lifted(self) -> str:
        """Return the contact that has lifted, '' for none; to be asked after each step."""
        self._recent.append(list(self._twin.loads().values()))
        if len(self._recent) < (self._recent.maxlen or 0):
            return ''
        loads = np.mean(self._recent, axis=0) / self._weight
        weakest = int(np.argmin(loads))
        self.least = min(self.least, float(loads[weakest]))
        return list(self._twin.loads())[weakest] if loads[weakest] < LIFTED else ''
