# SPDX-License-Identifier: Apache-2.0
r"""
Robots whose contacts push, rub and open, and whose forces have limits.

Arguments are checked, then the algorithm is called.

.. math:: M \dot v = Q + A^T \lambda + C_n^T p_n + C_t^T p_t, \quad A \dot v = b, \quad
   0 \le p_n \perp C_n \dot v - d \ge 0, \quad |p_t| \le \mu p_n
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kane_dynamics.algorithms.frictional_contact import ContactMotion, frictional_motion
from kane_dynamics.algorithms.impact import LAWS, NEWTON, Impact, resolve_impact
from kane_dynamics.algorithms.limited_inverse import LimitedEffort
from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import ExternalWrenches, external_force, required_effort
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.closed_contacts import ClosedContacts, Contacts, FrictionCone
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.functions import OneState, as_method
from kane_dynamics.dynamics.interface import Dynamics, free_dynamics
from kane_dynamics.dynamics.interface import dynamics as reference
from kane_dynamics.robot.checks import as_choice, as_number, as_share, as_vector
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
    rows, closed = _rows(reference(robot), constraints, contacts, place, speeds, t)
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
    dynamics: Dynamics | None = None,
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
    dynamics : Dynamics, optional
        Of this robot without constraints, with its payloads: `kane_dynamics.compile` gives rows
        and masses as machine code, made once for the same constraints and contacts.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, e is not between 0 and 1, there is no such
        law, or the dynamics are of another robot or under constraints.
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
    place, speeds = map(np.array, (checked_coordinates(robot, q), checked_speeds(robot, v)))
    t, choice = as_number('time [s]', time), as_choice('law', law, LAWS)
    engine = free_dynamics(robot, dynamics)
    rows, closed = _rows(engine, constraints, contacts, place, speeds, t)
    if restitution is not None:
        e = as_share('restitution', restitution)
        closed = replace(closed, restitution=np.full(len(closed), e))
    M = engine.mass_matrix(place)
    selection = select_rows(rows, cholesky_factor(M))
    return resolve_impact(M, speeds, selection, closed, choice)


def _rows(
    engine: Dynamics, constraints: Sequence[Constraint], contacts: Contacts, *state: Any
) -> tuple[ConstraintRows, ClosedContacts]:
    """Return the rows of constraints and of closed contacts at a state (q, v, t)."""
    rows = engine.switched(constraints).rows(*state)
    return rows, ClosedContacts.at(lambda some: engine.switched(some).rows, contacts, *state)


def _slip(contacts: ClosedContacts, v: Floats) -> Floats:
    """Return the speeds of slip; 0 of contacts whose slip is roundoff."""
    tangent, owner = contacts.tangent, contacts.owner
    slip = np.asarray(tangent.matrix @ v - tangent.velocity, dtype=float)
    parts = np.abs(tangent.matrix) @ np.abs(v) + np.abs(tangent.velocity)
    moves = np.zeros(len(contacts), dtype=bool)
    np.logical_or.at(moves, owner, np.abs(slip) > _NO_SLIP * parts)
    return np.where(moves[owner], slip, 0.0)


@as_method(Dynamics.limited_inverse_dynamics)
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
    time: float = START,
) -> LimitedEffort:
    """Return efforts and multipliers within limits; see the method of `Dynamics`."""
    dynamics = OneState(robot, constraints, external_wrenches)
    state = q, v, a, actuated, weights, time
    return dynamics.limited_inverse_dynamics(
        *state, limits=limits, cones=cones, deviation=deviation
    )
