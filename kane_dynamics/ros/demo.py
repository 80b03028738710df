# SPDX-License-Identifier: Apache-2.0
"""
The closed loop over ROS 2 in separate processes: PD alone, then with feed-forward.

Both runs have the same gains, the same motion and a ROS domain of their own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.analysis.demo_motion import DemoMotion, demo_motion
from kane_dynamics.analysis.energy_audit import energy_error
from kane_dynamics.analysis.plots import RunCurves
from kane_dynamics.exceptions import DemoError
from kane_dynamics.resources import share_directory
from kane_dynamics.ros.demo_driver import DemoDriver, Recording
from kane_dynamics.ros.robot_source import RobotModel, build_model, read_description
from kane_dynamics.ros.robot_tables import RobotParameters
from kane_dynamics.ros.spec import plain, specs

Floats = NDArray[np.float64]
ROBOTS = ('nonholonomic', 'holonomic', 'tiago')
STEP = 0.001  # of the simulator [s]
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')
Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Setup:
    """A robot with its model, its machine code and what it is to do."""

    name: str
    files: tuple[Path, ...]
    rate: float
    model: RobotModel
    compiled: kd.CompiledRobot
    motion: DemoMotion


@dataclass(frozen=True, eq=False)
class Run:
    """
    Figures of one run.

    Attributes
    ----------
    rms : ndarray, shape (m,)
        Root mean square error of each motor [rad or m].
    base_error : float
        Largest distance of the base from its path in time [m].
    side_slip : float
        Integral of the lateral speed at the axle [m].
    energy_error : float
        Of the simulated motion, relative to the energy turned over.
    rate : float
        States per second of wall time [Hz].
    latency : ndarray
        From a state to its efforts [s].
    missed, states : int
        States without efforts before the next one, and all states.
    curves : RunCurves
        For plots.

    """

    rms: Floats
    base_error: float
    side_slip: float
    energy_error: float
    rate: float
    latency: Floats
    missed: int
    states: int
    curves: RunCurves


def prepare(name: str, duration: float, progress: Callable[[str, int, int], None]) -> Setup:
    """Return the setup of a preset; compiles the robot, which takes a while the first time."""
    config = share_directory() / 'config'
    files = (config / f'{name}.yaml', config / 'simulation.yaml')
    values: dict[str, Any] = {}
    for file in files:
        values |= _flat(yaml.safe_load(file.read_text())['/**']['ros__parameters'])
    known = {spec.name: spec for spec in specs(RobotParameters)}
    fields = dict(zip(known, RobotParameters.__dataclass_fields__, strict=True))
    parameters = RobotParameters(
        **{fields[key]: plain(values.get(key, spec.default)) for key, spec in known.items()}
    )
    model = build_model(parameters, read_description(parameters))
    compiled = kd.compile(model.robot, model.constraints, progress=progress)
    prefix = 'initial_positions.'
    start = {
        key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)
    }
    motion = demo_motion(model.robot, model.constraints, model.motors, start, duration)
    return Setup(name, files, float(values['joint_state_rate']), model, compiled, motion)


def _flat(tree: dict[str, Any], prefix: str = '') -> dict[str, Any]:
    """Return nested parameters by dotted names."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat |= (
            _flat(value, f'{prefix}{key}.') if isinstance(value, dict) else {prefix + key: value}
        )
    return flat


def run_loop(setup: Setup, feedforward: bool, domain: int, logs: Path, progress: Progress) -> Run:
    """
    Run the closed loop once and return its figures.

    Raises
    ------
    DemoError
        If a node ends or does not answer; its log is in `logs`.

    """
    driver = DemoDriver(setup.motion, 1.0 / setup.rate, domain)
    try:
        with _nodes(setup, feedforward, domain, logs) as alive:
            recording = driver.run(progress, alive)
    finally:
        driver.close()
    return _evaluate(setup, recording)


