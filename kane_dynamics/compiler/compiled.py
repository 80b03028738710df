# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics are machine code; made by `kane_dynamics.compile`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw
from kane_dynamics.algorithms.udwadia_kalaba import Motion, selected_rows, solve_motion
from kane_dynamics.compiler.build import FORWARD, STEPS, Build, build_kernels, build_switched
from kane_dynamics.compiler.derivatives import (
    Derivatives,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from kane_dynamics.compiler.engine import CompiledEngine, SwitchedCode
from kane_dynamics.compiler.generic import too_large
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel_set import CompiledRows, CompiledTerms, KernelSet
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import DIRECT, Recipe
from kane_dynamics.compiler.rollout_steps import CompiledMotions
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.base import Arrays, Choices, Out
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.interface import ConstraintSubsetDynamics, Dynamics
from kane_dynamics.dynamics.table import FUNCTIONS, ON_DEMAND
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations import solve_by
from kane_dynamics.robot.checks import (
    as_mapping,
    as_number,
    as_vector,
    index_of,
)
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.simulation.motions import ManyMotions, Trajectory
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.typing import Floats

# What robots have as straight-line code only: of larger ones it is numpy.
_STRAIGHT_LINE_ONLY = (
    'forward_dynamics',
    *(row.name for row in FUNCTIONS.values() if row.compiled == ON_DEMAND and row.text),
    'inverse_dynamics(external_wrenches=)',
    'constrained_inverse_dynamics',
    'frame_effort',
    'switched',
)
_TERMS_OF_METHODS = tuple(f'forward_dynamics(method={x!r})' for x in ('gibbs_appell', 'lagrange'))


class CompiledDynamics(Dynamics):
    """
    Dynamics of one robot under fixed constraints as machine code; see `Dynamics`.

    Batches run on all cores. Ill-conditioned states go to the reference,
    and are counted in `fallback_count`. Copies, also those in other processes,
    are compiled there, from the cache where it has the code.

    Attributes
    ----------
    source : str
        'compiled' or 'cache'.
    note : str
        What the cache on disk said.

    """

    def __init__(self, load: Parameters, build: Build) -> None:
        recipe = build.recipe
        super().__init__(load, recipe.constraints, recipe.frames)
        self._load: Parameters = load
        self._plan, self._build = recipe.plan, build
        if (law := recipe.law) is not None:
            self.effort, self.gains, self.passive_force = law.function, law.gains, law.passive
        self.source, self.note = build.source, build.note
        self._kernels = KernelSet(build, load, partial(getattr, self))
        self._reference, self._calls = self._kernels.reference, self._kernels.calls
        self._terms = CompiledTerms(self, self._kernels)
        self._engines: dict[tuple[str, bool, int], CompiledEngine] = {}
        self._motions: dict[tuple[Any, ...], CompiledMotions] = {}
        # by identity: constraints are compared by nothing else, and are kept alive here
        self._switched: dict[tuple[int, ...], ConstraintSubsetDynamics] = {}
        if 'coriolis_effort' in self._kernels:
            self._kernels.use('coriolis_matrix', self._coriolis_by_columns)
        if not recipe.rows_are_certain:  # forces are shared out between rows that repeat others
            self._kernels.use('multipliers', self._shared_multipliers)
        for name in build.kernels.keys() & DIRECT.keys():
            # calls on plain arrays of one state go straight to machine code
            vars(self)[DIRECT[name]] = self._kernels[name].call

    def __repr__(self) -> str:
        robot, count = self.robot, len(self.labels)
        rows = f'{count} constraint rows ({", ".join(self.labels)}), ' if count else ''
        code = f"'{robot.name}', {robot.base} base, {robot.nv} speeds, {rows}device='cpu'"
        numpy = f', not_compiled={self.not_compiled}' if self.not_compiled else ''
        states = f'fallback_count={self.fallback_count}'
        return f'CompiledDynamics({code}, source={self.source!r}{numpy}, {states})'

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what the machine code is made of, and the present load."""
        load = self._load
        return _recompiled, (self._build.recipe, load.robot.gravity, dict(load.payloads))

    def _call(self, name: str, arrays: Arrays, choices: Choices = (), out: Out = None) -> Floats:
        try:
            method, count = self._calls[name, choices]
        except (KeyError, TypeError):  # new, or names are no tuple
            method, count = self._kernels.method(name, choices)
        if method is None:
            return self._reference._call(name, arrays, choices, out)
        return method(*arrays[:count]) if out is None else method(*arrays[:count], out=out)

    @property
    def not_compiled(self) -> tuple[str, ...]:
        if not too_large(self.robot):
            return ()
        return _STRAIGHT_LINE_ONLY + _TERMS_OF_METHODS * self._build.recipe.methods

    @property
    def fallback_count(self) -> int:
        """Return how many states the reference solved, because rows were dependent there."""
        steps = sum(engine.fallback_count for engine in self._engines.values())
        return steps + self._kernels.fallback_count

    @property
    def double_precision_count(self) -> int:
        """Return how many states of float32 batches were computed in double; see `compile`."""
        return self._kernels.double_precision_count

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of each kernel's graph."""
        return self._kernels.instructions

    def _under_wrenches(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Any, out: Floats | None
    ) -> Floats:
        pushes = self._kernels.wrenches()
        if pushes is None:
            return self._reference.inverse_dynamics(q, v, a, wrenches, out)
        push = pushes.checked(q, self._wrenches(wrenches))
        efforts = self._call('inverse_dynamics', (q, v, a), (), out)
        efforts -= push
        return efforts

    def _wrenches(self, external_wrenches: Any) -> Floats:
        """Return wrenches on all frames, (tau, f) of each, shape (6 n,)."""
        wrenches = np.zeros((len(self.frames), 6))
        for link, wrench in as_mapping('external_wrenches', external_wrenches).items():
            k = index_of('frame', link, self.frames)
            wrenches[k] += as_vector(f"wrench on '{link}' [N m, N]", wrench, 6)
        return wrenches.ravel()

    def _coriolis_by_columns(self, q: Any, v: Any, out: Floats | None = None) -> Floats:
        def at(q: Floats, v: Floats) -> Floats:
            checked_coordinates(self.robot, q)
            return self._kernels['coriolis_effort'].checked(q, v, np.eye(self.robot.nv)).T

        return self._by_states('coriolis_matrix', at, (q, v), out)

    def _shared_multipliers(self, *state: Any, out: Floats | None = None) -> Floats:
        def at(q: Floats, v: Floats, tau: Floats, t: Floats) -> Floats:
            return self.motion_at(q, v, tau, float(t[0])).multipliers

        return self._by_states('multipliers', at, state, out)

    def motion_at(self, q: Floats, v: Floats, tau: Floats, t: float = START, *how: Any) -> Motion:
        if not how:
            return self._by_gauss(q, v, tau, t)
        method, speeds = how
        if not self._build.recipe.methods:
            raise InvalidInputError(
                f"compile with methods=True for method {method!r}; without it there is 'gauss'"
            )
        checked_coordinates(self.robot, q)
        return solve_by(method, self.robot, self._terms, q, v, tau, t, speeds)

    def _by_gauss(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        large = 'motion' not in self._kernels
        if large and (self.constraints or FORWARD not in self._kernels):
            return self._reference.forward_dynamics(q, v, tau, t)
        if not self._build.recipe.rows_are_certain:  # multipliers must be shared out
            rows = self.constraint_rows(q, v, t)
            mass, bias = self.mass_matrix(q), self.bias_force(q, v)
            return solve_motion(self.robot, rows, mass, bias, v, tau)
        kernel = self._kernels[FORWARD if large else 'motion']
        outputs = kernel.all_outputs(q, v, tau, *([t],) * kernel.timed)
        if outputs is None:
            return self._reference.forward_dynamics(q, v, tau, t)
        if large:  # there are no rows
            outputs += [np.zeros(0), np.zeros(self.robot.nv), *np.zeros((3, 0))]
        acceleration, multipliers, force, residual, slip, violation = outputs
        missed, rank, labels = float(np.linalg.norm(residual)), len(self.labels), self.labels
        solution = acceleration, multipliers, force, rank, missed
        return Motion(*solution, slip, violation, labels, labels)

    def _rows(self, q: ArrayLike, v: ArrayLike, time: float) -> ConstraintRows:
        if 'constraint_rows' not in self._kernels:
            return self._reference.constraint_rows(q, v, time)
        return self._compiled_rows(q, v, time)

    @cached_property
    def _compiled_rows(self) -> CompiledRows:
        return CompiledRows(self._kernels['constraint_rows'].outputs, self.constraints)

    def _switched_by(self, others: ConstraintSet) -> ConstraintSubsetDynamics:
        key = tuple(map(id, others))
        if key in self._switched:
            return self._switched[key]
        if not others or too_large(self.robot):
            return super()._switched_by(others)
        recipe = replace(self._build.recipe, constraints=others, plan=RowPlan())
        table = self._kernels.made(Tracer.row_table, recipe).call

        def numbers(q: ArrayLike, v: ArrayLike, t: Floats) -> Sequence[Floats]:
            results = table(q, v, t)
            return results[:, :-3], *results[:, -3:].T

        rows = CompiledRows(numbers, others)
        made = SwitchedCode(self._load, others, rows, build_switched(recipe))
        return self._switched.setdefault(key, made)

    def prepare_efforts(
        self,
        actuated: Sequence[str],
        known: Sequence[str] | None = None,
        *,
        reference: bool = False,
    ) -> None:
        """
        Compile `constrained_inverse_dynamics` of some actuators before it is called.

        Parameters
        ----------
        actuated, known
            As there.
        reference : bool
            Whether it will be called with reference speeds.

        """
        name = 'reference_effort' if reference else 'constrained_effort'
        self._kernels.find(name, (actuated, known))

    def prepare_frame(self, law: TaskSpaceLaw) -> None:
        """Compile `frame_effort` of a law before it is called."""
        self._kernels.find('frame_effort', (law,))

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> Derivatives:
        """
        Return d tau / d(q, v, a), friction and armature included.

        Parameters as for `kane_dynamics.inverse_dynamics`.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, or the robot was compiled without ``derivatives=True``.

        """
        nothing = np.zeros(len(self._plan.solved))
        balance = self._kernels.balance_derivatives(q, v, a, nothing, np.zeros(1))
        return of_inverse_dynamics(balance, self.mass_matrix(q))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, time: float = 0.0
    ) -> Derivatives:
        """
        Return d vdot / d(q, v, tau) under the constraints.

        Parameters as for `kane_dynamics.forward_dynamics`.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, or the robot was compiled without ``derivatives=True``.

        """
        t = np.array([as_number('time [s]', time)])
        checked_coordinates(self.robot, q)
        a = self.acceleration(q, v, tau, t)
        rows = self.constraint_rows(q, v, time).take(self._plan.solved)
        mass = self.mass_matrix(q)
        independent_indices = selected_rows(mass, rows).independent_indices
        if len(independent_indices) < len(self._plan.order):
            raise InvalidInputError(
                'the constraint rows are dependent at this state: vdot has no derivative there'
            )
        A, multipliers = rows.matrix[independent_indices], np.zeros(len(rows))
        # A' lambda, whichever rows the solve took
        force = self.inverse_dynamics(q, v, a) - np.asarray(tau, dtype=float)
        multipliers[independent_indices] = np.linalg.lstsq(A.T, force, rcond=None)[0]
        balance = self._kernels.balance_derivatives(q, v, a, multipliers, t)
        kept = [*range(len(mass)), *(len(mass) + independent_indices)]
        return of_forward_dynamics(balance[kept], mass, A)

    def _engine(self, integrator: str, projection: bool, halvings: int) -> Engine:
        if STEPS not in self._build.kernels:
            return self._reference._engine(integrator, projection, halvings)
        key = integrator, projection, halvings
        if key not in self._engines:
            parts = self._build, self._load, self._kernels.linker
            self._engines[key] = CompiledEngine(self, *parts, *key)
        return self._engines[key]

    def _motions_by(self, *how: Any) -> ManyMotions | None:
        if STEPS not in self._build.kernels or 'motion' not in self._kernels:
            return None
        if how not in self._motions:
            parts = self._build.recipe, self._load, self._kernels.linker
            self._motions[how] = CompiledMotions(*parts, *how)
        return self._motions[how]

    def _trajectory(
        self,
        engine: Engine,
        q: ArrayLike,
        v: ArrayLike,
        duration: float,
        effort: Any,
        how: dict[str, Any],
    ) -> Trajectory:
        if isinstance(engine, CompiledEngine) and not callable(effort):
            return engine.trajectory(q, v, duration, effort, how['step'])
        return super()._trajectory(engine, q, v, duration, effort, how)


def _recompiled(recipe: Recipe, gravity: Floats, payloads: Mapping[str, Inertia]) -> Any:
    """Return dynamics by what they are made of; machine code comes from the cache."""
    load = Parameters(recipe.robot, recipe.payloads)
    load.set_gravity(gravity)
    for frame, payload in payloads.items():
        load.set_payload(frame, payload.mass, payload.com, payload.tensor)
    return CompiledDynamics(load, build_kernels(recipe))
