# SPDX-License-Identifier: Apache-2.0
r"""
Dual quaternion Newton-Euler inverse dynamics, dqNE (Silva et al., section 3, (19)-(30)).

Forward over the tree: twists (19) and twist rates (20) of the bodies; backward: the wrench that
each joint transmits, (24)-(29); then its projection on the joint's axes,
:math:`\tau_k = \mathcal D\langle S_k, \underline\zeta\rangle`, the general form of (30). It holds
for trees, where (29) sums over all children.

Gravity enters as the base acceleration -g (Parsa, section 4.2) instead of the force -m g of each
body in (24): the same wrench for a uniform field, one constant instead of n rotations.
The planar base uses the corrected torque: its axes follow the coordinates, so no special case is
needed (the printed section 3.2.2 is right only at the origin).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion, power
from kane_dynamics.algebra.inertia import Inertia, linear_map3, quaternionic_tensor
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import (
    Quaternion,
    as_array,
    cross,
    make_quaternion,
    pure,
    scale,
)
from kane_dynamics.algebra.scalars import Scalar, is_zero
from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.robot.motion import (
    AT_REST,
    JointMotion,
    body_twist,
    body_twist_rate,
    joint_motion,
)
from kane_dynamics.robot.robot import WORLD, Robot

_NO_ROTATION = make_quaternion(1.0, 0.0, 0.0, 0.0)
Wrenches = Mapping[int, DualQuaternion]
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')
"""Parts of `required_effort`: M a, C v, g, D v + F sign(v)."""


def newton_euler(
    robot: Robot,
    q: Any,
    v: Any,
    a: Any,
    *,
    gravity: Scalar = 1.0,
    external: Wrenches | None = None,
) -> NDArray[Any]:
    r"""
    Return :math:`\mathcal N(q, v, a) = M a + C v + g - J^T w`, without friction and armature.

    Parameters and efforts as for `transmitted`.
    """
    return transmitted(robot, q, v, a, gravity=gravity, external=external)[0]


def transmitted(
    robot: Robot,
    q: Any,
    v: Any,
    a: Any,
    *,
    gravity: Scalar = 1.0,
    external: Wrenches | None = None,
) -> tuple[NDArray[Any], DualQuaternion]:
    """
    Return the efforts along the joints, and the wrench that the world gives to the tree.

    Parameters
    ----------
    robot : Robot
        The tree.
    q, v, a : sequence of scalar, lengths nq, nv, nv
        State and accelerations, numbers or traced.
    gravity : scalar
        How much of robot.gravity acts, 1 or 0.
    external : mapping of int to DualQuaternion, optional
        Wrench on each body index, in its body frame.

    Returns
    -------
    efforts : ndarray, shape (nv,)
        Generalized forces on v [N m or N].
    wrench : DualQuaternion
        Of the world on all bodies together, about its origin, in its axes [N, N m].

    """
    world_rate = AT_REST
    if not is_zero(gravity):
        world_rate = DualQuaternion(ZERO, scale(robot.gravity_quaternion, -gravity))
    twists: list[DualQuaternion] = []
    rates: list[DualQuaternion] = []
    wrenches: list[DualQuaternion] = []
    joints = [joint_motion(robot, i, q, v) for i in range(len(robot.bodies))]

    for i, (joint, parent) in enumerate(zip(joints, robot.parents, strict=True)):
        twist_parent = AT_REST if parent == WORLD else twists[parent]
        rate_parent = world_rate if parent == WORLD else rates[parent]
        twist, rate, zeta = outward(
            joint, robot.bodies[i].inertia, twist_parent, rate_parent, joint.twist_rate(a)
        )
        if external is not None and i in external:
            zeta = zeta - external[i]
        twists.append(twist)
        rates.append(rate)
        wrenches.append(zeta)

    return inward_recursion(robot, joints, wrenches)


def inward_recursion(
    robot: Robot, joints: Sequence[JointMotion], wrenches: Sequence[DualQuaternion]
) -> tuple[NDArray[Any], DualQuaternion]:
    """
    Return efforts along the joints, and the wrench of the world, from those of the bodies.

    Parameters
    ----------
    robot : Robot
        The tree.
    joints : sequence of JointMotion
        Of all bodies.
    wrenches : sequence of DualQuaternion
        What moves each body, in its frame [N, N m]; results as for `transmitted`.

    """
    tau: list[Any] = [0.0] * robot.nv
    payload, ground = list(wrenches), AT_REST
    for i in reversed(range(len(joints))):
        joint, parent = joints[i], robot.parents[i]
        efforts, in_parent = inward(joint, payload[i])
        for column, effort in enumerate(efforts, start=joint.columns.start):
            tau[column] = tau[column] + effort
        if parent == WORLD:
            ground = ground + in_parent
        else:
            payload[parent] = payload[parent] + in_parent  # (29)
    return as_array(tau), ground


def outward(
    joint: JointMotion,
    inertia: Inertia,
    twist_parent: DualQuaternion,
    rate_parent: DualQuaternion,
    joint_rate: DualQuaternion,
) -> tuple[DualQuaternion, DualQuaternion, DualQuaternion]:
    """Return twist, twist rate and inertial wrench of a body from its parent's: (19)-(26)."""
    twist = body_twist(joint, twist_parent)  # (19)
    rate = body_twist_rate(joint, rate_parent, twist, joint_rate)  # (20)
    return twist, rate, inertial_wrench(inertia, twist, rate)  # (24)