@contextmanager
def _nodes(
    setup: Setup, feedforward: bool, domain: int, logs: Path
) -> Iterator[Callable[[], None]]:
    """Start simulator and controller; yield a check that both are alive; end them."""
    logs.mkdir(parents=True, exist_ok=True)
    shared = [word for file in setup.files for word in ('--params-file', str(file))]
    own = {'step_size': STEP, 'compiled': 'wait'}
    simulator = {**own, 'start_paused': 'true', 'integrator': 'semi_implicit'}
    terms = {f'terms.{term}': str(feedforward).lower() for term in TERMS}
    controller = {'compiled': 'wait', 'use_sim_time': 'true', 'timeout.reference': 60.0, **terms}
    remap = ['-r', '~/effort_command:=/kane_inverse_dynamics/effort']
    processes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for node, parameters, more in (
            ('simulator', simulator, remap),
            ('inverse_dynamics', controller, []),
        ):
            words = [w for key, value in parameters.items() for w in ('-p', f'{key}:={value}')]
            command = [sys.executable, '-m', f'kane_dynamics.ros.{node}_node', '--ros-args']
            environment = {
                **os.environ,
                'ROS_DOMAIN_ID': str(domain),
                'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                'OPENBLAS_NUM_THREADS': '1',  # small matrices: more threads only add jitter
            }
            with (logs / f'{node}.log').open('wb') as log:
                processes[node] = subprocess.Popen(
                    [*command, *shared, *words, *more], stdout=log, stderr=log, env=environment
                )

        def alive() -> None:
            for node, process in processes.items():
                if process.poll() is not None:
                    raise DemoError(
                        f'{node} ended with {process.returncode}, see {logs / node}.log'
                    )

        yield alive
    finally:
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        for process in processes.values():
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()


def _evaluate(setup: Setup, recording: Recording) -> Run:
    robot, motion = setup.model.robot, setup.motion
    times = np.array(recording.stamps) * 1e-9
    odometry = np.array(recording.odometry)
    measured = _motor_positions(setup, recording, odometry, times)
    error = measured - motion.position(times)
    base = np.column_stack(
        [np.interp(odometry[:, 0], motion.times, motion.base[:, k]) for k in (0, 1)]
    )
    distance = np.linalg.norm(odometry[:, 1:3] - base, axis=1)
    efforts = _motor_efforts(setup, recording)
    rate = (len(times) - 1) / (recording.arrivals[-1] - recording.arrivals[0])
    latency = recording.latencies()
    return Run(
        np.sqrt(np.mean(error**2, axis=0)),
        float(distance.max()),
        _side_slip(robot, setup, odometry),
        _energy(setup, efforts),
        rate,
        latency,
        recording.missed(),
        len(times),
        RunCurves(times, error, efforts, odometry[:, 1:3], latency),
    )


def _motor_positions(
    setup: Setup, recording: Recording, odometry: Floats, times: Floats
) -> Floats:
    positions = np.array(recording.position)
    columns = []
    for name in setup.motion.names:
        if name in recording.names:
            columns.append(positions[:, recording.names.index(name)])
            continue
        k = ('base_x', 'base_y', 'base_yaw').index(name) + 1
        pose = np.unwrap(odometry[:, k]) if name == 'base_yaw' else odometry[:, k]
        columns.append(np.interp(times, odometry[:, 0], pose))
    return np.column_stack(columns)


def _motor_efforts(setup: Setup, recording: Recording) -> Floats:
    efforts = np.array(recording.effort)
    columns = [
        efforts[:, recording.names.index(name)]
        if name in recording.names
        else np.zeros(len(efforts))
        for name in setup.motion.names
    ]
    return np.column_stack(columns)


def _side_slip(robot: Any, setup: Setup, odometry: Floats) -> float:
    """Return the integral of the lateral speed at the axle; nan for a base that may move so."""
    if not setup.model.constraints:
        return float('nan')
    at_rest, straight = [0.0] * robot.nv, robot.neutral().tolist()
    row = setup.model.constraints[0].rows(robot, straight, at_rest, 0.0)[0].coefficients
    lateral = odometry[:, 5] + float(row[2]) * odometry[:, 6]
    return float(np.abs(lateral[1:]) @ np.diff(odometry[:, 0]))


def _energy(setup: Setup, efforts: Floats) -> float:
    """Return the energy error of the same integrator under the efforts of the run."""
    robot = setup.model.robot
    if any(name not in setup.model.joints for name in setup.motion.names):
        return float('nan')  # joint_states do not tell the efforts on the base
    repeat = round(1.0 / (setup.rate * STEP))
    each_step = np.zeros((len(efforts) * repeat, robot.nv))
    columns = [robot.velocity_index(name) for name in setup.motion.names]
    each_step[:, columns] = np.repeat(efforts, repeat, axis=0)
    start = robot.neutral()
    for name, position in zip(setup.motion.names, setup.motion.position(0.0), strict=True):
        start[robot.coordinate_index(name)] = position
    motion = setup.compiled.simulate(
        start,
        np.zeros(robot.nv),
        len(each_step) * STEP,
        effort=each_step,
        step=STEP,
        integrator='semi_implicit',
    )
    return energy_error(setup.compiled, motion, each_step)
