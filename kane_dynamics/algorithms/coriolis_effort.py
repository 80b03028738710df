# SPDX-License-Identifier: Apache-2.0
r"""
The product C(q, v) x of the Coriolis matrix (47) with any speeds x, by recursion.

C of (47) multiplies x by :math:`\sum_i J_i^T(\bar S_i J_i + \Psi_i \dot J_i)`. J_i x is the
twist of body i at speeds x, and :math:`\dot J_i x` its rate while the robot moves at speeds v and
x stays constant; both follow from those of the parent as in (19), (20). With x = v it is C v.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algorithms.newton_euler import (
    TERMS,
    inward_recursion,
    required_effort,
    wrench_along,
)
from kane_dynamics.robot.motion import AT_REST, JointMotion, body_twist, joint_motion, rate_along
from kane_dynamics.robot.robot import WORLD, Robot

Motions = tuple[DualQuaternion, DualQuaternion, DualQuaternion]


def outward_along(
    joint: JointMotion, inertia: Inertia, of_parent: Motions, x: Any
) -> tuple[Motions, DualQuaternion]:
    """
    Return the motions of a body and its wrench.

    Parameters
    ----------
    joint : JointMotion
        At speeds v.
    inertia : Inertia
        Of the body.
    of_parent : tuple of DualQuaternion
        Twists at speeds v and at speeds x, and the rate of the latter, of the parent.
    x : sequence of scalar
        Speeds of the joint.

    """
    twist_parent, along_parent, rate_parent = of_parent
    twist = body_twist(joint, twist_parent)
    along, rate = rate_along(joint, along_parent, rate_parent, x)
    return (twist, along, rate), wrench_along(inertia, twist.primary, along, rate)


def coriolis_effort(robot: Robot, q: Any, v: Any, x: Any) -> NDArray[Any]:
    """
    Return C(q, v) x.

    Parameters
    ----------
    robot : Robot
        The tree.
    q, v, x : sequence of scalar, lengths nq, nv, nv
        State, and the speeds that C multiplies.

    Returns
    -------
    ndarray, shape (nv,)
        [N m or N].

    """
    joints = [joint_motion(robot, i, q, v) for i in range(len(robot.bodies))]
    motions: list[Motions] = []
    wrenches: list[DualQuaternion] = []
    for i, (joint, parent) in enumerate(zip(joints, robot.parents, strict=True)):
        of_parent = (AT_REST,) * 3 if parent == WORLD else motions[parent]
        motion, wrench = outward_along(joint, robot.bodies[i].inertia, of_parent, x[joint.columns])
        motions.append(motion)
        wrenches.append(wrench)
    return inward_recursion(robot, joints, wrenches)[0]


def reference_effort(
    robot: Robot,
    q: Any,
    v: Any,
    x: Any,
    rate: Any,
    switches: Sequence[Any] = (1.0,) * len(TERMS),
) -> NDArray[Any]:
    r"""
    Return :math:`M \dot x + C(q, v) x + g + D x + F \mathrm{sign}(x)` of reference speeds x.

    With them the robot moves at speeds v: :math:`s = v - x` then obeys :math:`M \dot s + C s =
    \tau - \tau_x`, up to friction, and :math:`s^T M s` changes by the power of the efforts alone
    (Slotine and Li). With x = v it is `required_effort`.

    Parameters
    ----------
    robot, q, v, x
        As for `coriolis_effort`.
    rate : sequence of scalar, length nv
        Of x.
    switches : sequence of scalar
        1 or 0 for each of `TERMS`: whether it counts.

    """
    inertia, coriolis, gravity, friction = switches
    remainder = required_effort(robot, q, x, rate, switches=(inertia, 0.0, gravity, friction))
    turning = [coriolis * effort for effort in coriolis_effort(robot, q, v, x)]
    result: NDArray[Any] = remainder + as_array(turning)
    return result
