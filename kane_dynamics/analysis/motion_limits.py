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
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.analysis.base_effects import (
    BaseEffects,
    TracedEffects,
    TracedFooting,
    planar_robot,
)
from kane_dynamics.analysis.base_motion import BaseMotion
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.normal_forces import pressed_shares
from kane_dynamics.analysis.support_polygon import support_polygon
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_nonnegative, as_positive
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['MarginUse', 'MotionLimits', 'SafetyMargins']


@dataclass(frozen=True)
class SafetyMargins:
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
    margins : SafetyMargins
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
        self,
        contacts: GroundContacts,
        wheels: Sequence[str],
        passive: Sequence[str],
        margins: SafetyMargins,
    ) -> None:
        robot = planar_robot(contacts.robot)
        self.contacts, self.margins = contacts, margins
        self.still = (*as_names('wheels', wheels), *as_names('passive', passive))
        self.wheels = [robot.velocity_index(name) for name in wheels]
        inertia = np.diag(gauss_mass_matrix(robot, robot.neutral()))
        self.spin = inertia[self.wheels]  # about their own axes, wherever they are
        self.joints_without_gain = [0, 1, 2, *(robot.velocity_index(name) for name in passive)]
        stays = {*self.wheels, *self.joints_without_gain}
        self.arm = [k for k in range(robot.nv) if k not in stays]
        self.efforts = known_limits(robot.effort_limit[[*self.wheels, *self.arm]])
        self.speeds = known_limits(robot.velocity_limit[self.wheels])
        self.effects = TracedEffects(robot, self.still)
        self.footing = TracedFooting(contacts)
        self._ground: tuple[bytes, GroundRows] | None = None
        self.names = (
            'tip-over',
            *(f'friction of {name}' for name in contacts.names),
            *(f'effort of {robot.velocity_names[k]}' for k in (*self.wheels, *self.arm)),
            *(f'speed of {robot.velocity_names[k]}' for k in self.wheels),
        )

    def with_margins(self, margins: SafetyMargins) -> MotionLimits:
        """Return the limits of the same robot with other margins."""
        other = copy(self)
        other.margins = margins
        return other

    def ground(self, q: Floats) -> GroundRows:
        """Return how the robot stands at coordinates; the same while no wheel is steered."""
        key = q[self.footing.indices].tobytes()
        if self._ground is None or self._ground[0] != key:
            self._ground = key, self._ground_rows(np.r_[np.zeros(3), q[3:]])
        return self._ground[1]

    def _ground_rows(self, q: Floats) -> GroundRows:
        points, rows, tractions = self.footing.at(q)
        contacts = self.contacts
        polygon = support_polygon(points, contacts.normal, contacts.names)
        distances = np.sum((polygon.middle - polygon.ends) * polygon.inward, axis=1)
        pressing = np.r_[np.zeros(3), polygon.normal]
        shares = pressed_shares(polygon, contacts.stiffness)
        # with which the rows alone move what nothing drives, of least norm
        held = np.linalg.pinv(rows[:, self.joints_without_gain])
        pulls = held @ tractions.reshape(len(rows), -1)
        borne = np.hstack([pulls, -held @ rows[:, self.wheels]])
        pushes = np.zeros((rows.shape[1], borne.shape[1] + len(self.arm)))
        pushes[self.joints_without_gain, : borne.shape[1]] = borne
        pushes[self.arm, borne.shape[1] :] = np.eye(len(self.arm))
        return GroundRows(
            float(distances.min()),
            np.vstack([pressing, shares, polygon.edge_rows]).T,
            pushes,
            -np.linalg.pinv(rows[:, self.wheels]) @ rows[:, :3],
        )

    def at(self, q: Floats, v: Floats, a: Floats) -> MarginUse:
        """
        Return the headrooms of motions at coordinates and a motion of the arm.

        Parameters
        ----------
        q, v, a : ndarray, shapes (nq,), (nv,), (nv,), or (B, nq), (B, nv), (B, nv)
            State, and accelerations of the arm; those of base and wheels do not count. Or the
            arm's states along a plan, a step apart; base and wheels are where they are in the
            first.

        """
        return MarginUse(self, q, v, a)


class GroundRows(NamedTuple):
    """Maps from ground wrench and efforts to contacts and drives, in axes of the base."""

    size: float
    wrenches: Floats
    pushes: Floats
    rates: Floats