def inward(joint: JointMotion, wrench: DualQuaternion) -> tuple[list[Scalar], DualQuaternion]:
    """Return what the wrench that a joint transmits does along its axes, and in the parent."""
    return [power(axis, wrench) for axis in joint.axes], joint.to_parent(wrench)  # (30), (27)


def required_effort(
    robot: Robot,
    q: Any,
    v: Any,
    a: Any,
    external: Wrenches | None = None,
    switches: Sequence[Any] = (1.0,) * len(TERMS),
    tree_effort: Callable[..., NDArray[Any]] = newton_euler,
) -> NDArray[Any]:
    """
    Return N(q, v, a) + armature a + D v + F sign(v): what the actuators must give.

    Parameters
    ----------
    robot, q, v, a, external
        As for `newton_euler`.
    switches : sequence of scalar
        1 or 0 for each of `TERMS`: whether it counts.
    tree_effort : callable
        Gives N; has the parameters of `newton_euler`.

    """
    inertia, coriolis, gravity, friction = switches
    speeds, rates = [coriolis * x for x in v], [inertia * x for x in a]
    tau = tree_effort(robot, q, speeds, rates, gravity=gravity, external=external)
    armature = [rotor * rate for rotor, rate in zip(robot.armature.tolist(), rates, strict=True)]
    drag = [friction * x for x in joint_friction(robot, v)]
    result: NDArray[Any] = tau + as_array(armature) + as_array(drag)
    return result


def inertial_wrench(
    inertia: Inertia, twist: DualQuaternion, rate: DualQuaternion
) -> DualQuaternion:
    """Return the wrench that moves a body so, in its body frame B: (24)-(26)."""
    return wrench_along(inertia, twist.primary, twist, rate)


def wrench_along(
    inertia: Inertia, turning: Quaternion, twist: DualQuaternion, rate: DualQuaternion
) -> DualQuaternion:
    """
    Return the wrench (24)-(26) for a twist whose axes turn with another angular velocity.

    The twist and its rate are carried to the centre of mass C, the force (25) and the moment (26)
    are formed there, and the wrench is carried back to the origin of B.

    Parameters
    ----------
    inertia : Inertia
        Of the body.
    turning : quaternion
        Angular velocity of the body [rad/s]; that of the twist in (25), (26).
    twist, rate : DualQuaternion
        The twist and its rate in B.

    """
    x_C_B = Pose(_NO_ROTATION, pure(inertia.com))
    twist_C = x_C_B.adjoint_inverse(twist)
    rate_C = x_C_B.adjoint_inverse(rate)
    tensor = quaternionic_tensor(inertia.tensor)
    force = scale(rate_C.dual + cross(turning, twist_C.dual), inertia.mass)  # (25)
    momentum = linear_map3(tensor, turning)  # (13)
    moment = linear_map3(tensor, rate_C.primary) + cross(twist_C.primary, momentum)  # (26)
    return x_C_B.adjoint(DualQuaternion(force, moment))
