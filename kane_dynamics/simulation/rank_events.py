# SPDX-License-Identifier: Apache-2.0
r"""
Steps at whose end another number of constraint rows is independent, or where it was less within.

Rows that come on against the motion (a brake closes, a linkage leaves its flat position) are an
impact on the speeds, which takes the energy :math:`\tfrac12 |\Delta v|^2_M`. That is physics, not
an error of the step, but must not pass unseen. Where the motion passes a singular configuration
between two states, its branch was chosen by the step (`simulation.crossing`).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class RankEvent:
    """
    A change of the number of independent constraint rows, at the end of a step or within it.

    Parameters
    ----------
    time : float
        End of the step [s].
    before, after : int
        Ranks of the rows at its start and its end; equal where it was less in between.
    energy : float
        What the rows that came on took from the motion [J].

    """

    time: float
    before: int
    after: int
    energy: float

    def __str__(self) -> str:
        """Return what happened, in words."""
        if self.after == self.before:
            what = 'the motion passed a singular configuration'
        elif self.after > self.before:
            what = 'constraints came on against the motion'
        else:
            what = 'constraints became one with others, or ended'
        return (
            f'at t = {self.time:.6g} s {what} (rank {self.before} to {self.after}): '
            f'{self.energy:.3g} J were lost'
        )


@dataclass
class RankLog:
    """
    The ranks along a motion.

    Parameters
    ----------
    rank : int
        That of the present state.
    events : list of RankEvent
        In order of time.

    """

    rank: int
    events: list[RankEvent] = field(default_factory=list)

    def add(self, time: float, rank: int, energy: float) -> None:
        """Keep an event and the rank at the end of its step."""
        self.events.append(RankEvent(time, self.rank, rank, energy))
        self.rank = rank
