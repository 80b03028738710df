# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics are machine code; made by `kane_dynamics.compile`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw
from kane_dynamics.algorithms.udwadia_kalaba import Motion, selected_rows, solve_motion
from kane_dynamics.compiler.build import STEPS, Build, build_kernels, build_switched, step_name
from kane_dynamics.compiler.compiled_rows import CompiledRows
from kane_dynamics.compiler.constraint_subsets import SwitchedCode
from kane_dynamics.compiler.derivatives import (
    Derivatives,
    of_balance,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from kane_dynamics.compiler.engine import CompiledEngine
from kane_dynamics.compiler.generic import too_large
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel_names import DIRECT, STRAIGHT_LINE_ONLY
from kane_dynamics.compiler.kernel_set import KernelSet
from kane_dynamics.compiler.method_terms import CompiledTerms
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.rollout_steps import CompiledMotions, build_rollouts, rollout_lanes
from kane_dynamics.compiler.steps.step_program import Law
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.base import Arrays, Choices, Out
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.interface import ConstraintSubsetDynamics, Dynamics
from kane_dynamics.dynamics.reference import ReferenceDynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations import solve_by
from kane_dynamics.robot.checks import as_mapping, as_number, as_vector, index_of
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.simulation.motions import ManyMotions, Trajectory
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.typing import Floats


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

    def __init__(self, parameters: Parameters, build: Build, law: Law | None = None) -> None:
        recipe = build.recipe
        super().__init__(parameters, recipe.constraints, recipe.frames)
        self._load: Parameters = parameters
        self._plan, self._build, self._law = recipe.plan, build, law
        if law is not None:
            self.effort, self.gains, self.passive_force = law.function, law.gains, law.passive
        self.source, self.note = build.source, build.note
        reference = ReferenceDynamics(parameters, self.constraints, self.frames)
        self._kernels = KernelSet(build, parameters, reference, partial(getattr, self))
        self._reference, self._calls = self._kernels.reference, self._kernels.calls
        self._terms = CompiledTerms(self, self._kernels)
        self._engines: dict[tuple[str, bool, int], CompiledEngine] = {}
        self._motions: dict[tuple[str, bool, str], CompiledMotions] = {}
        self._compiled_rows: CompiledRows | None = None
        # by identity: constraints are compared by nothing else, and are kept alive here
        self._switched: dict[tuple[int, ...], ConstraintSubsetDynamics] = {}
        if 'coriolis_effort' in self._kernels:
            self._kernels.use('coriolis_matrix', self._coriolis_by_columns)
        if self._shares_forces:
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
        build, load = self._build, self._load
        made = build.recipe, build.derivatives, build.methods, self._law
        return _recompiled, (*made, load.robot.gravity, dict(load.payloads))

    @property
    def _shares_forces(self) -> bool:
        """Return whether forces are shared out between rows that repeat each other."""
        return bool(self._plan.repeated) or not self._plan.certain

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
        return STRAIGHT_LINE_ONLY if too_large(self.robot) else ()

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
        if not self._build.methods:
            raise InvalidInputError(
                f"compile with methods=True for method {method!r}; without it there is 'gauss'"
            )
        checked_coordinates(self.robot, q)
        return solve_by(method, self.robot, self._terms, q, v, tau, t, speeds)

    def _by_gauss(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        if 'motion' not in self._kernels:
            return self._free_motion(q, v, tau) or self._reference.forward_dynamics(q, v, tau, t)
        if self._shares_forces:  # multipliers must be shared out
            rows = self.constraint_rows(q, v, t)
            mass, bias = self.mass_matrix(q), self.bias_force(q, v)
            return solve_motion(self.robot, rows, mass, bias, v, tau)
        kernel = self._kernels['motion']
        outputs = kernel.all_outputs(q, v, tau, *([t],) * kernel.timed)
        if outputs is None:
            return self._reference.forward_dynamics(q, v, tau, t)
        acceleration, multipliers, force, residual, slip, violation = outputs
        missed, rank, labels = float(np.linalg.norm(residual)), len(self.labels), self.labels
        solution = acceleration, multipliers, force, rank, missed
        return Motion(*solution, slip, violation, labels, labels)

    def _free_motion(self, q: Floats, v: Floats, tau: Floats) -> Motion | None:
        """Return a motion without constraints, None where machine code has none."""
        if self.constraints or 'forward_dynamics' not in self._kernels:
            return None
        outputs = self._kernels['forward_dynamics'].all_outputs(q, v, tau)
        if outputs is None:
            return None
        none = np.zeros(0)
        return Motion(outputs[0], none, np.zeros(self.robot.nv), 0, 0.0, none, none, (), ())

    def _rows(self, q: ArrayLike, v: ArrayLike, time: float) -> ConstraintRows:
        if 'constraint_rows' not in self._kernels:
            return self._reference.constraint_rows(q, v, time)
        if self._compiled_rows is None:
            self._compiled_rows = CompiledRows(
                self._kernels['constraint_rows'].outputs, self.constraints
            )
        return self._compiled_rows(q, v, time)

    def _switched_by(self, others: ConstraintSet) -> ConstraintSubsetDynamics:
        key = tuple(map(id, others))
        if key not in self._switched:
            self._switched[key] = self._made_switched(others)
        return self._switched[key]

    def _made_switched(self, others: ConstraintSet) -> ConstraintSubsetDynamics:
        if not others or too_large(self.robot):
            return super()._switched_by(others)
        recipe = replace(self._build.recipe, constraints=others, plan=RowPlan())
        table = self._kernels.made(Tracer.row_table, recipe).call

        def numbers(q: ArrayLike, v: ArrayLike, t: Floats) -> Sequence[Floats]:
            results = table(q, v, t)
            return results[:, :-3], *results[:, -3:].T

        rows = CompiledRows(numbers, others)
        return SwitchedCode(self._load, others, rows, build_switched(recipe))

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
        balance = of_balance(self._kernels, q, v, a, nothing, np.zeros(1))
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
        force = self.inverse_dynamics(q, v, a) - np.asarray(
            tau, dtype=float
        )  # A' lambda, whichever rows the solve took
        multipliers[independent_indices] = np.linalg.lstsq(A.T, force, rcond=None)[0]
        balance = of_balance(self._kernels, q, v, a, multipliers, t)
        kept = [*range(len(mass)), *(len(mass) + independent_indices)]
        return of_forward_dynamics(balance[kept], mass, A)

    def _engine(self, integrator: str, projection: bool, halvings: int) -> Engine:
        if STEPS not in self._build.kernels:
            return self._reference._engine(integrator, projection, halvings)
        key = integrator, projection, halvings
        if key not in self._engines:
            code = self._build.linked(STEPS)
            name = step_name(integrator, projection)
            self._engines[key] = CompiledEngine(
                self, self._law, name, code, *key, self._kernels.linker, self._load
            )
        return self._engines[key]

    def _motions_by(self, *how: Any) -> ManyMotions | None:
        if STEPS not in self._build.kernels or 'motion' not in self._kernels:
            return None
        integrator, projection, precision = how
        key = integrator, projection, precision
        if key not in self._motions:
            recipe = self._build.recipe
            if precision == 'float32':
                recipe.check_steps_in_single(integrator)
            code = build_rollouts(recipe, self._law, *key).code
            parts = self._kernels.linker, self._load, recipe.payloads, self.gains
            name, lanes = step_name(integrator, projection), rollout_lanes(precision)
            self._motions[key] = CompiledMotions(name, code, projection, *parts, lanes)
        return self._motions[key]

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


def _recompiled(
    recipe: Recipe,
    derivatives: bool,
    methods: bool,
    law: Law | None,
    gravity: Floats,
    payload: Mapping[str, Inertia],
) -> CompiledDynamics:
    """Return dynamics by what they are made of; machine code comes from the cache."""
    build = build_kernels(recipe, derivatives, methods, law)
    parameters = Parameters(recipe.robot, recipe.payloads)
    parameters.set_gravity(gravity)
    for frame, load in payload.items():
        parameters.set_payload(frame, load.mass, load.com, load.tensor)
    return CompiledDynamics(parameters, build, law)
