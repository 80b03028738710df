# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics run on a graphics card; made by ``kd.compile(..., device='cuda')``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.algorithms.constrained_inverse import (
    ConstrainedEffort,
    checked_weights,
    term_switches,
)
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.traced_inverse_solve import REACHED_IN_SINGLE
from kane_dynamics.compiler.compiled import CompiledRobot
from kane_dynamics.compiler.cuda.device import Array
from kane_dynamics.compiler.cuda.gpu_kernels import times
from kane_dynamics.compiler.cuda.loads import Loads
from kane_dynamics.compiler.cuda.terms import GpuTerms
from kane_dynamics.compiler.derivatives import (
    Derivatives,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from kane_dynamics.compiler.graphs import inverse_dynamics as balance_graphs
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.dynamics import AT_START
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats


class CudaRobot(GpuTerms):
    """
    Dynamics of one robot under fixed constraints on a graphics card; methods are as in `Dynamics`.

    Inputs are arrays of one state, or of many (B, n), of any library: what lies on the card in
    the right type is read where it lies, by its strides. Results are arrays of CuPy, (B, n); in
    memory they are as the inputs: the numbers of a state together, or, where an input is so, those
    of all states. Every method takes `loads`, gravity and payloads of each state, see `loads`.

    Kernels are compiled when they are first called. Each call waits for its kernel, because
    states whose solve is ill conditioned are redone by the processor, in double precision.

    Attributes
    ----------
    constraints : ConstraintSet
        The rows.
    frames : tuple of str
        Of `frame_poses`.
    precision : str
        'float32' or 'float64'.
    device : Device
        The card.

    """

    def acceleration(
        self,
        q: Any,
        v: Any,
        tau: Any,
        time: Any = AT_START,
        *,
        loads: Loads | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return the accelerations under the constraints, (B, nv)."""
        kernel = self._kernel(Tracer.forward_dynamics)
        clock = (times(time),) if kernel.timed else ()
        return self._run(kernel, (q, v, tau, *clock), 'acceleration', loads, out)

    def multipliers(
        self, q: Any, v: Any, tau: Any, time: Any = AT_START, *, loads: Loads | None = None
    ) -> Array:
        """Return lambda of all rows, (B, k); of rows that repeat others 0."""
        kernel = self._kernel(Tracer.multipliers)
        clock = (times(time),) if kernel.timed else ()
        return self._run(kernel, (q, v, tau, *clock), 'multipliers', loads)

    def consistent_velocity(
        self,
        q: Any,
        v: Any,
        known: Sequence[str] | None = None,
        time: Any = AT_START,
        *,
        loads: Loads | None = None,
    ) -> Array:
        """Return speeds with A v = b0, (B, nv)."""
        names = None if known is None else tuple(known)
        kernel = self._kernel(balance_graphs.consistent_velocity, names)

        def redo(cpu: CompiledRobot, q: Floats, v: Floats, t: Floats) -> Floats:
            return cpu.consistent_velocity(q, v, names, t)

        return self._run(kernel, (q, v, times(time)), redo, loads)

    def consistent_acceleration(
        self,
        q: Any,
        v: Any,
        a: Any,
        known: Sequence[str] | None = None,
        time: Any = AT_START,
        *,
        loads: Loads | None = None,
    ) -> Array:
        """Return accelerations with A a = b, (B, nv)."""
        names = None if known is None else tuple(known)
        kernel = self._kernel(balance_graphs.consistent_acceleration, names)

        def redo(cpu: CompiledRobot, q: Floats, v: Floats, a: Floats, t: Floats) -> Floats:
            return cpu.consistent_acceleration(q, v, a, names, t)

        return self._run(kernel, (q, v, a, times(time)), redo, loads)

    def constrained_inverse_dynamics(
        self,
        q: Any,
        v: Any,
        a: Any,
        actuated: Sequence[str],
        weights: ArrayLike | None = None,
        known: Sequence[str] | None = None,
        time: Any = AT_START,
        *,
        terms: Sequence[str] = TERMS,
        loads: Loads | None = None,
    ) -> ConstrainedEffort:
        """Return efforts of the actuated joints and multipliers; arrays have a row a state."""
        robot, driven = self.robot, tuple(actuated)
        names = None if known is None else tuple(known)
        columns = speed_indices(robot, driven, 'actuated')
        shares = np.ones(robot.nv)
        if weights is not None:
            shares = checked_weights(robot, weights, columns)
        kernel = self._kernel(balance_graphs.constrained_effort, driven, names)

        def redo(
            cpu: CompiledRobot, q: Floats, v: Floats, a: Floats, *remainder: Floats
        ) -> Floats:
            if names is None and self.precision == 'float32':
                a = _unrounded(cpu, q, v, a, remainder[-1])
            options = weights, names, remainder[-1]
            return cpu.constrained_inverse_dynamics(q, v, a, driven, *options, terms=terms).numbers

        switches = np.array(term_switches(terms))
        found = self._run(kernel, (q, v, a, shares, switches, times(time)), redo, loads)
        return ConstrainedEffort(found, robot.nv, self.labels)

    def inverse_dynamics_derivatives(
        self, q: Any, v: Any, a: Any, *, loads: Loads | None = None
    ) -> Derivatives:
        """Return d tau / d(q, v, a), friction and armature included; each (B, nv, nv)."""
        nothing = np.zeros(len(self._recipe.plan.solved))
        inputs = q, v, a, nothing, np.zeros(1)
        balance = self._plain(Tracer.balance_derivatives, inputs, loads)
        return of_inverse_dynamics(balance, self.mass_matrix(q, loads=loads))

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, time: Any = AT_START, *, loads: Loads | None = None
    ) -> Derivatives:
        """
        Return d vdot / d(q, v, tau) under the constraints; each (B, nv, nv).

        Raises
        ------
        InvalidInputError
            If rows repeat others or may do: which ones to take is decided by the processor.

        """
        plan = self._recipe.plan
        if plan.repeated or not plan.certain:
            raise InvalidInputError(
                'rows that repeat others: forward_dynamics_derivatives are of kd.compile without '
                'a card'
            )
        a = self.acceleration(q, v, tau, time, loads=loads)
        order = list(plan.solved)
        force = self.multipliers(q, v, tau, time, loads=loads)[..., order]
        clock = times(time)
        balance = self._plain(Tracer.balance_derivatives, (q, v, a, force, clock), loads)
        rows = self._plain(Tracer.constraint_rows, (q, v, clock), loads)
        mass = self.mass_matrix(q, loads=loads)
        return of_forward_dynamics(balance, mass, rows[..., order, :])


def _unrounded(cpu: CompiledRobot, q: Floats, v: Floats, a: Floats, time: Floats) -> Floats:
    """Return accelerations on the rows where they are so but for roundoff of single precision."""
    nearest = cpu.consistent_acceleration(q, v, a, None, time)
    off = np.abs(nearest - a).max(axis=-1, keepdims=True)
    size = 1.0 + np.abs(a).max(axis=-1, keepdims=True)
    return np.where(off <= REACHED_IN_SINGLE * size, nearest, a)
