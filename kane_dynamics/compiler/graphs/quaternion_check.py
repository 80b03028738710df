# SPDX-License-Identifier: Apache-2.0
"""The checks of a state that machine code makes itself."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from kane_dynamics.algebra.scalars import where
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import is_unit, quaternion_slices


def with_quaternion_check(spec: KernelSpec, robot: Robot) -> KernelSpec:
    """Return a kernel whose health is 0 where a quaternion of q, its first input, is not unit."""
    indices = quaternion_slices(robot)
    if not indices:
        return spec
    inputs = spec.function.sx_in()
    *outputs, rcond = spec.function.call(inputs)
    q = ca.vertsplit(inputs[0])
    for _, place in indices:
        rcond = where(is_unit(q[place]), rcond, 0.0)
    return replace(spec, function=ca.Function(spec.name, inputs, [*outputs, rcond]))
