# SPDX-License-Identifier: Apache-2.0
"""
One run of the closed loop: its messages, and figures from them: errors, slip, energy, latency.

A sample is taken at each state. Between two samples the thread computed (processor time), was
ready but had no core (the run delay of Linux: another program or another thread had it), stood in
a garbage collection, or slept until a message or a timer came.
"""

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algorithms.newton_euler import friction_left_by_drag
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.compiler.compiled import CompiledDynamics
from kane_dynamics.demo.motion import DemoMotion
from kane_dynamics.messages.loop_statistics import LoopStatistics
from kane_dynamics.simulation.integrators import STICTION_SPEED
from kane_dynamics.simulation.motions import Trajectory, energy_balance
from kane_dynamics.typing import Floats


class Sample(NamedTuple):
    """Times since some start [s]."""

    elapsed: float
    computed: float
    delayed: float
    collected: float


class DelayWatch:
    """Samples of one thread; to be closed."""

    def __init__(self) -> None:
        self._collected, self._begin = 0.0, 0.0
        gc.callbacks.append(self._on_collection)
        path = f'/proc/self/task/{threading.get_native_id()}/schedstat'
        self._statistics = os.open(path, os.O_RDONLY) if os.path.exists(path) else -1

    def sample(self) -> Sample:
        """Return a sample of now; no run delay but on Linux."""
        delayed = 0.0
        if self._statistics >= 0:
            delayed = 1e-9 * int(os.pread(self._statistics, 100, 0).split()[1])
        return Sample(time.monotonic(), time.thread_time(), delayed, self._collected)

    def close(self) -> None:
        """Stop watching."""
        gc.callbacks.remove(self._on_collection)
        if self._statistics >= 0:
            os.close(self._statistics)
            self._statistics = -1

    def _on_collection(self, phase: str, information: dict[str, Any]) -> None:
        if phase == 'start':
            self._begin = time.thread_time()
        else:
            self._collected += time.thread_time() - self._begin


def causes(samples: Sequence[Sample], missed: Sequence[int]) -> Counter[str]:
    """Return how many periods were missed for which cause."""
    counts: Counter[str] = Counter()
    if len(samples) < 3:
        return counts
    table = np.array(samples)
    spans = table[2:] - table[:-2]  # of two periods, around each state but the first and the last
    usual = np.median(spans, axis=0)
    for k in missed:
        elapsed, computed, delayed, collected = spans[min(max(k - 1, 0), len(spans) - 1)] - usual
        parts = {
            'garbage collection': collected,
            'computing': computed - collected,
            'no core free': delayed,
            'waiting for a message or timer': elapsed - computed - delayed,
        }
        counts[max(parts, key=lambda name: parts[name])] += 1
    return counts


class Answer(NamedTuple):
    """Efforts of all motors, and when they arrived on a steady clock [s]."""

    arrival: float
    effort: list[float]


@dataclass
class LoopLog:
    """Messages of one run, in the order of arrival."""

    names: tuple[str, ...] = ()  # Joints in joint_states
    stamps: list[int] = field(default_factory=list)  # Stamps of joint_states [ns]
    arrivals: list[float] = field(default_factory=list)  # When they arrived, on a steady clock [s]
    position: list[list[float]] = field(default_factory=list)  # Fields of joint_states
    velocity: list[list[float]] = field(default_factory=list)  # Fields of joint_states
    effort: list[list[float]] = field(default_factory=list)  # Fields of joint_states
    odometry: list[list[float]] = field(default_factory=list)
    answers: dict[int, Answer] = field(default_factory=dict)  # The efforts for a stamp
    samples: list[Sample] = field(default_factory=list)  # What the thread did until each state

    def latencies(self) -> Floats:
        """Return the time from the arrival of a state to that of its efforts [s]."""
        pairs = zip(self.stamps, self.arrivals, strict=True)
        return np.array([self.answers[s].arrival - t for s, t in pairs if s in self.answers])

    def indices(self, stamps: Sequence[int]) -> list[int]:
        """Return the numbers of the states with some stamps [ns]; others are left out."""
        return [self.stamps.index(stamp) for stamp in stamps if stamp in self.stamps]


