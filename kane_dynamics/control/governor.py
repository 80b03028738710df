# SPDX-License-Identifier: Apache-2.0
r"""
A governor of mobile manipulators: commands of the base that keep reserves of all limits.

A command is let through where the motion that follows keeps its reserves over the horizon (a
reference governor, Gilbert and Kolmanovsky). Else `nearest_command` looks for the nearest one that
does: what must become slower goes first, at least as fast as braking at the limit, and nothing
grows meanwhile. The motion that follows is that of `DriveResponse` with the arm on its plan, or as
it moves now; `motion_limits` says what it asks of ground, wheels and arm, for all candidates at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from math import hypot
from typing import NamedTuple

import numpy as np

from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import MotionLimits, SafetyMargins
from kane_dynamics.control.nearest_command import FRACTIONS, CommandSearch
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['Governor', 'GovernorResult']

MOMENTS = 8  # of the horizon that are looked at, and its end state
_END = 1e12  # [s] after which every drive follows its command
_KNOTS = np.append(np.arange(MOMENTS), MOMENTS - 1.0)  # the end state is at the end

KEPT = SafetyMargins()
FASTEST = 1e6  # [m/s, rad/s] of any base

Plan = Callable[[Floats], tuple[Floats, Floats, Floats]]


class GovernorResult(NamedTuple):
    """
    What the governor lets through.

    Parameters
    ----------
    command : ndarray, shape (3,)
        Twist for the drives.
    fraction : float
        How much nearer it is to the target command than the one before, of the distance; 0 where
        it is no nearer.
    speed_scaling : float
        Part of the arm's speed that keeps the reserves; 1: all of it.
    limit : str
        What binds, '' where nothing does: 'tip-over', 'friction of <wheel>', 'effort of <joint>',
        'speed of <wheel>', 'reach along <axis>' where the base cannot move so.
    headroom : float
        Of the limit that is nearest along the motion that follows, as a part of it; negative
        where no command keeps all reserves.

    """

    command: Floats
    fraction: float
    speed_scaling: float
    limit: str
    headroom: float


class Governor:
    """
    The governor of one robot.

    Parameters
    ----------
    contacts : Stance
        What it stands on, from `ground_contacts` or `base_ground_contacts`.
    drive : DriveResponse
        How its drives follow a command.
    wheels : sequence of str
        Joints that drives turn: their efforts and speeds are limited.
    passive : sequence of str
        Joints that nothing turns: swivels and wheels of casters.
    margins : SafetyMargins
        What is kept.
    horizon : float
        How far it looks ahead [s]: the time in which a new command is reached.

    Raises
    ------
    ConstraintError
        If the base is not planar.
    InvalidInputError
        If the horizon is not positive, or another argument is not what it should be.
    NameNotFoundError
        If a joint does not exist.

    """

    def __init__(
        self,
        contacts: GroundContacts,
        drive: DriveResponse,
        wheels: Sequence[str],
        passive: Sequence[str] = (),
        margins: SafetyMargins = KEPT,
        horizon: float = 1.0,
    ) -> None:
        stands = checks.as_one(
            GroundContacts, 'contacts', contacts, 'what stance or base_ground_contacts return'
        )
        self._adjust(drive, margins, horizon)
        self._limits = MotionLimits(stands, wheels, passive)  # compiles
        self._robot = stands.robot
        still = [self._robot.coordinate_index(name) for name in (*wheels, *passive)]
        self._stays = [0, 1, 2, *still]

    def adjusted(self, drive: DriveResponse, margins: SafetyMargins, horizon: float) -> Governor:
        """Return the governor of the same robot with another drive, margins and horizon."""
        other = copy(self)
        other._adjust(drive, margins, horizon)
        return other

    def _adjust(self, drive: DriveResponse, margins: SafetyMargins, horizon: float) -> None:
        self._margins = checks.as_one(SafetyMargins, 'margins', margins, 'SafetyMargins')
        self._drive = checks.as_one(DriveResponse, 'drive', drive, 'a DriveResponse')
        end = checks.as_positive('horizon [s]', horizon)
        self._times = np.linspace(0.0, end, MOMENTS)  # that are looked at [s]
        self._moments = np.append(self._times, _END)

    def admit(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        twist: ArrayLike,
        applied: ArrayLike,
        target: ArrayLike,
        plan: Plan | None = None,
    ) -> GovernorResult:
        """
        Return the command to apply next.

        Parameters
        ----------
        q, v, a : array_like, shapes (nq,), (nv,), (nv,)
            State, and accelerations of the arm; those of base and wheels do not count.
        twist : array_like, shape (3,)
            Of the base frame now.
        applied, target : array_like, shape (3,)
            Command that the drives follow now, and the one that is asked for.
        plan : callable, optional
            The motion that the arm is about to play: of times ahead [s], shape (k,), at full
            pace, it returns q, v and a of the robot, each (k, n). Played at a part of the pace
            the arm comes as far in the horizon as that. Without it the arm goes on as it moves
            now.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.

        """
        robot = self._robot
        state = (
            np.array(checked_coordinates(robot, q)),
            np.array(checked_speeds(robot, v)),
            np.array(checked_speeds(robot, a, 'a')),
        )
        now, last = checks.as_vector('twist', twist, 3), checks.as_vector('applied', applied, 3)
        goal = np.clip(checks.as_vector('target', target, 3), -FASTEST, FASTEST)
        if plan is not None:
            state = self._ahead(state[0], plan)
        reach, rooms = self._limits.contacts.reach, self._limits.at(*state, self._margins)
        moves, aims = reach.within(now[reach.axes]), reach.within(goal[reach.axes])
        start = reach.matrix @ moves

        def along(free: Floats, speed_scaling: Floats | float, steady: bool = False) -> Floats:
            """Return the least headroom of each limit over the motion of each command, (c, l)."""
            which = slice(-1, None) if steady else slice(None)
            at = self._moments[which], speed_scaling, _KNOTS[which]
            return rooms.after(self._drive, start, free @ reach.matrix.T, *at)

        held, wished = along(np.stack([moves, aims]), 1.0)
        speed_scaling, bound = 1.0, -1
        if held.min() < 0.0:  # the arm moves too fast for a base that goes on as it does
            scalings = along(np.tile(moves, (len(FRACTIONS), 1)), FRACTIONS)
            kept = np.flatnonzero(scalings.min(axis=1) >= 0.0)
            index = int(kept[-1]) if len(kept) else 0
            speed_scaling = float(FRACTIONS[index])
            bound = int(np.argmin(scalings[min(index + 1, len(scalings) - 1)]))
            held, wished = along(np.stack([moves, aims]), speed_scaling)
        result = CommandSearch(
            partial(along, speed_scaling=speed_scaling), reach, rooms.slack
        ).nearest(moves, aims, held, wished)
        bound = result.bound if result.bound >= 0 else bound
        limit = '' if bound < 0 else self._limits.names[bound]
        if not limit and (missing := reach.missing(goal)):
            limit = f'reach along {" and ".join(missing)}'
        command = reach.matrix @ result.free
        gap, left = (hypot(*(goal - x).tolist()) for x in (last, command))
        headroom = float(result.rooms.min())
        fraction = 0.0 if headroom < 0.0 else 1.0
        if left > 0.0:
            fraction *= max(0.0, 1.0 - left / gap) if gap > 0.0 else 0.0
        return GovernorResult(command, fraction, speed_scaling, limit, headroom)

    def _ahead(self, q: Floats, plan: Plan) -> tuple[Floats, Floats, Floats]:
        """Return the states of a plan over the horizon, with base and wheels where they are."""
        robot = self._robot
        states = checks.as_function('plan', plan, 'times')(self._times)
        if not isinstance(states, (tuple, list)) or len(states) != len('qva'):
            raise InvalidInputError(
                f'plan: need q, v and a of the times, got {checks.describe(states)}'
            )
        Q, V, A = (
            np.array(checks.as_shaped(f'plan: {name}', x, (MOMENTS, size)))
            for name, x, size in zip('qva', states, (robot.nq, robot.nv, robot.nv), strict=True)
        )
        Q[:, self._stays] = q[self._stays]
        return Q, V, A
