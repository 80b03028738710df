# SPDX-License-Identifier: Apache-2.0
"""
Bodies that share one code, and the tables of constants that tell them apart.

Straight-line code holds every constant of a robot as a literal. A loop over bodies has one code
for each kind of joint, traced with a symbol for each constant: where a joint sits, its axis, the
mass properties. Columns of the table that are the same for all bodies of a group stay literals,
so that canonical body frames (axis z, placements without a third coordinate) save operations
here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion, twist_from_vector, vec6
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import matrix_of
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import pure, vec3
from kane_dynamics.algebra.scalars import where
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.algorithms.articulated_body import (
    ArticulatedInertia,
    MassSpread,
    bias_step,
    hinge_rcond,
    inward_step,
    outward_step,
)
from kane_dynamics.algorithms.mass_matrix import CompositeInertia
from kane_dynamics.compiler.llvm.kernel_spec import GroupCode, Places, TreePass
from kane_dynamics.compiler.parameters import GRAVITY, INERTIA
from kane_dynamics.robot.joint_tables import JointIndex
from kane_dynamics.robot.motion import AT_REST, JointMotion, joint_motion
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.robot.state import is_unit
from kane_dynamics.typing import Floats, NDArray

Symbols = list[ca.SX]
UPPER = tuple((i, j) for i in range(3) for j in range(i, 3))


@dataclass(frozen=True, eq=False)
class BodyGroup:
    """Bodies on joints of one kind."""

    robot: Robot  # The robot
    bodies: tuple[int, ...]  # Their indices, ascending
    load: int | None = None

    @cached_property
    def body(self) -> GroupBody:
        """Return one body of the group with symbols for what differs."""
        return GroupBody(self)

    @property
    def on_world(self) -> bool:
        """Return whether the bodies hang on the world."""
        return self.robot.parents[self.bodies[0]] == WORLD

    @cached_property
    def table(self) -> Floats:
        """Return the constants, shape (constants, bodies)."""
        return np.array([_constants(self.robot, i) for i in self.bodies]).T

    def indices(self, what: str) -> NDArray[np.int64]:
        """Return where in q or v ('q', 'v') the bodies' entries are, shape (entries, bodies)."""
        slices = [getattr(self.robot.indices[i], what) for i in self.bodies]
        return np.array([range(s.start, s.stop) for s in slices]).T


class GroupBody:
    """One body of a group, its constants traced."""

    def __init__(self, group: BodyGroup) -> None:
        table = group.table
        self.constants = symbols('c', len(table))
        same = (table == table[:, :1]).all(axis=1)
        values = [
            float(row[0]) if one else symbol
            for row, one, symbol in zip(table, same, self.constants, strict=True)
        ]
        first = group.robot.bodies[group.bodies[0]]
        self.kind = first.joint.kind
        take = iter(values)

        def some(count: int) -> list[Any]:
            return [next(take) for _ in range(count)]

        self.placement = Pose.from_rotation_and_position(some(4), some(3))
        self.gravity = symbols('g', GRAVITY)
        self.load = symbols('l', INERTIA)
        local, whole = some(10), some(9)
        if group.load is None:
            self.inertia = Inertia.traced(local[0], local[1:4], local[4:])
            x, y, z = (pure(row) for row in symmetric_rows(whole[3:]))
            self.composite = CompositeInertia(local[0], pure(whole[:3]), (x, y, z))
        else:
            self.inertia = Inertia.traced(self.load[0], self.load[1:4], self.load[4:])
            self.composite = CompositeInertia.of_body(self.inertia)
        self._ratio, self._offset = some(2)
        nv = self.kind.nv
        self.armature, self.damping, self.friction = some(nv), some(nv), some(nv)
        if hasattr(self.kind, 'with_axis'):
            self.kind = self.kind.with_axis(some(3), next(take))
        self._mimic = first.mimic

    def motion(self, q: Any, v: Any) -> JointMotion:
        """Return the joint's motion at its own entries of q and v, from the parent's frame."""
        local = JointIndex(
            slice(0, self.kind.nq), slice(0, self.kind.nv), self._ratio, self._offset
        )
        part = SimpleNamespace(
            joint=SimpleNamespace(kind=self.kind), placement=self.placement, mimic=self._mimic
        )
        robot: Any = SimpleNamespace(indices=[local], bodies=[part])
        joint = joint_motion(robot, 0, q, v)
        # one turn instead of two in the recursion: this product depends on no other body
        return replace(joint, placement=Pose.identity(), pose=joint.placement * joint.pose)


def body_groups(robot: Robot, loads: Mapping[int, int]) -> list[BodyGroup]:
    """Return the groups of a robot, in the order of their first bodies."""
    members: dict[Any, list[int]] = {}
    for i, body in enumerate(robot.bodies):
        kind = type(body.joint.kind), body.mimic is None
        members.setdefault((*kind, robot.parents[i] == WORLD, loads.get(i)), []).append(i)
    return [BodyGroup(robot, tuple(bodies), key[-1]) for key, bodies in members.items()]


def _constants(robot: Robot, i: int) -> list[float]:
    """Return the constants of a body, in the order in which `GroupBody` takes them."""
    body, index = robot.bodies[i], robot.indices[i]
    inertia, kind = body.inertia, body.joint.kind
    whole = CompositeInertia.of_body(inertia)
    r, p = body.placement.rotation, body.placement.translation
    values = [r.w, r.x, r.y, r.z, p.x, p.y, p.z, inertia.mass, *inertia.com]
    values += [inertia.tensor[j] for j in UPPER]
    values += [whole.moment.x, whole.moment.y, whole.moment.z]
    rows = [(row.x, row.y, row.z) for row in whole.tensor]
    values += [rows[j][k] for j, k in UPPER]
    values += [index.ratio, index.offset]
    for along in (robot.armature, robot.damping, robot.friction):
        values += list(along[index.v] if body.mimic is None else np.zeros(kind.nv))
    axis = getattr(kind, 'axis', None)
    if axis is not None:
        values += [*axis, getattr(kind, 'pitch', 0.0)]
    return [float(value) for value in values]


