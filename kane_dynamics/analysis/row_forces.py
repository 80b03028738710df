# SPDX-License-Identifier: Apache-2.0
r"""
Normal forces from multipliers, where joints say more than a rigid body: rockers, bogies.

Multipliers balance the speeds that no motor drives, :math:`A_u^T \lambda = h_u`. Normal forces
that balance the robot as one rigid body may leave a rocker without balance; then the multipliers
of the rows along the normals are taken. They are exact where the null space of :math:`A_u^T` has
no part of them; else motors could press wheels against each other, and do so with least efforts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.analysis.ground_contacts import GroundContacts, joint_of, parts_of
from kane_dynamics.analysis.normal_forces import EXACT, LEAST_NORM, NormalForces
from kane_dynamics.constraints.rolling import RollingWheel

_FREE = 1e-8  # singular value, or part of a unit vector, of what is free; rows of unit length
_BALANCED = 1e-6  # of the forces: more than points differ that are not quite in one plane


def with_joints(
    loads: NormalForces,
    contacts: GroundContacts,
    q: Sequence[float],
    result: ConstrainedEffort,
    actuated: Sequence[str],
    time: float,
) -> NormalForces:
    """
    Return normal forces that balance joints without motors too.

    Where a multiplier pulls, the wheel lifts instead: its force is zero, and nothing is balanced.

    Parameters
    ----------
    loads : NormalForces
        Those that balance a rigid robot.
    contacts : Stance
        What the robot stands on.
    q : sequence of float, length nq
        Coordinates.
    result : ConstrainedEffort
        Multipliers of its rows.
    actuated : sequence of str
        Speeds that have motors.
    time : float
        [s].

    """
    at = _normal_rows(contacts)
    if sorted(at) != sorted(contacts.names):
        return loads
    undriven = np.ones(contacts.robot.nv, dtype=bool)
    undriven[speed_indices(contacts.robot, actuated, 'actuated')] = False
    rows = contacts.constraints.rows(q, result.velocity, time)
    A = np.asarray(rows.matrix, dtype=float)[:, undriven]
    normals = np.array([at[name] for name in contacts.names])
    forces = result.multipliers[normals]
    if np.abs(A[normals].T @ (forces - loads.forces)).max() <= _BALANCED * np.abs(forces).max():
        return loads
    unit = unit_scaling(np.linalg.norm(A, axis=1))[:, None] * A
    free = scipy.linalg.null_space(unit.T, rcond=_FREE)[normals]
    determined = EXACT if np.abs(free).max(initial=0.0) <= _FREE else LEAST_NORM
    pulls = forces < 0.0
    lift = np.where(pulls, np.nan, 0.0)
    return NormalForces(np.where(pulls, 0.0, forces), lift, determined, not pulls.any())


def _normal_rows(contacts: GroundContacts) -> dict[str, int]:
    """Return the number of the row along the normal of each wheel that has one."""
    result, first = {}, 0
    for part in parts_of(contacts.constraints):
        if isinstance(part, RollingWheel) and 'vertical' in part.directions:
            result[joint_of(part)] = first + part.directions.index('vertical')
        first += len(part.labels)
    return result
