# SPDX-License-Identifier: Apache-2.0
"""Keeps the model of a node: from its parameters, else from the topic robot_description."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from std_msgs.msg import String

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Status
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.parameters import unknown_overrides
from kane_dynamics.ros.qos import LATCHED
from kane_dynamics.ros.robot_source import RobotModel, build_model, read_description
from kane_dynamics.ros.robot_tables import RobotParameters
from kane_dynamics.ros.tables import ALL_SPECS
from kane_dynamics.ros.warm_up import WarmUp

WARM_UP_PERIOD = 0.2
"""Wall time [s] between looks at a running compilation."""


class ModelHost:
    """
    Builds the model and its dynamics, tells the node, and reports their state.

    Parameters
    ----------
    node : Node
        The node, for its logger and subscription.
    parameters : RobotParameters
        How to build the model.
    on_model : callable
        Called with the `Dynamics` of each new model; what it raises counts as a bad description.
    on_compiled : callable
        Called when the dynamics of the present model have become machine code.
    patient : bool
        Whether to wait for the compilation although the parameter says 'auto'.

    Attributes
    ----------
    model : RobotModel or None
        The present model.
    dynamics : Dynamics or None
        Its algorithms.
    from_topic : bool
        Whether the description comes from the topic.

    """

    def __init__(
        self,
        node: Node,
        parameters: RobotParameters,
        on_model: Callable[[Dynamics], None],
        on_compiled: Callable[[], None] = lambda: None,
        patient: bool = False,
    ) -> None:
        self.model: RobotModel | None = None
        self.dynamics: Dynamics | None = None
        self.from_topic = False
        self._node, self._parameters = node, parameters
        self._on_model, self._on_compiled, self._patient = on_model, on_compiled, patient
        self._warm_up: WarmUp | None = None
        self._timer: Any = None
        self._motors: tuple[str, ...] = getattr(parameters, 'joints', ())
        self._subscription: Any = None
        self._problem = 'not configured'
        self._remarks = self._parameter_remarks()
        for remark in self._remarks:
            node.get_logger().warning(remark)

    def load(self) -> None:
        """
        Build the model from the parameters, or subscribe to the topic.

        Raises
        ------
        KaneDynamicsError
            If the description of the parameters is wrong.
        rclpy.exceptions.ParameterException
            If a per-joint parameter is wrong.

        """
        text = read_description(self._parameters)
        if text:
            self._build(text)
            return
        self.from_topic = True
        self._subscription = self._node.create_subscription(
            String, 'robot_description', self._on_text, LATCHED
        )
        topic = self._subscription.topic_name
        self._problem = f'no robot_description and no urdf_file given; waiting for {topic}'
        self._node.get_logger().warning(self._problem)

    def clear(self) -> None:
        """Forget the model and stop listening."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
        self._end_warm_up()
        self._subscription, self.model, self.dynamics, self.from_topic = None, None, None, False
        self._problem = 'not configured'

    def fail(self, error: Exception) -> None:
        """Report a description that cannot be used; a model from before stays in use."""
        self._problem = f'robot description cannot be used: {error}'
        self._node.get_logger().error(self._problem)

    def status(self) -> Status:
        """Return what is wrong with the model, or what it is."""
        if self.model is None:
            return Status(ERROR, self._problem)
        robot = self.model.robot
        values = {
            'robot': robot.name,
            'base': robot.base,
            'joints': ' '.join(self.model.joints),
            'motors': ' '.join(self.model.motors),
            'constraints': len(self.model.constraints),
            'dynamics': self._dynamics_in_words(),
        }
        remarks = (*self._remarks, *self.model.remarks)
        values.update({f'remark {i + 1}': text for i, text in enumerate(remarks)})
        if self._problem:
            return Status(ERROR, f'{self._problem} (the model from before is in use)', values)
        if remarks:
            return Status(WARN, remarks[0], values)
        return Status(OK, 'ok', values)

    def _on_text(self, message: String) -> None:
        if self.model is not None and message.data == self.model.text:
            return
        try:
            self._build(message.data)
        except (KaneDynamicsError, ParameterException) as error:
            self.fail(error)

    def _build(self, text: str) -> None:
        model = build_model(self._parameters, text, self._motors)
        dynamics = Dynamics(model)
        self._end_warm_up()
        self._make_fast(dynamics, text)
        self._on_model(dynamics)
        self.model, self.dynamics, self._problem = model, dynamics, ''
        logger = self._node.get_logger()
        for remark in model.remarks:
            logger.warning(remark)
        size = f'{len(model.joints)} joints, {model.robot.base} base'
        logger.info(f"model of '{model.robot.name}': {size}, {self._dynamics_in_words()}")

    def _make_fast(self, dynamics: Dynamics, text: str) -> None:
        """Load the compiled dynamics, wait for them, or have them compiled in the background."""
        if self._parameters.compiled == 'never' or dynamics.load():
            return
        if self._patient or self._parameters.compiled == 'wait':
            self._node.get_logger().info('compiling the dynamics of this robot, the first time')
            dynamics.compile()
            return
        self._warm_up = WarmUp(self._parameters, text)
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self._node.create_timer(WARM_UP_PERIOD, self._look_after_warm_up, clock=wall)

    def _look_after_warm_up(self) -> None:
        if self._warm_up is None or not self._warm_up.done():
            return
        self._end_warm_up()
        if self.dynamics is None:
            return
        if self.dynamics.load():
            self._on_compiled()
        self._node.get_logger().info(f'dynamics: {self._dynamics_in_words()}')

    def _end_warm_up(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        if self._warm_up is not None:
            self._warm_up.stop()
        self._timer, self._warm_up = None, None

    def _dynamics_in_words(self) -> str:
        if self.dynamics is not None and self.dynamics.compiled:
            return 'compiled'
        return 'reference, compiling' if self._warm_up is not None else 'reference'

    def _parameter_remarks(self) -> tuple[str, ...]:
        """Return what ROS does not complain about: a missing file, a misspelt parameter."""
        remarks = [
            f"parameter '{name}' is unknown to every node of this package and has no effect"
            for name in unknown_overrides(self._node, ALL_SPECS)
        ]
        path = self._parameters.params_file
        if path and not Path(path).is_file():
            remarks.insert(0, f"params_file '{path}' cannot be read; defaults are in use")
        return tuple(remarks)
