# SPDX-License-Identifier: Apache-2.0
r"""
How far motions of a base are from the limits of its robot, as parts of them.

Limits are tipping over (the zero-moment point against the edges of the support polygon), friction
of each contact, efforts of wheels and arm, and speeds of wheels. At coordinates and a motion of
the arm all of them follow from the motion of the base by linear maps and `BaseEffects`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.control.base_effects import TracedEffects, planar_robot
from kane_dynamics.control.base_motion import BaseMotion, twist_rate
from kane_dynamics.control.normal_forces import pressed_shares
from kane_dynamics.control.stance import Stance
from kane_dynamics.control.support_polygon import support_polygon
from kane_dynamics.control.tip_over import edge_moments
from kane_dynamics.control.traced_recursion import TracedFooting
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_names, as_nonnegative, as_positive
from kane_dynamics.model.joint_tables import known_limits
from kane_dynamics.typing import Floats

__all__ = ['Headrooms', 'MotionLimits', 'Reserve']


@dataclass(frozen=True)
class Reserve:
    """
    What is left of each limit.

    Parameters
    ----------
    edge : float
        Least distance of the zero-moment point from the edges of the support polygon [m].
    friction : float
        Largest part of mu N that a wheel may use.
    effort, speed : float
        Largest part of the effort and velocity limits of joints that may be used.

    Raises
    ------
    InvalidInputError
        If the distance is negative, or a part is not above 0 and at most 1.

    """

    edge: float = 0.05
    friction: float = 0.8
    effort: float = 0.9
    speed: float = 0.9

    def __post_init__(self) -> None:
        as_nonnegative('edge [m]', self.edge)
        for name in ('friction', 'effort', 'speed'):
            if not as_positive(name, getattr(self, name)) <= 1.0:
                raise InvalidInputError(f'{name}: need at most 1, got {getattr(self, name):g}')


class MotionLimits:
    """
    The limits of one robot on wheels.

    Parameters
    ----------
    contacts : Stance
        What it stands on.
    wheels : sequence of str
        Joints that drives turn.
    passive : sequence of str
        Joints that nothing turns.
    reserve : Reserve
        What is kept.

    Attributes
    ----------
    names : tuple of str
        'tip-over', 'friction of <contact>', 'effort of <joint>', 'speed of <wheel>'.

    Raises
    ------
    ConstraintError
        If the base is not planar.
    NameNotFoundError
        If a joint does not exist.

    """

    def __init__(
        self, contacts: Stance, wheels: Sequence[str], passive: Sequence[str], reserve: Reserve
    ) -> None:
        robot = planar_robot(contacts.robot)
        self.contacts, self.reserve = contacts, reserve
        self.still = (*as_names('wheels', wheels), *as_names('passive', passive))
        self.wheels = [robot.velocity_index(name) for name in wheels]
        inertia = np.diag(gauss_mass_matrix(robot, robot.neutral()))
        self.spin = inertia[self.wheels]  # about their own axes, wherever they are
        self.loose = [0, 1, 2, *(robot.velocity_index(name) for name in passive)]
        stays = {*self.wheels, *self.loose}
        self.arm = [k for k in range(robot.nv) if k not in stays]
        self.effects = TracedEffects(robot, self.still)
        self.footing = TracedFooting(contacts)
        self.names = (
            'tip-over',
            *(f'friction of {name}' for name in contacts.names),
            *(f'effort of {robot.velocity_names[k]}' for k in (*self.wheels, *self.arm)),
            *(f'speed of {robot.velocity_names[k]}' for k in self.wheels),
        )

    def with_reserve(self, reserve: Reserve) -> MotionLimits:
        """Return the limits of the same robot with another reserve."""
        other = copy(self)
        other.reserve = reserve
        return other

    def at(self, q: Floats, v: Floats, a: Floats) -> Headrooms:
        """
        Return the headrooms of motions at coordinates and a motion of the arm.

        Parameters
        ----------
        q, v, a : ndarray, shapes (nq,), (nv,), (nv,), or (B, nq), (B, nv), (B, nv)
            State, and accelerations of the arm; those of base and wheels do not count. Or the
            arm's states along a plan, a step apart; base and wheels are where they are in the
            first.

        """
        return Headrooms(self, q, v, a)


class Headrooms:
    """
    What is left of each limit, for motions of the base from one state. See `MotionLimits.at`.

    Parameters
    ----------
    limits : MotionLimits
        The limits.
    q, v, a
        As for `MotionLimits.at`.

    """

    def __init__(self, limits: MotionLimits, q: Floats, v: Floats, a: Floats) -> None:
        self._limits, contacts = limits, limits.contacts
        robot, place = contacts.robot, np.atleast_2d(q)[0]
        self._effects, self._planned = limits.effects.at(q, v, a), np.ndim(q) > 1
        self._drag = robot.damping * np.abs(np.atleast_2d(v)).max(axis=0) + robot.friction
        points, rows, tractions = limits.footing.at(place)
        polygon = support_polygon(points, contacts.normal, contacts.names)
        self._normal = polygon.normal
        self._edges = edge_moments(polygon, np.eye(6)).T
        arms = polygon.ends - polygon.middle
        self._size = float(np.sum(-arms * polygon.inward, axis=1).min())
        self._shares = pressed_shares(polygon, contacts.stiffness)
        self._rows, self._held = rows, np.linalg.pinv(rows[:, limits.loose].T)
        self._tractions = tractions
        c, s = np.cos(place[2]), np.sin(place[2])
        turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self._rates = -np.linalg.pinv(rows[:, limits.wheels]) @ rows[:, :3] @ turned

    def of(self, motion: BaseMotion, pace: ArrayLike = 1.0, knots: ArrayLike = 0.0) -> Floats:
        """
        Return the headroom of each limit, negative beyond its reserve, shape (..., l).

        Parameters
        ----------
        motion : BaseMotion
            Of the base frame, in its axes, shapes (..., 3).
        pace : array_like, shape (...)
            Part of the arm's speed.
        knots : array_like, shape (...)
            Where the arm is on its plan, in steps.

        """
        yaw_rate, paces = motion.twist[..., 2], np.asarray(pace, dtype=float)
        there = self._effects.between(np.asarray(knots)) if self._planned else self._effects
        wrenches, efforts = there.at(motion.acceleration, yaw_rate, paces)
        # with which the rows alone move what nothing drives, of least norm
        pushes = efforts[..., self._limits.loose] @ self._held.T
        parts = (
            self._of_ground(wrenches, pushes),
            self._of_efforts(efforts, pushes, motion),
            self._of_speeds(motion),
        )
        shape = wrenches.shape[:-1]
        rooms = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
        return np.concatenate(rooms, axis=-1)

    def _of_ground(self, wrenches: Floats, pushes: Floats) -> Floats:
        """Return headrooms of tipping over and of the friction of each contact."""
        kept, total = self._limits.reserve, wrenches[..., 3:] @ self._normal
        loads = np.maximum(wrenches @ self._shares.T, 0.0)
        pulls = np.linalg.norm(np.tensordot(pushes, self._tractions, 1), axis=-1)
        most = self._limits.contacts.friction.min(axis=1) * loads
        with np.errstate(divide='ignore', invalid='ignore'):
            reach = (wrenches @ self._edges.T).min(axis=-1) / total
            use = np.where(pulls > 0.0, pulls / most, 0.0)
        stands = np.where(total > 0.0, (reach - kept.edge) / self._size, -1.0)
        holds = np.where(np.isnan(most), np.inf, kept.friction - use)
        return np.concatenate([stands[..., None], holds], axis=-1)

    def _of_efforts(self, efforts: Floats, pushes: Floats, motion: BaseMotion) -> Floats:
        """Return headrooms of the efforts of wheels and arm."""
        limits, robot = self._limits, self._limits.contacts.robot
        wheels, arm = limits.wheels, limits.arm
        rates, spins = motion.twist @ self._rates.T, twist_rate(motion) @ self._rates.T
        drag = robot.damping[wheels] * rates + robot.friction[wheels] * np.sign(rates)
        turned = limits.spin * spins + drag - pushes @ self._rows[:, wheels]
        moved = np.abs(efforts[..., arm]) + self._drag[arm]
        turned = np.broadcast_to(np.abs(turned), (*moved.shape[:-1], len(wheels)))
        asked = np.concatenate([turned, moved], axis=-1)
        return limits.reserve.effort - asked / known_limits(robot.effort_limit[[*wheels, *arm]])

    def _of_speeds(self, motion: BaseMotion) -> Floats:
        """Return headrooms of the speeds of wheels."""
        limits = self._limits
        rates = motion.twist @ self._rates.T
        most = known_limits(limits.contacts.robot.velocity_limit[limits.wheels])
        return limits.reserve.speed - np.abs(rates) / most
