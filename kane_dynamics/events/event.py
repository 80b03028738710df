# SPDX-License-Identifier: Apache-2.0
"""What happened at an instant of a simulated motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kane_dynamics.typing import Floats

ADDED, REMOVED, BREAKS = 'added', 'removed', 'breaks'
IMPACT, RESTS, CHANGES = 'impact', 'rests', 'changes'


@dataclass(frozen=True, eq=False)
class Event:
    """
    An instant at which the set of constraints changes, or contacts strike.

    Parameters
    ----------
    time : float
        [s].
    kind : str
        'added' or 'removed' by the user, 'breaks' beyond its limit; 'impact' where contacts strike
        and rebound, 'rests' where they strike and stay, 'changes' where contacts open, slip or
        stick without an impulse.
    names : tuple of str
        The parts it began with.
    states : mapping of str to str
        What the parts that changed do from now on; '' for those that are gone.
    impulse : ndarray, shape (nv,)
        M (v+ - v-) on the speeds [N s or N m s].
    energy_loss : float
        Kinetic energy that the impulse took [J].
    q, v : ndarray, shapes (nq,), (nv,)
        The state after it.
    forces : mapping of str to float
        Multipliers of the rows that hold after it, by `EventSimulation.labels`.

    """

    time: float
    kind: str
    names: tuple[str, ...]
    states: Mapping[str, str]
    impulse: Floats
    energy_loss: float
    q: Floats
    v: Floats
    forces: Mapping[str, float]

    def __str__(self) -> str:
        """Return what happened, in words."""
        now = ', '.join(f'{name} {state or "is gone"}' for name, state in self.states.items())
        lost = f', {self.energy_loss:.3g} J were lost' if self.energy_loss else ''
        return f'at t = {self.time:.9g} s {self.kind}: {list(self.names)}; {now or "-"}{lost}'
