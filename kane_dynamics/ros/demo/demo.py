# SPDX-License-Identifier: Apache-2.0
"""
The closed loop over ROS 2: PD alone, then with more and more of the dynamics fed forward.

Simulator, controller and the giver of references are composed into one process and served by one
thread: on two cores, processes of their own would wait for each other. All runs have the same
gains, the same motion and a ROS domain of their own.
"""

import gc
import os
import time
from collections.abc import Callable, Iterator
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
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.conversions import fill_twist, nanoseconds
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
from kane_dynamics.ros.runtime import ComposableNode, new_intra_process, spin
from kane_dynamics.ros.simulator_node import SimulatorNode

# best effort: what listens must not slow the loop down by acknowledging
RECORD = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
SIMULATOR, CONTROLLER = 'kane_simulator', 'kane_inverse_dynamics'
START_TIMEOUT = 60.0
"""Wall time [s] for the nodes to start and find each other."""


class DemoDriver(ComposableNode):
    """Gives references for the next state as soon as a state arrives."""

    def __init__(self, setup: Setup, **options: Any) -> None:
        super().__init__('kane_demo', **options)
        self._motion, self._period = setup.motion, 1.0 / setup.rate
        self._point = JointTrajectoryPoint()
        self._message = JointTrajectory(joint_names=list(setup.motion.names), points=[self._point])
        self.log = LoopLog()
        self._reference = self.create_publisher(
            JointTrajectory, f'{CONTROLLER}/reference', QoSProfile(depth=1)
        )
        self._commanded, self._twist = setup.commanded, None
        if setup.commanded is not None:
            self._kind = TwistStamped if setup.commanded.stamped else Twist
            self._twist = self.create_publisher(self._kind, 'cmd_vel', QoSProfile(depth=1))
        self.create_subscription(JointState, 'joint_states', self._on_state, RECORD)
        self.create_subscription(Odometry, 'odom', self._on_odometry, RECORD)
        self.create_subscription(JointState, f'{CONTROLLER}/effort', self._on_effort, RECORD)
        self._pause = self.create_client(SetBool, f'{SIMULATOR}/pause')
        self._reset = self.create_client(Empty, f'{SIMULATOR}/reset')

    def start(self) -> None:
        """Begin to watch this thread."""
        self._watch = DelayWatch()

    def stop(self) -> None:
        """Stop recording; what was kept from the collector is given back to it."""
        self._watch.close()
        gc.unfreeze()

    def run(self) -> Iterator[float]:
        """Start the paused simulator and run the motion; yield its time between callbacks."""
        yield from self._wait(self._pause.service_is_ready, 'the simulator')
        yield from self._wait(self._reference.get_subscription_count, 'the controller')
        self._send(0.0)
        until = time.monotonic() + 1.0  # every endpoint finds every other
        yield from self._wait(lambda: time.monotonic() > until, 'the others')
        # the paused simulator says its state again, so that it has efforts from the first step on
        again = self._reset.call_async(Empty.Request())
        yield from self._wait(again.done, 'the answer to ~/reset')
        yield from self._wait(lambda: self.log.answers, 'the first efforts')
        self.log = LoopLog(answers=self.log.answers)
        future = self._pause.call_async(SetBool.Request(data=False))
        yield from self._wait(future.done, 'the answer to ~/pause')
        last_time, last_change, now = -1.0, time.monotonic(), 0.0
        while now < self._motion.duration:
            gc.freeze()  # what was recorded stays: a full collection of it would delay references
            yield now
            now = self.log.stamps[-1] * 1e-9 if self.log.stamps else 0.0
            if now > last_time:
                last_time, last_change = now, time.monotonic()
            elif time.monotonic() - last_change > 10.0:
                raise KaneDynamicsError(f'simulated time stands still at {last_time} s')

    def _wait(self, condition: Callable[[], object], what: str) -> Iterator[float]:
        end = time.monotonic() + START_TIMEOUT
        while not condition():
            if time.monotonic() > end:
                raise KaneDynamicsError(f'waited {START_TIMEOUT:g} s in vain for {what}')
            yield 0.0

    def _send(self, t: float) -> None:
        t = min(t, self._motion.duration)
        self._point.positions = self._motion.position(t).tolist()
        self._point.velocities = self._motion.velocity(t).tolist()
        self._point.accelerations = self._motion.acceleration(t).tolist()
        self._reference.publish(self._message)
        if self._twist is not None and self._commanded is not None:
            message = self._kind()
            fill_twist(message, self._motion.twist(t), self._commanded.frame, round(t * 1e9))
            self._twist.publish(message)

    def _on_state(self, message: Any) -> None:
        stamp, log = nanoseconds(message.header.stamp), self.log
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
        self.log.odometry.append(
            [
                *(stamp, pose.position.x, pose.position.y, yaw),
                *(twist.linear.x, twist.linear.y, twist.angular.z),
            ]
        )

    def _on_effort(self, message: Any) -> None:
        answer = Answer(time.monotonic(), message.effort.tolist())
        self.log.answers[nanoseconds(message.header.stamp)] = answer


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
    context, shared = Context(), new_intra_process()
    rclpy.init(context=context, domain_id=domain)
    try:
        common = {'context': context, 'intra_process': shared}
        driver, nodes = DemoDriver(setup, **common), _nodes(setup, law, common)
        motion = driver.run()

        def finished() -> bool:
            _check(nodes)
            now = next(motion, None)
            if now is not None:
                progress(now)
            return now is None

        controller_first = nodes[::-1]
        spin((driver, *controller_first), finished, shared)
    finally:
        context.try_shutdown()
    return evaluate(setup, driver.log, nodes[0].statistics)


def _check(nodes: tuple[SimulatorNode, Any]) -> None:
    """Raise an error if a node has no model and will not get one, or the simulation stopped."""
    if trouble := nodes[0].trouble or nodes[0].crowd:
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

    remap = ('-r', f'~/effort_command:={CONTROLLER}/effort')
    for name in (SIMULATOR, CONTROLLER):
        set_logger_level(name, LoggingSeverity.ERROR)  # the terminal shows a progress bar
    return (
        SimulatorNode(**options(simulator, *remap)),
        law.node(**options(controller)),
    )
