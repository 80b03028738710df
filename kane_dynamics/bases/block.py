# SPDX-License-Identifier: Apache-2.0
"""A mobile base from a short block of settings, e.g. of a YAML file."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kane_dynamics.bases import builders
from kane_dynamics.bases.motion_rows import SMALL
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.exceptions import InvalidInputError, known_names
from kane_dynamics.robot.checks import as_mapping, describe
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import Floats

KINDS = ('differential', 'skid_steer', 'mecanum', 'omni', 'ackermann', 'swerve')
BUILDERS: Mapping[str, Callable[..., WheeledBase]] = {
    kind: getattr(builders, kind) for kind in KINDS
}


def wheeled_base(robot: Robot, block: Mapping[str, Any]) -> WheeledBase:
    """
    Return the base that a block of settings describes.

    Parameters
    ----------
    robot : Robot
        A robot with a planar or a floating base.
    block : mapping of str to object
        ``kind``: the name of a builder, e.g. 'mecanum'; the other entries are its arguments.

    Raises
    ------
    InvalidInputError
        If the kind or an entry is unknown (the message has the nearest name) or one is missing,
        or as the builder.
    NameNotFoundError, ConstraintError
        As the builder.

    Warns
    -----
    ModelWarning
        As the builder.

    Examples
    --------
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> left, right = (f'wheel_{side}_joint' for side in ('left', 'right'))
    >>> block = {'kind': 'differential', 'left': [left], 'right': [right]}
    >>> kd.bases.wheeled_base(robot, block).kind
    'differential'

    """
    checked_robot(robot)
    entries = dict(as_mapping('block', block))
    kind = entries.pop('kind', None)
    if not isinstance(kind, str) or kind not in BUILDERS:
        raise InvalidInputError(
            f'kind of base: got {describe(kind)}; {known_names(BUILDERS, kind)}'
        )
    arguments = list(inspect.signature(BUILDERS[kind]).parameters.values())[1:]
    names = [argument.name for argument in arguments]
    for entry in entries:
        if entry not in names:
            raise InvalidInputError(
                f"a base of kind '{kind}' has no entry '{entry}'; {known_names(names, entry)}"
            )
    for argument in arguments:
        if argument.default is argument.empty and argument.name not in entries:
            raise InvalidInputError(f"a base of kind '{kind}' needs '{argument.name}'")
    return BUILDERS[kind](robot, **entries)


AXES = ('x', 'y', 'yaw')
_FIRST = (0, 2, 1)  # what drivers of bases take: speed ahead, yaw rate, and then speed aside
_ROUNDOFF = 1e-12
_CURVATURES = np.geomspace(1e-3, 1e3, 601)  # [1/m]


class TwistReach:
    """Twists that the wheels of a base allow: independent components, and those that follow."""

    def __init__(self, base: WheeledBase | None = None) -> None:
        self.axes, self.matrix, self.curvature = [0, 1, 2], np.eye(3), np.inf
        if base is None:
            return
        _, sizes, right = np.linalg.svd(base.fixed_rows())
        left = right[int((sizes > SMALL).sum()) :].T
        self.axes = sorted(free_components(left))
        matrix = left @ np.linalg.inv(left[self.axes])
        self.matrix = np.where(np.abs(matrix) < _ROUNDOFF, 0.0, matrix)
        if base.steering and len(self.axes) < len(AXES):
            turns = np.stack([np.ones_like(_CURVATURES), _CURVATURES], axis=1)
            reached = base.steering_angles(turns @ self.matrix.T).reached.all(axis=1)
            self.curvature = np.inf if reached.all() else float(_CURVATURES[np.argmin(reached)])

    def within(self, free: Floats) -> Floats:
        """Return free components with no larger yaw rate than steering allows."""
        if np.isinf(self.curvature):
            return free
        most = self.curvature * abs(free[0])
        return np.array([free[0], np.clip(free[1], -most, most)])

    def missing(self, twist: Floats) -> tuple[str, ...]:
        """Return the names of the axes along which a base cannot move as a twist asks."""
        free = self.within(twist[self.axes])
        lost = np.abs(self.matrix @ free - twist) > SMALL * np.abs(twist)
        lost &= twist != 0.0
        return tuple(name for name, gone in zip(AXES, lost, strict=True) if gone)


def free_components(columns: Floats) -> list[int]:
    """Return the components that determine a twist in the span of columns."""
    components: list[int] = []
    for k in _FIRST:
        if np.linalg.matrix_rank(columns[[*components, k]], SMALL) > len(components):
            components.append(k)
    return components
