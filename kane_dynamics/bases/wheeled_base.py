# SPDX-License-Identifier: Apache-2.0
"""A mobile base on wheels: its wheels, constraint rows and kinematics in both directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.bases.icr_steering import (
    CentredSteering,
    ConsistentSteering,
    SteeringStep,
)
from kane_dynamics.bases.kinematics import (
    BaseTwist,
    Names,
    WheelRates,
    check_rolls,
    twist_of,
    wheel_rates_of,
)
from kane_dynamics.bases.many import Many
from kane_dynamics.bases.mobility import (
    bound_motions,
    mobility,
    not_steered,
    steerability,
    undriven,
)
from kane_dynamics.bases.motion_rows import MotionRows, Speeds, motion_rows
from kane_dynamics.bases.steering import SteeringAngles, steering_angles_of
from kane_dynamics.bases.wheel import Wheel
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.checks import (
    as_mapping,
    as_number,
    as_numbers,
    as_positive,
    as_vector,
    index_of,
    not_finite,
)
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats

_R = TypeVar('_R', bound=Many)


@dataclass(frozen=True, eq=False)
class WheeledBase:
    """
    A mobile base on wheels. Built by `differential`, `mecanum`, `swerve`, ... and `wheeled_base`.

    Its kinematics is linear algebra on the rows of its wheels, A(q) v = 0; nothing else is known
    of a kind of base. A twist is (vx, vy, yaw rate) of the base frame in its own axes [m/s,
    rad/s]; arrays take one, shape (n,), or many, shape (B, n), at one q or at as many.

    Parameters
    ----------
    kind : str
        'differential', 'skid_steer', 'mecanum', 'omni', 'ackermann' or 'swerve'.
    robot : Robot
        A robot with a planar or a floating base.
    wheels : tuple of Wheel
        Its wheels.
    constraints : tuple of Constraint
        What rolls, for ``constraints=(...)`` of dynamics. Redundant rows are normal.
    supports : tuple of tuple of float
        Points that carry load and bind nothing, e.g. massless casters, in the base frame [m].
    assumed : tuple of Constraint
        Rows that hold in the kinematics only: where a base that skids turns about.
    track_factor : float
        By which wheels seem further apart where the base turns, in the kinematics only.

    Raises
    ------
    ConstraintError
        If the base is fixed.
    InvalidInputError
        If the factor is not a number > 0.

    """

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
        factor = as_positive('track_factor', self.track_factor)
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
        selection = self._centred(self.robot.neutral()).centred if steering else ()
        return tuple(steering[int(k)] for k in selection)

    @property
    def passive(self) -> tuple[str, ...]:
        """Return the joints that no motor turns: casters, balls, wheels that only follow."""
        joints = [j for wheel in self.wheels for j in (wheel.steering, wheel.joint) if j]
        return tuple(joint for joint in joints if joint not in (*self.driven, *self.steering))

    @cached_property
    def _speeds(self) -> Speeds:
        return Speeds.of(self.robot, self.wheels)

    @cached_property
    def _sets(self) -> tuple[ConstraintSet, ConstraintSet]:
        return ConstraintSet(self.robot, self.constraints), ConstraintSet(self.robot, self.assumed)

    def _rows(self, q: Sequence[float]) -> MotionRows:
        return motion_rows(*self._sets, self._speeds, q, self.track_factor)

    def wheel_rates(
        self,
        twist: ArrayLike,
        q: ArrayLike | None = None,
        steering_rates: ArrayLike | Mapping[str, float] | None = None,
        *,
        exact: bool = False,
    ) -> WheelRates:
        """
        Return the rates of the driven wheels, and of steering, for a motion of the base.

        Where wheels contradict each other (steering angles, a motion that the base cannot do),
        the slip that is left is as small as wheel rates can make it.

        Parameters
        ----------
        twist : array_like, shape (3,) or (B, 3)
            Of the base.
        q : array_like, shape (nq,) or (B, nq), optional
            Coordinates; the neutral ones where left out. Where the base is does not matter.
        steering_rates : array_like, shape (s,) or (B, s), or mapping of str to float, optional
            Of the joints `steering` [rad/s]; zero where left out. A rate that rolling determines
            (of a wheel with trail) is not free; it comes back as it must be.
        exact : bool
            Whether slip is an error.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.
        NameNotFoundError
            If a name is none of `steering`.
        InconsistentConstraintsError
            If `exact` and wheels slip; it says which and by how much.

        """
        turned = self._steered(steering_rates)
        moved = _finite('twist', twist, 3)
        names = Names(self.driven, self.steering)
        result = self._each(
            lambda place, nu, s: wheel_rates_of(self._rows(place), nu, s, names), q, moved, turned
        )
        if exact:
            check_rolls(self.kind, result)
        return result

    def twist(
        self,
        rates: ArrayLike | Mapping[str, float],
        q: ArrayLike | None = None,
        steering_rates: ArrayLike | Mapping[str, float] | None = None,
        *,
        exact: bool = False,
    ) -> BaseTwist:
        """
        Return the motion of the base for rates of its driven wheels: odometry.

        Where wheels contradict each other it is the motion with the least sum of squared slips.
        What the rows leave open is zero.

        Parameters
        ----------
        rates : array_like, shape (d,) or (B, d), or mapping of str to float
            Of the joints `driven` [rad/s]; all of them.
        q, exact
            As for `wheel_rates`.
        steering_rates : array_like, shape (s,) or (B, s), or mapping of str to float, optional
            Of the joints `steering` [rad/s]; zero where left out.

        Raises
        ------
        InvalidInputError, NameNotFoundError, InconsistentConstraintsError
            As for `wheel_rates`.

        """
        turned = self._steered(steering_rates)
        spun = self._array('rates [rad/s]', rates, self.driven)
        result = self._each(lambda place, x, s: twist_of(self._rows(place), x, s), q, spun, turned)
        if exact:
            check_rolls(self.kind, result)
        return result

    def steering_angles(
        self, twist: ArrayLike, q: ArrayLike | None = None, twist_rate: ArrayLike | None = None
    ) -> SteeringAngles:
        """
        Return the angles of the steered wheels with which they do not slip sideways.

        Of the two headings, and turns of them, the one nearest to the present angle that the
        limits of the joint allow. A wheel whose axis is at rest keeps its angle.

        Parameters
        ----------
        twist : array_like, shape (3,) or (B, 3)
            Of the base.
        q : array_like, shape (nq,) or (B, nq), optional
            Coordinates, with the present angles; the neutral ones where left out.
        twist_rate : array_like, shape (3,) or (B, 3), optional
            Rates of the components of the twist [m/s^2, rad/s^2], for the rates of the angles;
            zero where left out.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.

        """
        moved = _finite('twist', twist, 3)
        rate = _finite('twist_rate', np.zeros(3) if twist_rate is None else twist_rate, 3)
        return self._each(
            lambda place, *values: steering_angles_of(
                self._sets[0], self._steered_wheels, self._speeds, place, *values
            ),
            q,
            moved,
            rate,
        )

    def consistent_steering(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None
    ) -> ConsistentSteering:
        """
        Return the nearest steering angles that agree, and how far the given ones are from them.

        Measured angles never have a centre of turning in common to the last digit; then rows that
        should repeat each other leave the base no motion (`mobility` is 0).

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Coordinates with the angles; the neutral ones where left out.
        v : array_like, shape (nv,), optional
            Speeds, of which those of steering are fitted too: with them the angles agree from one
            instant to the next. Zero where left out.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.

        """
        robot, s = self.robot, self._speeds
        place = robot.neutral() if q is None else np.array(checked_coordinates(robot, q))
        speeds = np.zeros(robot.nv) if v is None else np.array(checked_speeds(robot, v))
        values = place[s.steering_places]
        angles, rates = self._centred(place).agreed(values, speeds[s.steering])
        place[s.steering_places], speeds[s.steering] = angles, rates
        wheels = tuple(wheel.joint for wheel in self._steered_wheels)
        return ConsistentSteering(place, speeds, angles - values, wheels)

    def steer_towards(
        self, twist: ArrayLike, q: ArrayLike, most: float | None = None
    ) -> SteeringStep:
        """
        Return the next steering angles on the way to a motion, and what of it they allow.

        The angles agree at every step: the centre of turning moves to that of the motion, the
        shorter way, wheels rolling backwards where that is nearer. Until it is there the base
        moves as its wheels allow, as far forward as is wanted, but with no larger motion: it
        stands where they look across. The joints' limits are kept.

        Parameters
        ----------
        twist : array_like, shape (3,)
            Wanted motion of the base; where it is zero the angles stay.
        q : array_like, shape (nq,)
            Coordinates with the present angles.
        most : float, optional
            Largest angle by which a wheel turns [rad]: its rate limit times the step; any where
            left out.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, or `most` is not > 0.

        """
        values = np.array(checked_coordinates(self.robot, q))
        moved = as_vector('twist', twist, 3)
        limit = np.inf if most is None else as_positive('most [rad]', most)
        return self._centred(values).towards(values[self._speeds.steering_places], moved, limit)

    def at_angles(self, angles: ArrayLike, q: ArrayLike | None = None) -> Floats:
        """
        Return coordinates with other steering angles.

        Parameters
        ----------
        angles : array_like, shape (s,)
            Of the joints `steering` [rad].
        q : array_like, shape (nq,), optional
            The other coordinates; the neutral ones where left out.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.

        """
        place = np.array(self._coordinates(q))
        selection = _finite('angles [rad]', angles, len(self.steering))
        if selection.ndim != 1:
            raise InvalidInputError(f'angles [rad]: need one state, got shape {selection.shape}')
        place[self._speeds.steering_places] = selection
        return place

    def mobility(self, q: ArrayLike | None = None) -> int:
        """Return how many independent motions the base has at steering angles (delta_m)."""
        return mobility(self._rows(self._coordinates(q)))

    def steerability(self, q: ArrayLike | None = None) -> int:
        """Return how many centred wheels can be steered independently (delta_s)."""
        return steerability(self._rows(self._coordinates(q)), self.wheels)

    def undriven(self, q: ArrayLike | None = None) -> int:
        """Return how many independent motions the base can do while its motors stand still."""
        return undriven(self._rows(self._coordinates(q)))

    def fixed_rows(self) -> Floats:
        """Return C_1 of C_1 nu = 0 of the wheels that nothing steers, shape (m, 3)."""
        return bound_motions(not_steered(self._rows(self._coordinates(None)), self.wheels))

    @cached_property
    def _steered_wheels(self) -> tuple[Wheel, ...]:
        return tuple(wheel for wheel in self.wheels if wheel.kind == 'steered')

    @cached_property
    def _on_base(self) -> CentredSteering | None:
        """Return the steered wheels where nothing but their angles moves them in the base."""
        robot = self.robot
        parents = {
            robot.parents[robot.body_of_joint(w.steering or '')] for w in self._steered_wheels
        }
        return self._centred_at(self._coordinates(None)) if parents <= {0} else None

    def _centred(self, q: Floats) -> CentredSteering:
        return self._on_base or self._centred_at(self._speeds.at_origin(q.tolist()))

    def _centred_at(self, q: list[float]) -> CentredSteering:
        return CentredSteering(self._sets[0], self._rows(q), self._steered_wheels, self._speeds, q)

    def _coordinates(self, q: ArrayLike | None) -> list[float]:
        return self._speeds.at_origin(
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
            return _finite(what, x, len(names))
        values = np.full(len(names), np.nan)
        for name, value in as_mapping(what, x).items():
            values[index_of('joint', name, names)] = as_number(f"{what} of '{name}'", value)
        missing = [name for name, value in zip(names, values, strict=True) if np.isnan(value)]
        if missing:
            raise InvalidInputError(f'{what}: {missing} are missing')
        return _finite(what, values, len(names))

    def _each(self, function: Callable[..., _R], q: ArrayLike | None, *values: Floats) -> _R:
        """
        Return the result of a function of coordinates (nq,) and of arrays (B, n).

        At one q it is called once, at many once for each; the result is that of one state where
        only one was given.
        """
        place = None if q is None else as_numbers('q', q)
        several = place is not None and place.ndim > 1
        indices = place if several else None
        lengths = {len(x) for x in (*values, indices) if x is not None and x.ndim == 2}
        if len(lengths) > 1:
            raise InvalidInputError(
                f'q, twists and rates: batches have different lengths {sorted(lengths)}'
            )
        count = next(iter(lengths), 1)
        rows = [np.broadcast_to(x, (count, x.shape[-1])) for x in values]
        if indices is None or not count:
            result = function(self._coordinates(None if several else place), *rows)
            return result if lengths else result.at(0)
        each = [
            function(self._coordinates(place), *(x[k : k + 1] for x in rows))
            for k, place in enumerate(indices)
        ]
        return each[0].joined(each)


def _finite(what: str, x: ArrayLike, size: int) -> Floats:
    """Return finite numbers of shape (size,) or (B, size)."""
    array = as_numbers(what, x)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise InvalidInputError(f'{what}: need shape ({size},) or (B, {size}), got {array.shape}')
    if not np.isfinite(array).all():
        raise InvalidInputError(f'{what}: need finite numbers, got {not_finite(array)}')
    return array
