# SPDX-License-Identifier: Apache-2.0
"""Keeps the model of a node: from its parameters, else from the topic robot_description."""

import contextlib
import gc
import time
from collections.abc import Callable
from typing import Any

from rclpy.exceptions import ParameterException
from rclpy.node import Node
from std_msgs.msg import String

from kane_dynamics.background import BackgroundTask
from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.robot_config.parameters.tables import RobotParameters
from kane_dynamics.robot_config.robot_source import (
    BASE_NAMES,
    RobotModel,
    build_model,
    read_description,
)
from kane_dynamics.ros.background_compilation import Compilation, CompilationError
from kane_dynamics.ros.declare_parameters import misspelt_joint, parameter_remarks
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Status
from kane_dynamics.ros.runtime import LATCHED, WALL

LOOK_PERIOD = 0.05
"""Wall time [s] between looks at what is being built."""
PROGRESS_PERIOD = 2.0
"""Wall time [s] between lines on the log about a compilation."""
UNUSABLE = (KaneDynamicsError, ParameterException, RuntimeError, ValueError, LookupError, OSError)
"""What a description from outside may raise; the node tells and goes on as before."""


class RobotDescriptionManager:
    """Builds the model and its dynamics, tells the node, and reports their state."""

    def __init__(
        self,
        node: Node,
        parameters: RobotParameters,
        on_model: Callable[[Dynamics], None],
        compile_options: Callable[[], CompileOptions] = CompileOptions,
    ) -> None:
        self.model: RobotModel | None = None
        self.dynamics: Dynamics | None = None
        self.from_topic = False
        self._node, self._parameters = node, parameters
        self._on_model, self._compile_options = on_model, compile_options
        self._building: BackgroundTask[Dynamics] | None = None
        self._compiling: Compilation | None = None
        self._text = ''
        self._timer: Any = None
        self._told = 0.0
        self._subscription: Any = None
        self._problem, self._slow = 'not configured', ''
        self._remarks = parameter_remarks(node, parameters.params_file)
        for note in self._remarks:
            node.get_logger().warning(note)

    def load(self) -> bool:
        """Build the model from the parameters, or subscribe to the topic; return if that works."""
        try:
            if text := read_description(self._parameters):
                self._text = text
                self._go_on(self._built(text))
            else:
                self._listen()
        except (KaneDynamicsError, ParameterException) as error:
            self._fail(error)
            return False
        return True

    def _listen(self) -> None:
        self.from_topic = True
        self._subscription = self._node.create_subscription(
            String, 'robot_description', self._on_text, LATCHED
        )
        topic = self._subscription.topic_name
        source = self._parameters.urdf_source_description
        self._problem = f'no robot_description and no urdf_file given; waiting for {topic}'
        self._problem += f' ({source})' if source else ''
        self._node.get_logger().warning(self._problem)

    def clear(self) -> None:
        """Forget the model and stop listening."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
        self._building = None
        self._end_compiling()
        self._look_no_more()
        self._subscription, self.model, self.dynamics, self.from_topic = None, None, None, False
        self._problem, self._slow, self._text = 'not configured', '', ''

    def _fail(self, error: Exception) -> None:
        """Report a description that cannot be used; a model from before stays in use."""
        self._problem = f'robot description cannot be used: {error}'
        self._node.get_logger().error(self._problem)

    # from a description to a model in use

    def _on_text(self, message: String) -> None:
        if message.data == self._text:
            return
        self._text = message.data
        if self.model is not None and message.data == self.model.text:
            self._keep()
            return
        self._building = BackgroundTask(lambda: self._built(message.data))
        self._look_on()

    def _keep(self) -> None:
        """Go on with the model in use: the description of a better one was taken back."""
        self._building, self._problem = None, ''
        if self._compiling is not None and self._compiling.dynamics is not self.dynamics:
            self._end_compiling()

    def _built(self, text: str) -> Dynamics:
        """Return the dynamics of a description, compiled if the cache has them."""
        dynamics = Dynamics(build_model(self._parameters, text), self._compile_options())
        if self._parameters.compiled != 'never':
            # what is wrong with the compiler or the cache, the compilation will say
            with contextlib.suppress(KaneDynamicsError, RuntimeError, OSError, ImportError):
                dynamics.load()
        return dynamics

    def _go_on(self, dynamics: Dynamics) -> None:
        """Use dynamics that have been built, at once or after they have been compiled."""
        policy = self._parameters.compiled
        slow = not dynamics.compiled and policy != 'never'
        if not slow or policy == 'auto':
            self._use(dynamics)
        if slow:
            self._end_compiling()
            self._compiling = Compilation(self._parameters, dynamics)
            self._problem = '' if self.dynamics is dynamics else 'compiling the dynamics'
            self._node.get_logger().info('compiling the dynamics of this robot, the first time')
            self._look_on()

    def _use(self, dynamics: Dynamics) -> None:
        """Hand complete dynamics to the node."""
        self._check_joint_names(dynamics.model)
        self._on_model(dynamics)
        self._end_compiling()
        self.model, self.dynamics, self._problem, self._slow = dynamics.model, dynamics, '', ''
        # the model from before is in cycles, and how large its machine code is, Python cannot see
        gc.collect()
        logger = self._node.get_logger()
        for note in self.model.notes:
            logger.warning(note)
        robot = self.model.robot
        size = f'{len(self.model.joints)} joints, {robot.base} base'
        logger.info(f"model of '{robot.name}': {size}, {self._dynamics_in_words()}")

    def _check_joint_names(self, model: RobotModel) -> None:
        """Raise InvalidInputError if a gain or a start position is given for a misspelt joint."""
        names = (*BASE_NAMES, *model.robot.joint_names, *self._parameters.locked_joints)
        problem = misspelt_joint(self._node, names)
        if problem and self.model is None:
            raise InvalidInputError(problem)
        if problem:  # a later robot may well have lost a joint
            self._node.get_logger().warning(problem)

    def _look(self) -> None:
        """Take over what has been completed beside the callbacks."""
        try:
            if self._building is not None and self._building.done():
                built, self._building = self._building, None
                self._go_on(built.result())
            if self._compiling is not None:
                self._look_after(self._compiling)
        except UNUSABLE as error:
            self._fail(error)
        if self._building is None and self._compiling is None:
            self._look_no_more()

    def _look_after(self, compiling: Compilation) -> None:
        logger = self._node.get_logger()
        if not compiling.done():
            if time.monotonic() - self._told > PROGRESS_PERIOD and compiling.progress:
                self._told = time.monotonic()
                logger.info(f'compiling: {compiling.progress}')
            return
        self._compiling = None
        dynamics = compiling.dynamics
        error = compiling.error()
        if error is not None:
            self._not_compiled(dynamics, error)
            return
        dynamics.use(compiling.result())
        if dynamics is self.dynamics:
            logger.info(f'dynamics: {self._dynamics_in_words()}')
        else:
            self._use(dynamics)

    def _not_compiled(self, dynamics: Dynamics, error: BaseException) -> None:
        if dynamics is not self.dynamics:
            never = "with 'compiled: never' the node works on the reference algorithms"
            raise CompilationError(f'the dynamics cannot be compiled: {error} ({never})')
        self._slow = f'cannot be compiled, the slower reference algorithms stay: {error}'
        self._node.get_logger().error(f'dynamics: {self._slow}')

    def _end_compiling(self) -> None:
        if self._compiling is not None:
            self._compiling.stop()
        self._compiling = None

    def _look_on(self) -> None:
        if self._timer is None:  # one for all models: rclpy keeps some bytes of each that was
            self._timer = self._node.create_timer(LOOK_PERIOD, self._look, clock=WALL)
        self._timer.reset()

    def _look_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    # diagnostics

    def status(self) -> Status:
        """Return what is wrong with the model, or what it is."""
        values: dict[str, object] = {}
        if self._building is not None:
            values['new description'] = 'being read'
        if self._compiling is not None:
            values['compiling'] = self._compiling.progress or 'begins'
        notes = (*self._remarks, *(self.model.notes if self.model is not None else ()))
        values.update({f'remark {i + 1}': text for i, text in enumerate(notes)})
        if self.model is None:
            waits = self._compiling is not None
            lines = (self._problem, *self._remarks)
            return Status(WARN if waits else ERROR, '; '.join(lines), values)
        robot = self.model.robot
        values = {
            'robot': robot.name,
            'base': robot.base,
            'joints': ' '.join(self.model.joints),
            'motors': ' '.join(self.model.motors),
            'constraints': len(self.model.constraints),
            **self._dynamics_status(),
            **values,
        }
        if self._problem:
            line = f'{self._problem} (the model from before is in use)'
            return Status(WARN if self._compiling is not None else ERROR, line, values)
        warning = self._slow or next(iter(notes), '')
        return Status(WARN, warning, values) if warning else Status(OK, 'ok', values)

    def _dynamics_in_words(self) -> str:
        status = self._dynamics_status()
        left = f'; not compiled: {status["not compiled"]}' if 'not compiled' in status else ''
        return f'{status["dynamics"]}{left}'

    def _dynamics_status(self) -> dict[str, object]:
        if self.dynamics is not None and self.dynamics.compiled:
            return self.dynamics.in_words()
        return {'dynamics': f'reference{", compiling" * (self._compiling is not None)}'}
