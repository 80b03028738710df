# SPDX-License-Identifier: Apache-2.0
r"""
Methods of Silva et al.: Gauss's principle, Newton-Euler, Gibbs-Appell.

The first two solve the Udwadia-Kalaba equations (62) with terms of dqGP, (46)-(51), or of dqNE.
The third is of the Gibbs-Appell function; Gauss's (31) stands beside it, (53)-(61). With
:math:`\nu_i`, :math:`a_i` the twist of body i at its centre of mass and its rate,

.. math:: S = \sum_i \tfrac12 a_i^T \Psi_i a_i + a_i^T \bar S_i \nu_i \quad (54), \qquad
   \frac{\partial S}{\partial \dot v} = M \dot v + C v \quad (55).

Gauss's function (31) measures how far the bodies are from the accelerations :math:`\bar a_i` that
the impressed wrenches alone would give them; both have the same stationary point (61). Rotors
(armature) are bodies that only spin: they add :math:`\tfrac12\,\mathrm{armature}\,\dot v^2` to
both, and no impressed wrench acts on them.

An effort acts as opposite wrenches on the two bodies of its joint ((48)-(50)). Along the joint's
axes :math:`S_k` it is :math:`\sum_k S_k \tau_k / |S_k|^2` (axes of one joint are orthogonal), so
that its power is :math:`\tau^T v`; what it is across the axes does no work and changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import vec6, wrench_from_vector
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import orthonormal, product, solve_lower, solve_squared
from kane_dynamics.algebra.scalars import Scalar, as_array
from kane_dynamics.algorithms.independent_speeds import multiplier_motion
from kane_dynamics.algorithms.mass_matrix import BodyJacobian, body_jacobians, psi, s_bar
from kane_dynamics.algorithms.newton_euler import joint_friction
from kane_dynamics.algorithms.udwadia_kalaba import (
    ConstrainedMotion,
    Details,
    Motion,
    cholesky_factor,
    constrained_motion,
    motion_of,
    selected_rows,
)
from kane_dynamics.exceptions import SingularMassMatrixError
from kane_dynamics.formulations.problem import Problem
from kane_dynamics.robot.motion import JointMotion, joint_motion
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import Floats, NDArray


@dataclass(frozen=True, eq=False, slots=True)
class GaussSolution(Details):
    """What Gauss's principle and the Udwadia-Kalaba equations speak of."""

    free_acceleration: Floats  # shape (nv,): M^-1 Q, the acceleration without constraints
    scaled_rows: Floats  # shape (k, nv): D = A L^-T (62)
    omega: Floats  # shape (nv, nv): The projector Omega = 1 - L D^+ A M^-1 of (63)
    gauss_excess: float


def gauss_solution(mass_matrix: Floats, force: Floats, motion: ConstrainedMotion) -> GaussSolution:
    """Return what the principle says of a motion that `constrained_motion` found."""
    factor = cholesky_factor(mass_matrix)
    selection = motion.selection
    D = solve_lower(factor, selection.rows.matrix.T).T
    pivots = D[selection.independent_indices]
    scaled = pivots / np.linalg.norm(pivots, axis=1, keepdims=True)
    range_of_rows = orthonormal(scaled.T)[0]
    half = solve_lower(factor, np.eye(len(force)))  # L^-1
    omega = np.eye(len(force)) - factor @ range_of_rows @ (range_of_rows.T @ half)
    free = solve_squared(factor, force)
    gap = motion.acceleration - free
    return GaussSolution(free, D, omega, 0.5 * float(gap @ mass_matrix @ gap))


def by_gauss(problem: Problem) -> Motion:
    """Solve by dqGP and the Udwadia-Kalaba equations (Silva et al., (46)-(51), (62))."""
    mass = problem.terms.mass_matrix(problem.q)
    force = problem.applied - problem.terms.bias_force(problem.q, problem.v)
    result = constrained_motion(mass, force, problem.rows)
    details = gauss_solution(mass, force, result)
    return motion_of(result.selection, problem.v, result.acceleration, result.multipliers, details)


