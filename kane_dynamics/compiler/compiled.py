# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics are machine code; made by `kane_dynamics.compile`."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from kane_dynamics.algorithms.udwadia_kalaba import (
    Motion,
    motion_as_read,
    selected_rows,
    solve_motion,
)
from kane_dynamics.compiler import derivatives
from kane_dynamics.compiler.engine import CompiledEngine, switched_code
from kane_dynamics.compiler.kernel_loader import Build, load_kernels
from kane_dynamics.compiler.kernel_set import CompiledRows, CompiledTerms, KernelSet, TaskLaw
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import DIRECT, FORWARD, Recipe, not_compiled, too_large
from kane_dynamics.compiler.rollout_steps import CompiledMotions
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.base import Arrays, Choices, Out
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.interface import ConstraintSubsetDynamics, Dynamics, dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations import solve_by
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.simulation.motions import ManyMotions, Trajectory
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.typing import ArrayLike, Floats


class CompiledDynamics(Dynamics):
    """
    Dynamics of one robot under fixed constraints as machine code; see `Dynamics`.

    Batches run on all cores. Ill-conditioned states go to the reference, and are counted in
    `fallback_count`. Copies, in other processes too, are compiled there, or from the cache.

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
        self._efforts = self._kernels.efforts
        self._engines: dict[tuple[str, bool, int], CompiledEngine] = {}
        self._motions: dict[tuple[Any, ...], CompiledMotions] = {}
        self._switched: dict[tuple[int, ...], ConstraintSubsetDynamics] = {}  # by identity
        if 'coriolis_effort' in self._kernels:
            self._use('coriolis_matrix', self._coriolis_at)
        self._as_read = recipe.rows_are_certain and 'motion' in self._kernels and self.robot.nv > 0
        if not recipe.rows_are_certain:  # forces are shared out between rows that repeat others
            self._use('multipliers', lambda *x: self.motion_at(*x[:3], float(x[3][0])).multipliers)
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
        return _recompiled, (self._build.recipe, self._load.copied())

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
        return not_compiled(self.robot, self.constraints, self._build.recipe.methods)

    @property
    def fallback_count(self) -> int:
        """Return how many states the reference solved, because rows were dependent there."""
        steps = sum(engine.fallback_count for engine in self._engines.values())
        return steps + sum(kernel.fallback_count for _, kernel in self._kernels.items())

    @property
    def double_precision_count(self) -> int:
        """Return how many states of float32 batches were computed in double; see `compile`."""
        return sum(kernel.double_precision_count for _, kernel in self._kernels.items())

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of each kernel's graph."""
        kernels = self._kernels.items()
        return {name: kernel.instructions for (name, choices), kernel in kernels if not choices}

    def _under_wrenches(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Any, out: Floats | None
    ) -> Floats:
        push = self._kernels.wrench_force(q, wrenches)
        if push is None:
            return self._reference.inverse_dynamics(q, v, a, wrenches, out)
        efforts = self._call('inverse_dynamics', (q, v, a), (), out)
        efforts -= push
        return efforts

    def _use(self, name: str, at: Callable[..., Floats]) -> None:
        """Let a method of one state stand for machine code of a function."""
        by_states = partial(self._by_states, name, at)
        self._calls[name, ()] = lambda *state, out=None: by_states(state, out), None

    def _coriolis_at(self, q: Floats, v: Floats) -> Floats:
        checked_coordinates(self.robot, q)
        return self._kernels['coriolis_effort'].checked(q, v, np.eye(self.robot.nv)).T

    def _motion_as_read(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Motion | None:
        if self._as_read and getattr(q, 'ndim', 1) == 1:  # of many states each is computed whole
            a = self.acceleration(q, v, tau)
            if a.ndim == 1 and a.item(0) == a.item(0):  # NaN in is NaN out
                state = self._load.robot, np.array(q), np.array(v), np.array(tau)
                return motion_as_read(a, self._motion_under, state)
        return None

    def _motion_under(self, robot: Robot, *state: Floats) -> Motion:
        """Return the motion at the start under the gravity and the payloads of a robot."""
        q, v, tau = (x.astype(float) for x in state)
        now = robot is self._load.robot
        return (self if now else dynamics(robot, self.constraints)).motion_at(q, v, tau)

    def motion_at(self, q: Floats, v: Floats, tau: Floats, t: float = START, *how: Any) -> Motion:
        if not how:
            return self._by_gauss(q, v, tau, t)
        method, speeds = how
        if not self._build.recipe.methods:
            raise InvalidInputError(
                f"compile with methods=True for method {method!r}; without it there is 'gauss'"
            )
        checked_coordinates(self.robot, q)
        terms = CompiledTerms(self, self._kernels)
        return solve_by(method, self.robot, terms, q, v, tau, t, speeds)

    def _by_gauss(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        large = 'motion' not in self._kernels
        if large and self.constraints:
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

    def _switched_by(self, constraints: Sequence[Constraint]) -> ConstraintSubsetDynamics:
        key = tuple(map(id, constraints)) if isinstance(constraints, Sequence) else ()
        if key in self._switched:
            return self._switched[key]
        others = ConstraintSet.of(self.robot, constraints)
        if not others or too_large(self.robot, others):
            return super()._switched_by(others)
        code = switched_code(self._kernels, others)
        return self._switched.setdefault(tuple(map(id, others)), code)

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

    def prepare_frame(self, law: TaskLaw) -> None:
        """Compile the efforts of a law before they are asked for."""
        self._kernels.prepare(law)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> derivatives.Derivatives:
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
        return derivatives.of_inverse_dynamics(balance, self.mass_matrix(q))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, time: float = 0.0
    ) -> derivatives.Derivatives:
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
        independent = selected_rows(mass := self.mass_matrix(q), rows).independent_indices
        if len(independent) < len(self._plan.order):
            raise InvalidInputError(
                'the constraint rows are dependent at this state: vdot has no derivative there'
            )
        A, multipliers = rows.matrix[independent], np.zeros(len(rows))
        # A' lambda, whichever rows the solve took
        force = self.inverse_dynamics(q, v, a) - np.asarray(tau, dtype=float)
        multipliers[independent] = np.linalg.lstsq(A.T, force, rcond=None)[0]
        balance = self._kernels.balance_derivatives(q, v, a, multipliers, t)
        kept = [*range(len(mass)), *(len(mass) + independent)]
        return derivatives.of_forward_dynamics(balance[kept], mass, A)

    def _engine(self, integrator: str, projection: bool, halvings: int) -> Engine:
        key = integrator, projection, halvings
        if key not in self._engines:
            self._engines[key] = CompiledEngine(self, self._kernels, *key)
        return self._engines[key]

    def _motions_by(self, *how: Any) -> ManyMotions | None:
        if 'motion' not in self._kernels:
            return None
        if how not in self._motions:
            self._motions[how] = CompiledMotions(self._kernels, *how)
        return self._motions[how]

    def _trajectory(
        self, engine: Engine, q: ArrayLike, v: ArrayLike, how: dict[str, Any]
    ) -> Trajectory:
        if isinstance(engine, CompiledEngine) and not callable(how['effort']):
            return engine.trajectory(q, v, how['duration'], how['effort'], how['step'])
        return super()._trajectory(engine, q, v, how)


def _recompiled(recipe: Recipe, load: Parameters) -> CompiledDynamics:
    """Return dynamics by what they are made of; machine code comes from the cache."""
    return CompiledDynamics(load, load_kernels(recipe))
