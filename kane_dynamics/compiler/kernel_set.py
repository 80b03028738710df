# SPDX-License-Identifier: Apache-2.0
"""The kernels of a compiled robot: loaded, made when they are first asked for, and counted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw, checked_law
from kane_dynamics.algorithms.udwadia_kalaba import Motion, solve_motion
from kane_dynamics.algorithms.wrench_law import WrenchLaw
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.kernel import Kernel
from kane_dynamics.compiler.kernel_loader import Build, load_batches, load_kernel
from kane_dynamics.compiler.llvm.limits import LARGEST_INPUT
from kane_dynamics.compiler.llvm.native import Linker
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import DIRECT, IN_SINGLE, INPUTS, Recipe, too_large
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.interface import ReferenceDynamics
from kane_dynamics.dynamics.table import FUNCTIONS, ON_DEMAND
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations import ReferenceTerms
from kane_dynamics.formulations.problem import Terms
from kane_dynamics.robot.checks import as_mapping, as_names, as_number, as_vector, index_of
from kane_dynamics.robot.state import GravityAndPayloads, checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats

TaskLaw = TaskSpaceLaw | WrenchLaw
_LAWS: dict[str, Callable[..., Any]] = {'frame_effort': TaskSpaceLaw, 'wrench_effort': WrenchLaw}
Method = Callable[..., Floats]
Key = tuple[str, tuple[Any, ...]]


def checked_choices(name: str, choices: tuple[Any, ...], engine: Any) -> tuple[Any, ...]:
    """Return the choices of a function as what its graph takes."""
    if name in _LAWS:
        return tuple(checked_law(engine.robot, *choices))
    several = []
    for what, names in zip(('actuated', 'known')[-len(choices) :], choices, strict=True):
        several.append(None if names is None else tuple(dict.fromkeys(as_names(what, names))))
        for one in several[-1] or ():
            engine.robot.velocity_index(one)
    return tuple(several)


class LargeDynamics(ReferenceDynamics):
    """
    The reference on compiled recursions, for robots too large for straight-line code.

    Column k of M is one run of inverse dynamics at rest, without gravity, with unit acceleration k
    (Silva et al., section 6), column k of C one run of C x with unit speed k. Solves are LAPACK's.
    """

    def __init__(
        self,
        load: GravityAndPayloads,
        constraints: Sequence[Constraint],
        frames: Sequence[str],
        recursions: Mapping[str, Callable[..., Any]],
    ) -> None:
        super().__init__(load, constraints, frames)
        self._recursions = recursions

    def at_state(self, name: str, choices: tuple[Any, ...], *state: Floats) -> Any:
        """Return what a function of the table gives at one state of finite numbers."""
        if name in self._recursions:
            return self._recursions[name](*state)
        return super().at_state(name, choices, *state)

    def _step_terms(self) -> Terms:
        return self

    def motion_at(self, q: Floats, v: Floats, tau: Floats, t: float = START, *how: Any) -> Motion:
        if how:
            return super().motion_at(q, v, tau, t, *how)
        q, v = np.array(q), np.array(v)
        rows, mass = self.constraint_rows(q, v, t), self.mass_matrix(q)
        return solve_motion(self.robot, rows, mass, self.bias_force(q, v), v, tau)


class KernelSet:
    """Kernels by name."""

    def __init__(self, build: Build, load: Parameters, methods: Callable[[str], Method]) -> None:
        self.build, self.load, self._methods = build, load, methods
        parts = load, build.recipe.constraints, build.recipe.frames
        self.reference, self.linker = ReferenceDynamics(*parts), Linker()
        self._too_large = too_large(load.robot, build.recipe.constraints)
        self._kernels: dict[Key, Kernel] = {}
        self.calls: dict[Key, tuple[Method | None, int | None]] = {}
        self.efforts: dict[tuple[Any, ...], Method] = {}  # of constrained inverse dynamics
        for name in INPUTS:
            if name in build.kernels:
                batches = partial(load_batches, build.recipe, name)
                self._kernels[name, ()] = self._loaded(name, build.kernels[name], batches)
        if 'motion' not in build.kernels:
            calls = {name: self[name].call for name in ('mass_matrix', 'bias_force')}
            self.reference = LargeDynamics(*parts, calls)

    def __contains__(self, name: str) -> bool:
        return (name, ()) in self._kernels

    def __getitem__(self, name: str) -> Kernel:
        return self._kernels[name, ()]

    def items(self) -> Iterable[tuple[Key, Kernel]]:
        """Return the kernels so far, by name and choices."""
        return self._kernels.items()

    def method(self, name: str, choices: tuple[Any, ...]) -> tuple[Method | None, int | None]:
        """Return what computes a function and the number of its inputs; None where numpy does."""
        kernel = self.find(name, choices)
        made: tuple[Method | None, int | None] = None, None
        if kernel is not None:
            made = kernel.checked if kernel.name in DIRECT else kernel.call, kernel.count
        if all(x is None or isinstance(x, tuple) for x in choices):
            self.calls[name, choices] = made
            if kernel is not None and name == 'constrained_effort':
                self.efforts[choices] = kernel.call
        return made

    def find(self, name: str, choices: tuple[Any, ...] = ()) -> Kernel | None:
        """Return a kernel of the table, made where it is new; None where there is none."""
        row = FUNCTIONS[name]
        key = row.kernel, checked_choices(name, choices, self.reference) if choices else ()
        makes = row.compiled == ON_DEMAND and not self._too_large
        if key not in self._kernels and makes:
            self._kernels[key] = self.made(self.build.recipe, *key)
        return self._kernels.get(key)

    def prepare(self, law: TaskLaw) -> None:
        """Make the kernels of a law, and of its efforts at limits, where they are new."""
        self.find(next(row for row, kind in _LAWS.items() if type(law) is kind), (law,))
        if isinstance(law, WrenchLaw):
            for row in ('inner_forces', 'limited_effort'):
                self.find(row, (law.actuated,))
            for row in ('force_responses', 'frame_jacobians', 'frame_bias_accelerations'):
                self.find(row)

    def wrench_force(self, q: ArrayLike, external_wrenches: Any) -> Floats | None:
        """Return J' w of wrenches on links, None where a robot is too large for its kernel."""
        if self._too_large:
            return None
        if 'external_force' not in self:
            made = self.made(self.build.recipe, 'external_force')
            self._kernels['external_force', ()] = made
        frames = self.reference.frames
        wrenches = np.zeros((len(frames), 6))
        for link, wrench in as_mapping('external_wrenches', external_wrenches).items():
            k = index_of('frame', link, frames)
            wrenches[k] += as_vector(f"wrench on '{link}' [N m, N]", wrench, 6)
        return self['external_force'].checked(q, wrenches.ravel())

    def made(self, recipe: Recipe, name: str, choices: tuple[Any, ...] = ()) -> Kernel:
        """Return a kernel by the robot's recipe or another one."""
        what = recipe, name, choices
        return self._loaded(name, load_kernel(*what), partial(load_batches, *what), choices)

    def balance_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, multipliers: Floats, t: Floats
    ) -> Floats:
        """Return the derivatives of (r, c) at one state: columns are the tangent of q, and v."""
        if max(map(np.ndim, (q, v, a))) > 1:
            raise InvalidInputError('q, v, a: need one state for derivatives, got several')
        if 'balance_derivatives' in self:
            return self['balance_derivatives'].checked(q, v, a, multipliers, t)
        if 'effort_tangent' not in self:
            raise InvalidInputError('compile with derivatives=True for derivatives')
        dq, dv = np.split(np.eye(2 * np.size(v)), 2, axis=1)
        efforts = self['effort_tangent'].checked(q, v, a, dq, dv).T
        if 'row_tangent' not in self:
            return efforts
        balance = self['row_tangent'].checked(q, v, a, multipliers, t, dq, dv).T
        balance[: len(efforts)] += efforts
        return balance

    def _loaded(
        self,
        name: str,
        cached: CachedKernel,
        batches: Callable[[], CachedKernel],
        choices: tuple[Any, ...] = (),
    ) -> Kernel:
        return Kernel(
            name,
            cached,
            INPUTS[name],
            self._fallback(name, choices),
            self.linker,
            self.load.values,
            self._methods(DIRECT[name]) if name in DIRECT else None,
            batches=batches,
            in_single=self.build.recipe.precision == 'float32' and name in IN_SINGLE,
            code=self.build.linked(name, cached.code),
        )

    def _fallback(self, name: str, key: tuple[Any, ...]) -> Callable[..., Any]:
        """Return what a kernel asks where it is not sure."""
        name = DIRECT.get(name, name)
        if name not in FUNCTIONS:
            return self._no_reference
        choices = (_LAWS[name](*key),) if name in _LAWS else key
        return partial(self.reference.at_state, name, choices)

    def _no_reference(self, q: Floats, *_: Floats) -> Floats:
        """Say why machine code that solves nothing has no answer."""
        checked_coordinates(self.reference.robot, q)
        raise InvalidInputError(f'states must be below {LARGEST_INPUT:g} here, got q = {q}')


