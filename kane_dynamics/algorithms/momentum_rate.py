# SPDX-License-Identifier: Apache-2.0
"""Rate of the momentum of the tree: what all forces on it add up to, (24)-(29)."""

from typing import Any

from kane_dynamics.algebra.quaternions import cross, vec3
from kane_dynamics.algorithms.kinematics import tree_center_of_mass
from kane_dynamics.algorithms.newton_euler import transmitted
from kane_dynamics.robot.robot import Robot


def momentum_rate(robot: Robot, q: Any, v: Any, a: Any) -> list[Any]:
    """Return d/dt of (angular momentum about the centre of mass, linear momentum), world axes."""
    wrench = transmitted(robot, q, v, a, gravity=0.0)[1]  # about the world's origin
    force, moment = wrench.primary, wrench.dual
    return [*vec3(moment - cross(tree_center_of_mass(robot, q), force)), *vec3(force)]
