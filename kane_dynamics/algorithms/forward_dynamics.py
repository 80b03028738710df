# SPDX-License-Identifier: Apache-2.0
r"""
Forward dynamics with exact constraints.

.. math:: M \dot v = \tau - C v - g - D v - F \mathrm{sign}(v) + J^T w + A^T\lambda, \quad
   A \dot v = b
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.dynamics import ExternalWrenches, wrenches_on_bodies
from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.generalized_speeds import (
    GeneralizedSpeeds,
    checked_generalized_speeds,
)
from kane_dynamics.algorithms.methods import METHODS, SPEED_METHODS
from kane_dynamics.algorithms.methods.motion import Motion, motion_of
from kane_dynamics.algorithms.methods.problem import Problem
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.algorithms.terms import MethodTerms, ReferenceTerms
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_choice, as_number, as_vector
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats


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


def solve_by(
    method: str,
    robot: Robot,
    terms: MethodTerms,
    q: Floats,
    v: Floats,
    tau: Floats,
    t: float,
    speeds: GeneralizedSpeeds | None,
) -> Motion:
    """
    Return the motion by a named method from given terms.

    Raises
    ------
    InvalidInputError
        If the method is unknown or has no generalized speeds.

    """
    as_choice('method', method, METHODS)
    if speeds is not None:
        checked_generalized_speeds(speeds, robot)
        if method not in SPEED_METHODS:
            raise InvalidInputError(
                f'method {method!r} has no generalized speeds; {list(SPEED_METHODS)} have'
            )
    applied = tau - joint_friction(robot, v.tolist())
    return METHODS[method](Problem(terms, q, v, t, applied, terms.rows(q, v, t), speeds))


def external_force(robot: Robot, q: Sequence[float], wrenches: ExternalWrenches) -> Floats:
    """Return J' w of wrenches on links, shape (nv,)."""
    external = wrenches_on_bodies(robot, wrenches)
    at_rest = [0.0] * robot.nv
    if external is None:
        return np.zeros(robot.nv)
    return -newton_euler(robot, q, at_rest, at_rest, gravity=0.0, external=external)


def solve_motion(
    robot: Robot, rows: ConstraintRows, mass: Floats, bias: Floats, v: Floats, tau: Floats
) -> Motion:
    """Return the motion under given rows for a known mass matrix and bias force C v + g - J' w."""
    force = tau - bias - joint_friction(robot, v.tolist())
    found = constrained_motion(mass, force, rows)
    return motion_of(found.selection, v, found.acceleration, found.multipliers)
