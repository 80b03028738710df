# SPDX-License-Identifier: Apache-2.0
"""M as composite inertias in world axes, for loops over bodies; see `mass_matrix`."""

from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import vec6
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import pure, vec3, vec4
from kane_dynamics.algorithms.mass_matrix import CompositeInertia
from kane_dynamics.compiler.graphs.bodies import LoopTracer, as_pose, pose_numbers
from kane_dynamics.compiler.graphs.body_groups import UPPER, BodyGroup, Symbols, symmetric_rows
from kane_dynamics.compiler.llvm.kernel_spec import LoopSpec, Places, TreePass


def mass_axes(tracer: LoopTracer) -> LoopSpec:
    """Trace what M is made of: for each speed of each joint 13 numbers."""
    first = np.cumsum([0, *[body.joint.kind.nv for body in tracer.robot.bodies]])

    def graph(group: BodyGroup, outer: Symbols, tips: Symbols, q: Any) -> Any:
        body = group.body
        joint = body.motion(q, [0.0] * body.kind.nv)
        turned = Pose.from_rotation_and_position(vec4(joint.pose.rotation), [0.0] * 3)
        pose = turned if group.on_world else as_pose(outer) * joint.pose
        local = body.composite.moved(pose)
        x, y, z = (pure(row) for row in symmetric_rows(tips[4:]))
        subtree = local + CompositeInertia(tips[0], pure(tips[1:4]), (x, y, z))
        results: list[Any] = []
        for axis, rotor in zip(joint.axes, body.armature, strict=True):
            along = pose.adjoint(axis)
            momentum = subtree.momentum(along)
            results += [*vec6(along), *vec3(momentum.dual), *vec3(momentum.primary), rotor]
        rows = [vec3(row) for row in subtree.tensor]
        entries = [rows[j][k] for j, k in UPPER]
        return [pose_numbers(pose), [subtree.mass, *vec3(subtree.moment), *entries]], results

    def indices(group: BodyGroup) -> Places:
        width = 13 * group.body.kind.nv
        return np.array([13 * first[i] + np.arange(width) for i in group.bodies]).T

    passes, shape = (TreePass(True, 7), TreePass(False, 10)), (13 * int(first[-1]),)
    return tracer.loop('mass_axes', 'q', passes, graph, shape, indices)
