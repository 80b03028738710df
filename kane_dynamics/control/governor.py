# SPDX-License-Identifier: Apache-2.0
r"""
A governor of mobile manipulators: commands of the base that keep reserves of all limits.

From the command w that the drives follow now towards the wanted one r, the governor goes as far as
the motion that follows keeps its reserves (a scalar reference governor, Gilbert and Kolmanovsky):

.. math:: w^+ = w + \kappa (r - w), \qquad \kappa = \max\{\kappa \in [0, 1] : \text{no limit is
   broken over the horizon}\}

Where w itself was within the limits, :math:`\kappa = 0` is; where the arm has moved them since, it
brakes as far as that helps most. The motion that follows is that of `DriveResponse` with the arm
as it moves now; what it asks of ground, wheels and arm are polynomials (`base_effects`), so that
all candidates are looked at together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.control.base_effects import BaseEffects, base_effects
from kane_dynamics.control.base_motion import BaseMotion, DriveResponse, moving, twist_rate
from kane_dynamics.control.contact_picture import tractions_of
from kane_dynamics.control.normal_forces import pressed_shares
from kane_dynamics.control.stance import Stance
from kane_dynamics.control.tip_over import edge_moments
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_names, as_nonnegative, as_positive, as_vector
from kane_dynamics.model.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats

# of the way: small ones too, since drives make a large acceleration of a small step
FRACTIONS = np.array([*np.linspace(1.0, 0.1, 10), 0.05, 0.02, 0.01, 0.005, 0.0])
MOMENTS = 8  # of the horizon that are looked at, and its end state
TIPS, SLIPS = 'tip-over', 'friction'


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


class Admission(NamedTuple):
    """
    What the governor lets through.

    Parameters
    ----------
    command : ndarray, shape (3,)
        Twist for the drives.
    fraction : float
        kappa: how much of the way to the wanted command; 0 where it brakes instead.
    pace : float
        Part of the arm's speed that keeps the reserves; 1: all of it.
    limit : str
        What binds, '' where nothing does: 'tip-over', 'friction of <wheel>', 'effort of <joint>',
        'speed of <wheel>'.
    headroom : float
        Of the limit that is nearest along the motion that follows, as a part of it; negative
        where no command keeps all reserves.

    """

    command: Floats
    fraction: float
    pace: float
    limit: str
    headroom: float


class Governor:
    """
    The governor of one robot.

    Parameters
    ----------
    contacts : Stance
        What it stands on, from `stance` or `base_stance`.
    drive : DriveResponse
        How its drives follow a command.
    wheels : sequence of str
        Joints that drives turn: their efforts and speeds are limited.
    passive : sequence of str
        Joints that nothing turns: swivels and wheels of casters.
    reserve : Reserve
        What is kept.
    horizon : float
        How far it looks ahead [s]: the time in which a new command is reached.

    Raises
    ------
    ConstraintError
        If the base is not planar.
    InvalidInputError
        If the horizon is not positive.
    NameNotFoundError
        If a joint does not exist.

    """

    def __init__(
        self,
        contacts: Stance,
        drive: DriveResponse,
        wheels: Sequence[str],
        passive: Sequence[str] = (),
        reserve: Reserve | None = None,
        horizon: float = 1.0,
    ) -> None:
        robot = contacts.robot
        self._contacts, self._drive = contacts, drive
        self._reserve = Reserve() if reserve is None else reserve
        self._times = np.linspace(0.0, as_positive('horizon [s]', horizon), MOMENTS)
        self._still = (*as_names('wheels', wheels), *as_names('passive', passive))
        self._wheels = [robot.velocity_index(name) for name in wheels]
        inertia = np.diag(gauss_mass_matrix(robot, robot.neutral()))
        self._spin = inertia[self._wheels]  # about their own axes, wherever they are
        self._loose = [0, 1, 2, *(robot.velocity_index(name) for name in passive)]
        stays = {*self._wheels, *self._loose}
        self._arm = [k for k in range(robot.nv) if k not in stays]
        self._names = (
            TIPS,
            *(f'{SLIPS} of {name}' for name in contacts.names),
            *(f'effort of {robot.velocity_names[k]}' for k in (*self._wheels, *self._arm)),
            *(f'speed of {robot.velocity_names[k]}' for k in self._wheels),
        )
        base_effects(robot, robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))

    def admit(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        twist: ArrayLike,
        applied: ArrayLike,
        wanted: ArrayLike,
    ) -> Admission:
        """
        Return the command to apply next.

        Parameters
        ----------
        q, v, a : array_like, shapes (nq,), (nv,), (nv,)
            State, and accelerations of the arm; those of base and wheels do not count.
        twist : array_like, shape (3,)
            Of the base frame now.
        applied, wanted : array_like, shape (3,)
            Command that the drives follow now, and the one that is wanted.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.

        """
        now, last = as_vector('twist', twist, 3), as_vector('applied', applied, 3)
        goal = as_vector('wanted', wanted, 3)
        look = _Look.at(self._contacts, q, v, a, self._still, self._wheels, self._loose)
        paces = self._headrooms(look, now, last[None], FRACTIONS[:, None])
        pace = float(FRACTIONS[_first(paces)])
        candidates = last + FRACTIONS[:, None] * (goal - last)
        found = self._headrooms(look, now, candidates, pace)
        chosen = _first(found)
        fraction = float(FRACTIONS[chosen])
        limit = '' if chosen == 0 else self._names[int(np.argmin(found[chosen - 1]))]
        if found[chosen].min() < 0.0:  # nothing on the way does: brake as far as it helps most
            candidates = FRACTIONS[:, None] * last
            found = self._headrooms(look, now, candidates, pace)
            chosen, fraction = int(np.argmax(found.min(axis=1))), 0.0
            limit = self._names[int(np.argmin(found[chosen]))]
        if not limit and pace < 1.0:
            limit = self._names[int(np.argmin(paces[_first(paces) - 1]))]
        return Admission(candidates[chosen], fraction, pace, limit, float(found[chosen].min()))

    def _headrooms(self, look: _Look, twist: Floats, commands: Floats, pace: ArrayLike) -> Floats:
        """Return the least headroom of each limit over the motion of each command, (c, l)."""
        going = self._drive.after(twist, commands[:, None, :], self._times)
        ends = moving(commands, np.zeros_like(commands))
        motion = BaseMotion(
            *(np.concatenate([x, y[:, None]], axis=1) for x, y in zip(going, ends, strict=True))
        )
        yaw_rate, paces = motion.twist[..., 2], np.asarray(pace, dtype=float)
        wrenches, efforts = look.effects.at(motion.acceleration, yaw_rate, paces)
        pushes = look.multipliers(efforts)
        parts = (
            self._of_ground(look, wrenches, pushes),
            self._of_efforts(look, efforts, pushes, motion),
            self._of_speeds(look, motion),
        )
        shape = wrenches.shape[:-1]
        rooms = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
        return np.concatenate(rooms, axis=-1).min(axis=1)

    def _of_ground(self, look: _Look, wrenches: Floats, pushes: Floats) -> Floats:
        """Return headrooms of tipping over and of the friction of each contact."""
        kept, total = self._reserve, wrenches[..., 3:] @ look.normal
        loads = np.maximum(wrenches @ look.shares.T, 0.0)
        pulls = np.linalg.norm(np.tensordot(pushes, look.tractions, 1), axis=-1)
        most = self._contacts.friction.min(axis=1) * loads
        with np.errstate(divide='ignore', invalid='ignore'):
            reach = (wrenches @ look.edges.T).min(axis=-1) / total
            use = np.where(pulls > 0.0, pulls / most, 0.0)
        stands = np.where(total > 0.0, (reach - kept.edge) / look.size, -1.0)
        holds = np.where(np.isnan(most), np.inf, kept.friction - use)
        return np.concatenate([stands[..., None], holds], axis=-1)

    def _of_efforts(
        self, look: _Look, efforts: Floats, pushes: Floats, motion: BaseMotion
    ) -> Floats:
        """Return headrooms of the efforts of wheels and arm."""
        robot, wheels, arm = self._contacts.robot, self._wheels, self._arm
        rates, spins = motion.twist @ look.rates.T, twist_rate(motion) @ look.rates.T
        drag = robot.damping[wheels] * rates + robot.friction[wheels] * np.sign(rates)
        turned = self._spin * spins + drag - pushes @ look.rows[:, wheels]
        moved = np.abs(efforts[..., arm]) + look.drag[arm]
        turned = np.broadcast_to(np.abs(turned), (*moved.shape[:-1], len(wheels)))
        asked = np.concatenate([turned, moved], axis=-1)
        return self._reserve.effort - asked / _known(robot.effort_limit[[*wheels, *arm]])

    def _of_speeds(self, look: _Look, motion: BaseMotion) -> Floats:
        """Return headrooms of the speeds of wheels."""
        rates = motion.twist @ look.rates.T
        limits = self._contacts.robot.velocity_limit
        return self._reserve.speed - np.abs(rates) / _known(limits[self._wheels])


class _Look(NamedTuple):
    """What is fixed while commands are compared: all maps are linear."""

    effects: BaseEffects
    normal: Floats
    size: float
    edges: Floats
    shares: Floats
    rows: Floats
    tractions: Floats
    held: Floats
    loose: Sequence[int]
    rates: Floats
    drag: Floats

    @classmethod
    def at(
        cls,
        contacts: Stance,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        still: Sequence[str],
        wheels: Sequence[int],
        loose: Sequence[int],
    ) -> _Look:
        """Return the maps at coordinates and a motion of the arm."""
        robot = contacts.robot
        place, speeds = checked_coordinates(robot, q), checked_speeds(robot, v)
        polygon = contacts.polygon(q)
        rows = contacts.constraints.rows(place, [0.0] * robot.nv, 0.0).matrix.astype(float)
        each = [tractions_of(contacts, place, one) for one in np.eye(len(rows))]
        pulls = np.array([[one[name] for name in contacts.names] for one in each])
        c, s = np.cos(place[2]), np.sin(place[2])
        turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        arms = polygon.ends - polygon.middle
        return cls(
            base_effects(robot, q, v, a, still),
            polygon.normal,
            float(np.sum(-arms * polygon.inward, axis=1).min()),
            np.array([edge_moments(polygon, one) for one in np.eye(6)]).T,
            pressed_shares(polygon, contacts.stiffness),
            rows,
            pulls.reshape(len(rows), len(contacts.names), 3),
            np.linalg.pinv(rows[:, list(loose)].T),
            loose,
            -np.linalg.pinv(rows[:, list(wheels)]) @ rows[:, :3] @ turned,
            robot.damping * np.abs(speeds) + robot.friction,
        )

    def multipliers(self, efforts: Floats) -> Floats:
        """Return those with which the rows alone move what nothing drives, of least norm."""
        return efforts[..., list(self.loose)] @ self.held.T


def _first(headrooms: Floats) -> int:
    """Return the first candidate that keeps all, else the last."""
    kept = np.flatnonzero(headrooms.min(axis=1) >= 0.0)
    return int(kept[0]) if len(kept) else len(headrooms) - 1


def _known(limits: Floats) -> Floats:
    """Return limits with 0, which URDF writers use for 'unknown', as infinity."""
    return np.where(limits > 0.0, limits, np.inf)
