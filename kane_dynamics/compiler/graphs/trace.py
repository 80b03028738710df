# SPDX-License-Identifier: Apache-2.0
"""
The algorithms traced into expression graphs of one robot.

Every graph is the result of calling the very functions of `kane_dynamics.algorithms` on CasADi
``SX`` scalars. Where kernels need a form with fewer operations, or one that keeps the zeros of the
tree, that form is an algorithm of its own: `newton_euler_by_moments` for efforts,
`mass_matrix` for M, `sparse_ldl` for the solves. Recursions from body to body whose results
are quantities in joint space are traced in the body frames of `canonical_frames`, which have more
zeros. Poses and constraint rows are those of the robot as it was given. So is C, which multiplies
poses up from the world: turns by 90 degrees, of which canonical frames are full, cost nothing in
rotations of vectors, but do in such products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.quaternions import vec3, vec4
from kane_dynamics.algebra.scalars import where
from kane_dynamics.algorithms.constrained_solve import (
    ConstrainedSystem,
    Solved,
    better_conditioned,
)
from kane_dynamics.algorithms.friction import implicit_drag, joint_friction
from kane_dynamics.algorithms.kinematics import (
    body_poses,
    momentum_vector,
    tree_kinetic_energy,
    tree_potential_energy,
)
from kane_dynamics.algorithms.mass_matrix import LowerTriangle, composite_mass_matrix
from kane_dynamics.algorithms.newton_euler import TERMS, required_effort
from kane_dynamics.algorithms.newton_euler_by_moments import newton_euler_by_moments
from kane_dynamics.algorithms.projection import POSITION_TOLERANCE
from kane_dynamics.algorithms.row_elimination import (
    SparseRows,
    residuals,
    sparse_rows,
    transpose_product,
)
from kane_dynamics.algorithms.sparse_ldl import (
    TreeFactor,
    factor_tree,
    inertia_bounds,
    loses_precision,
    symmetric_product,
)
from kane_dynamics.compiler.graphs.row_plan import RowPlan, row_plan
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.parameters import with_symbols
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import TAKEN
from kane_dynamics.dynamics.table import AT_START, FUNCTIONS, Function
from kane_dynamics.robot.canonical_frames import canonical_frames
from kane_dynamics.robot.motion import coordinate_rates, integrate_coordinates
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.simulation.integrators import KICKS, STICTION_SPEED
from kane_dynamics.simulation.step_checks import (
    crossing_determinant,
    excess_gap,
    excess_jump,
    forecast,
)

WELL_CONDITIONED = ca.SX(1.0)
SOLVED = 'acceleration'  # what has a graph of its own, for it solves
Symbols = list[ca.SX]


def symbols(name: str, size: int) -> Symbols:
    """Return `size` scalar symbols."""
    return [ca.SX.sym(f'{name}{k}') for k in range(size)]


def column(values: Sequence[Any] | NDArray[Any]) -> ca.SX:
    """Return scalars, numbers or traced, as a dense column."""
    return (
        ca.densify(ca.vertcat(*[ca.SX(value) for value in values])) if len(values) else ca.SX(0, 1)
    )


def matrix(values: Any, width: int) -> ca.SX:
    """Return a nested array of scalars, rows of `width`, as a matrix with structural zeros."""
    result = ca.SX(len(values), width)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            entry = ca.SX(value)
            if not entry.is_zero():
                result[i, j] = entry
    return result


def spec(
    name: str,
    inputs: Sequence[Symbols],
    outputs: Sequence[ca.SX],
    shapes: Sequence[tuple[int, ...]],
    rcond: ca.SX = WELL_CONDITIONED,
    parameters: Symbols | None = None,
) -> KernelSpec:
    """Return the kernel of some outputs, with common subexpressions shared."""
    *shared, shared_health = ca.cse([*outputs, rcond])
    columns = [column(values) for values in [*inputs, *([parameters] if parameters else [])]]
    function = ca.Function(name, columns, [*shared, ca.densify(shared_health)])
    sizes = tuple(len(values) for values in inputs)
    return KernelSpec(name, function, sizes, tuple(shapes), len(parameters or []))


class Tracer:
    """Graphs of one robot with one set of constraints."""

    def __init__(
        self,
        robot: Robot,
        constraints: Sequence[Constraint],
        frames: Sequence[str],
        plan: RowPlan | None = None,
        *,
        canonical: bool = True,
        payloads: Sequence[str] | None = None,
        in_single: bool = False,
    ) -> None:
        self.robot, self.in_single = robot, in_single
        self.constraints = ConstraintSet.of(robot, constraints)
        self.plan = row_plan(self.constraints) if plan is None else plan
        self.frames = tuple(frames)
        self.q = symbols('q', robot.nq)
        self.v = symbols('v', robot.nv)
        self.a = symbols('a', robot.nv)
        self.tau = symbols('tau', robot.nv)
        self.t = ca.SX.sym('t')
        self.at_rest = [0.0] * robot.nv
        self.canonical_robot, offsets = (
            canonical_frames(robot) if canonical else (robot, np.zeros(robot.nq))
        )
        self.canonical_q = [x + ahead for x, ahead in zip(self.q, offsets.tolist(), strict=True)]
        self.parameters: Symbols = []
        if payloads is not None:
            traced = with_symbols(robot, self.canonical_robot, payloads)
            self.parameters, self.robot, self.canonical_robot = traced

    def spec(
        self,
        name: str,
        inputs: Sequence[Symbols],
        outputs: Sequence[ca.SX],
        shapes: Sequence[tuple[int, ...]],
        rcond: ca.SX = WELL_CONDITIONED,
    ) -> KernelSpec:
        """Return the kernel of some outputs in these inputs and the parameters."""
        return spec(name, inputs, outputs, shapes, rcond, self.parameters)

    def function(self, row: Function) -> KernelSpec:
        """Trace a function of the table."""
        symbols_of = {'q': self.q, 'v': self.v, 'a': self.a}
        inputs, shape = [symbols_of[name] for name in row.inputs], row.shape_of(self)
        result = getattr(self, row.traced) if row.traced else row.formula(self, *inputs)
        if len(shape) < 2:
            output = column(result if shape else [result])
        elif isinstance(result, ca.SX):
            output = result
        else:
            rows = result if len(shape) == 2 else [row for part in result for row in part]
            output = matrix(rows, shape[-1])
        return self.spec(row.kernel, inputs, [output], [shape])

    @property
    def mass_entries(self) -> list[list[Any]]:
        """Return M, both triangles."""
        lower, every = self.mass, range(self.robot.nv)
        return [[lower[max(i, j)].get(min(i, j), 0.0) for j in every] for i in every]

    @property
    def pose_rows(self) -> list[list[Any]]:
        """Return positions and quaternions (w, x, y, z) of the named frames."""
        poses, rows = body_poses(self.robot, self.q), []
        for name in self.frames:
            frame = self.robot.frame(name)
            x = frame.pose if frame.body == WORLD else poses[frame.body] * frame.pose
            rows.append([*vec3(x.translation), *vec4(x.rotation)])
        return rows

    @property
    def momentum_slope(self) -> ca.SX:
        """Return the derivative of the momentum along v."""
        momentum = momentum_vector(self.robot, self.q, self.v)
        return ca.jacobian(column(momentum), column(self.v))

    @property
    def effort(self) -> Any:
        """Return (19)-(30) with friction and armature."""
        return self.required_effort(self.v, self.a)

    @property
    def gravity(self) -> Any:
        """Return g."""
        return self.tree_effort(self.at_rest)

    @property
    def kinetic(self) -> Any:
        """Return T."""
        return tree_kinetic_energy(self.canonical_robot, self.canonical_q, self.v)

    @property
    def potential(self) -> Any:
        """Return V."""
        return tree_potential_energy(self.canonical_robot, self.canonical_q)

    def forward_dynamics(self) -> KernelSpec:
        """Trace accelerations under the constraints."""
        rcond = ca.SX(self._solution.rcond)
        if self.in_single:
            rcond = where(self._loses_precision() > 0.0, 0.0, rcond)
        return self._forward('forward_dynamics', self.inputs_of_forward_dynamics(), 1, rcond)

    def motion(self) -> KernelSpec:
        """Trace accelerations, multipliers, A' lambda, and what violates A vdot = b, b0, Phi."""
        rcond = ca.SX(self._solution.rcond)
        return self._forward('motion', self.inputs_of_forward_dynamics(), 6, rcond)

    def acceleration(self) -> KernelSpec:
        """Trace accelerations with time always among the inputs, for steps."""
        rcond = ca.SX(self._solution.rcond)
        return self._forward('acceleration', [self.q, self.v, self.tau, [self.t]], 1, rcond)

    def impulse(self) -> KernelSpec:
        """Trace speeds h after v with implicit friction, forces at `a`: (q, v, a, tau, (t, h))."""
        h = ca.SX.sym('h')
        drag = implicit_drag(self.robot, self.a, STICTION_SPEED)
        momentum = symmetric_product(self.mass, self.v)
        bias = self.tree_effort(self.a)
        force = [p + h * (u - c) for p, u, c in zip(momentum, self.tau, bias, strict=True)]
        rows = self.rows(self.q, self.a, self.t)
        damped = [{**row, k: row[k] + h * drag[k]} for k, row in enumerate(self.mass)]
        solved = ConstrainedSystem(factor_tree(damped), self.system(rows)).solve(
            force, list(rows.velocity_after(self.v, h)), (self.a, list(rows.velocity))
        )
        inputs = [self.q, self.v, self.a, self.tau, [self.t, h]]
        shapes = [(self.robot.nv,)]
        return self.spec('impulse', inputs, [column(solved.x)], shapes, ca.SX(solved.rcond))

    def kick(self) -> KernelSpec:
        """Trace speeds h after v across a middle place: (q, v, tau, (t, h))."""
        h = ca.SX.sym('h')
        drag = implicit_drag(self.robot, self.v, STICTION_SPEED)
        momentum = symmetric_product(self.mass, self.v)
        damped = [{**row, k: row[k] + h * drag[k]} for k, row in enumerate(self.mass)]
        rows, middle = self.rows(self.q, self.v, self.t), self.v
        system = ConstrainedSystem(factor_tree(damped), self.system(rows))
        for turn in range(1, KICKS + 1):
            bias = self.tree_effort(middle)
            force = [p + h * (u - c) for p, u, c in zip(momentum, self.tau, bias, strict=True)]
            rows = self.rows(self.q, middle, self.t)
            last = turn == KICKS
            speeds = (middle, list(rows.velocity)) if last else None
            target = list(rows.velocity_across(self.v, h))
            solved = system.solve(force, target, speeds, watch=last)
            middle = [0.5 * (x + y) for x, y in zip(self.v, solved.x, strict=True)]
        inputs = [self.q, self.v, self.tau, [self.t, h]]
        shapes = [(self.robot.nv,)]
        return self.spec('kick', inputs, [column(solved.x)], shapes, ca.SX(solved.rcond))

    def balance(self) -> KernelSpec:
        """Trace whether the states (q, v) x 3 and h of a midpoint step keep the energy."""
        sizes = [self.robot.nq, self.robot.nv] * 3
        states = [symbols(f'state{k}_', size) for k, size in enumerate(sizes)]
        start, middle, end = zip(states[::2], states[1::2], strict=True)
        h = ca.SX.sym('h')
        _, excess = excess_gap(self.robot, start, middle, end, h)
        return self.spec('balance', [*states, [h]], [], [], where(ca.SX(excess) > 0.0, 0.0, 1.0))

    def jump(self) -> KernelSpec:
        """Trace whether middle speeds follow from the start: (q, v, v_middle, tau, (t, h))."""
        h = ca.SX.sym('h')
        excess = excess_jump(
            lambda x: symmetric_product(self.mass, x),
            self.v,
            forecast(self.v, self._solution.x, h),
            self.a,
        )
        inputs = [self.q, self.v, self.a, self.tau, [self.t, h]]
        rcond = where(ca.SX(excess) > 0.0, 0.0, ca.SX(self._solution.rcond))
        return self.spec('jump', inputs, [], [], rcond)

    @cached_property
    def holonomic(self) -> dict[int, Any]:
        """Return the violations of the rows that are holonomic, by the number of the row."""
        positions = self.state_rows.positions
        return {k: phi for k, phi in enumerate(positions) if phi is not None}

    @property
    def violation(self) -> list[Any]:
        """Return Phi of all rows, 0 for those that are not holonomic."""
        return [self.holonomic.get(k, 0.0) for k in range(len(self.state_rows))]

    def place(self) -> KernelSpec:
        """Trace one Newton step of the coordinates onto the holonomic rows."""
        violation = [-x for x in self.violation]
        system = self.system(self.state_rows, holonomic=True)
        solved = self.solve(self.at_rest, system, violation, holonomic=True, watch=False)
        q = integrate_coordinates(self.robot, self.q, solved.x, 1.0)
        inputs, rcond = [self.q, [self.t]], ca.SX(solved.rcond)
        return self.spec('place', inputs, [column(q)], [(self.robot.nq,)], rcond)

    def crossing(self) -> KernelSpec:
        """Trace whether no singular state lies between (q, q', (t, t')); see `crossing`."""
        ends, times = (self.q, symbols('end', self.robot.nq)), symbols('t', 2)
        rcond = WELL_CONDITIONED
        if self.plan.certain:
            systems = [
                self.system(self.rows(q, self.at_rest, t), holonomic=True)
                for q, t in zip(ends, times, strict=True)
            ]
            rcond = ca.SX(0.0)
            for order in (choice.order for choice in systems[0].choices):
                before, after = ([system.rows[k] for k in order] for system in systems)
                rcond = where(ca.SX(crossing_determinant(before, after)) < 0.0, rcond, 1.0)
        return self.spec('crossing', [*ends, times], [], [], rcond)

    def project(self) -> KernelSpec:
        """Trace the speeds onto the rows, and the rank; ill where the coordinates are off them."""
        solved = self.nearest_speeds()
        rcond = solved.rcond
        for k, phi in self.holonomic.items():  # as `algorithms.projection` ends
            limit = where(ca.SX(solved.dropped[k]) > 0.0, TAKEN, POSITION_TOLERANCE)
            rcond = where(ca.fabs(ca.SX(phi)) > limit, 0.0, rcond)
        inputs = [self.q, self.v, [self.t]]
        outputs, shapes = [column(solved.x), column([solved.rank])], [(self.robot.nv,), (1,)]
        return self.spec('project', inputs, outputs, shapes, ca.SX(rcond))

    def nearest_speeds(self) -> Solved:
        """Return the speeds on the rows that are nearest to v in the metric of M, as x."""
        system, b0 = self.system(self.state_rows), list(self.state_rows.velocity)
        gap = [-x for x in residuals(system.rows, self.v, b0)]
        solutions = []
        for rows in system.choices:
            solved = self.solve(self.at_rest, rows, gap, watch=False)
            v = [a + b for a, b in zip(self.v, solved.x, strict=True)]
            solutions.append(solved._replace(x=v, rcond=solved.rcond_of_speeds(v, b0)))
        return better_conditioned(solutions)

    def balance_derivatives(self) -> KernelSpec:
        """Trace the derivatives of what must vanish in a motion, at fixed vdot and lambda."""
        robot, rows = self.robot, self.state_rows.take(self.plan.solved)
        count = len(rows)
        multipliers = symbols('lambda', count)
        A = sparse_rows(rows.matrix)
        effort = self.required_effort(self.v, self.a)
        force = [
            tau - p
            for tau, p in zip(effort, transpose_product(A, multipliers, robot.nv), strict=True)
        ]
        balance = column(force + residuals(A, self.a, rows.acceleration))
        q, v = column(self.q), column(self.v)
        unit = np.eye(robot.nv).tolist()
        tangent = ca.horzcat(*[column(coordinate_rates(robot, self.q, e)) for e in unit])
        jacobian = ca.horzcat(ca.jacobian(balance, q) @ tangent, ca.jacobian(balance, v))
        inputs = [self.q, self.v, self.a, multipliers, [self.t]]
        shape = (robot.nv + count, 2 * robot.nv)
        return self.spec('balance_derivatives', inputs, [jacobian], [shape])

    def constraint_rows(self) -> KernelSpec:
        """Trace A, b0, b and Phi of all rows; Phi is 0 for rows that are not holonomic."""
        A, *sides = self._row_numbers
        shapes = [A.shape, *[(side.numel(),) for side in sides]]
        return self.spec('constraint_rows', [self.q, self.v, [self.t]], [A, *sides], shapes)

    def row_table(self) -> KernelSpec:
        """Trace what `constraint_rows` does, side by side in one matrix."""
        table = ca.horzcat(*self._row_numbers)
        return self.spec('row_table', [self.q, self.v, [self.t]], [table], [table.shape])

    @property
    def _row_numbers(self) -> list[ca.SX]:
        rows = self.state_rows
        sides = rows.velocity, rows.acceleration, self.violation
        return [matrix(rows.matrix, self.robot.nv), *[column(x) for x in sides]]

    def multipliers(self) -> KernelSpec:
        """Trace lambda of all rows."""
        inputs, solved = self.inputs_of_forward_dynamics(), self._solution
        matches = column(solved.multipliers)
        rcond = ca.SX(solved.rcond)
        return self.spec('multipliers', inputs, [matches], [(len(solved.multipliers),)], rcond)

    def inputs_of_forward_dynamics(self) -> list[Symbols]:
        """Return q, v, tau, and t where a constraint depends on it."""
        rows = self.state_rows
        numbers = *rows.matrix.ravel(), *rows.velocity, *rows.acceleration, *self.violation
        parts = [ca.SX(x) for x in numbers]
        timed = bool(parts) and ca.depends_on(ca.vertcat(*parts), self.t)
        return [self.q, self.v, self.tau] + ([[self.t]] if timed else [])

    def _forward(self, name: str, inputs: list[Symbols], outputs: int, rcond: ca.SX) -> KernelSpec:
        nv = self.robot.nv
        solved = self._solution
        rows = self.state_rows
        A = sparse_rows(rows.matrix)
        force = transpose_product(A, solved.multipliers, nv)
        residual = residuals(A, solved.x, rows.acceleration)
        slip = residuals(A, self.v, rows.velocity)
        results = solved.x, solved.multipliers, force, residual, slip, self.violation
        columns = [column(x) for x in results]
        shapes = [(len(x),) for x in results]
        return self.spec(name, inputs, columns[:outputs], shapes[:outputs], rcond)

    def _loses_precision(self) -> ca.SX:
        """Return 1 where accelerations may be off by too many roundings, else 0."""
        parts = [self.tau, list(self.bias), list(self._friction)]
        sizes = inertia_bounds(self.canonical_robot)
        return ca.SX(loses_precision(self._solution.x, self._factor.pivots, sizes, parts))

    @cached_property
    def _friction(self) -> Any:
        return joint_friction(self.robot, self.v)

    @cached_property
    def _force(self) -> list[Any]:
        parts = zip(self.tau, self.bias, self._friction, strict=True)
        return [u - c - f for u, c, f in parts]

    @cached_property
    def _solution(self) -> Solved:
        """Return accelerations, multipliers and health."""
        rows = self.state_rows
        speeds = self.v, list(rows.velocity)
        return self.solve(self._force, self.system(rows), list(rows.acceleration), speeds)

    def solve(
        self,
        force: Sequence[Any],
        system: SparseRows,
        right_side: Sequence[Any],
        speeds: tuple[Sequence[Any], Sequence[Any]] | None = None,
        *,
        holonomic: bool = False,
        watch: bool = True,
    ) -> Solved:
        """Return x of M x = Q + A' lambda, A x = c; see `ConstrainedSystem.solve`."""
        return ConstrainedSystem(self._factor, system).solve(
            force, right_side, speeds, watch=watch
        )

    @cached_property
    def _factor(self) -> TreeFactor:
        return factor_tree(self.mass)

    @cached_property
    def bias(self) -> Any:
        """Return C v + g."""
        return self.tree_effort(self.v)

    def tree_effort(self, v: Sequence[Any]) -> NDArray[Any]:
        """Return C v + g."""
        return newton_euler_by_moments(self.canonical_robot, self.canonical_q, v, self.at_rest)

    def required_effort(
        self, v: Sequence[Any], a: Sequence[Any], switches: Sequence[Any] = (1.0,) * len(TERMS)
    ) -> NDArray[Any]:
        """Return what the actuators must give, (19)-(30) with friction and armature."""
        tree = self.canonical_robot, self.canonical_q
        return required_effort(*tree, v, a, switches=switches, tree_effort=newton_euler_by_moments)

    @cached_property
    def mass(self) -> LowerTriangle:
        """Return the lower triangle of M."""
        return composite_mass_matrix(self.canonical_robot, self.canonical_q)

    @cached_property
    def state_rows(self) -> ConstraintRows:
        """Return the rows at q, v, t."""
        return self.rows(self.q, self.v, self.t)

    def system(self, rows: ConstraintRows, *, holonomic: bool = False) -> SparseRows:
        """Return rows as a solve treats them."""
        return self.plan.system(rows, sparse_rows(rows.matrix), holonomic=holonomic)

    def rows(self, q: Any, v: Any, t: Any) -> ConstraintRows:
        """Return the rows at a state."""
        return self.constraints.rows(q, v, t)


@cache
def function_graph(name: str) -> Graph:
    """Return what traces a function of the table."""

    def traced(tracer: Tracer) -> KernelSpec:
        return tracer.function(FUNCTIONS[name])

    traced.__name__ = FUNCTIONS[name].kernel
    return traced


Graph = Callable[[Tracer], KernelSpec]
GRAPHS: tuple[Graph, ...] = (
    *(
        function_graph(x.name)
        for x in FUNCTIONS.values()
        if x.compiled == AT_START and x.name != SOLVED
    ),
    Tracer.forward_dynamics,
    Tracer.motion,
)
DERIVATIVE_GRAPHS: tuple[Callable[[Tracer], KernelSpec], ...] = (Tracer.balance_derivatives,)
STEP_GRAPHS: tuple[Callable[[Tracer], KernelSpec], ...] = (
    Tracer.acceleration,
    Tracer.impulse,
    Tracer.kick,
    Tracer.balance,
    Tracer.jump,
    Tracer.place,
    Tracer.crossing,
    Tracer.project,
)
