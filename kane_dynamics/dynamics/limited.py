# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics within limits: arguments are checked, then the algorithm is called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.scalars import as_numbers
from kane_dynamics.algorithms.constrained_inverse import checked_weights
from kane_dynamics.algorithms.limited_inverse import (
    ForceLimits,
    LimitedEffort,
    LimitedInverse,
    force_limits,
)
from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import ExternalWrenches, external_force, required_effort
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.closed_contacts import FrictionCone
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_number, as_several
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats


def limited_inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    actuated: Sequence[str],
    weights: ArrayLike | None = None,
    *,
    limits: ArrayLike | None = None,
    cones: Sequence[FrictionCone] = (),
    deviation: ArrayLike | None = None,
    external_wrenches: ExternalWrenches = None,
    time: float = 0.0,
) -> LimitedEffort:
    r"""
    Return the efforts within limits, and multipliers within friction cones, that produce `a`.

    Of all efforts that produce `a`, those with the least :math:`\sum w_k \tau_k^2`: without
    limits in the way, those of `constrained_inverse_dynamics`. Wheels and contacts slip where
    their rows need more than their cones give, so this says what traction allows.

    Parameters
    ----------
    robot, q, v, constraints, actuated, weights, external_wrenches, time
        As for `constrained_inverse_dynamics`.
    a : array_like, shape (nv,)
        The wanted accelerations; they must satisfy the constraints, but where `deviation` is
        given.
    limits : array_like, shape (nv,), optional
        Of :math:`|\tau|` [N m or N], infinite where there is none; those of the URDF,
        `robot.effort_limit`, where left out.
    cones : sequence of FrictionCone
        Limits of constraint forces.
    deviation : array_like, shape (nv,), optional
        d > 0. Where `a` cannot be produced, the accelerations that can be, with the least
        :math:`\sum d_k (a_k - a_k^{wanted})^2`; where left out, that is an error.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, or a weight or limit is not positive.
    NameNotFoundError
        If `actuated` or a cone has a name that does not exist.
    UnreachableAccelerationError
        If no efforts produce `a` within limits and cones; `names` has those in conflict.
    SingularMassMatrixError
        If some speed moves no mass.
    InconsistentConstraintsError
        If the rows contradict each other.
    MissingPackageError
        If a cone with several tangential rows binds, and Clarabel is not installed.

    """
    place, speeds = checked_coordinates(robot, q), checked_speeds(robot, v)
    target = np.array(checked_speeds(robot, a, 'a'))
    columns = speed_indices(robot, actuated, 'actuated')
    t, every = as_number('time [s]', time), range(robot.nv)
    several = ConstraintSet.of(robot, constraints)
    mass_matrix = gauss_mass_matrix(robot, place)
    bias = required_effort(robot, place, speeds, [0.0] * robot.nv)
    selection = select_rows(several.rows(place, speeds, t), cholesky_factor(mass_matrix))
    selection.check_speeds(np.array(speeds))
    shares = None if deviation is None else checked_weights(robot, deviation, every, 'deviation')
    problem = LimitedInverse(
        robot,
        mass_matrix,
        bias - external_force(robot, place, external_wrenches),
        selection,
        columns,
        checked_weights(robot, weights, columns),
        checked_limits(robot, columns, several.labels, limits, cones),
    )
    return problem.effort(target, shares)


def checked_limits(
    robot: Robot,
    columns: Sequence[int],
    labels: Sequence[str],
    limits: ArrayLike | None,
    cones: Sequence[FrictionCone],
) -> ForceLimits:
    """Return limits of efforts and cones on the rows with these names."""
    most = robot.effort_limit if limits is None else _limits(robot, limits)
    friction = [cone.at(labels) for cone in as_several(FrictionCone, 'cones', cones)]
    return force_limits(most, columns, robot.velocity_names, len(labels), friction)


def _limits(robot: Robot, limits: ArrayLike) -> Floats:
    most = np.array(as_numbers('limits [N m or N]', limits))
    if most.shape != (robot.nv,):
        raise InvalidInputError(
            f'limits [N m or N]: need shape ({robot.nv},), got shape {most.shape}'
        )
    if not (most >= 0.0).all():
        worst = int(np.argmin(np.nan_to_num(most, nan=-1.0)))
        raise InvalidInputError(
            f'limits [N m or N]: need numbers >= 0, got {most[worst]:g} for '
            f"'{robot.velocity_names[worst]}'"
        )
    return most
