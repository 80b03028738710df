# SPDX-License-Identifier: Apache-2.0
"""Graphs of the frames of a robot, of wrenches on them, and of its momentum."""

from __future__ import annotations

import casadi as ca

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, vec6, wrench_from_vector
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.kinematics import momentum_vector, tree_center_of_mass
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.compiler.graphs.trace import Tracer, column, matrix, symbols
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.robot.motion import frame_motion
from kane_dynamics.robot.robot import WORLD


def frame_jacobians(tracer: Tracer) -> KernelSpec:
    """Trace J of each frame (33), one below the other."""
    robot, nv = tracer.robot, tracer.robot.nv
    rows = []
    for name in tracer.frames:
        jacobian = [[0.0] * nv for _ in range(6)]
        for k, axis in frame_motion(robot, robot.frame(name), tracer.q, tracer.at_rest).columns:
            for row, entry in zip(jacobian, vec6(axis), strict=True):
                row[k] = row[k] + entry
        rows += jacobian
    shape = (len(tracer.frames), 6, nv)
    return tracer.spec('frame_jacobians', [tracer.q], [matrix(rows, nv)], [shape])


def frame_bias_accelerations(tracer: Tracer) -> KernelSpec:
    """Trace dJ/dt v of each frame (22)."""
    robot, q, v = tracer.robot, tracer.q, tracer.v
    motions = [frame_motion(robot, robot.frame(name), q, v) for name in tracer.frames]
    rows = [vec6(motion.twist_rate) for motion in motions]
    return tracer.spec('frame_bias_accelerations', [q, v], [matrix(rows, 6)], [(len(rows), 6)])


def external_force(tracer: Tracer) -> KernelSpec:
    """Trace J' w of a wrench (tau, f) on each frame, in its axes."""
    robot, at_rest = tracer.robot, tracer.at_rest
    w = symbols('w', 6 * len(tracer.frames))
    on_bodies: dict[int, DualQuaternion] = {}
    for k, name in enumerate(tracer.frames):
        frame = robot.frame(name)
        if frame.body != WORLD:
            moved = frame.pose.adjoint(wrench_from_vector(w[6 * k : 6 * k + 6]))
            known = on_bodies.get(frame.body)
            on_bodies[frame.body] = moved if known is None else known + moved
    force = newton_euler(robot, tracer.q, at_rest, at_rest, gravity=0.0, external=on_bodies)
    return tracer.spec('external_force', [tracer.q, w], [-column(force)], [(robot.nv,)])


def center_of_mass(tracer: Tracer) -> KernelSpec:
    """Trace the centre of mass."""
    com = column(vec3(tree_center_of_mass(tracer.robot, tracer.q)))
    return tracer.spec('center_of_mass', [tracer.q], [com], [(3,)])


def momentum(tracer: Tracer) -> KernelSpec:
    """Trace the momentum about the centre of mass."""
    result = column(momentum_vector(tracer.robot, tracer.q, tracer.v))
    return tracer.spec('momentum', [tracer.q, tracer.v], [result], [(6,)])


def momentum_matrix(tracer: Tracer) -> KernelSpec:
    """Trace the matrix of the momentum, its derivative along v."""
    result = column(momentum_vector(tracer.robot, tracer.q, tracer.v))
    A = ca.jacobian(result, column(tracer.v))
    return tracer.spec('momentum_matrix', [tracer.q], [A], [(6, tracer.robot.nv)])


FRAME_GRAPHS = (
    frame_jacobians,
    frame_bias_accelerations,
    external_force,
    center_of_mass,
    momentum,
    momentum_matrix,
)
