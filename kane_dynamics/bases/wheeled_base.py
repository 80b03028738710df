# SPDX-License-Identifier: Apache-2.0
"""A mobile base on wheels: its wheels, constraint rows and kinematics in both directions."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kane_dynamics.bases.icr_steering import ConsistentSteering, SteeringStep
from kane_dynamics.bases.kinematics import (
    BaseTwist,
    SteeringAngles,
    WheelRates,
    check_rolls,
    steering_angles_of,
    twist_of,
    wheel_rates_of,
)
from kane_dynamics.bases.rolling_base import RollingBase
from kane_dynamics.robot.checks import as_positive, as_shaped, as_vector
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats

MOTIONS = ((3,), ('B', 3))  # shapes of one twist, and of many


@dataclass(frozen=True, eq=False)
class WheeledBase(RollingBase):
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

    Examples
    --------
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> base = kd.bases.differential(robot, ['wheel_left_joint'], ['wheel_right_joint'])
    >>> base.mobility(), base.driven
    (2, ('wheel_left_joint', 'wheel_right_joint'))

    """

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
        moved = as_shaped('twist', twist, *MOTIONS)
        joints = (*self.driven, *self.steering)
        result = self._each(
            lambda q_k, nu, s: wheel_rates_of(self._rows.at(q_k), nu, s, joints), q, moved, turned
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
        result = self._each(lambda q_k, x, s: twist_of(self._rows.at(q_k), x, s), q, spun, turned)
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
        moved = as_shaped('twist', twist, *MOTIONS)
        rate = np.zeros(3)
        if twist_rate is not None:
            rate = as_shaped('twist_rate', twist_rate, *MOTIONS)
        return self._each(lambda *motion: steering_angles_of(self._rows, *motion), q, moved, rate)

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
        robot, s = self.robot, self._rows
        coordinates = checked_coordinates(robot, robot.neutral() if q is None else q)
        speeds = [0.0] * robot.nv if v is None else checked_speeds(robot, v)
        measured = [coordinates[k] for k in s.steering_places]
        rates = [speeds[k] for k in s.steering_speeds]
        angles, rates = self._centred(coordinates).agreed(measured, rates)
        for k, angle in zip(s.steering_places, angles, strict=True):
            coordinates[k] = angle
        for k, rate in zip(s.steering_speeds, rates, strict=True):
            speeds[k] = rate
        turned = np.subtract(angles, measured)
        return ConsistentSteering(
            np.array(coordinates), np.array(speeds), turned, s.steered_wheels
        )

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
        coordinates = checked_coordinates(self.robot, q)
        moved = as_vector('twist', twist, 3)
        limit = np.inf if most is None else as_positive('most [rad]', most)
        angles = np.array([coordinates[k] for k in self._rows.steering_places])
        return self._centred(coordinates).towards(angles, moved, limit)

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
        coordinates = np.array(self._coordinates(q))
        new_angles = as_shaped('angles [rad]', angles, (len(self.steering),))
        coordinates[self._rows.steering_angles] = new_angles
        return coordinates
