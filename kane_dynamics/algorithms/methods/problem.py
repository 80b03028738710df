# SPDX-License-Identifier: Apache-2.0
"""What every method of forward dynamics is given."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.algorithms.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.algorithms.methods.motion import Details, Motion, motion_of
from kane_dynamics.algorithms.terms import MethodTerms
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """
    A state and the forces on it.

    Parameters
    ----------
    terms : MethodTerms
        Of the robot.
    q, v : ndarray
        State.
    t : float
        Time [s].
    applied : ndarray, shape (nv,)
        Efforts less friction, and external wrenches as generalized forces.
    rows : ConstraintRows
        Constraints at the state.
    speeds : GeneralizedSpeeds or None
        u of Kane's methods.

    """

    terms: MethodTerms
    q: Floats
    v: Floats
    t: float
    applied: Floats
    rows: ConstraintRows
    speeds: GeneralizedSpeeds | None = None

    def motion(
        self,
        selection: RowSelection,
        acceleration: Floats,
        multipliers: Floats,
        details: Details | None = None,
    ) -> Motion:
        """Return the motion with what follows from its accelerations and multipliers."""
        return motion_of(selection, self.v, acceleration, multipliers, details)
