# SPDX-License-Identifier: Apache-2.0
"""Motions over a duration, their energy balance, steps of many states, projection of a state."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kane_dynamics.algorithms import projection
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.robot.checks import as_finite, as_function, as_nonnegative, as_numbers
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.simulation.reference import PassiveForce
from kane_dynamics.simulation.simulation import EffortLaw, Engine, Simulation
from kane_dynamics.simulation.step_checks import RankEvent
from kane_dynamics.typing import ArrayLike, Bools, Floats, NDArray

Counts = NDArray[np.int64]
PayloadRows = tuple[Floats, Floats, Floats]
"""Mass, centre of mass and inertia about it, with a row for each rollout."""


@dataclass(frozen=True, eq=False)
class Motions:
    """Arrays of many motions, with a row for each; states and steps done are written."""

    q: Floats
    v: Floats
    done: Floats
    efforts: Floats
    parameters: Floats
    kept: tuple[Floats, Floats]
    step: float
    piece: int
    every: int


class ManyMotions(Protocol):
    """Machine code of the steps of one integrator for many states at once."""

    def parameters(
        self,
        rows: int,
        gains: Floats | None,
        gravity: Floats | None,
        payloads: Mapping[str, PayloadRows],
    ) -> Floats:
        """Return what differs between rollouts besides states and efforts, shape (rows, P)."""

    def start(self, motions: Motions, rows: Counts) -> Bools:
        """Move states onto the constraints; return for which rows machine code is not sure."""

    def run(self, motions: Motions, rows: Counts, until: int) -> Bools:
        """Take the steps up to number `until` of some rows, or fewer at a time."""


def project(
    robot: Robot, constraints: Sequence[Constraint], q: ArrayLike, v: ArrayLike, t: float = 0.0
) -> tuple[Floats, Floats]:
    """
    Return the nearest state with Phi(q, t) = 0 and A v = b0.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        What is to hold.
    q, v : array_like, shapes (nq,), (nv,)
        State.
    t : float
        Time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    ProjectionError
        If Newton's method does not bring the holonomic rows to 1e-12.
    InconsistentConstraintsError
        If the rows contradict each other.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> from kane_dynamics.simulation import project
    >>> robot = kd.serial_chain(2)
    >>> rows = [C.coupling(robot, *robot.joint_names, ratio=1.0)]
    >>> q, v = project(robot, rows, [0.1, 0.2], [1.0, 0.0])
    >>> np.allclose(q[0], q[1]), np.allclose(v[0], v[1])
    (True, True)

    """
    several = ConstraintSet.of(robot, constraints)
    state = np.array(checked_coordinates(robot, q)), np.array(checked_speeds(robot, v))
    place, speeds, _ = projection.project(robot, several, *state, checks.as_number('time [s]', t))
    return place, speeds


@dataclass(frozen=True, eq=False)
class Trajectory:
    """
    A simulated motion.

    Parameters
    ----------
    time : ndarray, shape (n + 1,)
        [s].
    q, v : ndarray, shapes (n + 1, nq), (n + 1, nv)
        States.
    rank_events : tuple of RankEvent
        Where the number of independent constraint rows changed, and the energy that took; known
        with projection.

    """

    time: Floats
    q: Floats
    v: Floats
    rank_events: tuple[RankEvent, ...] = ()


def effort_rows(robot: Robot, effort: ArrayLike | None, count: int) -> Floats:
    """Return efforts, shape (1, nv) where they are constant, else (count, nv)."""
    if effort is None:
        return np.zeros((1, robot.nv))
    if callable(effort):
        raise InvalidInputError(
            'effort: need an array here, got a function; compile it, kd.compile(..., effort=), or '
            'use kd.simulate'
        )
    values = as_numbers('effort', effort)
    rows = np.require(np.atleast_2d(values), np.float64, ['C', 'A'])
    if rows.shape not in ((1, robot.nv), (count, robot.nv)):
        raise InvalidInputError(
            f'effort: need shape ({robot.nv},) or ({count}, {robot.nv}), got {values.shape}'
        )
    return as_finite('effort', rows)


def effort_law(
    robot: Robot, effort: EffortLaw | ArrayLike | None, count: int, step: float
) -> EffortLaw:
    """Return efforts, given as a function, an array or not at all, as a function (t, q, v)."""
    if callable(effort):
        return as_function('effort', effort, 't', 'q', 'v')
    rows = effort_rows(robot, effort, count)
    return lambda t, q, v: rows[min(round(t / step), len(rows) - 1)]


def simulate(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    *,
    effort: EffortLaw | ArrayLike | None = None,
    constraints: Sequence[Constraint] = (),
    step: float = 0.001,
    integrator: str = 'rk4',
    projection: bool = True,
    engine: Engine | None = None,
    halvings: int = 0,
    passive_force: PassiveForce | None = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Trajectory:
    """
    Return the motion from a state over `duration`, efforts held over each step.

    Parameters
    ----------
    robot : Robot
        The robot.
    q, v : array_like, shapes (nq,), (nv,)
        State at t = 0.
    duration : float
        [s]; rounded to whole steps.
    effort : callable or array_like, shape (nv,) or (n, nv), optional
        effort(t, q, v) -> efforts, shape (nv,); or efforts that are constant, or one row for each
        step; zero where left out.
    constraints, step, integrator, projection, engine, halvings, passive_force
        As for `Simulation`.
    progress : callable
        Wraps the iteration over steps, e.g. ``rich.progress.track``.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, the duration is negative, or the integrator
        is unknown.
    DivergedError, StepError
        As for `Simulation.step`.

    Examples
    --------
    >>> robot = kd.serial_chain(2)
    >>> motion = kd.simulate(robot, np.zeros(2), np.zeros(2), 0.1, step=1e-2)
    >>> motion.q.shape
    (11, 2)

    """
    how = integrator, projection, engine, halvings, passive_force
    simulation = Simulation(robot, constraints, step, *how)
    simulation.reset(checked_coordinates(robot, q), checked_speeds(robot, v))
    count = round(as_nonnegative('duration [s]', duration) / simulation.step_size)
    law = effort_law(robot, effort, count, simulation.step_size)
    times, qs, vs = [simulation.time], [simulation.q], [simulation.v]
    for _ in progress(range(count)):
        simulation.step(law(simulation.time, simulation.q, simulation.v))
        times.append(simulation.time)
        qs.append(simulation.q)
        vs.append(simulation.v)
    return Trajectory(np.array(times), np.array(qs), np.array(vs), simulation.rank_events)


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """Where the energy of a motion went."""

    energy: Floats  # shape (n + 1,): T + V of each state [J]
    work: Floats  # shape (n,): Of the efforts, and to friction, in each step [J]
    lost: Floats  # shape (n,): Of the efforts, and to friction, in each step [J]

    @property
    def gap(self) -> float:
        """Return the largest energy that appears from nowhere or gets lost there [J]."""
        balance = self.energy[1:] - self.energy[0] - np.cumsum(self.work - self.lost)
        return float(np.abs(balance).max(initial=0.0))

    @property
    def error(self) -> float:
        """Return the gap relative to the sum of all work and losses."""
        turned_over = float(np.abs(self.work).sum() + self.lost.sum())
        return self.gap / turned_over if turned_over else 0.0


def energy_balance(
    robot: Robot, motion: Trajectory, effort: Floats, energy: Floats
) -> EnergyBalance:
    """
    Return the energy of a motion, the work of its efforts and its losses to friction.

    ``E(t) - E(0) = sum tau (q_k+1 - q_k) - int v' (D v + F sign v) dt``. Efforts are constant over
    a step, so their work is exact on coordinates that are integrals of their speeds; where some
    are not (quaternions), displacements are mean speeds times the step. Friction is integrated by
    Simpson's rule on the steps' ends and mean speeds.
    """
    h = np.diff(motion.time)[:, None]
    if robot.nq == robot.nv:
        moved = np.diff(motion.q, axis=0)
    else:
        moved = 0.5 * h * (motion.v[1:] + motion.v[:-1])
    work = np.sum(effort * moved, axis=1)

    def dissipated(v: Floats) -> Floats:
        return np.sum(robot.damping * v * v + robot.friction * np.abs(v), axis=1)

    ends, middle = dissipated(motion.v), dissipated(moved / h)
    return EnergyBalance(energy, work, h[:, 0] / 6.0 * (ends[:-1] + 4.0 * middle + ends[1:]))
