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

C(q, v) x with any speeds x follows in the same way: C of (47) multiplies x by :math:`\sum_i
J_i^T(\bar S_i J_i + \Psi_i \dot J_i)`. J_i x is the twist of body i at speeds x, and :math:`\dot
J_i x` its rate while the robot moves at speeds v and x stays constant; both follow from those of
the parent as in (19), (20). With x = v it is C v.

Compiled code of whole trees takes `newton_euler_by_moments`, which has fewer operations and, in
numpy, more overhead; loops over bodies take `outward` and `inward`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion, power, wrench_from_vector
from kane_dynamics.algebra.inertia import Inertia, linear_map3, quaternionic_tensor
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, cross, make_quaternion, pure, scale
from kane_dynamics.algebra.scalars import Scalar, absolute, as_array, is_zero, sign, where
from kane_dynamics.robot.checks import as_mapping, as_vector
from kane_dynamics.robot.motion import (
    AT_REST,
    JointMotion,
    body_twist,
    body_twist_rate,
    joint_motion,
    rate_along,
)
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import ArrayLike, Floats, NDArray

_NO_ROTATION = make_quaternion(1.0, 0.0, 0.0, 0.0)
Wrenches = Mapping[int, DualQuaternion]
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')
"""Parts of `required_effort`: M a, C v, g, D v + F sign(v)."""


def newton_euler(robot: Robot, q: Any, v: Any, a: Any, **options: Any) -> NDArray:
    r"""Return :math:`M a + C v + g - J^T w`, without friction and armature; see `transmitted`."""
    return transmitted(robot, q, v, a, **options)[0]


def transmitted(
    robot: Robot,
    q: Any,
    v: Any,
    a: Any,
    *,
    gravity: Scalar = 1.0,
    external: Wrenches | None = None,
) -> tuple[NDArray, DualQuaternion]:
    """Return the efforts along the joints, and the wrench that the world gives to the tree."""
    world_rate, values = AT_REST, external or {}
    if not is_zero(gravity):
        world_rate = DualQuaternion(ZERO, scale(robot.gravity_quaternion, -gravity))

    def step(i: int, joint: JointMotion, parent: Any) -> tuple[Any, DualQuaternion]:
        inertia, joint_rate = robot.bodies[i].inertia, joint.twist_rate(a)
        twist, rate, zeta = outward(joint, inertia, parent[0], parent[1], joint_rate)
        return (twist, rate), zeta - values[i] if i in values else zeta

    return recursion(robot, q, v, (AT_REST, world_rate), step)


def recursion(
    robot: Robot,
    q: Any,
    v: Any,
    world: Any,
    step: Callable[[int, JointMotion, Any], tuple[Any, DualQuaternion]],
) -> tuple[NDArray, DualQuaternion]:
    """Return efforts along the joints, and the wrench of the world."""
    joints = [joint_motion(robot, i, q, v) for i in range(len(robot.bodies))]
    motions: list[Any] = []
    wrenches: list[DualQuaternion] = []
    for i, (joint, parent) in enumerate(zip(joints, robot.parents, strict=True)):
        motion, wrench = step(i, joint, world if parent == WORLD else motions[parent])
        motions.append(motion)
        wrenches.append(wrench)
    tau: list[Any] = [0.0] * robot.nv
    ground = AT_REST
    for i in reversed(range(len(joints))):
        joint, parent = joints[i], robot.parents[i]
        efforts, in_parent = inward(joint, wrenches[i])
        for column, effort in enumerate(efforts, start=joint.columns.start):
            tau[column] = tau[column] + effort
        if parent == WORLD:
            ground = ground + in_parent
        else:
            wrenches[parent] = wrenches[parent] + in_parent  # (29)
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
    tree_effort: Callable[..., NDArray] = newton_euler,
) -> NDArray:
    """Return N(q, v, a) + armature a + D v + F sign(v): what the actuators must give."""
    inertia, coriolis, gravity, friction = switches
    speeds, rates = [coriolis * x for x in v], [inertia * x for x in a]
    tau = tree_effort(robot, q, speeds, rates, gravity=gravity, external=external)
    armature = [rotor * rate for rotor, rate in zip(robot.armature.tolist(), rates, strict=True)]
    drag = [friction * x for x in joint_friction(robot, v)]
    return tau + as_array(armature) + as_array(drag)


def inertial_wrench(
    inertia: Inertia,
    twist: DualQuaternion,
    rate: DualQuaternion,
    turning: Quaternion | None = None,
) -> DualQuaternion:
    """
    Return the wrench that moves a body so, in its body frame B: (24)-(26).

    The twist and its rate are carried to the centre of mass C, the force (25) and the moment (26)
    are formed there, and the wrench is carried back to the origin of B. Axes may turn with another
    angular velocity than that of the twist.
    """
    turning = twist.primary if turning is None else turning
    x_C_B = Pose(_NO_ROTATION, pure(inertia.com))
    twist_C = x_C_B.adjoint_inverse(twist)
    rate_C = x_C_B.adjoint_inverse(rate)
    tensor = quaternionic_tensor(inertia.tensor)
    force = scale(rate_C.dual + cross(turning, twist_C.dual), inertia.mass)  # (25)
    momentum = linear_map3(tensor, turning)  # (13)
    moment = linear_map3(tensor, rate_C.primary) + cross(twist_C.primary, momentum)  # (26)
    return x_C_B.adjoint(DualQuaternion(force, moment))