@dataclass(frozen=True, eq=False, slots=True)
class NewtonEulerSolution(Details):
    """What dqNE gives in runs of the recursion (Silva et al., section 6)."""

    mass_matrix: Floats  # shape (nv, nv): M, one run for each column
    velocity_force: Floats  # shape (nv,): C v and g, one run each
    gravity_force: Floats  # shape (nv,): C v and g, one run each
    runs: int  # nv + 2


def by_newton_euler(problem: Problem) -> Motion:
    """Solve by nv + 2 runs of dqNE (Silva et al., section 6) and (62)."""
    run, q = problem.terms.newton_euler, problem.q
    at_rest = np.zeros(len(problem.v))
    gravity = run(q, at_rest, at_rest)
    bias = run(q, problem.v, at_rest)
    mass = np.array([run(q, at_rest, unit) - gravity for unit in np.eye(len(at_rest))])
    result = constrained_motion(mass, problem.applied - bias, problem.rows)
    details = NewtonEulerSolution(mass, bias - gravity, gravity, len(at_rest) + 2)
    return motion_of(result.selection, problem.v, result.acceleration, result.multipliers, details)


def impressed_wrenches(
    robot: Robot, q: list[float], v: list[float], tau: Floats, jacobians: list[BodyJacobian]
) -> list[Floats]:
    """Return (torque, force) on every body at its centre of mass in its axes, shape (6,)."""
    efforts = tau - joint_friction(robot, v)
    about_origin = [np.zeros(6) for _ in robot.bodies]
    for i, parent in enumerate(robot.parents):
        if robot.bodies[i].mimic is not None:
            continue  # the effort on a follower is part of that on its master
        joint = joint_motion(robot, i, q, v)
        wrench = _along_axes(joint, efforts[joint.columns])
        about_origin[i] += wrench
        if parent != WORLD:
            reaction = vec6(joint.to_parent(wrench_from_vector(wrench)))  # (f, tau)
            about_origin[parent] -= np.roll(reaction, 3)
    wrenches = []
    for body, wrench, jacobian in zip(robot.bodies, about_origin, jacobians, strict=True):
        torque, force = wrench[:3], wrench[3:]
        weight = body.inertia.mass * (jacobian.from_world @ robot.gravity)  # (50)
        torque_at_com = torque - np.cross(body.inertia.com, force)
        wrenches.append(np.concatenate([torque_at_com, force + weight]))
    return wrenches


def _along_axes(joint: JointMotion, efforts: Floats) -> Floats:
    """Return the wrench (torque, force) on the child, in its frame, with power efforts' v."""
    wrench = np.zeros(6)
    for axis, effort in zip(joint.axes, efforts, strict=True):
        twist = vec6(axis)
        wrench += twist * (effort / (twist @ twist))
    return wrench


def gibbs(robot: Robot, q: Any, v: Any, a: Any) -> Scalar:
    """Return S of (54) for numbers or traced scalars."""
    total: Scalar = 0.0
    for inertia, _, twist, rate in _bodies(robot, q, v, a):
        momentum_rate = 0.5 * product(psi(inertia), rate) + product(
            s_bar(inertia, twist[:3]), twist
        )
        total = total + product(rate[None, :], momentum_rate)[0]
    for armature, acceleration in zip(robot.armature.tolist(), a, strict=True):
        total = total + 0.5 * armature * acceleration * acceleration
    return total


def acceleration_gradient(robot: Robot, q: Any, v: Any, a: Any) -> NDArray:
    """Return dS/da = sum_i J_i' (Psi_i a_i + Sbar_i nu_i) (55), (60), shape (nv,)."""
    total = as_array([r * x for r, x in zip(robot.armature.tolist(), a, strict=True)])
    for inertia, jacobian, twist, rate in _bodies(robot, q, v, a):
        kappa = product(psi(inertia), rate) + product(s_bar(inertia, twist[:3]), twist)  # (59)
        total = total + product(jacobian.jacobian.T, kappa)
    return total


