# SPDX-License-Identifier: Apache-2.0
r"""
The equations of motion in generalized speeds (Roithmayr et al. (6)-(17), Gillespie (32)-(34)).

With :math:`v = W u + X` and :math:`\dot v = W \dot u + \beta`, :math:`\beta = \dot W u + \dot X`:

.. math:: F = W^T f, \qquad F^* = -Q \dot u - L, \qquad Q = W^T M W, \qquad
   L = W^T (C v + M \beta),

where f are the active forces on v. Rows A v = b0 become :math:`A W u = b_0 - A X` and
:math:`A W \dot u = b - A\beta`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algorithms.generalized_speeds import GeneralizedSpeeds, SpeedMap
from kane_dynamics.algorithms.terms import MethodTerms
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class SpeedBalance:
    """
    Q udot + L = F + G' lambda with G u = c and G udot = d.

    Parameters
    ----------
    map : SpeedMap
        u and the way back to v.
    velocity_mass : ndarray, shape (nv, nv)
        M, in the speeds v.
    velocity_balance : ndarray, shape (nv,)
        f - C v, in the speeds v: M vdot is this and the constraint force.
    mass : ndarray, shape (nu, nu)
        Q.
    active_force, remainder : ndarray, shape (nu,)
        F, and L of F*.
    rows : tuple of ndarray, shapes (k, nu), (k,), (k,)
        G, c and d.

    """

    map: SpeedMap
    velocity_mass: Floats
    velocity_balance: Floats
    mass: Floats
    active_force: Floats
    remainder: Floats
    rows: tuple[Floats, Floats, Floats]

    @property
    def force(self) -> Floats:
        """Return F - L."""
        return self.active_force - self.remainder


def speed_balance(
    terms: MethodTerms,
    M: Floats,
    q: Floats,
    v: Floats,
    t: float,
    applied: Floats,
    rows: ConstraintRows,
    speeds: GeneralizedSpeeds | None,
) -> SpeedBalance:
    """Return the equations of motion in `speeds`, or in v where there are none, for known M."""
    gravity = terms.gravity_force(q)
    active, velocity_force = applied - gravity, terms.bias_force(q, v) - gravity
    given_force = active - velocity_force
    if speeds is None:
        own = SpeedMap(v, np.eye(len(v)), np.zeros_like(M), np.zeros_like(v), np.zeros_like(v))
        given = rows.matrix, rows.velocity, rows.acceleration
        return SpeedBalance(own, M, given_force, M, active, velocity_force, given)
    chosen = speeds.at(q, v, t)
    W, A = chosen.W, rows.matrix
    return SpeedBalance(
        chosen,
        M,
        given_force,
        W.T @ M @ W,
        W.T @ active,
        W.T @ (velocity_force + M @ chosen.bias),
        (A @ W, rows.velocity - A @ chosen.X, rows.acceleration - A @ chosen.bias),
    )


def mass_rate(terms: MethodTerms, q: Floats, v: Floats, balance: SpeedBalance) -> Floats:
    """Return dQ/dt = W' dM/dt W + dW/dt' M W + W' M dW/dt along v, shape (nu, nu)."""
    W = balance.map.W
    turning = balance.map.W_rate.T @ balance.velocity_mass @ W
    rate: Floats = W.T @ terms.mass_rate(q, v) @ W + turning + turning.T
    return rate