STEP = 0.001  # of the simulator [s]
SMALLEST = 1e-12  # error of a motor that counts [rad or m]


@dataclass(frozen=True)
class CommandedBase:
    """How a base takes cmd_vel: the frame of the twist, and whether the message has a stamp."""

    frame: str
    stamped: bool


@dataclass(frozen=True, eq=False)
class Setup:
    """A robot with its machine code and what it is to do."""

    name: str  # Of the robot
    files: tuple[Path, ...]  # Parameters of the nodes
    rate: float  # Of the loop [Hz]
    compiled: CompiledDynamics  # With the robot and its constraints
    motion: DemoMotion  # Its reference; motors in the order of the nodes' efforts
    base: WheeledBase | None = None  # The base on wheels
    commanded: CommandedBase | None = None  # Set where the base follows cmd_vel
    urdf: str = ''  # The URDF: a path, or its text
    overloaded: tuple[str, ...] = ()
    compensated: tuple[str, ...] = ()  # Joints whose drives compensate gravity

    @property
    def mobile(self) -> bool:
        """Return whether the base moves."""
        return self.compiled.robot.base == 'planar'


@dataclass(frozen=True, eq=False)
class Run:
    """What one run did."""

    time: Floats  # shape (n,): Of the states [s]
    q: Floats  # shape (n, nq): Coordinates of the robot
    error: Floats  # Position errors [rad or m] and applied efforts [N m or N] of the motors
    effort: Floats  # Position errors [rad or m] and applied efforts [N m or N] of the motors
    path: Floats  # shape (k, 2): Base positions [m]
    forces: Mapping[str, Floats]  # shape (n,): Multiplier of each constraint row [N or N m]
    latency: Floats  # shape (l,): From a state to its efforts [s]
    base_error: float  # Largest distance of the base from its path in time [m]
    side_slip: float  # Integral of the lateral speed at the axle [m]
    energy_error: float  # Of the simulated motion, relative to the energy turned over
    rate: float  # States per second of wall time [Hz]
    missed: int  # Periods that began without the efforts of their state, or late by a period
    causes: Counter[str]  # How many of these were missed for which cause; see `causes`

    @property
    def states(self) -> int:
        """Return how many periods there were."""
        return len(self.time)

    @property
    def rms(self) -> Floats:
        """Return the root mean square error of each motor [rad or m], shape (m,)."""
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))

    @property
    def mean_error(self) -> float:
        """Return the geometric mean of the motors' errors: its ratios have no unit."""
        return float(np.exp(np.mean(np.log(np.maximum(self.rms, SMALLEST)))))


def evaluate(setup: Setup, log: LoopLog, statistics: LoopStatistics) -> Run:
    """Return the figures of one run from its messages, and the periods that were missed."""
    motion, times = setup.motion, np.array(log.stamps) * 1e-9
    odometry = np.array(log.odometry).reshape(-1, 7)
    base = np.column_stack(
        [np.interp(odometry[:, 0], motion.times, motion.base[:, k]) for k in (0, 1)]
    )
    distance = np.linalg.norm(odometry[:, 1:3] - base, axis=1)
    efforts = motor_efforts(setup, log)
    q, v = _states(setup, log, odometry, times)
    columns = [setup.compiled.robot.coordinate_index(name) for name in motion.names]
    return Run(
        times,
        q,
        q[:, columns] - motion.position(times),
        efforts,
        odometry[:, 1:3],
        {} if setup.commanded else _row_forces(setup, q, v, efforts),
        log.latencies(),
        float(distance.max()) if setup.mobile else float('nan'),
        _side_slip(setup, odometry),
        float('nan') if setup.commanded else _energy_error(setup, times, q, v, efforts),
        (len(times) - 1) / (log.arrivals[-1] - log.arrivals[0]),
        statistics.missed,
        causes(log.samples, log.indices(statistics.missed_stamps)),
    )


