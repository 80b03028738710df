# SPDX-License-Identifier: Apache-2.0
"""A base as the rows of its wheels: its joints, mobility, and rows at coordinates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from kane_dynamics.bases.icr_steering import CentredSteering
from kane_dynamics.bases.kinematics import Many
from kane_dynamics.bases.motion_rows import BaseRows, MotionRows, Wheel
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import ArrayLike, Floats

_R = TypeVar('_R', bound=Many)


@dataclass(frozen=True, eq=False)
class RollingBase:
    """The wheels of a base and their rows; see `WheeledBase`."""

    kind: str
    robot: Robot = field(repr=False)
    wheels: tuple[Wheel, ...]
    constraints: tuple[Constraint, ...] = field(repr=False)
    supports: tuple[Vector, ...] = ()
    assumed: tuple[Constraint, ...] = field(default=(), repr=False)
    track_factor: float = 1.0

    def __post_init__(self) -> None:
        if self.robot.base == 'fixed':
            raise ConstraintError(
                f"a {self.kind} base needs a robot with a planar or floating base, '"
                f"{self.robot.name}' is fixed"
            )
        factor = checks.as_positive('track_factor', self.track_factor)
        object.__setattr__(self, 'track_factor', factor)

    @property
    def driven(self) -> tuple[str, ...]:
        """Return the joints of the wheels that a motor turns: the order of wheel rates."""
        return tuple(wheel.joint for wheel in self.wheels if wheel.driven)

    @property
    def steering(self) -> tuple[str, ...]:
        """Return the joints that a motor steers: the order of steering angles and rates."""
        steered = (wheel.steering for wheel in self.wheels if wheel.kind == 'steered')
        return tuple(joint for joint in steered if joint is not None)

    @cached_property
    def centred(self) -> tuple[str, ...]:
        """Return the steered joints without trail: their angles must agree."""
        steering = self.steering
        centred = self._centred(self.robot.neutral().tolist()).centred if steering else ()
        return tuple(steering[int(k)] for k in centred)

    @property
    def passive(self) -> tuple[str, ...]:
        """Return the joints that no motor turns: casters, balls, wheels that only follow."""
        joints = [j for wheel in self.wheels for j in (wheel.steering, wheel.joint) if j]
        return tuple(joint for joint in joints if joint not in (*self.driven, *self.steering))

    @cached_property
    def _rows(self) -> BaseRows:
        parts = self.robot, self.wheels, self.constraints, self.assumed, self.track_factor
        return BaseRows(*parts)

    def _rows_at(self, q: ArrayLike | None) -> MotionRows:
        return self._rows.at(self._coordinates(q))

    def mobility(self, q: ArrayLike | None = None) -> int:
        """Return how many independent motions the base has at steering angles (delta_m)."""
        return self._rows_at(q).mobility()

    def steerability(self, q: ArrayLike | None = None) -> int:
        """Return how many centred wheels can be steered independently (delta_s)."""
        return self._rows_at(q).steerability(self._rows.steered)

    def undriven(self, q: ArrayLike | None = None) -> int:
        """Return how many independent motions the base can do while its motors stand still."""
        return self._rows_at(q).undriven()

    def fixed_rows(self) -> Floats:
        """Return C_1 of C_1 nu = 0 of the wheels that nothing steers, shape (m, 3)."""
        return self._rows_at(None).without(self._rows.steered).bound_motions()

    @cached_property
    def _on_base(self) -> CentredSteering | None:
        """Return the steered wheels where nothing but their angles moves them in the base."""
        robot = self.robot
        parents = {robot.parents[robot.body_of_joint(joint)] for joint in self.steering}
        return CentredSteering(self._rows, self._coordinates(None)) if parents <= {0} else None

    def _centred(self, q: list[float]) -> CentredSteering:
        return self._on_base or CentredSteering(self._rows, self._rows.at_origin(q))

    def _coordinates(self, q: ArrayLike | None) -> list[float]:
        return self._rows.at_origin(
            self.robot.neutral().tolist() if q is None else checked_coordinates(self.robot, q)
        )

    def _steered(self, rates: ArrayLike | Mapping[str, float] | None) -> Floats:
        """Return rates of the steering joints, zero where left out."""
        values = np.zeros(len(self.steering)) if rates is None else rates
        return self._array('steering_rates [rad/s]', values, self.steering)

    def _array(
        self, what: str, x: ArrayLike | Mapping[str, float], names: tuple[str, ...]
    ) -> Floats:
        """Return rates in the order of names, all of which a mapping has."""
        if not isinstance(x, Mapping):
            return checks.as_shaped(what, x, (len(names),), ('B', len(names)))
        values = np.full(len(names), np.nan)
        for name, value in checks.as_mapping(what, x).items():
            values[checks.index_of('joint', name, names)] = checks.as_number(
                f"{what} of '{name}'", value
            )
        missing = [name for name, value in zip(names, values, strict=True) if np.isnan(value)]
        if missing:
            raise InvalidInputError(f'{what}: {missing} are missing')
        return checks.as_finite(what, values)

    def _each(self, function: Callable[..., _R], q: ArrayLike | None, *values: Floats) -> _R:
        """Return the result of a function of coordinates (nq,) and of arrays (B, n)."""
        coordinates = None if q is None else checks.as_numbers('q', q)
        several = coordinates is not None and coordinates.ndim > 1
        rows_of_q = coordinates if several else None
        lengths = {len(x) for x in (*values, rows_of_q) if x is not None and x.ndim == 2}
        if len(lengths) > 1:
            raise InvalidInputError(
                f'q, twists and rates: batches have different lengths {sorted(lengths)}'
            )
        count = next(iter(lengths), 1)
        rows = [np.broadcast_to(x, (count, x.shape[-1])) for x in values]
        if rows_of_q is None or not count:
            result = function(self._coordinates(None if several else coordinates), *rows)
            return result if lengths else result.at(0)
        each = [
            function(self._coordinates(coordinates), *(x[k : k + 1] for x in rows))
            for k, coordinates in enumerate(rows_of_q)
        ]
        return each[0].joined(each)