def gauss_measure(
    robot: Robot, q: list[float], v: list[float], a: list[float], tau: Floats
) -> float:
    """Return sum_i (a_i - abar_i)' Psi_i (a_i - abar_i)/2 (31), (37), at a state, for efforts."""
    jacobians = body_jacobians(robot, q, v)
    wrenches = impressed_wrenches(robot, q, v, tau, jacobians)
    total = 0.5 * float(robot.armature @ np.square(a))
    for body, jacobian, wrench in zip(robot.bodies, jacobians, wrenches, strict=True):
        twist, rate = _twist_and_rate(jacobian, v, a)
        inertia = psi(body.inertia)
        if np.linalg.matrix_rank(inertia) < 6:
            raise SingularMassMatrixError(
                f"body '{body.name}' has no inertia in some direction: Gauss's function is not "
                'defined for it'
            )
        impressed = wrench - s_bar(body.inertia, twist[:3]) @ twist
        gap = rate - np.linalg.solve(inertia, impressed)  # a - abar (37)
        total += 0.5 * float(gap @ inertia @ gap)
    return total


def gauss_measure_gradient(
    robot: Robot, q: list[float], v: list[float], a: list[float], tau: Floats
) -> Floats:
    """Return sum_i J_i' Psi_i (a_i - abar_i) (39), (61), without an inverse of Psi_i, (nv,)."""
    jacobians = body_jacobians(robot, q, v)
    gradient: Floats = acceleration_gradient(robot, q, v, a)
    wrenches = impressed_wrenches(robot, q, v, tau, jacobians)
    for jacobian, wrench in zip(jacobians, wrenches, strict=True):
        gradient = gradient - jacobian.jacobian.T @ wrench
    return gradient


def _bodies(
    robot: Robot, q: Any, v: Any, a: Any
) -> Iterator[tuple[Inertia, BodyJacobian, NDArray, NDArray]]:
    """Yield inertia, Jacobian, twist and twist rate of each body with mass."""
    for body, jacobian in zip(robot.bodies, body_jacobians(robot, q, v), strict=True):
        if not body.inertia.is_zero:
            yield body.inertia, jacobian, *_twist_and_rate(jacobian, v, a)


def _twist_and_rate(jacobian: BodyJacobian, v: Any, a: Any) -> tuple[NDArray, NDArray]:
    """Return nu = J v and nudot = J a + dJ/dt v (34)."""
    speeds, accelerations = as_array(v), as_array(a)
    rate = product(jacobian.jacobian, accelerations) + product(jacobian.rate, speeds)
    return product(jacobian.jacobian, speeds), rate


@dataclass(frozen=True, eq=False, slots=True)
class GibbsAppellSolution(Details):
    """Both sides of the Gibbs-Appell equations (53) at the solution."""

    gradient: Floats  # shape (nv,): dS/dvdot
    active_force: Floats  # Generalized forces of efforts, gravity, friction and external wrenches


def by_gibbs_appell(problem: Problem) -> Motion:
    """Solve dS/dvdot = active force (Silva et al., (53)) under the rows, by multipliers."""
    gradient, q, v = problem.terms.gibbs_gradient, problem.q, problem.v
    at_rest = np.zeros(len(v))
    start = gradient(q, v, at_rest)  # dS/da is linear in a: its columns are differences
    columns = np.array([gradient(q, v, unit) - start for unit in np.eye(len(v))])
    mass = 0.5 * (columns + columns.T)
    active = problem.applied - problem.terms.gravity_force(q)
    selection = selected_rows(mass, problem.rows)
    acceleration, multipliers = multiplier_motion(mass, active - start, selection.independent)
    details = GibbsAppellSolution(gradient(q, v, acceleration), active)
    return motion_of(selection, problem.v, acceleration, multipliers, details)
