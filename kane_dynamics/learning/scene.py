# SPDX-License-Identifier: Apache-2.0
"""States of many robots, each with the episode that it is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.typing import Floats

Records = TypeVar('Records', bound=tuple[NDArray, ...])


class Scene(NamedTuple):
    """
    States with what an episode is about; a row for each environment.

    Parameters
    ----------
    q, v : ndarray, shapes (B, nq), (B, nv)
        State of the robot.
    goal : ndarray, shape (B, 7)
        Position [m] and (w, x, y, z) that the hand shall have.
    viscous, dry : ndarray, shape (B, 7)
        Friction of the driven joints [N m s/rad], [N m].
    mass : ndarray, shape (B,)
        Of what the hand holds [kg].
    place : ndarray, shape (B, 3)
        Of its centre of mass in the axes of the hand [m].

    """

    q: Floats
    v: Floats
    goal: Floats
    viscous: Floats
    dry: Floats
    mass: Floats
    place: Floats


def rows(records: Records, selection: NDArray[np.bool_]) -> Records:
    """Return the chosen rows of scenes or readings."""
    return type(records)(*[part[selection] for part in records])


def replaced(records: Records, selection: NDArray[np.bool_], others: Records) -> Records:
    """Return scenes or readings with others in the chosen rows, in order."""
    copies = [part.copy() for part in records]
    for mine, theirs in zip(copies, others, strict=True):
        mine[selection] = theirs
    return type(records)(*copies)


def joined(records: Sequence[Records]) -> Records:
    """Return scenes or readings one after the other."""
    return type(records[0])(*map(np.concatenate, zip(*records, strict=True)))
