# SPDX-License-Identifier: Apache-2.0
"""The steps of `algorithms.articulated_body` on one body, traced."""

from __future__ import annotations

from typing import Any

import casadi as ca

from kane_dynamics.algebra.dual_quaternion import twist_from_vector, vec6
from kane_dynamics.algebra.matrices import matrix_of
from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.algorithms.articulated_body import (
    ArticulatedInertia,
    bias_step,
    hinge_rcond,
    inward_step,
    outward_step,
)
from kane_dynamics.algorithms.mass_matrix import CompositeInertia
from kane_dynamics.compiler.graphs.body_groups import UPPER, BodyGroup, symmetric_rows
from kane_dynamics.compiler.graphs.group_codes import fall_of
from kane_dynamics.compiler.graphs.trace import symbols
from kane_dynamics.compiler.llvm.loop_spec import TreePass
from kane_dynamics.robot.motion import AT_REST

ARTICULATED = 21 + 6 + 10  # inertia, wrench, and the rigid inertia of all that is carried
THERE_BACK_THERE = (TreePass(True, 6), TreePass(False, ARTICULATED), TreePass(True, 6))
Handed = list[tuple[list[ca.SX], list[Any]]]


def articulated_body(
    group: BodyGroup, q: list[ca.SX], v: list[ca.SX], effort: list[Any], armature: list[Any]
) -> tuple[Handed, list[Any], Any]:
    """Return what a body hands on in three passes, its accelerations and its health."""
    body = group.body
    joint = body.motion(q, v)
    from_parent, children, last = (
        symbols(x, n) for x, n in zip('pwr', (6, ARTICULATED, 6), strict=True)
    )
    twist_parent, rate_parent = map(twist_from_vector, (from_parent, last))
    if group.on_world:
        twist_parent, rate_parent = AT_REST, fall_of(body)
    twist, bias, wrench = bias_step(joint, body.inertia, twist_parent)
    inertia = ArticulatedInertia.of_rigid(body.composite) + _articulated(children[:21])
    wrench = wrench + twist_from_vector(children[21:27])
    subtree = body.composite + _composite(children[27:])
    hinge, at_parent, wrench_at_parent = inward_step(
        joint, armature, effort, inertia, bias, wrench
    )
    a, rate = outward_step(joint, hinge, bias, rate_parent)
    inward = [*_entries(at_parent), *vec6(wrench_at_parent)]
    inward += _composite_entries(subtree.moved(joint.pose))
    handed = [(from_parent, list(vec6(twist))), (children, inward), (last, list(vec6(rate)))]
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


def _composite(entries: list[ca.SX]) -> CompositeInertia:
    x, y, z = (pure(row) for row in symmetric_rows(entries[4:]))
    return CompositeInertia(entries[0], pure(entries[1:4]), (x, y, z))


def _composite_entries(inertia: CompositeInertia) -> list[Any]:
    rows = [(row.x, row.y, row.z) for row in inertia.tensor]
    h = inertia.moment
    return [inertia.mass, h.x, h.y, h.z, *[rows[i][j] for i, j in UPPER]]
