# SPDX-License-Identifier: Apache-2.0
"""
The closed loop over ROS 2: PD alone, then with feed-forward.

Simulator, controller and the giver of references are composed into one process and served by one
thread: on two cores, processes of their own would wait for each other. Both runs have the same
gains, the same motion and a ROS domain of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
import yaml
from numpy.typing import NDArray
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.parameter import Parameter

import kane_dynamics as kd
from kane_dynamics.demo.energy_audit import energy_error
from kane_dynamics.demo.motion import DemoMotion, demo_motion
from kane_dynamics.demo.plots import RunCurves
from kane_dynamics.exceptions import DemoError
from kane_dynamics.resources import share_directory
from kane_dynamics.ros.demo_driver import DemoDriver, Recording
from kane_dynamics.ros.inverse_dynamics_node import InverseDynamicsNode
from kane_dynamics.ros.messages.diagnostics import ERROR
from kane_dynamics.ros.parameters.robot import RobotParameters
from kane_dynamics.ros.parameters.spec import plain, specs
from kane_dynamics.ros.robot_source import RobotModel, build_model, read_description
from kane_dynamics.ros.runtime import fast_executor
from kane_dynamics.ros.simulator_node import SimulatorNode

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
        Periods that began without the efforts of their state, and all of them.
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


def run_loop(setup: Setup, feedforward: bool, domain: int, progress: Progress) -> Run:
    """
    Run the closed loop once and return its figures.

    Raises
    ------
    DemoError
        If a node has no model or does not answer.

    """
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    driver = DemoDriver(setup.motion, 1.0 / setup.rate, context)
    nodes = _nodes(setup, feedforward, context)

    def check() -> None:
        for node in nodes:
            status = node.host.status()
            if status.level == ERROR:
                raise DemoError(f'{node.get_name()}: {status.message}')

    try:
        executor = fast_executor(driver.node, *nodes)
        for node in (driver.node, *nodes):
            executor.add_node(node)
        for node in nodes:
            node.start()
        recording = driver.run(executor, progress, check)
        return _evaluate(setup, recording, nodes[0].missed)
    finally:
        for node in nodes:
            node.stop()
        executor.shutdown()
        for node in (driver.node, *nodes):
            node.destroy_node()
        context.try_shutdown()


def _nodes(setup: Setup, feedforward: bool, context: Context) -> tuple[SimulatorNode, Any]:
    """Return simulator and controller."""
    own: dict[str, Any] = {'step_size': STEP, 'compiled': 'wait'}
    simulator = {**own, 'start_paused': True, 'integrator': 'semi_implicit'}
    terms = {f'terms.{term}': feedforward for term in TERMS}
    controller = {'compiled': 'wait', 'use_sim_time': True, 'timeout.reference': 60.0, **terms}
    shared = [word for file in setup.files for word in ('--params-file', str(file))]

    def options(parameters: dict[str, Any], *more: str) -> dict[str, Any]:
        return {
            'context': context,
            'use_global_arguments': False,
            'cli_args': ['--ros-args', *shared, *more],
            'parameter_overrides': [Parameter(k, value=v) for k, v in parameters.items()],
        }

    remap = ('-r', '~/effort_command:=kane_inverse_dynamics/effort')
    for name in ('kane_simulator', 'kane_inverse_dynamics'):
        set_logger_level(name, LoggingSeverity.ERROR)  # the terminal shows a progress bar
    return (
        SimulatorNode(**options(simulator, *remap)),
        InverseDynamicsNode(**options(controller)),
    )


def _evaluate(setup: Setup, recording: Recording, missed: int) -> Run:
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
        missed,
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
    """Return the efforts of the period before each state; joint_states have none of the base."""
    efforts = np.array(recording.effort)
    answered = np.array(sorted(recording.answers))
    before = np.searchsorted(answered, np.array(recording.stamps)) - 1  # the last that was there
    answers = np.array(
        [recording.answers[stamp].effort for stamp in answered[np.maximum(before, 0)]]
    )
    columns = [
        efforts[:, recording.names.index(name)]
        if name in recording.names
        else answers[:, setup.model.motors.index(name)]
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