class CompiledTerms:
    """All terms by compiled kernels; see `formulations.problem.MethodTerms`."""

    def __init__(self, dynamics: Dynamics, kernels: KernelSet) -> None:
        self.dynamics, self.kernels = dynamics, kernels
        self.mass_matrix, self.bias_force = dynamics.mass_matrix, dynamics.bias_force
        self.gravity_force, self.rows = dynamics.gravity_force, dynamics.constraint_rows

    @property
    def _reference(self) -> ReferenceTerms:
        return ReferenceTerms(self.dynamics.robot, self.dynamics.constraints)

    def mass_rate(self, q: Floats, v: Floats) -> Floats:
        """Return dM/dt = C + C' (52), shape (nv, nv)."""
        coriolis = self.dynamics.coriolis_matrix(q, v)
        return coriolis + coriolis.T

    def newton_euler(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return M a + C v + g by one run of dqNE, armature included, shape (nv,)."""
        return self.dynamics.inverse_dynamics(q, v, a) - self.dynamics.friction_force(v)

    def gibbs_gradient(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return dS/da = M a + C v (55), shape (nv,)."""
        if 'gibbs_gradient' not in self.kernels:
            return self._reference.gibbs_gradient(q, v, a)
        gradient: Floats = self.kernels['gibbs_gradient'].call(q, v, a)
        return gradient

    def lagrange_terms(self, q: Floats, v: Floats) -> tuple[list[Floats], Floats, Floats]:
        """Return Parsa's J_i (26) of every body, M and h (39)."""
        if 'lagrange_terms' not in self.kernels:
            return self._reference.lagrange_terms(q, v)
        stack, mass, velocity_force = self.kernels['lagrange_terms'].outputs(q, v)
        return list(stack.reshape(-1, 6, self.dynamics.robot.nv)), mass, velocity_force


class CompiledRows:
    """The rows of a set of constraints."""

    def __init__(
        self, numbers: Callable[..., Sequence[Floats]], constraints: ConstraintSet
    ) -> None:
        self._numbers, self._constraints = numbers, constraints
        self._known: ConstraintRows | None = None

    def __call__(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> ConstraintRows:
        """Return all rows A v = b0, A vdot = b, of one state."""
        A, b0, b, phi = self._numbers(q, v, np.array([as_number('time [s]', time)]))
        if self._known is None:  # what does not depend on the state: labels, kinds, owners
            robot = self._constraints.robot
            state = checked_coordinates(robot, q), checked_speeds(robot, v)
            self._known = self._constraints.rows(*state, time)
        known = self._known
        both = zip(known.positions, phi.tolist(), strict=True)
        positions = tuple(None if there is None else x for there, x in both)
        constant = known.labels, known.integrated, known.kinds, known.owners
        return ConstraintRows(A, b0, b, positions, *constant)