def symmetric_rows(entries: list[Any]) -> list[list[Any]]:
    """Return the rows of a symmetric matrix from its upper triangle."""
    known = dict(zip(UPPER, entries, strict=True))
    return [[known[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]


def along_speeds(group: BodyGroup) -> Places:
    """Return the places of results that are one for each speed."""
    return group.indices('v')


def sum_of_bodies(group: BodyGroup) -> Places:
    """Return the places of results that are summed in the first entry."""
    return np.zeros((1, len(group.bodies)), dtype=int)


def group_code(
    group: BodyGroup,
    inputs: str,
    passes: Sequence[TreePass],
    graph: Callable[..., Any],
    indices: Callable[[BodyGroup], Places],
) -> GroupCode:
    """
    Return the code of a group for the inputs of a kernel.

    graph(group, *enter, **local) takes what the parent or the children hand on in each pass, and
    the joint's entries of each input; it returns what is handed on in each pass, the results, and
    where something is solved the rcond.
    """
    body, count, sizes = group.body, len(group.bodies), {'q': group.body.kind.nq, 'h': 1}
    local = {x: symbols(x, sizes.get(x, body.kind.nv)) for x in inputs if x != 't'}
    enter = [symbols(f'pass{k}_', one.width) for k, one in enumerate(passes)]
    handed, results, *solved = graph(group, *enter, **local)
    rcond = ca.SX(*solved or [1.0])
    if (quaternion := body.kind.quaternion) is not None:  # as `straight_line`
        rcond = where(is_unit(local['q'][quaternion]), rcond, 0.0)
    tables = [(inputs.index(x), _places(group, x)) for x in local]
    arguments = [body.constants, *local.values()]
    for part, first in ((body.gravity, 0), (body.load, group.load)):
        if first is not None:  # of the parameters, which follow the inputs
            arguments.append(part)
            rows = np.arange(first, first + len(part))
            tables.append((len(inputs), np.repeat(rows[:, None], count, axis=1)))
    function = body_function([*arguments, *enter], [*handed, results, [rcond]])
    result_rows = indices(group) if results else np.zeros((0, count), dtype=int)
    return GroupCode(group.bodies, function, group.table, tables, result_rows)


def _places(group: BodyGroup, what: str) -> Places:
    """Return where a joint's own entries are in an input: q, h of (t, h), or along the speeds."""
    if what == 'h':
        return np.ones((1, len(group.bodies)), dtype=int)
    return group.indices('q' if what == 'q' else 'v')


def body_function(
    arguments: Sequence[Sequence[ca.SX]], values: Sequence[Sequence[Any]]
) -> ca.Function:
    """Return the function of one body, with common subexpressions shared."""
    shared = ca.cse([column(x) for x in values])
    return ca.Function('body', [column(x) for x in arguments], shared)


def fall_of(body: GroupBody) -> DualQuaternion:
    """Return the twist rate of the world that stands for gravity."""
    return DualQuaternion(ZERO, -pure(body.gravity))


ARTICULATED = 21 + 6 + 5  # inertia, wrench, and the spread of all masses that are carried
THERE_BACK_THERE = (TreePass(True, 6), TreePass(False, ARTICULATED), TreePass(True, 6))


def articulated_body(
    group: BodyGroup,
    enter: Sequence[Symbols],
    q: Symbols,
    v: Symbols,
    effort: list[Any],
    armature: list[Any],
) -> tuple[list[Any], list[Any], Any]:
    """Return what a body hands on in three passes, its accelerations and its rcond."""
    body, (from_parent, children, last) = group.body, enter
    joint = body.motion(q, v)
    twist_parent, rate_parent = map(twist_from_vector, (from_parent, last))
    if group.on_world:
        twist_parent, rate_parent = AT_REST, fall_of(body)
    twist, bias, wrench = bias_step(joint, body.inertia, twist_parent)
    inertia = ArticulatedInertia.of_rigid(body.composite) + _articulated(children[:21])
    wrench = wrench + twist_from_vector(children[21:27])
    local, (mass, *moment, square) = MassSpread.of_body(body.composite), children[27:]
    subtree = MassSpread(local.mass + mass, local.moment + pure(moment), local.square + square)
    moved = subtree.moved(joint.pose)
    hinge, at_parent, wrench_at_parent = inward_step(
        joint, armature, effort, inertia, bias, wrench
    )
    a, rate = outward_step(joint, hinge, bias, rate_parent)
    inward = [*_entries(at_parent), *vec6(wrench_at_parent)]
    inward += moved.mass, *vec3(moved.moment), moved.square
    handed = [vec6(twist), inward, vec6(rate)]
    return handed, a, hinge_rcond(joint, armature, hinge, subtree)


def _articulated(entries: list[ca.SX]) -> ArticulatedInertia:
    mass, coupling, tensor = entries[:6], entries[6:15], entries[15:]
    rows = [coupling[3 * i : 3 * i + 3] for i in range(3)]
    return ArticulatedInertia(
        matrix_of(symmetric_rows(mass)), matrix_of(rows), matrix_of(symmetric_rows(tensor))
    )


def _entries(inertia: ArticulatedInertia) -> list[Any]:
    mass, tensor = ([part[i, j] for i, j in UPPER] for part in (inertia.mass, inertia.tensor))
    return [*mass, *inertia.coupling.ravel(), *tensor]
