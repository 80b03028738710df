# SPDX-License-Identifier: Apache-2.0
"""
Joint trajectories: points as trajectory_msgs has them, interpolated in time.

The splines are those of ros2_controllers' joint_trajectory_controller: positions alone give
straight lines, positions and velocities cubic, and with accelerations quintic Hermite splines.
MoveIt plans a planar base as a joint whose coordinates x, y, theta stand in a trajectory of their
own (multi_dof), or as joints ``<name>/x``, ``<name>/y``, ``<name>/theta`` beside those of the arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from scipy.interpolate import BPoly

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_numbers, as_shaped, check_increasing
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['JointTrajectory', 'Setpoint', 'braking']

ROWS = ('positions', 'velocities', 'accelerations', 'efforts')
COORDINATES = ('/x', '/y', '/theta')
UNNAMED = ('*',)  # names of columns that have none; times may then begin before 0


class BaseTrajectory(Protocol):
    """Planar coordinates of a base over time, such as a `JointTrajectory` of three columns."""

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return x, y, yaw of the root link and their derivatives at a time [s], (3,) each."""


@dataclass(frozen=True, eq=False)
class Setpoint:
    """
    Reference values that do not depend on time, from a sender that renews them.

    Parameters
    ----------
    position, velocity, acceleration : ndarray, shape (k,)
        [rad, rad/s, rad/s^2 or m, m/s, m/s^2].

    """

    position: Floats
    velocity: Floats
    acceleration: Floats

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return position, velocity and acceleration, whatever the time [s]."""
        return self.position, self.velocity, self.acceleration


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """
    Points of a joint trajectory, and the motion through them; after the last one it rests there.

    Parameters
    ----------
    names : tuple of str
        The joints, each once.
    times : array_like, shape (n,)
        From the start of the trajectory [s], increasing, none before 0.
    positions : array_like, shape (n, k)
        [rad or m].
    velocities, accelerations, efforts : array_like, shape (n, k), optional
        [rad/s, rad/s^2, N m or m/s, m/s^2, N]. Accelerations count with velocities only.

    Raises
    ------
    InvalidInputError
        If there is no point or joint, a name comes twice, shapes differ, times do not increase
        from 0 on, a number is not finite, or there are accelerations without velocities.

    Examples
    --------
    >>> from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
    >>> way = JointTrajectory(('joint_1',), np.array([0.0, 1.0]), np.array([[0.0], [0.5]]))
    >>> way.positions[-1]
    array([0.5])

    """

    names: tuple[str, ...]
    times: Floats
    positions: Floats
    velocities: Floats | None = None
    accelerations: Floats | None = None
    efforts: Floats | None = None
    _splines: tuple[BPoly, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.velocities is None and self.accelerations is not None:
            raise InvalidInputError('a trajectory with accelerations needs velocities too')
        names = tuple(as_names('joint names', self.names))
        if not names or len(set(names)) != len(names):
            raise InvalidInputError(f'joint names: need each once, at least one; got {names}')
        times = np.array(as_numbers('times', self.times))
        if times.ndim != 1 or not len(times):
            raise InvalidInputError(
                f'times [s]: need shape (n,), at least one, got shape {times.shape}'
            )
        positions = as_numbers('positions', self.positions)
        columns = positions.shape[1:2] or ('k',) if names == UNNAMED else (len(names),)
        copies: dict[str, Any] = {'names': names, 'times': times}
        for name in ROWS:
            if getattr(self, name) is not None or name == 'positions':
                copies[name] = _rows(name, getattr(self, name), (len(times), *columns))
        check_increasing('times [s]', times)
        if times[0] < 0.0 and names != UNNAMED:
            raise InvalidInputError(f'times [s] must not be before 0, got {times[0]:g}')
        times.flags.writeable = False
        splines = list[BPoly]()
        if len(times) > 1:
            derivatives = [copies[name] for name in ROWS[:3] if name in copies]
            ends = [x[:-1] for x in derivatives], [x[1:] for x in derivatives]
            spline = BPoly(bernstein(np.diff(times)[:, None], *ends), times, extrapolate=False)
            splines = [spline, spline.derivative(), spline.derivative(2)]
        vars(self).update(copies, _splines=tuple(splines))

    @property
    def start(self) -> float:
        """Return the time of the first point [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Return the time of the last point [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """
        Return position, velocity and acceleration at a time [s], each of shape (k,).

        Before the first point and after the last one the joints rest there.
        """
        if self._splines and self.start <= time <= self.end:
            return self.sampled(np.asarray(time))
        still = np.zeros(self.positions.shape[1])
        return self.positions[0 if time < self.start else -1], still, still

    def sampled(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return positions, velocities and accelerations at times within it, each (n, k)."""
        position, velocity, acceleration = (spline(times) for spline in self._splines)
        return position, velocity, acceleration

    def segments(self) -> list[JointTrajectory]:
        """Return the motions between neighbouring points, without efforts."""
        present = [x for x in (getattr(self, name) for name in ROWS[:3]) if x is not None]
        return [
            JointTrajectory(UNNAMED, self.times[k : k + 2], *(x[k : k + 2] for x in present))
            for k in range(len(self.times) - 1)
        ]

    def of(self, names: Sequence[str]) -> JointTrajectory:
        """Return the trajectory of some of the joints, in their order."""
        columns = [self.names.index(name) for name in names]
        present = {name: getattr(self, name) for name in ROWS}
        kept = {name: x[:, columns] for name, x in present.items() if x is not None}
        return replace(self, names=tuple(names), **kept)

    def split_base(self) -> tuple[JointTrajectory, JointTrajectory | None]:
        """
        Return the trajectory of the joints alone, and that of the planar base among them.

        Raises
        ------
        InvalidInputError
            If some coordinates of a base are missing, there are two bases, or no joint.

        """
        bases = sorted(
            {name.rpartition('/')[0] for name in self.names if name.endswith(COORDINATES)}
        )
        if not bases:
            return self, None
        if len(bases) > 1:
            raise InvalidInputError(f'need one planar base in a trajectory, got {bases}')
        base = [bases[0] + coordinate for coordinate in COORDINATES]
        if missing := [name for name in base if name not in self.names]:
            raise InvalidInputError(f'a planar base needs {base}; the trajectory lacks {missing}')
        joints = [name for name in self.names if name not in base]
        if not joints:
            raise InvalidInputError('the trajectory moves a base and no joint')
        return self.of(joints), self.of(base)


def braking(position: ArrayLike, velocity: ArrayLike, duration: float) -> JointTrajectory:
    """
    Return the motion that comes to rest with constant deceleration and stays there.

    Parameters
    ----------
    position, velocity : array_like, shape (k,)
        State at time zero.
    duration : float
        Time until rest [s].

    Examples
    --------
    >>> from kane_dynamics.trajectories.joint_trajectory import braking
    >>> stop = braking(np.array([0.0]), np.array([1.0]), 2.0)  # 1 rad/s, over in 2 s
    >>> stop.positions[-1]
    array([1.])

    """
    p, v = np.asarray(position, dtype=float), np.asarray(velocity, dtype=float)
    # the cubic through these ends is the parabola of constant deceleration
    ends = np.array([p, p + 0.5 * duration * v])
    return JointTrajectory(UNNAMED, np.array([0.0, duration]), ends, np.array([v, 0.0 * v]))


def _rows(name: str, values: ArrayLike, shape: tuple[int | str, ...]) -> Floats:
    """Return a read-only copy of a field of the points."""
    rows = np.array(as_shaped(name, values, shape))
    rows.flags.writeable = False
    return rows


def bernstein(h: Floats, left: Sequence[Floats], right: Sequence[Floats]) -> Floats:
    """Return the coefficients of pieces of lengths h with values and derivatives at both ends."""
    degree = 2 * len(left) - 1
    first, last = [left[0]], [right[0]]
    if degree >= 3:
        slope = h / degree
        first.append(left[0] + slope * left[1])
        last.append(right[0] - slope * right[1])
    if degree == 5:
        bend = h**2 / (degree * (degree - 1))
        first.append(2.0 * first[1] - first[0] + bend * left[2])
        last.append(2.0 * last[1] - last[0] + bend * right[2])
    return np.array([*first, *reversed(last)])
