# SPDX-License-Identifier: Apache-2.0
r"""
Motion of the whole robot, and force, by which a frame pushes, springs or moves, axis by axis.

With the error e of the frame and the change :math:`\dot e` of its twist, its motion axes ask
:math:`J a + \dot J v = \ddot x + K e + B \dot e`, the others that push nothing of a. What pushes
has the wrench :math:`w + K e + (1 + h B \Lambda^{-1})^{-1} B \dot e`; with the root S of B the
last is :math:`S (1 + h S \Lambda^{-1} S)^{-1} S \dot e`. See `control.wrench_control`. The
accelerations are the nearest to wanted ones that rows and these axes allow. Near a singular pose
they are damped (`damped_task_inverse`): there the caller decides which axes are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.pose import rotation_vector
from kane_dynamics.algebra.quaternions import cross, make_quaternion, normalised, rotate_back
from kane_dynamics.algebra.scalars import Scalar, sqrt
from kane_dynamics.algorithms.damped_task_inverse import AllowedMotion, DampedTaskInverse
from kane_dynamics.algorithms.newton_euler import implicit_drag
from kane_dynamics.algorithms.row_elimination import factored, product, transpose_product
from kane_dynamics.constraints.row_selection import TAKEN
from kane_dynamics.robot.motion import frame_motion, frame_rows, in_axes
from kane_dynamics.robot.robot import Robot

TASK, TASK_GAINS = 25, 26
"""Numbers of what a frame is to do, and of the gains."""
PUSHED = 13
"""Numbers of `WrenchMotion.report`."""
_CLEAR = 5.0 * TAKEN  # distance from a singular pose above which rows of all axes are taken
_TWICE = range(2)  # G has the square of the condition


class WrenchLaw(NamedTuple):
    """Which frame pushes or moves, in which axes, and what moves it."""

    frame: str  # Name of a frame that is fixed in a moving body
    actuated: tuple[str, ...]  # Speeds that have motors
    own_axes: bool = False  # Whether axes are those of the frame; else of the world


class WrenchMotion(NamedTuple):
    """Accelerations of the robot, and the force on v beside that of inverse dynamics."""

    acceleration: list[Scalar]
    force: list[Scalar]  # J' w and the drag of the joints
    report: list[Scalar]  # Rate asked of the frame, its wrench, and the damping


def wrench_motion(
    robot: Robot,
    law: WrenchLaw,
    q: Any,
    v: Any,
    a: Any,
    task: Sequence[Scalar],
    gains: Sequence[Scalar],
    allowed: AllowedMotion,
) -> WrenchMotion:
    """Return the motion nearest to `a` by which a frame does its task, and the force for it."""
    K, B, moving, pushing = (gains[k : k + 6] for k in range(0, 24, 6))
    frame = frame_motion(robot, robot.frame(law.frame), q, v)
    R, omega = frame.pose.rotation, frame.twist.primary
    axes = make_quaternion(1.0, 0.0, 0.0, 0.0) if law.own_axes else R
    jacobian, velocity = frame_rows(frame, axes), in_axes(axes, frame.twist)
    turning = cross(omega, frame.twist.dual)  # the axes of the frame turn
    rate = DualQuaternion(frame.twist_rate.primary, frame.twist_rate.dual + turning)
    drift = in_axes(axes, rate)
    angle = rotation_vector(normalised(make_quaternion(*task[3:7])) * R.conjugate())
    way = make_quaternion(0.0, *task[:3]) - frame.pose.translation
    error = in_axes(axes, DualQuaternion(rotate_back(R, angle), rotate_back(R, way)))
    selection = [m + p for m, p in zip(moving, pushing, strict=True)]
    inverse = DampedTaskInverse(jacobian, selection, allowed.spread, robot.nv, _CLEAR)
    pull = [k * e for k, e in zip(K, error, strict=True)]
    slowing = [x - u for x, u in zip(task[7:13], velocity, strict=True)]
    dampers = [b * p for b, p in zip(B, pushing, strict=True)]
    damped = _sampled(dampers, slowing, inverse, gains[25])
    wrench = [
        p * (w + f) + d for p, w, f, d in zip(pushing, task[19:25], pull, damped, strict=True)
    ]
    parts = zip(moving, task[13:19], pull, B, slowing, strict=True)
    asked = [m * (x + f + b * u) for m, x, f, b, u in parts]
    motion = list(allowed.nearest(a, v))
    for _ in _TWICE:
        rows = zip(selection, asked, drift, jacobian, strict=True)
        step = inverse.step([one * (r - d - product(row, motion)) for one, r, d, row in rows])
        motion = [x + more for x, more in zip(motion, step, strict=True)]
    force = transpose_product(jacobian, wrench, robot.nv)
    drag = zip(implicit_drag(robot, v, gains[24]), v, force, strict=True)
    report = [*asked, *wrench, inverse.damping]
    return WrenchMotion(motion, [f + d * x for d, x, f in drag], report)


def _sampled(
    damping: Sequence[Scalar], slowing: Sequence[Scalar], inverse: DampedTaskInverse, h: Scalar
) -> list[Scalar]:
    """Return what dampers give where efforts are held for a period h."""
    roots = [sqrt(b) for b in damping]
    gram = [
        [h * roots[i] * roots[j] * entry + (1.0 if i == j else 0.0) for j, entry in enumerate(row)]
        for i, row in enumerate(inverse.response)
    ]
    scaled = [s * x for s, x in zip(roots, slowing, strict=True)]
    return [s * x for s, x in zip(roots, factored(gram).solve(scaled), strict=True)]
