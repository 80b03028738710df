# SPDX-License-Identifier: Apache-2.0
"""What rollouts give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False)
class Rollouts:
    """
    Motions of B rollouts.

    Parameters
    ----------
    q, v : ndarray or None
        The last states, shapes (B, nq), (B, nv); with `every`, states at `times`, shapes
        (B, S, nq), (B, S, nv); None with `reduce`. NaN where a motion did not get.
    times : ndarray, shape (S,)
        Of the states that were kept or reduced [s]; the last alone without `every`.
    reduced : ndarray or None
        What `reduce` made of the states, shape (B, ...).
    steps : ndarray of int, shape (B,)
        Steps that each rollout took: all, but where it failed or its start was not finite.
    failures : mapping of int to KaneDynamicsError
        Why rollouts ended early, by their number.
    fallback_count : int
        How many steps, and states on the way to the constraints, the reference took because
        machine code was not sure.

    """

    q: Floats | None
    v: Floats | None
    times: Floats
    reduced: NDArray[Any] | None
    steps: NDArray[Any]
    failures: Mapping[int, KaneDynamicsError]
    fallback_count: int
