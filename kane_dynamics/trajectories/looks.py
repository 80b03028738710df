# SPDX-License-Identifier: Apache-2.0
"""Rows at places of a path, of which those seen before are not evaluated again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.trajectories.limit_rows import LimitRows
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.typing import Floats, Indices


@dataclass(frozen=True, eq=False)
class Looks:
    """
    Rows at places.

    Parameters
    ----------
    places : ndarray, shape (n,)
        On the path.
    rows : LimitRows
        Rows there.
    shares : ndarray, shape (n, m, r), or None
        What ways of sharing add to the rows, where motors share freely.

    """

    places: Floats
    rows: LimitRows
    shares: Floats | None


def looks(
    limits: PathLimits,
    places: Floats,
    reach: Floats | None,
    free: bool,
    before: Looks | None,
) -> Looks:
    """
    Return rows at places; parameters as for `PathLimits.at`.

    Parameters
    ----------
    limits : PathLimits
        Limits of a robot on a path.
    places : ndarray, shape (n,)
        On the path.
    reach : ndarray, shape (n,), or None
        As for `PathLimits.at`; the same at places seen before.
    free : bool
        Whether to return shares.
    before : Looks or None
        What was seen.

    """
    if before is None:
        shares = limits.shares(places) if free else None
        return Looks(places, limits.at(places, reach), shares)
    order = np.argsort(before.places)
    at = np.clip(np.searchsorted(before.places[order], places), 0, len(order) - 1)
    at = order[at]
    new = np.flatnonzero(before.places[at] != places)
    if not len(new):
        return _taken(before, at)
    others = looks(limits, places[new], None if reach is None else reach[new], free, None)
    at[new] = len(order) + np.arange(len(new))
    shares = None
    if before.shares is not None and others.shares is not None:
        both = before.shares, others.shares
        most = max(part.shape[-1] for part in both)
        shares = np.concatenate(
            [np.pad(part, ((0, 0), (0, 0), (0, most - part.shape[-1]))) for part in both]
        )
    every = np.concatenate([before.places, others.places])
    return _taken(Looks(every, before.rows.followed_by(others.rows), shares), at)


def _taken(seen: Looks, at: Indices) -> Looks:
    return Looks(
        seen.places[at], seen.rows.part(at), None if seen.shares is None else seen.shares[at]
    )
