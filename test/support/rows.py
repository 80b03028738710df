# SPDX-License-Identifier: Apache-2.0
"""Rows given as arrays, and the motions that they allow."""

import numpy as np

import kane_dynamics as kd
from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion, motion_of
from kane_dynamics.constraints import ConstraintRows
from kane_dynamics.constraints.row_selection import select_rows


def solved(mass, force, A, b0, b, v=None):
    """Return the motion under rows A v = b0, A vdot = b by Udwadia and Kalaba."""
    found = constrained_motion(mass, force, ConstraintRows.of(A, b0, b))
    speeds = np.zeros(len(force)) if v is None else v
    return motion_of(found.selection, speeds, found.acceleration, found.multipliers)


def partition_of(rows):
    """Return the explicit form of rows of which some may repeat others."""
    return partition_speeds(select_rows(rows).independent)


def repeated_rows(robot, rng):
    """Return two rows in general position that depend on time, and a combination of both."""
    rows, rates = rng.normal(size=(2, robot.nv)), rng.normal(size=2)

    def A(q, t):  # noqa: N802
        independent = rows * np.cos(t + rates)[:, None]
        return np.vstack([independent, independent[0] - 2.0 * independent[1]])

    def b(q, t):
        independent = np.array([np.sin(t), 0.3 * t])
        return np.append(independent, independent[0] - 2.0 * independent[1])

    return kd.constraints.pfaffian(robot, A, b)
