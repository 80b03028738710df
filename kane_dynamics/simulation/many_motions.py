# SPDX-License-Identifier: Apache-2.0
"""What moves many states at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.typing import Floats

Counts = NDArray[np.int64]
PayloadRows = tuple[Floats, Floats, Floats]
"""Mass, centre of mass and inertia about it, with a row for each rollout."""


@dataclass(frozen=True, eq=False)
class Motions:
    """
    Arrays of many motions, with a row for each; states and steps done are written.

    Parameters
    ----------
    q, v : ndarray, shapes (B, nq), (B, nv)
        Present states.
    done : ndarray, shape (B,)
        Steps taken, as whole floats.
    efforts : ndarray, shape (B, K, nv)
        Pieces of `piece` steps; rows may share memory.
    parameters : ndarray, shape (B, P)
        From `ManyMotions.parameters`; rows may share memory.
    kept : tuple of ndarray, shapes (B, S, nq), (B, S, nv)
        Takes the states of each `every`-th step.
    step : float
        [s].
    piece, every : int
        Steps.

    """

    q: Floats
    v: Floats
    done: Floats
    efforts: Floats
    parameters: Floats
    kept: tuple[Floats, Floats]
    step: float
    piece: int
    every: int


class ManyMotions(Protocol):
    """Machine code of the steps of one integrator for many states at once."""

    def parameters(
        self,
        rows: int,
        gains: Floats | None,
        gravity: Floats | None,
        payloads: Mapping[str, PayloadRows],
    ) -> Floats:
        """Return what differs between rollouts besides states and efforts, shape (rows, P)."""

    def start(self, motions: Motions, rows: Counts) -> NDArray[np.bool_]:
        """Move states onto the constraints; return for which rows machine code is not sure."""

    def run(self, motions: Motions, rows: Counts, until: int) -> NDArray[np.bool_]:
        """
        Take the steps up to number `until` of some rows, or fewer at a time.

        Return for which rows machine code is not sure of the next step.
        """
