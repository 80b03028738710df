# SPDX-License-Identifier: Apache-2.0
"""
The closed loop over ROS 2: PD alone, then with more and more of the dynamics fed forward.

Simulator, controller and the giver of references are composed into one process and served by one
thread: on two cores, processes of their own would wait for each other. All runs have the same
gains, the same motion and a ROS domain of their own.
"""

import contextlib
import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty, SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kane_dynamics as kd
from kane_dynamics.demo.figures import (
    STEP,
    Answer,
    CommandedBase,
    DelayWatch,
    LoopLog,
    Run,
    Setup,
    evaluate,
)
from kane_dynamics.demo.motion import DemoMotion
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.conversions import nanoseconds, set_stamp
from kane_dynamics.messages.intra_process import IntraProcess
from kane_dynamics.robot.resources import share_directory
from kane_dynamics.robot.text import parameter_file
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import (
    base_frame,
    model_of_file,
    parameters_of_file,
    read_parameter_file,
)
from kane_dynamics.ros.demo.laws import Law, affordable_motion
from kane_dynamics.ros.diagnostics import ERROR
from kane_dynamics.ros.runtime import ComposableNode, fast_executor, new_intra_process
from kane_dynamics.ros.simulator_node import SimulatorNode

# best effort: what listens must not slow the loop down by acknowledging
RECORD = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
START_TIMEOUT = 60.0
"""Wall time [s] for the nodes to start and find each other."""