def _states(setup: Setup, log: LoopLog, odometry: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Return coordinates and speeds of the robot at the times of its joint_states."""
    robot = setup.compiled.robot
    q, v = np.tile(robot.neutral(), (len(times), 1)), np.zeros((len(times), robot.nv))
    q[:, [robot.coordinate_index(name) for name in log.names]] = log.position
    v[:, [robot.velocity_index(name) for name in log.names]] = log.velocity
    if setup.mobile:
        pose = np.column_stack([odometry[:, 1:3], np.unwrap(odometry[:, 3])])
        rows = np.hstack([pose, odometry[:, 4:7]])
        at = np.column_stack([np.interp(times, odometry[:, 0], x) for x in rows.T])
        q[:, :3], (forward, left) = at[:, :3], at[:, 3:5].T
        cos, sin = np.cos(q[:, 2]), np.sin(q[:, 2])
        v[:, :3] = np.column_stack(
            [forward * cos - left * sin, forward * sin + left * cos, at[:, 5]]
        )
    return q, v


def motor_efforts(setup: Setup, log: LoopLog) -> Floats:
    """Return the efforts of the period before each state; joint_states have none of the base."""
    efforts = np.array(log.effort)
    answered = np.array(sorted(log.answers))
    before = np.searchsorted(answered, np.array(log.stamps)) - 1  # the last that was there
    answers = np.array([log.answers[stamp].effort for stamp in answered[np.maximum(before, 0)]])
    columns = [
        efforts[:, log.names.index(name)] if name in log.names else answers[:, k]
        for k, name in enumerate(setup.motion.names)
    ]
    return np.column_stack(columns)


def _side_slip(setup: Setup, odometry: Floats) -> float:
    """Return the integral of the lateral speed at the axle; nan for a base that has not one."""
    if setup.base is None or setup.base.kind != 'differential':
        return float('nan')
    robot = setup.compiled.robot
    at_rest, straight = [0.0] * robot.nv, robot.neutral().tolist()
    row = setup.compiled.constraints[0].rows(robot, straight, at_rest, 0.0)[0].coefficients
    lateral = odometry[:, 5] + float(row[2]) * odometry[:, 6]
    return float(np.abs(lateral[1:]) @ np.diff(odometry[:, 0]))


def _energy_error(setup: Setup, times: Floats, q: Floats, v: Floats, efforts: Floats) -> float:
    """Return the energy error of the recorded motion itself."""
    tau = _all_speeds(setup, efforts)
    if setup.compensated:
        robot, carry = setup.compiled.robot, np.zeros_like(tau)
        columns = [robot.velocity_index(name) for name in setup.compensated]
        carry[:, columns] = setup.compiled.gravity_force(q)[:, columns]
        tau[1:] += 0.5 * (carry[1:] + carry[:-1])
    energy = setup.compiled.kinetic_energy(q, v) + setup.compiled.potential_energy(q)
    motion = Trajectory(times, q, v)
    return energy_balance(setup.compiled.robot, motion, tau[1:], energy).error


def _row_forces(setup: Setup, q: Floats, v: Floats, efforts: Floats) -> dict[str, Floats]:
    """Return forces of constraint rows at each state: A' lambda = M a + h + f - tau [N, N m]."""
    compiled = setup.compiled
    tau = _all_speeds(setup, efforts)
    a = np.gradient(v, 1.0 / setup.rate, axis=0)
    beyond = friction_left_by_drag(compiled.robot, v, STICTION_SPEED)  # as in the simulator
    needed = compiled.inverse_dynamics(q, v, a) - beyond - tau
    rows = []
    for q_k, v_k, force in zip(q, v, needed, strict=True):
        A = compiled.constraint_rows(q_k, v_k).matrix
        used = A.any(axis=0)
        rows.append(np.linalg.lstsq(A[:, used].T, force[used])[0])
    return dict(zip(compiled.labels, np.array(rows).T, strict=True))


def _all_speeds(setup: Setup, efforts: Floats) -> Floats:
    """Return efforts of the motors as efforts on all speeds, shape (n, nv)."""
    robot = setup.compiled.robot
    tau = np.zeros((len(efforts), robot.nv))
    tau[:, [robot.velocity_index(name) for name in setup.motion.names]] = efforts
    return tau
