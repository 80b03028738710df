# SPDX-License-Identifier: Apache-2.0
"""
The closed loop over ROS 2: PD alone, then with more and more of the dynamics fed forward.

Simulator, controller and the giver of references are composed into one process and served by one
thread: on two cores, processes of their own would wait for each other. All runs have the same
gains, the same motion and a ROS domain of their own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.parameter import Parameter

import kane_dynamics as kd
from kane_dynamics.demo.figures import STEP, CommandedBase, Run, Setup, evaluate
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.robot.resources import share_directory
from kane_dynamics.robot.text import parameter_file
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import (
    base_frame,
    model_of_file,
    parameters_of_file,
    read_parameter_file,
)
from kane_dynamics.ros.demo.driver import DemoDriver
from kane_dynamics.ros.demo.laws import Law, affordable_motion
from kane_dynamics.ros.messages.diagnostics import ERROR
from kane_dynamics.ros.runtime import fast_executor
from kane_dynamics.ros.simulator_node import SimulatorNode

Progress = Callable[[float], None]


def prepare(
    source: str | Path, duration: float, progress: Callable[[str, int, int], None]
) -> Setup:
    """Return the setup of a robot; compiles it, which takes a while the first time."""
    files = (parameter_file(source), share_directory() / 'config' / 'simulation.yaml')
    values = {name: x for file in files for name, x in read_parameter_file(file).items()}
    parameters = parameters_of_file(files[0], InverseDynamicsParameters)
    model = model_of_file(files[0])
    driven = parameters.base_command_interface == 'velocity'
    if not model.motors:
        raise KaneDynamicsError(
            f"'{source}': no motor takes efforts, so there is nothing to compare: the base "
            "follows cmd_vel and carries no arm; set base.command_interface to 'effort' for this "
            'demonstration'
        )
    compiled = kd.compile(model.robot, model.constraints, progress=progress)
    prefix = 'initial_positions.'
    start = {
        key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)
    }
    motion, overloaded = affordable_motion(model, parameters, start, duration)
    return Setup(
        files[0].stem,
        files,
        float(values['joint_state_rate']),
        model.motors,
        compiled,
        motion,
        model.base,
        CommandedBase(base_frame(parameters), parameters.base_cmd_vel_stamped) if driven else None,
        model.text,
        overloaded,
        parameters.gravity_compensated_joints,
    )


def run_loop(setup: Setup, law: Law, domain: int, progress: Progress) -> Run:
    """Run the closed loop once and return its figures."""
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    with contextlib.ExitStack() as ending:  # from the last line to the first
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        ending.callback(context.try_shutdown)
        driver = DemoDriver(setup.motion, 1.0 / setup.rate, context, setup.commanded)
        ending.callback(driver.node.destroy_node)
        ending.callback(driver.close)
        nodes = _nodes(setup, law, context)
        for node in nodes:
            ending.callback(node.destroy_node)
        executor = fast_executor(driver.node, *nodes)
        ending.callback(executor.shutdown)
        for node in (driver.node, *nodes):
            executor.add_node(node)
        for node in nodes:
            ending.callback(node.stop)
            node.start()
        recording = driver.run(executor, progress, lambda: _check(nodes))
        return evaluate(setup, recording, nodes[0].missed, nodes[0].missed_stamps)


def _check(nodes: tuple[SimulatorNode, Any]) -> None:
    """Raise an error if a node has no model and will not get one, or the simulation stopped."""
    if nodes[0].trouble:
        raise KaneDynamicsError(f'the closed loop: {nodes[0].trouble}')
    for node in nodes:
        status = node.host.status()
        if status.level == ERROR:
            raise KaneDynamicsError(f'{node.get_name()}: {status.message}')


def _nodes(setup: Setup, law: Law, context: Context) -> tuple[SimulatorNode, Any]:
    """Return simulator and controller."""
    local: dict[str, Any] = {'step_size': STEP, 'compiled': 'wait'}
    simulator = {**local, 'start_paused': True, 'odom_rate': setup.rate}
    controller = {'compiled': 'wait', 'use_sim_time': True, 'timeout.reference': 60.0, **law.terms}
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
        law.node(**options(controller)),
    )
