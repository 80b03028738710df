# SPDX-License-Identifier: Apache-2.0
r"""
Friction, stiffness and casters of ground contacts, and Coulomb friction of sliding wheels.

Of a slip s the ground pushes with

.. math:: F = -N \frac{(\mu_x^2 s_x, \mu_y^2 s_y)}{\sqrt{\mu_x^2 s_x^2 + \mu_y^2 s_y^2}}

along (x) and across (y) the track: it lies on the ellipse with half axes :math:`\mu_x N` and
:math:`\mu_y N` and loses the most power that forces of this ellipse can. Equal coefficients give
:math:`-\mu N s/|s|`. Where nothing slips the force is between these, and follows from the motion:
there it is zero here, see `constraints.traction` and `contact_forward_dynamics`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.constraints.closed_contacts import FrictionCone
from kane_dynamics.constraints.contacts import GROUND
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError
from kane_dynamics.robot import checks
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.typing import ArrayLike, Floats


def placed_casters(robot: Robot, casters: Any) -> dict[str, Frame]:
    """Return frames whose origins are where casters touch the ground."""
    frames = {}
    for name, value in checks.as_mapping('casters', {} if casters is None else casters).items():
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
            raise InvalidInputError(
                f"caster '{name}': need a frame and a point in it, (str, (x, y, z)), got "
                f'{checks.describe(value)}'
            )
        body, point = robot.moving_body(value[0]), value[1]
        place = Pose.shift(checks.as_vector(f"caster '{name}' [m]", point, 3))
        frames[name] = Frame(body, robot.frame(value[0]).pose * place)
    return frames


def friction_pair(name: str, friction: Any, names: Sequence[str]) -> list[float]:
    """Return mu along and across the track of a contact; NaN where it is not known."""
    value = friction
    if isinstance(friction, Mapping):
        for other in friction:
            checks.index_of('contact', other, names)
        value = friction.get(name)
    if value is None:
        return [np.nan, np.nan]
    numbers = checks.as_numbers(f"friction of '{name}'", value)
    if numbers.shape not in ((), (2,)) or not (np.isfinite(numbers) & (numbers >= 0.0)).all():
        raise InvalidInputError(
            f"friction of '{name}': need a number >= 0, or two (along, across), got {value!r}"
        )
    return [float(mu) for mu in np.broadcast_to(numbers, 2)]


def spring_array(stiffness: Any, names: Sequence[str]) -> Floats:
    """Return the stiffness of each contact, shape (k,) [N/m]."""
    value = checks.as_mapping('stiffness [N/m]', stiffness)
    for other in value:
        checks.index_of('contact', other, names)
    missing = [name for name in names if name not in value]
    if missing:
        raise InvalidInputError(
            f'stiffness [N/m]: need one for every contact, missing are {missing}'
        )
    return np.array(
        [checks.as_positive(f"stiffness of '{name}' [N/m]", value[name]) for name in names]
    )


# Slip that is none: roundoff of the speeds that it is made of.
_NO_SLIP = 1e-12


def sliding_friction(slip: Floats, load: ArrayLike, friction: Floats) -> Floats:
    """Return the force of the ground on contacts that slide."""
    length = np.linalg.norm(friction * slip, axis=-1, keepdims=True)
    direction = np.divide(friction**2 * slip, length, out=np.zeros(slip.shape), where=length > 0.0)
    return np.asarray(-np.asarray(load)[..., None] * direction)


def track_slip(wheel: RollingWheel, q: Sequence[float], v: Floats) -> Floats:
    """Return the speed of a wheel's contact along and across its track, shape (2,) [m/s]."""
    touch = wheel.touch(wheel.robot, q)
    speeds = np.zeros(len(touch.directions))
    for k, row in enumerate(wheel.rows(wheel.robot, q, v.tolist(), 0.0)):
        parts = np.array([c * v[index] for index, c in row.coefficients.items()])
        slip = parts.sum()
        speeds[k] = slip if abs(slip) > _NO_SLIP * np.abs(parts).sum() else 0.0
    return np.asarray(touch.axes[:2] @ (speeds @ touch.directions))


def friction_wrench(wheel: RollingWheel, q: Sequence[float], force: Floats) -> Floats:
    """Return a force along and across the track as a wrench on the body of the wheel."""
    touch = wheel.touch(wheel.robot, q)
    x = body_poses(wheel.robot, q)[wheel.wheel.body]
    to_body = x.rotation_matrix().T
    f, arm = to_body @ (force @ touch.axes[:2]), to_body @ (touch.point - x.position())
    return np.r_[np.cross(arm, f), f]


SIDE = 'base/no_side_slip'


def wheel_cones(
    labels: Sequence[str], wheels: Sequence[str], friction: float, load: float
) -> list[FrictionCone]:
    """Return a cone for each wheel: what it pushes, and its share of the side force."""
    cones = []
    for wheel in wheels:
        wheel_labels = [name for name in labels if name.startswith(f'{wheel}/')]
        if not wheel_labels:
            raise NameNotFoundError('constraint row of a wheel', wheel, labels)
        rows = dict.fromkeys(wheel_labels, 1.0)
        if SIDE in labels:
            rows[SIDE] = 1.0 / len(wheels)
        cones.append(FrictionCone(rows, friction, load))
    return cones


def shared_weight(robot: Robot, wheels: int) -> float:
    """Return the load of each wheel, were the weight shared evenly by these alone [N]."""
    mass = sum(body.inertia.mass for body in robot.bodies)
    return float(mass * np.linalg.norm(robot.gravity) / wheels)


_SAME = 1e-9  # between unit normals that are read from digits


def joint_of(wheel: RollingWheel) -> str:
    """Return the name of the joint that carries a wheel."""
    return wheel.robot.bodies[wheel.wheel.body].joint.name


def common_normal(wheels: Mapping[str, RollingWheel]) -> Floats:
    """Return the normal of the planes that wheels roll on; z where there is none."""
    normals = {joint: wheel.plane.normal for joint, wheel in wheels.items()}
    first = np.array(next(iter(normals.values()), GROUND.normal))
    if any(np.abs(np.array(n) - first).max() > _SAME for n in normals.values()):
        raise ConstraintError(
            f'the wheels stand on planes with different normals, {normals}: there normal forces '
            'and tractions cannot be told apart'
        )
    return first
