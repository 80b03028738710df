# SPDX-License-Identifier: Apache-2.0
r"""
How far motions of a base are from the limits of its robot, as parts of them.

Limits are tipping over (the zero-moment point against the edges of the support polygon), friction
of each contact, efforts of wheels and arm, and speeds of wheels. At coordinates and a motion of
the arm all of them follow from the motion of the base by linear maps and `BaseEffects`.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.analysis.ground_contacts import ContactGeometry, GroundContacts
from kane_dynamics.analysis.normal_forces import pressed_shares
from kane_dynamics.analysis.traced_margins import ROW, MarginParameters, margin_code
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_nonnegative, as_positive
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.typing import Floats

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
        self, contacts: GroundContacts, wheels: Sequence[str], passive: Sequence[str]
    ) -> None:
        robot, self.contacts = planar_robot(contacts.robot), contacts
        self.still = (*as_names('wheels', wheels), *as_names('passive', passive))
        self.wheels = [robot.velocity_index(name) for name in wheels]
        inertia = np.diag(gauss_mass_matrix(robot, robot.neutral()))
        self.spin = inertia[self.wheels]  # about their own axes, wherever they are
        self.undriven = [0, 1, 2, *(robot.velocity_index(name) for name in passive)]
        stays = {*self.wheels, *self.undriven}
        self.arm = [k for k in range(robot.nv) if k not in stays]
        self.efforts = known_limits(robot.effort_limit[[*self.wheels, *self.arm]])
        self.speeds = known_limits(robot.velocity_limit[self.wheels])
        self.effects = TracedEffects(robot, self.still)
        self.footing = TracedFooting(contacts)
        motors = len(self.efforts)
        friction = contacts.friction.min(axis=1)
        self.code = margin_code(robot, friction, len(self.wheels), motors)
        self._ground: tuple[bytes, GroundRows] | None = None
        self.names = (
            'tip-over',
            *(f'friction of {name}' for name in contacts.names),
            *(f'effort of {robot.velocity_names[k]}' for k in (*self.wheels, *self.arm)),
            *(f'speed of {robot.velocity_names[k]}' for k in self.wheels),
        )

    def ground(self, q: Floats) -> GroundRows:
        """Return how the robot stands at coordinates; the same while no wheel is steered."""
        key = q[self.footing.indices].tobytes()
        if self._ground is None or self._ground[0] != key:
            self._ground = key, self._ground_rows(np.r_[np.zeros(3), q[3:]])
        return self._ground[1]

    def _ground_rows(self, q: Floats) -> GroundRows:
        points, rows, tractions = self.footing.at(q)
        contacts = self.contacts
        polygon = contacts.polygon_of(ContactGeometry([*points], {}))
        distances = np.sum((polygon.middle - polygon.ends) * polygon.inward, axis=1)
        pressing = np.r_[np.zeros(3), polygon.normal]
        shares = pressed_shares(polygon, contacts.stiffness)
        more = [polygon.edge_rows[-1]] * (len(points) - len(polygon.corners))  # each has as many
        # with which the rows alone move what nothing drives, of least norm
        held = np.linalg.pinv(rows[:, self.undriven])
        pulls = held @ tractions.reshape(len(rows), -1)
        borne = np.hstack([pulls, -held @ rows[:, self.wheels]])
        pushes = np.zeros((rows.shape[1], borne.shape[1] + len(self.arm)))
        pushes[self.undriven, : borne.shape[1]] = borne
        pushes[self.arm, borne.shape[1] :] = np.eye(len(self.arm))
        return GroundRows(
            float(distances.min()),
            np.vstack([pressing, shares, polygon.edge_rows, *more]).T,
            pushes,
            -np.linalg.pinv(rows[:, self.wheels]) @ rows[:, :3],
        )

    def at(self, q: Floats, v: Floats, a: Floats, margins: SafetyMargins) -> MarginUse:
        """
        Return the headrooms of motions at coordinates and a motion of the arm.

        Parameters
        ----------
        q, v, a : ndarray, shapes (nq,), (nv,), (nv,), or (B, nq), (B, nv), (B, nv)
            State, and accelerations of the arm; those of base and wheels do not count. Or the
            arm's states along a plan, a step apart; base and wheels are where they are in the
            first.
        margins : SafetyMargins
            What is kept of each limit.

        """
        return MarginUse(self, q, v, a, margins)


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
    q, v, a, margins
        As for `MotionLimits.at`.

    """

    def __init__(
        self, limits: MotionLimits, q: Floats, v: Floats, a: Floats, margins: SafetyMargins
    ) -> None:
        self._limits, contacts, wheels = limits, limits.contacts, limits.wheels
        self._margins, most = margins, limits.efforts[: len(wheels)]
        robot, start = contacts.robot, np.atleast_2d(q)[0]
        self._planned = np.ndim(q) > 1
        ground, effects = limits.ground(start), limits.effects.at(q, v, a)
        self._size, pushed = ground.size, effects.efforts @ ground.pushes
        pushed[..., 3 * len(contacts.names) :] /= limits.efforts
        pressing = effects.wrenches @ ground.wrenches
        self._effects = BaseEffects(pressing, pushed)
        drag = robot.damping * np.abs(np.atleast_2d(v)).max(axis=0) + robot.friction
        drag[wheels] = 0.0
        asked = margins.effort - drag[[*wheels, *limits.arm]] / limits.efforts
        spun = np.stack([limits.spin / most, robot.damping[wheels] / most, 1.0 / limits.speeds])
        parameters = MarginParameters(
            np.zeros(4),
            pressing[0] if self._planned else pressing,
            pushed[0] if self._planned else pushed,
            np.array([ground.size, margins.edge, margins.friction]),
            spun[:, None] * ground.rates.T,
            robot.friction[wheels] / most,
            np.append(asked, np.full(len(wheels), margins.speed)),
        )
        self._numbers = parameters.vector()

    @property
    def slack(self) -> Floats:
        """Return what the reserves keep of each limit, as headrooms, shape (l,)."""
        kept, contacts, limits = self._margins, self._limits.contacts, self._limits
        parts = (kept.edge / self._size, 1.0 - kept.friction, 1.0 - kept.effort, 1.0 - kept.speed)
        wheels = len(limits.wheels)
        return np.repeat(parts, (1, len(contacts.names), wheels + len(limits.arm), wheels))

    def after(
        self,
        drive: DriveResponse,
        twist: Floats,
        commands: Floats,
        times: Floats,
        speed_scaling: Floats | float,
        knots: Floats,
    ) -> Floats:
        """
        Return the least headroom of each limit over the motions of commands, shape (c, l).

        Parameters
        ----------
        drive : DriveResponse
            How the base follows a command.
        twist, commands : ndarray, shapes (3,) and (c, 3)
            Of the base frame now, and those that stand.
        times : ndarray, shape (m,)
            At which the motion is looked at [s].
        speed_scaling : float or ndarray, shape (c,)
            Part of the arm's speed.
        knots : ndarray, shape (m,)
            Where the arm is on its plan at full speed, in steps.

        """
        rows = np.empty((len(times), len(commands), ROW))
        rows[..., :3], rows[..., 3:6], rows[..., 7] = twist, commands, speed_scaling
        rows[..., 6] = times[:, None]
        if self._planned:
            knots = np.multiply.outer(knots, np.broadcast_to(speed_scaling, len(commands)))
        rooms = self._rooms(drive, rows.reshape(-1, ROW), knots.ravel())
        return rooms.reshape(len(times), len(commands), -1).min(axis=0)

    def _rooms(self, drive: DriveResponse, rows: Floats, knots: Floats) -> Floats:
        """Return headrooms of start, goal, time and part of the arm's speed, shape (n, l)."""
        numbers, code = self._numbers, self._limits.code
        numbers[:4] = drive.parameters
        if not self._planned:
            return code(rows, numbers)
        result = np.empty((len(rows), len(self._limits.names)))
        for knot in np.unique(knots):
            there, on = self._effects.between(knot), knots == knot
            now = np.append(there.wrenches, there.efforts)
            numbers[4 : 4 + len(now)] = now
            result[on] = code(rows[on], numbers)
        return result
