# SPDX-License-Identifier: Apache-2.0
r"""
Energy of one midpoint step against the work of its forces.

:math:`v_m^T (M (v^+ - v) + h (C v_m + g))` at the middle is what efforts, friction and driven
constraints did; without errors of the step, T + V changes by it. The gap is of order h^3. Where a
tenth of the energy that moves is missing, the step is too long, or the motion jumped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kane_dynamics.algebra.scalars import Scalar, sign
from kane_dynamics.algorithms.energy_and_momentum import tree_kinetic_energy, tree_potential_energy
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.robot.robot import Robot

State = tuple[Any, Any]

MOST_LOST = 0.1  # of the energy that moves: a joint then turns by about 1 rad in a step
_ROUNDOFF = 1e-9  # of the potential energy


def excess_gap(
    robot: Robot, start: State, middle: State, end: State, h: Scalar
) -> tuple[Scalar, Scalar]:
    """
    Return the gap of a step's energy [J] and how far it is above its bound (at most 0: sound).

    Parameters
    ----------
    robot : Robot
        The robot.
    start, middle, end : tuple of (q, v)
        Of the step, numbers or traced.
    h : scalar
        Length of the step [s].

    """
    potential = [tree_potential_energy(robot, q) for q, _ in (start, end)]
    kinetic = [tree_kinetic_energy(robot, *state) for state in (start, end)]
    rates = [(b - a) / h for a, b in zip(start[1], end[1], strict=True)]
    efforts = newton_euler(robot, middle[0], middle[1], rates)
    work: Scalar = 0.0
    for force, armature, rate, speed in zip(
        efforts, robot.armature.tolist(), rates, middle[1], strict=True
    ):
        work = work + h * speed * (force + armature * rate)
    return excess_of(kinetic, potential, work)


def excess_of(
    kinetic: Sequence[Scalar], potential: Sequence[Scalar], work: Scalar
) -> tuple[Scalar, Scalar]:
    """Return the same from the energies at the start and at the end and the work between [J]."""
    before, after = potential
    moved = after - before
    gap = kinetic[1] - kinetic[0] + moved - work
    allowed = MOST_LOST * (kinetic[0] + kinetic[1] + _size(moved))
    return gap, _size(gap) - allowed - _ROUNDOFF * (1e-3 + _size(before) + _size(after))


def _size(x: Scalar) -> Scalar:
    return sign(x) * x
