# SPDX-License-Identifier: Apache-2.0
"""Graphs of what the methods of forward dynamics need besides those of `trace`."""

from __future__ import annotations

import casadi as ca
import numpy as np

from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.graphs.traced_state import column, matrix
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.formulations.gauss import gibbs
from kane_dynamics.formulations.lagrange import (
    lagrange_jacobians,
    mass_of_bodies,
    velocity_force_of_bodies,
)


def gibbs_gradient(tracer: Tracer) -> KernelSpec:
    """Trace dS/da, the derivative of the Gibbs-Appell function (54)."""
    q, v, a = tracer.q, tracer.v, tracer.a
    S = ca.SX(gibbs(tracer.robot, q, v, a))
    gradient = ca.densify(ca.gradient(S, column(a)))
    return tracer.spec('gibbs_gradient', [q, v, a], [gradient], [(tracer.robot.nv,)])


def lagrange_terms(tracer: Tracer) -> KernelSpec:
    """Trace Parsa's J_i, one below the other, M and h (26), (39)."""
    robot, q, v, nv = tracer.robot, tracer.q, tracer.v, tracer.robot.nv
    bodies = lagrange_jacobians(robot, q, v)
    stack = np.vstack([body.jacobian for body in bodies])
    outputs = [
        matrix(stack, nv),
        matrix(mass_of_bodies(robot, bodies), nv),
        column(velocity_force_of_bodies(robot, bodies, v)),
    ]
    return tracer.spec('lagrange_terms', [q, v], outputs, [stack.shape, (nv, nv), (nv,)])


METHOD_GRAPHS = (gibbs_gradient, lagrange_terms)
