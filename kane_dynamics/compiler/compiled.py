# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics are machine code; made by `kane_dynamics.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.consistent import speed_indices
from kane_dynamics.algorithms.constrained_inverse import (
    ConstrainedEffort,
    checked_weights,
    term_switches,
)
from kane_dynamics.algorithms.forward_dynamics import Motion, solve_motion
from kane_dynamics.algorithms.newton_euler import TERMS, ExternalWrenches
from kane_dynamics.algorithms.task_space_law import FrameEffort, TaskSpaceLaw
from kane_dynamics.algorithms.udwadia_kalaba import selected_rows
from kane_dynamics.compiler.build import (
    STEPS,
    Build,
    build_switched,
    step_name,
)
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
from kane_dynamics.compiler.graphs.inverse_dynamics import (
    consistent_acceleration,
    consistent_velocity,
    constrained_effort,
    reference_effort,
)
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel import Kernel
from kane_dynamics.compiler.kernel_names import PLAIN, STRAIGHT_LINE_ONLY
from kane_dynamics.compiler.kernel_set import METHODS, KernelSet
from kane_dynamics.compiler.method_terms import CompiledTerms
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.rollout_steps import CompiledMotions, build_rollouts, rollout_lanes
from kane_dynamics.compiler.steps.step_program import EffortLaw, Law
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import (
    AT_START,
    ConstraintSubsetDynamics,
    Dynamics,
)
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations import solve_by
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.reference_dynamics import ReferenceDynamics
from kane_dynamics.robot.checks import (
    as_choice,
    as_mapping,
    as_number,
    as_times,
    as_vector,
    index_of,
)
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.simulation.motions import ManyMotions, Trajectory
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.simulation.step_checks import check_halvings
from kane_dynamics.typing import Floats


