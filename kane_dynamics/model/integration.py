# SPDX-License-Identifier: Apache-2.0
"""Moving the coordinates with the speeds, joint by joint, on the manifold."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.model.robot import Robot


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