class MarginUse:
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
        self._limits, contacts, wheels = limits, limits.contacts, limits.wheels
        robot, start = contacts.robot, np.atleast_2d(q)[0]
        self._planned = np.ndim(q) > 1
        ground, effects = limits.ground(start), limits.effects.at(q, v, a)
        self._size, count = ground.size, 3 * len(contacts.names)
        c, s = np.cos(start[2]), np.sin(start[2])
        turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        forces = turned @ ground.wrenches[3:]
        moments = turned @ ground.wrenches[:3]
        # of -p x f; no row has a moment about the vertical
        forces[2] += start[0] * moments[1] - start[1] * moments[0]
        pushes = np.vstack([turned @ ground.pushes[:3], ground.pushes[3:]])
        pushes[:, count:] /= limits.efforts
        self._effects = BaseEffects(
            effects.wrenches @ np.vstack([moments, forces]), effects.efforts @ pushes
        )
        # efforts of wheels and speeds, of twist, inertial acceleration, yaw rate times velocity
        rates, most = ground.rates.T, limits.efforts[: len(wheels)]
        spun = np.vstack([robot.damping[wheels] * rates, limits.spin * rates]) / most
        spun = np.vstack([spun, [-spun[4], spun[3]]])
        speeds = np.vstack([rates / limits.speeds, np.zeros((5, len(wheels)))])
        self._wheels = np.hstack([spun, speeds])
        self._rubbing = robot.friction[wheels] / most
        drag, kept = np.zeros(len(limits.efforts)), limits.margins
        moving = robot.damping * np.abs(np.atleast_2d(v)).max(axis=0) + robot.friction
        drag[len(wheels) :] = moving[limits.arm]
        asked = kept.effort - drag / limits.efforts
        self._most = np.append(asked, np.full(len(wheels), kept.speed))

    @property
    def slack(self) -> Floats:
        """Return what the reserves keep of each limit, as headrooms, shape (l,)."""
        kept, contacts, limits = self._limits.margins, self._limits.contacts, self._limits
        parts = (kept.edge / self._size, 1.0 - kept.friction, 1.0 - kept.effort, 1.0 - kept.speed)
        wheels = len(limits.wheels)
        return np.repeat(parts, (1, len(contacts.names), wheels + len(limits.arm), wheels))

    def of(
        self, motion: BaseMotion, speed_scaling: ArrayLike = 1.0, knots: ArrayLike = 0.0
    ) -> Floats:
        """
        Return the headroom of each limit, negative beyond its reserve, shape (..., l).

        Parameters
        ----------
        motion : BaseMotion
            Of the base frame, in its axes, shapes (..., 3).
        speed_scaling : array_like, shape (...)
            Part of the arm's speed.
        knots : array_like, shape (...)
            Where the arm is on its plan, in steps.

        """
        scalings, turning = np.asarray(speed_scaling, dtype=float), motion.twist[..., 2:]
        there = self._effects.between(np.asarray(knots)) if self._planned else self._effects
        ground, pushed = there.at(motion.acceleration, turning[..., 0], scalings)
        k, wheels = len(self._limits.contacts.names), len(self._limits.wheels)
        efforts = len(self._limits.efforts)
        moved = np.concatenate([*motion, turning * motion.twist[..., :2]], axis=-1) @ self._wheels
        rooms = np.empty((*ground.shape[:-1], len(self._limits.names)))
        self._of_ground(ground, pushed[..., : 3 * k], rooms[..., : 1 + k])
        used, speeds = rooms[..., 1 + k :], moved[..., wheels:]
        used[..., :efforts] = pushed[..., 3 * k :]
        used[..., efforts:] = speeds
        used[..., :wheels] += moved[..., :wheels] + self._rubbing * np.sign(speeds)
        np.subtract(self._most, np.abs(used, out=used), out=used)
        return rooms

    def _of_ground(self, ground: Floats, pulls: Floats, rooms: Floats) -> None:
        """Set headrooms of tipping over and of the friction of each contact."""
        kept, mu = self._limits.margins, self._limits.contacts.friction.min(axis=1)
        total, loads = ground[..., 0], np.maximum(ground[..., 1 : 1 + len(mu)], 0.0)
        forces = pulls.reshape(*pulls.shape[:-1], len(mu), 3)
        used = np.sqrt(np.einsum('...ij,...ij->...i', forces, forces))
        with np.errstate(divide='ignore', invalid='ignore'):
            edge = ground[..., 1 + len(mu) :].min(axis=-1) / total
            use = np.where(used > 0.0, used / (mu * loads), 0.0)
        rooms[..., 0] = np.where(total > 0.0, (edge - kept.edge) / self._size, -1.0)
        rooms[..., 1:] = np.where(np.isnan(mu), np.inf, kept.friction - use)
