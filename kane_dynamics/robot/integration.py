# SPDX-License-Identifier: Apache-2.0
"""Moving the coordinates with the speeds, joint by joint, on the manifold."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.robot.robot import Robot


def integrate_coordinates(robot: Robot, q: Any, v: Any, dt: Scalar) -> NDArray[Any]:
    """Return q (+) v dt: each joint moves for dt [s] with v constant in its child frame."""
    moved: list[Any] = []
    for body, index in zip(robot.bodies, robot.indices, strict=True):
        if body.mimic is None:
            moved += body.joint.kind.integrate(q[index.q], v[index.v], dt)
    return as_array(moved)


def coordinate_rates(robot: Robot, q: Any, v: Any) -> NDArray[Any]:
    """Return dq/dt, shape (nq,), for speeds v."""
    rates: list[Any] = []
    for body, index in zip(robot.bodies, robot.indices, strict=True):
        if body.mimic is None:
            rates += body.joint.kind.coordinate_rate(q[index.q], v[index.v])
    return as_array(rates)


def rate_along_motion(robot: Robot, values: Any, q: Any, v: Any, t: Any) -> Any:
    """
    Return d/dt of expressions in q and t along a motion with constant v, of their shape.

    Parameters
    ----------
    robot : Robot
        The robot.
    values : casadi.SX
        Expressions.
    q, v, t : casadi.SX
        Symbols, shapes (nq,), (nv,) and ().

    """
    import casadi as ca

    direction = ca.vertcat(*coordinate_rates(robot, ca.vertsplit(q), ca.vertsplit(v)), 1.0)
    return ca.reshape(ca.jtimes(ca.vec(values), ca.vertcat(q, t), direction), values.shape)


def at_unit_quaternions(robot: Robot, expressions: list[Any], q: Any) -> list[Any]:
    """Return expressions in symbols q (casadi.SX) with every quaternion among q made unit."""
    import casadi as ca

    place = ca.vertsplit(q)
    unit = integrate_coordinates(robot, place, [0.0] * robot.nv, 0.0)
    return list(ca.substitute(expressions, [q], [ca.vertcat(*unit)]))
