# SPDX-License-Identifier: Apache-2.0
"""Margins of motions of a base as machine code: what follows each command, and what it asks."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import absolute, as_array, sign, sqrt, where
from kane_dynamics.algebra.traced_scalar import symbols
from kane_dynamics.algorithms.sparse_ldl import smaller
from kane_dynamics.analysis.base_effects import features, machine_code
from kane_dynamics.analysis.base_motion import followed, moving
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

if TYPE_CHECKING:
    from kane_dynamics.compiler.graph_kernel import GraphKernel

ROW = 8  # start and goal of the twist, time [s], part of the arm's speed


class MarginParameters(NamedTuple):
    """What headrooms depend on besides the rows, at a state; k contacts, w wheels, m motors."""

    drive: Any  # shape (4,): Lag [s] and limits of accelerations
    ground: Any  # shape (7, 1 + 2 k): Effects on the pressing force, loads, moments about edges
    pushed: Any  # shape (7, 3 k + m): On tractions and on parts of effort limits
    kept: Any  # shape (3,): Size of the support polygon [m], least distance [m], part of mu N
    wheels: Any  # shape (3, 3, w): From rates and twist: spin, damping, parts of speed limits
    friction: Any  # shape (w,): Dry friction, as parts of effort limits
    most: Any  # shape (m + w,): Parts of effort and speed limits that may be used

    def vector(self) -> Floats:
        """Return all numbers in one row."""
        return np.concatenate([part.ravel() for part in self])


def margin_code(robot: Robot, friction: Floats, wheels: int, motors: int) -> GraphKernel:
    """Return the headrooms of rows; friction of each contact, NaN where it is not known."""
    k = len(friction)
    shapes = MarginParameters(
        *((4,), (7, 1 + 2 * k), (7, 3 * k + motors), (3,), (3, 3, wheels)),
        *((wheels,), (motors + wheels,)),
    )
    sizes = [int(np.prod(shape)) for shape in shapes]
    row, numbers = symbols('row', ROW), symbols('parameters', sum(sizes))
    parts = np.split(as_array(numbers), np.cumsum(sizes)[:-1])
    p = MarginParameters(*(x.reshape(n) for x, n in zip(parts, shapes, strict=True)))
    return machine_code(robot, 'margins', row, numbers, _headrooms(as_array(row), p, friction))


def _headrooms(row: Any, p: MarginParameters, friction: Floats) -> list[Any]:
    """Return what is left of tipping over, friction, efforts and speeds, traced."""
    k, wheels = len(friction), len(p.friction)
    lag, *limits = p.drive
    size, edge, part = p.kept
    each = [
        followed(start, goal, row[6], lag, limit)
        for start, goal, limit in zip(row[:3], row[3:6], limits, strict=True)
    ]
    twist, rate = (as_array(x) for x in zip(*each, strict=True))
    selection = features(moving(twist, rate).acceleration, twist[2], row[7])
    ground, pushed = selection @ p.ground, selection @ p.pushed
    total, distance = ground[0], reduce(smaller, ground[1 + k :])
    rooms = [where(total > 0.0, (distance / total - edge) / size, -1.0)]
    pulls = pushed[: 3 * k].reshape(k, 3)
    for mu, load, pull in zip(friction, ground[1 : 1 + k], pulls, strict=True):
        used = sqrt(pull @ pull)
        use = where(used > 0.0, used / (mu * where(load > 0.0, load, 0.0)), 0.0)
        rooms.append(ca.SX(np.inf) if np.isnan(mu) else part - use)
    spun, speeds = rate @ p.wheels[0] + twist @ p.wheels[1], twist @ p.wheels[2]
    used = [*pushed[3 * k :], *speeds]
    for j in range(wheels):
        used[j] = used[j] + spun[j] + p.friction[j] * sign(speeds[j])
    return rooms + [most - absolute(x) for most, x in zip(p.most, used, strict=True)]
