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

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.quaternions import vec3, vec4
from kane_dynamics.algebra.traced_scalar import column, symbol, symbols
from kane_dynamics.algorithms.constrained_solve import ConstrainedSystem, Solved
from kane_dynamics.algorithms.kinematics import (
    body_poses,
    momentum_vector,
    tree_kinetic_energy,
    tree_potential_energy,
)
from kane_dynamics.algorithms.mass_matrix import LowerTriangle, composite_mass_matrix
from kane_dynamics.algorithms.newton_euler import TERMS, joint_friction, required_effort
from kane_dynamics.algorithms.newton_euler_by_moments import newton_euler_by_moments
from kane_dynamics.algorithms.row_elimination import SparseRows, sparse_rows
from kane_dynamics.algorithms.sparse_ldl import TreeFactor, factor_tree
from kane_dynamics.compiler.graphs.row_plan import RowPlan, row_plan
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.parameters import with_symbols
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.robot.canonical_frames import canonical_frames
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import NDArray

WELL_CONDITIONED = ca.SX(1.0)
Symbols = list[ca.SX]


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
    return KernelSpec(name, sizes, tuple(shapes), function, len(parameters or []))


class TracedState:
    """Quantities of one robot with one set of constraints, traced at symbols of a state."""

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
        self.t = symbol('t')
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

    @cached_property
    def holonomic(self) -> dict[int, Any]:
        """Return the violations of the rows that are holonomic, by the number of the row."""
        positions = self.state_rows.positions
        return {k: phi for k, phi in enumerate(positions) if phi is not None}

    @property
    def violation(self) -> list[Any]:
        """Return Phi of all rows, 0 for those that are not holonomic."""
        return [self.holonomic.get(k, 0.0) for k in range(len(self.state_rows))]

    @cached_property
    def _friction(self) -> Any:
        return joint_friction(self.robot, self.v)

    @cached_property
    def _force(self) -> list[Any]:
        parts = zip(self.tau, self.bias, self._friction, strict=True)
        return [u - c - f for u, c, f in parts]

    @cached_property
    def solution(self) -> Solved:
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

    def tree_effort(self, v: Sequence[Any]) -> NDArray:
        """Return C v + g."""
        return newton_euler_by_moments(self.canonical_robot, self.canonical_q, v, self.at_rest)

    def required_effort(
        self, v: Sequence[Any], a: Sequence[Any], switches: Sequence[Any] = (1.0,) * len(TERMS)
    ) -> NDArray:
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
