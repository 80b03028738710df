# SPDX-License-Identifier: Apache-2.0
r"""
Time steps of a constrained robot, for numbers and for tracing.

Anderson's acceleration (J. ACM 12, 1965): the next x is g of the last ones, in the mixture whose
changes nearly cancel. Plain iterations are too slow where Coulomb friction stops a light link
within a step: its drag h F/|x| is then many times the inertia. Compiled steps remember fewer
turns, see `compiler.steps.step_program`, and hand over to the reference where that does not do.

``semi_implicit``: leapfrog with implicit friction. Half a step along the old speeds, new speeds
there, half a step along these:

.. math:: q_m = q \oplus \tfrac h2 v, \quad (M + h D_\mathrm{eff}) v^+ =
   M v + h (\tau - C v_m - g) + A^T \Lambda, \quad A v_m = b_0, \quad
   q^+ = q_m \oplus \tfrac h2 v^+,

everything at :math:`q_m` and the middle of the time; :math:`v_m = (v + v^+)/2` by two iterations
from v, on one factorisation. Friction is that of the new speeds (Coulomb friction as
:math:`F v^+/\max(|v|, v_s)`), so that stiff friction cannot make it diverge. Order 2, of friction
1. Without friction it is time-reversible up to the iterations, h^4 in a step: where the energy
drifts, it does with h^3. Constraint forces of rows at rest do no work. Efforts are held over
a step, so a control law acts half a step late, as any sampled one. Passive forces, functions of
the state, are taken at each stage; here at :math:`q_m` and v, so that those of speeds are of
order 1.

``rk4``: the classical Runge-Kutta method of order 4 on (q, v), explicit: damping that is too stiff
for it, with h times the rate of decay above 2.785, is refused by `simulation.step_checks`.

``midpoint``: the implicit midpoint rule on impulses, order 2; constraints hold at the middle
speed, so the constraint force of rows at rest does no work, however small the angle between rows:

.. math:: (M + \tfrac h2 D_\mathrm{eff}) v_m = M v + \tfrac h2 (\tau - C v_m - g) + A^T \Lambda,
   \quad A v_m = b_0, \quad v^+ = 2 v_m - v, \quad q^+ = q \oplus h v_m,

everything at :math:`q_m = q \oplus \tfrac h2 v_m` and at the middle of the time. Without friction
it is time-reversible, so that energy does not drift in one direction, and damping of any stiffness
leaves it bounded. The equation is solved to 1e-12; a step whose equation cannot be solved, which
changes the energy by more than its forces do, or which takes a mechanism to another branch at a
singular configuration, raises `StepError`. Projection after each
step moves states by its error, h^3, and is not reversible.

Drift off the constraints is removed by `algorithms.projection` after a step.
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.exceptions import DivergedError, StepError
from kane_dynamics.typing import Floats

# Squared changes of x, relative to 1 + |x|^2 [rad/s, m/s]. Solved: what follows a change of 1e-12
# is smaller still. Enough: roundoff of systems so ill conditioned that they never get there.
SOLVED = 1e-24
ENOUGH = 1e-18
_LIMIT = 100
_MEMORY = 5


def squared_change(new: Iterable[Scalar], old: Iterable[Scalar]) -> Scalar:
    """Return |new - old|^2 / (1 + |new|^2), numbers or traced."""
    change: Scalar = 0.0
    size: Scalar = 1.0
    for a, b in zip(new, old, strict=True):
        change = change + (a - b) * (a - b)
        size = size + a * a
    return change / size


def solve_fixed_point(improve: Callable[[Floats], Floats], start: Floats) -> Floats:
    """Return x = improve(x), from a start nearby."""
    x, best, least = start, start, np.inf
    images: list[Floats] = []
    changes: list[Floats] = []
    for turn in range(_LIMIT):
        try:
            image = improve(x)
        except DivergedError:
            if turn == 0:
                raise
            break  # the iterates ran away, not the motion
        change = squared_change(image.tolist(), x.tolist())
        if change <= SOLVED:
            return image
        if change > 4.0 * least:
            images, changes = [], []  # the mixture led astray: plainly on from here
        if change < least:
            best, least = image, change
        images, changes = [*images[-_MEMORY:], image], [*changes[-_MEMORY:], image - x]
        x = _mixture(images, changes)
    if least <= ENOUGH:
        return best
    raise StepError(
        f'the equation of the step was not solved: its speeds still change by {least**0.5:.1e} '
        f'of their size after {turn + 1} iterations; take a shorter step, or ask for halvings'
    )


def _mixture(images: list[Floats], changes: list[Floats]) -> Floats:
    """Return the mixture of images (weights of sum 1) with the least change."""
    if len(images) == 1:
        return images[0]
    steps = np.array([change - changes[-1] for change in changes[:-1]]).T
    weights = np.linalg.lstsq(steps, -changes[-1], rcond=1e-10)[0]
    mixed = images[-1].copy()
    for weight, image in zip(weights.tolist(), images, strict=False):
        mixed += weight * (image - images[-1])
    return mixed


State = Any
"""Arrays of numbers or of traced scalars."""

STICTION_SPEED = 1e-3  # v_s [rad/s or m/s]: below it Coulomb friction acts like viscous friction

KICKS = 2  # iterations for the middle speed: 1 gains energy with h t, 2 with h^3 t


class Slopes(Protocol):
    """What an explicit integrator needs to know of a robot; numbers or traced."""

    def slope(self, q: State, v: State, tau: State, t: Any) -> tuple[State, State]:
        """Return dq/dt and vdot under the constraints."""

    def retract(self, q: State, v: State, h: Any) -> State:
        """Return q (+) v h."""


class Dynamics(Slopes, Protocol):
    """What an integrator needs to know of a robot; numbers or traced."""

    def kick(self, q: State, v: State, tau: State, t: Any, h: Any) -> State:
        """Return speeds h [s] after v across the place q at time t, friction that of the end."""

    def impulse(self, q: State, v: State, at: State, tau: State, t: Any, h: Any) -> State:
        """Return speeds h [s] after v at place q, under forces at speeds `at` and rows at t."""

    def fixed_point(self, improve: Callable[[State], State], start: State) -> State:
        """Return speeds x = improve(x) to `SOLVED`."""

    def check_energy(
        self,
        start: tuple[State, State],
        middle: tuple[State, State],
        end: tuple[State, State],
        h: Any,
    ) -> None:
        """Check that states (q, v) of a midpoint step balance; see `step_checks.excess_gap`."""

    def check_jump(
        self, start: tuple[State, State], v_middle: State, tau: State, t: Any, h: Any
    ) -> None:
        """Check that the middle speeds follow from the start (q, v); see `jump`."""


Integrator = Callable[[Dynamics, State, State, State, Any, Any], tuple[State, State]]


def semi_implicit(
    dynamics: Dynamics, q: State, v: State, tau: State, t: Any, h: Any
) -> tuple[State, State]:
    """Return the state after h [s] by leapfrog with implicit friction."""
    half = 0.5 * h
    q_middle = dynamics.retract(q, v, half)
    v_end = dynamics.kick(q_middle, v, tau, t + half, h)
    return dynamics.retract(q_middle, v_end, half), v_end


def rk4(dynamics: Slopes, q: State, v: State, tau: State, t: Any, h: Any) -> tuple[State, State]:
    """Return the state after h [s] by the classical Runge-Kutta method at constant efforts."""
    slope = dynamics.slope
    k1, a1 = slope(q, v, tau, t)
    k2, a2 = slope(q + 0.5 * h * k1, v + 0.5 * h * a1, tau, t + 0.5 * h)
    k3, a3 = slope(q + 0.5 * h * k2, v + 0.5 * h * a2, tau, t + 0.5 * h)
    k4, a4 = slope(q + h * k3, v + h * a3, tau, t + h)
    q_end = q + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    v_end = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return dynamics.retract(q_end, 0.0 * v_end, 0.0), v_end  # unit quaternions are unit again


def midpoint(
    dynamics: Dynamics, q: State, v: State, tau: State, t: Any, h: Any
) -> tuple[State, State]:
    """Return the state after h [s] by the implicit midpoint rule at constant efforts."""
    half = 0.5 * h

    def improve(v_middle: State) -> State:
        q_middle = dynamics.retract(q, v_middle, half)
        return dynamics.impulse(q_middle, v, v_middle, tau, t + half, half)

    v_middle = dynamics.fixed_point(improve, v)
    q_end, v_end = dynamics.retract(q, v_middle, h), 2.0 * v_middle - v
    middle = dynamics.retract(q, v_middle, half), v_middle
    dynamics.check_energy((q, v), middle, (q_end, v_end), h)
    dynamics.check_jump((q, v), v_middle, tau, t, h)
    return q_end, v_end


INTEGRATORS: dict[str, Integrator] = {
    'semi_implicit': semi_implicit,
    'rk4': rk4,
    'midpoint': midpoint,
}

IMPLICIT_FRICTION = ('semi_implicit', 'midpoint')
"""Integrators whose steps have friction as drag at their end or middle; not its sign."""