class CompiledRobot(Dynamics):
    """
    Dynamics of one robot under fixed constraints as machine code; see `Dynamics`.

    Batches run on all cores. States that a solve of the machine code is not sure of go to the
    reference, and are counted in `fallback_count`.

    Attributes
    ----------
    source : str
        'compiled' or 'cache'.
    note : str
        What the cache on disk said.

    """

    def __init__(
        self,
        parameters: Parameters,
        constraints: Sequence[Constraint],
        plan: RowPlan,
        frames: Sequence[str],
        build: Build,
        law: Law | None = None,
    ) -> None:
        super().__init__(parameters, constraints, frames)
        self._load: Parameters = parameters
        self._plan, self._build, self._law = plan, build, law
        if law is not None:
            self.effort, self.gains, self.passive_force = law.function, law.gains, law.passive
        self.source, self.note = build.source, build.note
        reference = ReferenceDynamics(parameters, constraints, frames)
        self._kernels = KernelSet(build, parameters, reference, self._method)
        self._reference = self._kernels.reference
        self._terms = CompiledTerms(self, self._kernels)
        self._engines: dict[tuple[str, bool, int], CompiledEngine] = {}
        self._motions: dict[tuple[str, bool, str], CompiledMotions] = {}
        self._rows: CompiledRows | None = None
        # by identity: constraints are compared by nothing else, and are kept alive here
        self._switched: dict[tuple[int, ...], ConstraintSubsetDynamics] = {}
        self._all = np.ones(len(TERMS))
        self._balances: dict[Any, Callable[..., Floats]] = {}
        self._ones, self._start, self._nv = np.ones(self.robot.nv), np.zeros(1), self.robot.nv
        self._still = np.zeros(self._nv)
        for name in build.kernels.keys() & PLAIN:
            # calls on plain arrays of one state go straight to machine code
            vars(self)[METHODS.get(name, name)] = self._kernels[name].call

    def _method(self, name: str) -> Callable[..., Any] | None:
        """Return the method of a kernel that machine code stands in for."""
        return getattr(self, METHODS.get(name, name)) if name in PLAIN else None

    def __repr__(self) -> str:
        rows = f'{len(self.labels)} rows, ' if self.constraints else ''
        code = f"'{self.robot.name}', {self.robot.nv} speeds, {rows}source={self.source!r}"
        numpy = f', not_compiled={self.not_compiled}' if self.not_compiled else ''
        return f'CompiledRobot({code}{numpy}, fallbacks={self.fallback_count})'

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

    # terms

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_wrenches: ExternalWrenches = None,
        out: Floats | None = None,
    ) -> Floats:
        kernel = self._kernels['inverse_dynamics']
        if external_wrenches is None:
            return kernel.checked(q, v, a, out=out)
        pushes = self._kernels.find('external_force')
        if pushes is None:
            return self._reference.inverse_dynamics(q, v, a, external_wrenches, out)
        push = pushes.checked(q, self._wrenches(external_wrenches))
        efforts = kernel.checked(q, v, a, out=out)
        efforts -= push
        return efforts

    def friction_force(self, v: ArrayLike, out: Floats | None = None) -> Floats:
        return self._reference.friction_force(v, out)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        if 'coriolis_effort' not in self._kernels:
            return super().coriolis_matrix(q, v, out)

        def by_columns(q: Floats, v: Floats) -> Floats:
            checked_coordinates(self.robot, q)
            return self._kernels['coriolis_effort'].checked(q, v, np.eye(self._nv)).T

        return self._array('coriolis_matrix', by_columns, (self._nv,) * 2, out, q=q, v=v)

    # motion under the constraints

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = AT_START,
        out: Floats | None = None,
    ) -> Floats:
        if 'forward_dynamics' not in self._kernels:
            return self._reference.acceleration(q, v, tau, time, out)
        kernel, times = self._kernels['forward_dynamics'], as_times(time)
        clock = (times,) if kernel.timed else ()
        return kernel.checked(q, v, tau, *clock, out=out)

    def multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = AT_START,
        out: Floats | None = None,
    ) -> Floats:
        kernel = self._force_kernel()
        if kernel is None:
            return super().multipliers(q, v, tau, time, out)
        clock = (as_times(time),) if kernel.timed else ()
        if out is None:
            return kernel.call(q, v, tau, *clock)
        return kernel.checked(q, v, tau, *clock, out=out)

    def _force_kernel(self) -> Kernel | None:
        """Return the kernel of multipliers, None where rows share forces or there is none."""
        shared = self._plan.repeated or not self._plan.certain
        return None if shared else self._kernels.find('multipliers')

    def switched(self, constraints: Sequence[Constraint]) -> ConstraintSubsetDynamics:
        others = ConstraintSet.of(self.robot, constraints)
        key = tuple(map(id, others))
        if key not in self._switched:
            self._switched[key] = self._made_switched(others)
        return self._switched[key]

    def _made_switched(self, others: ConstraintSet) -> ConstraintSubsetDynamics:
        if not others or too_large(self.robot):
            return ConstraintSubsetDynamics(others, others.rows)
        recipe = replace(self._build.recipe, constraints=others, plan=RowPlan())
        table = self._kernels.made(Tracer.row_table, recipe).call

        def numbers(q: ArrayLike, v: ArrayLike, t: Floats) -> Sequence[Floats]:
            result = table(q, v, t)
            return result[:, :-3], *result[:, -3:].T

        rows = CompiledRows(numbers, others)
        return SwitchedCode(self._load, others, rows, build_switched(recipe))

    def _by_method(self, method: str, speeds: GeneralizedSpeeds | None, *state: Any) -> Motion:
        if not self._build.methods:
            raise InvalidInputError(
                f"compile with methods=True for method {method!r}; without it there is 'gauss'"
            )
        q, v, tau, t = state
        checked_coordinates(self.robot, q)
        return solve_by(method, self.robot, self._terms, q, v, tau, t, speeds)

    def _by_gauss(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        """Return the motion at one state."""
        if 'motion' not in self._kernels:
            return self._free_motion(q, v, tau) or self._reference.forward_dynamics(q, v, tau, t)
        if self._plan.repeated or not self._plan.certain:  # multipliers must be shared out
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
        return Motion(outputs[0], none, np.zeros(self._nv), 0, 0.0, none, none, (), ())

    def constraint_rows(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> ConstraintRows:
        if 'constraint_rows' not in self._kernels:
            return self._reference.constraint_rows(q, v, time)
        if self._rows is None:
            self._rows = CompiledRows(self._kernels['constraint_rows'].outputs, self.constraints)
        return self._rows(q, v, time)

    def consistent_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
    ) -> Floats:
        kernel = self._kernels.of_speeds(consistent_velocity, known=known)
        if kernel is None:
            return self._reference.consistent_velocity(q, v, known, time)
        return kernel.call(q, v, self._at(time))

    def consistent_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
    ) -> Floats:
        kernel = self._kernels.of_speeds(consistent_acceleration, known=known)
        if kernel is None:
            return self._reference.consistent_acceleration(q, v, a, known, time)
        return kernel.call(q, v, a, self._at(time))

    def constrained_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        actuated: Sequence[str],
        weights: ArrayLike | None = None,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
        *,
        terms: Sequence[str] = TERMS,
        reference: ArrayLike | None = None,
    ) -> ConstrainedEffort:
        # a list is as quick as a tuple: what was checked once is found again
        actuated = tuple(actuated) if isinstance(actuated, list) else actuated
        known = tuple(known) if isinstance(known, list) else known
        graph = constrained_effort if reference is None else reference_effort
        try:
            balance = self._balances[graph, actuated, known]
        except (KeyError, TypeError):  # new, or no tuples
            kernel = self._kernels.of_speeds(graph, actuated=actuated, known=known)
            if kernel is None:
                slow = self._reference.constrained_inverse_dynamics
                arguments = q, v, a, actuated, weights, known, time
                return slow(*arguments, terms=terms, reference=reference)
            balance = kernel.call
            if isinstance(actuated, tuple) and (known is None or isinstance(known, tuple)):
                self._balances[graph, actuated, known] = balance
        shares = self._ones
        if weights is not None:
            columns = speed_indices(self.robot, actuated, 'actuated')
            shares = checked_weights(self.robot, weights, columns)
        switches = self._all if terms is TERMS else np.array(term_switches(terms))
        motion = (v,) if reference is None else (v, reference)
        result = balance(q, *motion, a, shares, switches, self._at(time))
        return ConstrainedEffort(result, self._nv, self.labels)

    def frame_effort(
        self,
        law: TaskSpaceLaw,
        q: ArrayLike,
        v: ArrayLike,
        target: ArrayLike,
        gains: ArrayLike,
        posture: ArrayLike,
        a: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        time: ArrayLike = AT_START,
        *,
        terms: Sequence[str] = TERMS,
    ) -> FrameEffort:
        kernel = self._kernels.of_frame(law)
        if kernel is None:
            arguments = q, v, target, gains, posture, a, weights, time
            return self._reference.frame_effort(law, *arguments, terms=terms)
        shares = self._ones
        if weights is not None:
            columns = speed_indices(self.robot, law.actuated, 'actuated')
            shares = checked_weights(self.robot, weights, columns)
        switches = self._all if terms is TERMS else np.array(term_switches(terms))
        motion = q, v, self._still if a is None else a
        call = kernel.call
        result = call(*motion, target, gains, posture, shares, switches, self._at(time))
        return FrameEffort.of(result, self._nv, self.labels)

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
        graph = reference_effort if reference else constrained_effort
        self._kernels.of_speeds(graph, actuated=actuated, known=known)

    def prepare_frame(self, law: TaskSpaceLaw) -> None:
        """Compile `frame_effort` of a law before it is called."""
        self._kernels.of_frame(law)

    def _at(self, time: ArrayLike) -> Floats:
        """Return the time as an array; one that was left out costs nothing."""
        return self._start if time is AT_START else as_times(time)

    def _term(
        self, name: str, shape: tuple[int, ...], out: Floats | None, **state: ArrayLike
    ) -> Floats:
        """Return what a kernel gives, or the reference where there is none."""
        kernel = self._kernels.find(name)
        if kernel is None:
            reference: Floats = getattr(self._reference, name)(**state, out=out)
            return reference
        return kernel.checked(*state.values(), out=out)

    def _wrenches(self, external_wrenches: ExternalWrenches) -> Floats:
        """Return wrenches on all frames, (tau, f) of each, shape (6 n,)."""
        wrenches = np.zeros((len(self.frames), 6))
        for link, wrench in as_mapping('external_wrenches', external_wrenches).items():
            k = index_of('frame', link, self.frames)
            wrenches[k] += as_vector(f"wrench on '{link}' [N m, N]", wrench, 6)
        return wrenches.ravel()

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

    def engine(
        self, integrator: str = 'semi_implicit', projection: bool = True, halvings: int = 0
    ) -> Engine:
        if STEPS not in self._build.kernels:
            return self._reference.engine(integrator, projection, halvings)
        as_choice('integrator', integrator, sorted(INTEGRATORS))
        check_halvings(halvings)
        projection = projection and bool(self.constraints)
        key = integrator, projection, halvings
        if key not in self._engines:
            code = self._build.linked(STEPS)
            name = step_name(integrator, projection)
            self._engines[key] = CompiledEngine(
                self, self._law, name, code, *key, self._kernels.linker, self._load
            )
        return self._engines[key]

    def many_motions(
        self, integrator: str, projection: bool, precision: str = 'float64'
    ) -> ManyMotions | None:
        as_choice('integrator', integrator, sorted(INTEGRATORS))
        if STEPS not in self._build.kernels or 'motion' not in self._kernels:
            return super().many_motions(integrator, projection, precision)
        projection = projection and bool(self.constraints)
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

    def simulate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        duration: float,
        *,
        effort: EffortLaw | ArrayLike | None = None,
        step: float = 0.001,
        integrator: str = 'rk4',
        projection: bool = True,
        halvings: int = 0,
    ) -> Trajectory:
        engine = self.engine(integrator, projection, halvings)
        if isinstance(engine, CompiledEngine) and not callable(effort):
            return engine.trajectory(q, v, duration, effort, step)
        return super().simulate(
            q,
            v,
            duration,
            effort=effort,
            step=step,
            integrator=integrator,
            projection=projection,
            halvings=halvings,
        )
