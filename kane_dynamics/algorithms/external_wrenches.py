# SPDX-License-Identifier: Apache-2.0
"""Wrenches that act on links, as forces on bodies and on speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, wrench_from_vector
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.robot.checks import as_mapping, as_vector
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import Floats

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
    external = wrenches_on_bodies(robot, wrenches)
    at_rest = [0.0] * robot.nv
    if external is None:
        return np.zeros(robot.nv)
    return -newton_euler(robot, q, at_rest, at_rest, gravity=0.0, external=external)