class DemoDriver:
    """Gives references for the next state as soon as a state arrives."""

    def __init__(
        self,
        motion: DemoMotion,
        period: float,
        context: Context,
        commanded: CommandedBase | None = None,
        shared: IntraProcess | None = None,
    ) -> None:
        self._motion, self._period = motion, period
        self.node = ComposableNode('kane_demo', context=context, intra_process=shared)
        self._executor: Any = None
        self._message = JointTrajectory(joint_names=list(motion.names))
        self._point = JointTrajectoryPoint()
        self._message.points = [self._point]
        self._log, self._watch = LoopLog(), DelayWatch()
        node, every = self.node, RECORD
        self._reference = node.create_publisher(
            JointTrajectory, 'kane_inverse_dynamics/reference', QoSProfile(depth=1)
        )
        self._commanded, self._twist = commanded, None
        if commanded is not None:
            kind = TwistStamped if commanded.stamped else Twist
            self._twist = node.create_publisher(kind, 'cmd_vel', QoSProfile(depth=1))
        node.create_subscription(JointState, 'joint_states', self._on_state, every)
        node.create_subscription(Odometry, 'odom', self._on_odometry, every)
        node.create_subscription(
            JointState, 'kane_inverse_dynamics/effort', self._on_effort, every
        )
        self._pause = node.create_client(SetBool, 'kane_simulator/pause')
        self._reset = node.create_client(Empty, 'kane_simulator/reset')

    def run(
        self, executor: Any, progress: Callable[[float], None], alive: Callable[[], None]
    ) -> LoopLog:
        """Start the paused simulator, run the motion, and return what was recorded."""
        self._executor = executor
        self._wait(self._pause.service_is_ready, 'the simulator', alive)
        self._wait(lambda: self._reference.get_subscription_count() > 0, 'the controller', alive)
        self._send(0.0)
        self._spin(1.0)  # every endpoint finds every other
        # the paused simulator says its state again, so that it has efforts from the first step on
        again = self._reset.call_async(Empty.Request())
        self._wait(again.done, 'the answer to ~/reset', alive)
        self._wait(lambda: bool(self._log.answers), 'the first efforts', alive)
        self._log = LoopLog(answers=self._log.answers)
        future = self._pause.call_async(SetBool.Request(data=False))
        self._wait(future.done, 'the answer to ~/pause', alive)
        last_time, last_change = -1.0, time.monotonic()
        while self._now() < self._motion.duration:
            gc.freeze()  # what was recorded stays: a full collection of it would delay references
            self._spin(0.05)
            alive()
            progress(self._now())
            if self._now() > last_time:
                last_time, last_change = self._now(), time.monotonic()
            elif time.monotonic() - last_change > 10.0:
                raise KaneDynamicsError(f'simulated time stands still at {last_time} s')
        return self._log

    def close(self) -> None:
        """Stop recording; what was kept from the collector is given back to it."""
        self._watch.close()
        gc.unfreeze()

    def _now(self) -> float:
        stamps = self._log.stamps
        return stamps[-1] * 1e-9 if stamps else 0.0

    def _send(self, t: float) -> None:
        t = min(t, self._motion.duration)
        self._point.positions = self._motion.position(t).tolist()
        self._point.velocities = self._motion.velocity(t).tolist()
        self._point.accelerations = self._motion.acceleration(t).tolist()
        self._reference.publish(self._message)
        if self._twist is not None:
            self._twist.publish(self._command(t))

    def _command(self, t: float) -> Any:
        """Return the twist of the base at a time, as a Twist or a TwistStamped."""
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = self._motion.twist(t).tolist()
        if self._commanded is None or not self._commanded.stamped:
            return twist
        message = TwistStamped(twist=twist)
        message.header.frame_id = self._commanded.frame
        set_stamp(message.header.stamp, round(t * 1e9))
        return message

    def _on_state(self, message: Any) -> None:
        stamp, log = nanoseconds(message.header.stamp), self._log
        self._send(stamp * 1e-9 + self._period)
        log.samples.append(self._watch.sample())
        log.arrivals.append(time.monotonic())
        log.names = tuple(message.name)
        log.stamps.append(stamp)
        log.position.append(list(message.position))
        log.velocity.append(list(message.velocity))
        log.effort.append(list(message.effort))

    def _on_odometry(self, message: Any) -> None:
        pose, twist, r = message.pose.pose, message.twist.twist, message.pose.pose.orientation
        yaw = 2.0 * float(np.arctan2(r.z, r.w))
        stamp = nanoseconds(message.header.stamp) * 1e-9
        self._log.odometry.append(
            [
                *(stamp, pose.position.x, pose.position.y, yaw),
                *(twist.linear.x, twist.linear.y, twist.angular.z),
            ]
        )

    def _on_effort(self, message: Any) -> None:
        answer = Answer(time.monotonic(), message.effort.tolist())
        self._log.answers[nanoseconds(message.header.stamp)] = answer

    def _spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def _wait(self, condition: Callable[[], bool], what: str, alive: Callable[[], None]) -> None:
        end = time.monotonic() + START_TIMEOUT
        while not condition():
            if time.monotonic() > end:
                raise KaneDynamicsError(f'waited {START_TIMEOUT:g} s in vain for {what}')
            alive()
            self._spin(0.05)


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
        shared = new_intra_process()
        driver = DemoDriver(setup.motion, 1.0 / setup.rate, context, setup.commanded, shared)
        ending.callback(driver.node.destroy_node)
        ending.callback(driver.close)
        nodes = _nodes(setup, law, {'context': context, 'intra_process': shared})
        for node in nodes:
            ending.callback(node.destroy_node)
        executor = fast_executor(driver.node, *nodes)
        shared.create_task = executor.create_task
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
    if trouble := nodes[0].trouble:
        domain = nodes[0].context.get_domain_id()
        raise KaneDynamicsError(f'the closed loop in ROS domain {domain}: {trouble}')
    for node in nodes:
        if (status := node.host.status()).level == ERROR:
            raise KaneDynamicsError(f'{node.get_name()}: {status.message}')


def _nodes(setup: Setup, law: Law, common: dict[str, Any]) -> tuple[SimulatorNode, Any]:
    """Return simulator and controller."""
    local: dict[str, Any] = {'step_size': STEP, 'compiled': 'wait'}
    simulator = {**local, 'start_paused': True, 'odom_rate': setup.rate}
    controller = {'compiled': 'wait', 'use_sim_time': True, 'timeout.reference': 60.0, **law.terms}
    shared = [word for file in setup.files for word in ('--params-file', str(file))]

    def options(parameters: dict[str, Any], *more: str) -> dict[str, Any]:
        return {
            **common,
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
