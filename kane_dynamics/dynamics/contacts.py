# SPDX-License-Identifier: Apache-2.0
r"""
Robots whose contacts push, rub and open, and whose forces have limits.

Arguments are checked, then the algorithm is called.

.. math:: M \dot v = Q + A^T \lambda + C_n^T p_n + C_t^T p_t, \quad A \dot v = b, \quad
   0 \le p_n \perp C_n \dot v - d \ge 0, \quad |p_t| \le \mu p_n
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kane_dynamics.algebra.scalars import as_numbers
from kane_dynamics.algorithms.constrained_inverse import checked_weights
from kane_dynamics.algorithms.frictional_contact import ContactMotion, frictional_motion
from kane_dynamics.algorithms.impact import LAWS, NEWTON, Impact, resolve_impact
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
from kane_dynamics.constraints.closed_contacts import ClosedContacts, FrictionCone
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_choice, as_number, as_several, as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats

# Slip that is none: roundoff of the speeds it is made of.
_NO_SLIP = 1e-12


def contact_forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Sequence[Constraint] = (),
    contacts: Sequence[Constraint | Contact] = (),
    *,
    external_wrenches: ExternalWrenches = None,
    time: float = 0.0,
) -> ContactMotion:
    r"""
    Return accelerations under constraints, and contacts that push but do not pull.

    Gauss's principle with inequalities: of all accelerations with :math:`A \dot v = b` and
    :math:`C \dot v \ge d`, those of least constraint; with Coulomb's friction where contacts have
    it.

    Parameters
    ----------
    robot, q, v, tau, constraints, external_wrenches, time
        As for `forward_dynamics`.
    contacts : sequence of Constraint or Contact
        Closed contacts, which may open: from `constraints.contact` or `constraints.traction`, with
        friction; or `constraints.joint_limit`, `constraints.point_contact` and any others, read as
        C vdot >= d, without. Whether they are closed at this state is for the caller.

    Raises
    ------
    InvalidInputError, NameNotFoundError, SingularMassMatrixError
        As for `forward_dynamics`.
    InconsistentConstraintsError
        If constraints and contacts contradict each other; the message names the contacts.
    ContactError
        If no accelerations obey Coulomb's law (Painleve's paradox).

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='floating')
    >>> floor = C.contact(C.point_contact(robot, 'base_link'))
    >>> q, still = robot.neutral(), np.zeros(robot.nv)
    >>> kd.contact_forward_dynamics(robot, q, still, still, contacts=[floor]).states
    ('slips',)

    """
    place, speeds = checked_coordinates(robot, q), checked_speeds(robot, v)
    t = as_number('time [s]', time)
    rows = ConstraintSet.of(robot, constraints).rows(place, speeds, t)
    closed = ClosedContacts.at(robot, contacts, place, speeds, t)
    force = as_vector('tau', tau, robot.nv) + external_force(robot, place, external_wrenches)
    force = force - required_effort(robot, place, speeds, [0.0] * robot.nv)
    slip = _slip(closed, np.array(speeds))
    selection = select_rows(rows, cholesky_factor(gauss_mass_matrix(robot, place)))
    return frictional_motion(force, selection, closed, slip)


def impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Sequence[Constraint] = (),
    contacts: Sequence[Constraint | Contact] = (),
    restitution: float | None = None,
    *,
    law: str = NEWTON,
    time: float = 0.0,
) -> Impact:
    """
    Return the jump of the speeds where constraints are imposed or contacts close.

    Impulses are the smallest that make the speeds satisfy A v = b0; those of contacts push, and
    obey Coulomb's law, with the friction of contacts that slip, where they have any.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates, which do not change.
    v : array_like, shape (nv,)
        Speeds before.
    constraints : sequence of Constraint
        All that hold from now on.
    contacts : sequence of Constraint or Contact
        Contacts that are closed, as for `contact_forward_dynamics`.
    restitution : float, optional
        e of all contacts, from 0 (none rebounds) to 1. Where left out, that which each contact
        has; 0 for plain constraints.
    law : str
        What e is the ratio of: 'newton' of the speeds after and before, for all contacts at once;
        'poisson' of the impulses after and before the greatest compression; 'energetic' (Stronge)
        e^2 of their work. Where that would create energy, all e are scaled down until it does not:
        see `Impact.restitution_scale`.
    time : float
        t of constraints that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, e is not between 0 and 1, or there is no such
        law.
    SingularMassMatrixError
        If some speed moves no mass.
    InconsistentConstraintsError
        If constraints and contacts contradict each other.
    ContactError
        If no speeds obey Coulomb's law.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='floating')
    >>> floor = C.contact(C.point_contact(robot, 'base_link'), restitution=0.5)
    >>> v = kd.dynamics(robot, []).consistent_velocity(robot.neutral(), np.zeros(robot.nv))
    >>> v[5] = -1.0  # falls
    >>> kd.impact(robot, robot.neutral(), v, contacts=[floor]).energy_loss > 0.0
    True

    """
    place, speeds = checked_coordinates(robot, q), checked_speeds(robot, v)
    t, choice = as_number('time [s]', time), as_choice('law', law, LAWS)
    rows = ConstraintSet.of(robot, constraints).rows(place, speeds, t)
    closed = ClosedContacts.at(robot, contacts, place, speeds, t)
    if restitution is not None:
        e = as_number('restitution', restitution)
        if not 0.0 <= e <= 1.0:
            raise InvalidInputError(f'restitution: need a number from 0 to 1, got {e:g}')
        closed = replace(closed, restitution=np.full(len(closed), e))
    M = gauss_mass_matrix(robot, place)
    selection = select_rows(rows, cholesky_factor(M))
    return resolve_impact(M, np.array(speeds), selection, closed, choice)


def _slip(contacts: ClosedContacts, v: Floats) -> Floats:
    """Return the speeds of slip; 0 of contacts whose slip is roundoff."""
    tangent, owner = contacts.tangent, contacts.owner
    slip = np.asarray(tangent.matrix @ v - tangent.velocity, dtype=float)
    parts = np.abs(tangent.matrix) @ np.abs(v) + np.abs(tangent.velocity)
    moves = np.zeros(len(contacts), dtype=bool)
    np.logical_or.at(moves, owner, np.abs(slip) > _NO_SLIP * parts)
    return np.where(moves[owner], slip, 0.0)


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

    Examples
    --------
    >>> robot, x = kd.serial_chain(2), [0.0, 0.0]
    >>> found = kd.limited_inverse_dynamics(robot, x, x, x, [], robot.joint_names)
    >>> np.allclose(found.effort, kd.gravity_force(robot, x))
    True

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
