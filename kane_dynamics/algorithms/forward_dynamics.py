# SPDX-License-Identifier: Apache-2.0
r"""
Forward dynamics with exact constraints.

.. math:: M \dot v = \tau - C v - g - D v - F \mathrm{sign}(v) + J^T w + A^T\lambda, \quad
   A \dot v = b
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algorithms.canonical import CanonicalSolution, canonical_motion
from kane_dynamics.algorithms.dynamics import ExternalWrenches, wrenches_on_bodies
from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.gauss import gauss_coriolis_matrix, gauss_mass_matrix
from kane_dynamics.algorithms.kane import KaneSolution, kane_motion
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion
from kane_dynamics.constraints.base import Constraint, ConstraintRows, constraint_rows
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_vector
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.state import checked_coordinates, checked_speeds

Floats = NDArray[np.float64]
METHODS = ('gauss', 'kane', 'canonical')


@dataclass(frozen=True, eq=False, slots=True)
class Motion:
    """
    Accelerations of a constrained robot and what the constraints do.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot [rad/s^2 or m/s^2].
    multipliers : ndarray, shape (k,)
        lambda, one for each row; forces [N] for the wheel rows.
    constraint_force : ndarray, shape (nv,)
        A' lambda on v [N m or N].
    rank : int
        Number of independent rows.
    residual : float
        Norm of A vdot - b.
    labels : tuple of str
        Names of the rows.
    details : KaneSolution, CanonicalSolution or None
        Intermediate quantities of the methods 'kane' and 'canonical'.

    """

    acceleration: Floats
    multipliers: Floats
    constraint_force: Floats
    rank: int
    residual: float
    labels: tuple[str, ...]
    details: KaneSolution | CanonicalSolution | None = None


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Sequence[Constraint] = (),
    method: str = 'gauss',
    *,
    external_wrenches: ExternalWrenches = None,
    time: float = 0.0,
) -> Motion:
    """
    Return the accelerations that efforts `tau` cause, under constraints.

    By Gauss's principle with the Udwadia-Kalaba equations (Silva et al., (45)-(51), (62)), by
    Kane's equations in independent speeds (Gillespie (46)), or by their canonical generalized
    inversion form (Bajodah and Chen (44)); the accelerations are the same. Redundant rows change
    nothing; contradictory rows raise.

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
        'gauss', 'kane' or 'canonical'.
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link, about the link's origin in the link's axes.
    time : float
        t of constraints that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, or the method is unknown.
    NameNotFoundError
        If a wrench names a link that does not exist.
    SingularMassMatrixError
        If some speed moves no mass.
    InconsistentConstraintsError
        If the rows contradict each other.

    """
    if method not in METHODS:
        raise InvalidInputError(f'method {method!r} is unknown; there are {list(METHODS)}')
    coordinates, speeds = checked_coordinates(robot, q), checked_speeds(robot, v)
    efforts = as_vector('tau', tau, robot.nv)
    (t,) = as_vector('time [s]', [time], 1).tolist()
    external = wrenches_on_bodies(robot, external_wrenches)
    mass = gauss_mass_matrix(robot, coordinates)
    bias = newton_euler(robot, coordinates, speeds, [0.0] * robot.nv, external=external)
    if method == 'gauss':
        return solve_motion(robot, constraints, mass, bias, coordinates, speeds, efforts, t)
    rows = constraint_rows(robot, constraints, coordinates, speeds, t)
    force = efforts - bias - joint_friction(robot, speeds)
    if method == 'kane':
        solution = kane_motion(mass, force, rows.matrix, rows.velocity, rows.acceleration)
        return _motion(solution, rows)
    coriolis = gauss_coriolis_matrix(robot, coordinates, speeds)
    return _motion(
        canonical_motion(
            mass,
            coriolis + coriolis.T,  # dM/dt, since dM/dt - 2 C is skew
            force,
            np.array(speeds),
            rows.matrix,
            rows.velocity,
            rows.acceleration,
        ),
        rows,
    )


def _motion(solution: KaneSolution | CanonicalSolution, rows: ConstraintRows) -> Motion:
    residual = rows.matrix @ solution.acceleration - rows.acceleration
    return Motion(
        solution.acceleration,
        solution.multipliers,
        rows.matrix.T @ solution.multipliers,
        len(solution.partition.dependent),
        float(np.linalg.norm(residual)),
        rows.labels,
        solution,
    )


def solve_motion(
    robot: Robot,
    constraints: Sequence[Constraint],
    mass: Floats,
    bias: Floats,
    q: Sequence[float],
    v: Sequence[float],
    tau: Floats,
    t: float,
) -> Motion:
    """Return the motion for a known mass matrix and bias force C v + g - J' w."""
    rows = constraint_rows(robot, constraints, q, v, t)
    force = tau - bias - joint_friction(robot, v)
    motion = constrained_motion(mass, force, rows.matrix, rows.velocity, rows.acceleration)
    return Motion(
        motion.acceleration,
        motion.multipliers,
        motion.constraint_force,
        motion.rank,
        motion.residual,
        rows.labels,
    )
