# SPDX-License-Identifier: Apache-2.0
"""Rows given as arrays, and the motions that they allow."""

import numpy as np

from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.algorithms.methods import motion_of
from kane_dynamics.algorithms.row_selection import select_rows
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion
from kane_dynamics.constraints import ConstraintRows


def solved(mass, force, A, b0, b, v=None):
    """Return the motion under rows A v = b0, A vdot = b by Udwadia and Kalaba."""
    found = constrained_motion(mass, force, ConstraintRows.of(A, b0, b))
    speeds = np.zeros(len(force)) if v is None else v
    return motion_of(found.selection, speeds, found.acceleration, found.multipliers)


def partition_of(rows):
    """Return the explicit form of rows of which some may repeat others."""
    taken = select_rows(rows).independent
    return partition_speeds(taken.matrix, taken.velocity, taken.acceleration)
