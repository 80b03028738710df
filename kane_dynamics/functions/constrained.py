# SPDX-License-Identifier: Apache-2.0
r"""
Robots under constraints: arguments are checked, then the algorithm is called.

.. math:: M \dot v = \tau - C v - g - D v - F \mathrm{sign}(v) + J^T w + A^T\lambda, \quad
   A v = b_0, \quad A \dot v = b
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.consistent import complete_entries, speed_indices
from kane_dynamics.algorithms.constrained_inverse import (
    ConstrainedEffort,
    checked_weights,
    constrained_effort,
    term_switches,
)
from kane_dynamics.algorithms.forward_dynamics import Motion
from kane_dynamics.algorithms.newton_euler import TERMS, ExternalWrenches, external_force
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.formulations import solve_by
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.formulations.terms import ReferenceTerms
from kane_dynamics.functions.consistent import independent_rows
from kane_dynamics.robot.checks import as_number, as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Sequence[Constraint] = (),
    method: str = 'gauss',
    *,
    speeds: GeneralizedSpeeds | None = None,
    external_wrenches: ExternalWrenches = None,
    time: float = 0.0,
) -> Motion:
    """
    Return the accelerations that efforts `tau` cause, under constraints.

    All methods give the same accelerations; `Motion.details` holds what each speaks of. Redundant
    rows change nothing; contradictory rows raise.

    - 'gauss': dqGP and the Udwadia-Kalaba equations (Silva et al., (45)-(51), (62))
    - 'newton_euler': nv + 2 runs of dqNE (Silva et al., section 6), then (62)
    - 'gibbs_appell': the gradient of the Gibbs-Appell function (Silva et al., (53)-(55))
    - 'lagrange': closed form of Lagrange's and Kane's equations (Parsa (38)-(50))
    - 'kane': Kane's equations in independent speeds (Gillespie (44)-(46))
    - 'nonminimal': Kane's equations in all speeds (Roithmayr et al. (9))
    - 'canonical': canonical generalized inversion form (Bajodah and Chen (44))

    Where constraints bind all that has no mass, M may be singular for 'gibbs_appell', 'lagrange',
    'kane' and 'nonminimal'.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, tau : array_like, shape (nv,)
        Speeds and efforts.
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    method : str
        One of the above.
    speeds : GeneralizedSpeeds, optional
        Generalized speeds in which 'kane', 'nonminimal' and 'canonical' work; v where left out.
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link, about the link's origin in the link's axes.
    time : float
        t of constraints and speeds that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, the method is unknown or has no generalized
        speeds, or `speeds` cannot give v.
    NameNotFoundError
        If a wrench names a link that does not exist.
    SingularMassMatrixError
        If some speed moves no mass.
    InconsistentConstraintsError
        If the rows contradict each other.

    """
    coordinates, velocity = checked_coordinates(robot, q), checked_speeds(robot, v)
    efforts = as_vector('tau', tau, robot.nv)
    t = as_number('time [s]', time)
    terms = ReferenceTerms(robot, ConstraintSet.of(robot, constraints))
    efforts = efforts + external_force(robot, coordinates, external_wrenches)
    state = np.array(coordinates), np.array(velocity)
    return solve_by(method, robot, terms, *state, efforts, t, speeds)


def constrained_inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    actuated: Sequence[str],
    weights: ArrayLike | None = None,
    known: Sequence[str] | None = None,
    *,
    external_wrenches: ExternalWrenches = None,
    terms: Sequence[str] = TERMS,
    time: float = 0.0,
    reference: ArrayLike | None = None,
) -> ConstrainedEffort:
    """
    Return the efforts of the actuated joints, and the multipliers, that produce `a`.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations; `a` must satisfy the constraints.
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    actuated : sequence of str
        Names of the speeds that have actuators (for 1-DoF joints, the joints' names).
    weights : array_like, shape (nv,), optional
        w > 0 of the efforts, where they can be shared in many ways; 1 where left out. Entries of
        speeds that are not actuated do not count.
    known : sequence of str, optional
        Names of the speeds of which `v` and `a` speak; the other entries are completed from the
        constraints first (see `consistent_velocity`). All where left out.
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link, about the link's origin in the link's axes.
    terms : sequence of str
        What the efforts are to make up for, of 'inertia', 'coriolis', 'gravity' and 'friction'.
    time : float
        t of constraints that depend on time [s].
    reference : array_like, shape (nv,), optional
        Reference speeds x, of which `a` is the rate while the robot moves at `v`; x is completed
        as `v` is, and both must satisfy the constraints. The efforts are then those of
        M a + C(q, v) x + g + D x + F sign(x), with the C of `coriolis_matrix`, as control by
        passivity needs them (Slotine and Li). The result has x as its velocity.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, a term does not exist, or a weight is not
        positive.
    NameNotFoundError
        If `actuated` or `known` names a speed that does not exist.
    UnreachableAccelerationError
        If `a` violates the constraints, or needs a force that neither actuators nor constraints
        can give; or if `known` leaves something undetermined.
    InconsistentConstraintsError
        If the rows contradict each other, or what is known contradicts them.
    ConstraintError
        If there is a reference, and rows bind accelerations only.

    """
    speeds = np.array(checked_speeds(robot, v))
    accelerations = np.array(checked_speeds(robot, a, 'a'))
    columns = speed_indices(robot, actuated, 'actuated')
    shares, switches = checked_weights(robot, weights, columns), term_switches(terms)
    v_ref = None if reference is None else np.array(checked_speeds(robot, reference, 'reference'))
    selection = independent_rows(robot, q, constraints, speeds, time=time, reference=v_ref)
    if known is not None:
        values, rows = speed_indices(robot, known), selection.independent
        speeds = complete_entries(robot, rows.matrix, rows.velocity, speeds, values)
        if v_ref is not None:
            v_ref = complete_entries(robot, rows.matrix, rows.velocity, v_ref, values)
        selection = independent_rows(robot, q, constraints, speeds, time=time, reference=v_ref)
        rows = selection.independent
        accelerations = complete_entries(
            robot, rows.matrix, rows.acceleration, accelerations, values
        )
    place = checked_coordinates(robot, q)
    external = external_force(robot, place, external_wrenches)
    motion = (speeds, None) if v_ref is None else (v_ref, speeds)
    return constrained_effort(
        robot,
        selection,
        place,
        motion[0],
        accelerations,
        columns,
        shares,
        switches,
        external,
        motion[1],
    )
