# SPDX-License-Identifier: Apache-2.0
"""Bounds of efforts, accelerations and speeds of joints, as rows that are at most 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_mapping, as_numbers, describe
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices

Bounds = Mapping[str, 'float | tuple[float, float]']


@dataclass(frozen=True, eq=False)
class JointBounds:
    """
    Lower and upper bounds of one quantity of some joints.

    Parameters
    ----------
    names : tuple of str
        Such as 'effort of arm_1_joint'.
    columns : ndarray of int, shape (k,)
        Of the joints in v.
    lower, upper : ndarray, shape (k,)
        lower <= 0 <= upper, not both 0.

    """

    names: tuple[str, ...]
    columns: Indices
    lower: Floats
    upper: Floats

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the names of `linear`."""
        return self.names + self.names

    @property
    def half(self) -> Floats:
        """Return half of what lies between the bounds, shape (k,)."""
        return 0.5 * (self.upper - self.lower)

    @property
    def constant(self) -> Floats:
        """Return what `linear` lacks, shape (2 k,): the middle of the bounds."""
        middle = 0.5 * (self.upper + self.lower) / self.half
        return np.concatenate([-middle, middle])

    def linear(self, values: Floats) -> Floats:
        """Return the part of 2 k rows that is linear in values of all joints, (n, 2 k)."""
        parts = values[:, self.columns] / self.half
        return np.concatenate([parts, -parts], axis=1)

    def squares(self, tangents: Floats) -> Floats:
        """Return the rows of the squared speed along a path for bounds of speeds, (n, k)."""
        along = tangents[:, self.columns]
        return np.asarray((along / np.where(along < 0.0, self.lower, self.upper)) ** 2)


def joint_bounds(
    robot: Robot, what: str, limits: Floats, arguments: Bounds, part: float
) -> JointBounds:
    """
    Return the finite bounds of a quantity.

    Parameters
    ----------
    robot : Robot
        The robot.
    what : str
        'effort', ...
    limits : ndarray, shape (nv,)
        Of its size; 0 or infinite where it is unknown.
    arguments : mapping of str to float or (float, float)
        What counts instead: of both signs, or lower and upper.
    part : float
        Of the limits, that may be used.

    Raises
    ------
    NameNotFoundError
        If a speed does not exist.
    InvalidInputError
        If a bound is no number, or 0 does not lie between two.

    """
    upper = known_limits(limits)
    lower = -upper
    for name, bound in as_mapping(f'bounds of {what}', arguments).items():
        k = robot.velocity_index(name)
        pair = as_numbers(f"bound of {what} of '{name}'", bound)
        ends = np.array([-pair, pair]) if pair.shape == () else pair
        if ends.shape != (2,) or not ends[0] <= 0.0 <= ends[1] or ends[0] == ends[1]:
            raise InvalidInputError(
                f"bound of {what} of '{name}': need a number > 0, or lower <= 0 <= upper, "
                f'got {describe(bound)}'
            )
        lower[k], upper[k] = ends
    columns = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
    names = tuple(f'{what} of {robot.velocity_names[k]}' for k in columns)
    return JointBounds(names, columns, part * lower[columns], part * upper[columns])
