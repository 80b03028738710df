# SPDX-License-Identifier: Apache-2.0
"""Tables of a tree for the routines that make M, and factor it."""

from itertools import accumulate
from typing import Any

import numpy as np

from kane_dynamics.robot.robot import WORLD, Robot


def mass_pairs(robot: Robot) -> list[list[tuple[int, int, int]]]:
    """Return for each axis the axes that carry it: (axis, row, column) of the sums in M."""
    first = [0, *accumulate(body.joint.kind.nv for body in robot.bodies)]
    speeds = [k for index in robot.indices for k in range(index.v.start, index.v.stop)]
    pairs = []
    for body in range(len(robot.bodies)):
        for axis in range(first[body], first[body + 1]):
            others = list(range(first[body], axis + 1))
            carrier = robot.parents[body]
            while carrier != WORLD:
                local = range(first[carrier], first[carrier + 1])
                others += [k for k in local for _ in range(1 + (speeds[k] == speeds[axis]))]
                carrier = robot.parents[carrier]
            k = speeds[axis]
            pairs.append([(one, max(speeds[one], k), min(speeds[one], k)) for one in others])
    return pairs


def axis_table(robot: Robot) -> dict[str, Any]:
    """Return the constants of `axes_ldl`."""
    speeds = [range(index.v.start, index.v.stop) for index in robot.indices]
    last = np.cumsum([0, *map(len, speeds)]).tolist()
    carriers = []
    for body, parent in enumerate(robot.parents):
        first, carrier = last[body], robot.nv if parent == WORLD else last[parent + 1] - 1
        carriers += [carrier, *range(first, last[body + 1] - 1)][: len(speeds[body])]
    order = [k for local in speeds for k in local]
    diagonal = (13 * np.argsort(order) + 12).tolist()
    sizes = {'AXES': robot.nv, 'MASS': 13 * robot.nv}
    return {**sizes, 'SPEED': order, 'CARRIER': carriers, 'DIAGONAL': diagonal}


def segment_table(robot: Robot) -> dict[str, Any]:
    """Return the constants of `ltdl`: where the entries of L are."""
    below: list[set[int]] = [set() for _ in range(robot.nv)]
    for several in mass_pairs(robot):
        for _, row, col in several:
            below[row] |= {col} - {row}
    begins: list[int] = []
    ends: list[int] = []
    for k in reversed(range(robot.nv)):
        for i in below[k]:
            below[i] |= {j for j in below[k] if j < i}
    first = [0]
    for entries in below:
        for j in sorted(entries):
            if len(begins) > first[-1] and ends[-1] == j:
                ends[-1] = j + 1
            else:
                begins.append(j)
                ends.append(j + 1)
        first.append(len(begins))
    diagonal = [k * robot.nv + k for k in range(robot.nv)]
    segments = {'FIRST': first, 'BEGIN': begins, 'END': ends}
    return {'MASS': robot.nv**2, 'DIAGONAL': diagonal, **segments}