Motions = tuple[DualQuaternion, DualQuaternion, DualQuaternion]


def outward_along(
    joint: JointMotion, inertia: Inertia, of_parent: Motions, x: Any
) -> tuple[Motions, DualQuaternion]:
    """Return the motions of a body and its wrench."""
    twist_parent, along_parent, rate_parent = of_parent
    twist = body_twist(joint, twist_parent)
    along, rate = rate_along(joint, along_parent, rate_parent, x)
    return (twist, along, rate), inertial_wrench(inertia, along, rate, twist.primary)


def coriolis_effort(robot: Robot, q: Any, v: Any, x: Any) -> NDArray:
    """Return C(q, v) x of any speeds x."""

    def step(i: int, joint: JointMotion, parent: Motions) -> tuple[Motions, DualQuaternion]:
        return outward_along(joint, robot.bodies[i].inertia, parent, x[joint.columns])

    return recursion(robot, q, v, (AT_REST,) * 3, step)[0]


def reference_effort(
    robot: Robot, q: Any, v: Any, x: Any, rate: Any, switches: Sequence[Any] = (1.0,) * len(TERMS)
) -> NDArray:
    r"""
    Return :math:`M \dot x + C(q, v) x + g + D x + F \mathrm{sign}(x)` of reference speeds x.

    With them the robot moves at speeds v: :math:`s = v - x` then obeys :math:`M \dot s + C s =
    \tau - \tau_x`, up to friction, and :math:`s^T M s` changes by the power of the efforts alone
    (Slotine and Li). With x = v it is `required_effort`.
    """
    inertia, coriolis, gravity, friction = switches
    remainder = required_effort(robot, q, x, rate, switches=(inertia, 0.0, gravity, friction))
    turning = [coriolis * effort for effort in coriolis_effort(robot, q, v, x)]
    return remainder + as_array(turning)


ExternalWrenches = Mapping[str, ArrayLike] | None


def wrenches_on_bodies(
    robot: Robot, external_wrenches: ExternalWrenches
) -> dict[int, DualQuaternion] | None:
    """Return the given wrenches summed for each body, in its body frame."""
    if external_wrenches is None:
        return None
    on_bodies: dict[int, DualQuaternion] = {}
    for link, vector in as_mapping('external_wrenches', external_wrenches).items():
        frame = robot.frame(link)
        wrench = wrench_from_vector(as_vector(f"wrench on '{link}' [N m, N]", vector, 6).tolist())
        if frame.body == WORLD:
            continue  # the world does not move
        moved = frame.pose.adjoint(wrench)
        known = on_bodies.get(frame.body)
        on_bodies[frame.body] = moved if known is None else known + moved
    return on_bodies or None


def external_force(robot: Robot, q: Sequence[float], wrenches: ExternalWrenches) -> Floats:
    """Return J' w of wrenches on links, shape (nv,)."""
    external, at_rest = wrenches_on_bodies(robot, wrenches), [0.0] * robot.nv
    if external is None:
        return np.zeros(robot.nv)
    return recursion(robot, q, at_rest, None, lambda i, *_: (None, external.get(i, AT_REST)))[0]


def joint_friction(robot: Robot, v: Any) -> NDArray:
    """Return D v + F sign(v), the force the actuators need against friction, shape (nv,)."""
    speeds = zip(robot.damping.tolist(), robot.friction.tolist(), v, strict=True)
    return as_array([speed_friction(*one) for one in speeds])


def implicit_drag(robot: Robot, v: Any, stiction_speed: float) -> NDArray:
    """Return the viscous coefficients that stand for friction over a short step, shape (nv,)."""
    speeds = zip(robot.damping.tolist(), robot.friction.tolist(), v, strict=True)
    return as_array([speed_drag(*one, stiction_speed) for one in speeds])


def friction_left_by_drag(robot: Robot, v: Floats, stiction_speed: float) -> Floats:
    """Return F sign(v) - F v / max(|v|, v_s): what the drag leaves of Coulomb friction."""
    return robot.friction * (np.sign(v) - np.clip(v / stiction_speed, -1.0, 1.0))


def speed_friction(damping: Scalar, friction: Scalar, speed: Scalar) -> Scalar:
    """Return D v + F sign(v) along one speed."""
    return damping * speed + (0.0 if is_zero(friction) else friction * sign(speed))


def speed_drag(damping: Scalar, friction: Scalar, speed: Scalar, stiction_speed: float) -> Scalar:
    """Return D + F / max(|v|, v_s) along one speed."""
    if is_zero(friction):
        return damping
    size = absolute(speed)
    return damping + friction / where(size > stiction_speed, size, stiction_speed)
