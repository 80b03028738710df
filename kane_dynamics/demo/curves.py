# SPDX-License-Identifier: Apache-2.0
"""What is drawn of a run of the closed loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False)
class RunCurves:
    """
    What is drawn of one run.

    Parameters
    ----------
    time : ndarray, shape (n,)
        [s].
    error : ndarray, shape (n, m)
        Position errors of the motors [rad or m].
    effort : ndarray, shape (n, m)
        Applied efforts [N m or N].
    path : ndarray, shape (k, 2)
        Base positions [m].
    latency : ndarray, shape (l,)
        From a state to its efforts [s].
    forces : mapping of str to ndarray, shape (n,)
        Multiplier of each constraint row [N or N m]; empty where they are not known.

    """

    time: Floats
    error: Floats
    effort: Floats
    path: Floats
    latency: Floats
    forces: Mapping[str, Floats]
