# SPDX-License-Identifier: Apache-2.0
r"""
One time step of a constrained robot, written once for numbers and for tracing.

``semi_implicit``: symplectic Euler on the level of impulses; friction is taken at the end of the
step (Coulomb friction as :math:`F v^+/\max(|v|, v_s)`), so that stiff friction stays stable, and
the new speeds satisfy :math:`A v^+ = b_0` exactly:

.. math:: (M + h D_\mathrm{eff}) v^+ = M v + h (\tau - C v - g) + A^T \Lambda, \quad
   q^+ = q \oplus h v^+ .

``rk4``: the classical Runge-Kutta method of order 4 on (q, v).

``midpoint``: the implicit midpoint rule on the manifold, :math:`v^+ = v + h\,a(q_m, v_m)`,
:math:`v_m = (v + v^+)/2`, :math:`q_m = q \oplus \tfrac h2 v_m`, :math:`q^+ = q \oplus h v_m`:
time-reversible, order 2, no secular energy drift. Its equation is solved by fixed-point steps, so
h times the damping rate must stay well below 2.

Drift off the constraints is removed by `algorithms.projection` after a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

State = Any
"""Arrays of numbers or of traced scalars."""

STICTION_SPEED = 1e-3  # v_s [rad/s or m/s]: below it Coulomb friction acts like viscous friction
MIDPOINT_ITERATIONS = 8  # each gains a factor h/2 |da/dv|, 1e-2 or less in a smooth motion


class Dynamics(Protocol):
    """What an integrator needs to know of a robot; numbers or traced."""

    def acceleration(self, q: State, v: State, tau: State, t: Any) -> State:
        """Return vdot under the constraints."""

    def impulse(self, q: State, v: State, tau: State, t: Any, h: Any) -> State:
        """Return v+ of the semi-implicit step."""

    def coordinate_rate(self, q: State, v: State) -> State:
        """Return dq/dt."""

    def retract(self, q: State, v: State, h: Any) -> State:
        """Return q (+) v h."""


Integrator = Callable[[Dynamics, State, State, State, Any, Any], tuple[State, State]]


def semi_implicit(
    dynamics: Dynamics, q: State, v: State, tau: State, t: Any, h: Any
) -> tuple[State, State]:
    """Return the state after h [s] by symplectic Euler with implicit friction."""
    v_end = dynamics.impulse(q, v, tau, t, h)
    return dynamics.retract(q, v_end, h), v_end


def rk4(dynamics: Dynamics, q: State, v: State, tau: State, t: Any, h: Any) -> tuple[State, State]:
    """Return the state after h [s] by the classical Runge-Kutta method at constant efforts."""

    def slope(q_s: State, v_s: State, t_s: Any) -> tuple[State, State]:
        return dynamics.coordinate_rate(q_s, v_s), dynamics.acceleration(q_s, v_s, tau, t_s)

    k1, a1 = slope(q, v, t)
    k2, a2 = slope(q + 0.5 * h * k1, v + 0.5 * h * a1, t + 0.5 * h)
    k3, a3 = slope(q + 0.5 * h * k2, v + 0.5 * h * a2, t + 0.5 * h)
    k4, a4 = slope(q + h * k3, v + h * a3, t + h)
    q_end = q + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    v_end = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return dynamics.retract(q_end, 0.0 * v_end, 0.0), v_end  # unit quaternions are unit again


def midpoint(
    dynamics: Dynamics, q: State, v: State, tau: State, t: Any, h: Any
) -> tuple[State, State]:
    """Return the state after h [s] by the implicit midpoint rule at constant efforts."""
    v_middle = v
    for _ in range(MIDPOINT_ITERATIONS):
        q_middle = dynamics.retract(q, v_middle, 0.5 * h)
        v_middle = v + 0.5 * h * dynamics.acceleration(q_middle, v_middle, tau, t + 0.5 * h)
    return dynamics.retract(q, v_middle, h), 2.0 * v_middle - v


INTEGRATORS: dict[str, Integrator] = {
    'semi_implicit': semi_implicit,
    'rk4': rk4,
    'midpoint': midpoint,
}
