# SPDX-License-Identifier: Apache-2.0
"""Services that add and remove constraints of the simulator by name, and its topic of events."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.messages.conversions import set_stamp
from kane_dynamics.plant.event_plant import EventPlant
from kane_dynamics.plant.plant import NANO, Plant
from kane_dynamics.robot_config.declared_constraints import Declared, declared_constraints
from kane_dynamics.robot_config.parameters.tables import ConstraintParameters
from kane_dynamics.ros.declare_parameters import declare_for_each, overrides_below, read
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Status

EVENTS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
"""Many may come in one period, and each counts."""
NO_MODEL = 'no model'


class Switches:
    """The services ~/constraints/<name>, ~/list_constraints and the topic ~/events."""

    def __init__(self, node: Node, names: Sequence[str], now: Callable[[], int]) -> None:
        self._node, self._names, self._now = node, tuple(names), now
        self._plant: EventPlant | None = None
        self._count = 0
        if not names:
            return
        self._events = node.create_publisher(DiagnosticArray, '~/events', EVENTS)
        self._forces = node.create_publisher(JointState, '~/constraint_forces', EVENTS)
        node.create_service(Trigger, '~/list_constraints', self._on_list)

    def declared(self, robot: kd.Robot) -> dict[str, Declared]:
        """Return what the parameters declare for a robot."""
        for override in overrides_below(self._node, 'constraints.'):
            name = override.split('.')[1]
            if override != 'constraints.names' and name not in self._names:
                raise InvalidInputError(
                    f"parameter '{override}': '{name}' is not in constraints.names "
                    f'{list(self._names)}'
                )
        declare_for_each(self._node, ConstraintParameters, '<constraint>', self._names)
        table = {name: read(self._node, ConstraintParameters, name) for name in self._names}
        return declared_constraints(robot, table)

    def prepare(self, plant: Plant) -> None:
        """Switch the constraints of a plant from now on."""
        first = self._plant is None
        if not isinstance(plant, EventPlant):
            return
        self._plant = plant
        if first:
            for name in self._names:
                service = partial(self._on_switch, name)
                self._node.create_service(SetBool, f'~/constraints/{name}', service)

    def publish(self, stamp: int) -> None:
        """Publish what happened since the last call, with the stamps of the events."""
        plant = self._plant
        if plant is None:
            return
        for event in plant.new_events():
            self._count += 1
            ago = plant.time - round(event.time * NANO)
            speeds = plant.model.robot.velocity_names
            self._publish_event(event, speeds, stamp - max(ago, 0))

    def _publish_event(self, event: kd.Event, speeds: Sequence[str], stamp: int) -> None:
        forces = JointState(name=list(event.forces), effort=list(event.forces.values()))
        zeros = [0.0] * len(event.forces)
        forces.position, forces.velocity = zeros, zeros
        set_stamp(forces.header.stamp, stamp)
        self._forces.publish(forces)
        values = {f'state of {name}': state or 'off' for name, state in event.states.items()}
        values['energy loss [J]'] = f'{event.energy_loss:.9g}'
        for speed, impulse in zip(speeds, event.impulse, strict=True):
            if impulse:
                values[f'impulse on {speed} [N s or N m s]'] = f'{impulse:.9g}'
        status = Status(WARN if event.kind == 'breaks' else OK, str(event), values)
        name, node = f'{event.kind}: {", ".join(event.names)}', self._node
        message = DiagnosticArray(status=[status.to_msg(name, node.get_fully_qualified_name())])
        set_stamp(message.header.stamp, stamp)
        self._events.publish(message)

    def _on_switch(self, name: str, request: Any, response: Any) -> Any:
        response.success, response.message = self._switched(name, request.data)
        return response

    def _switched(self, name: str, active: bool) -> tuple[bool, str]:
        """Switch a constraint; return whether it is so now, and what happened."""
        if self._plant is None:
            return False, NO_MODEL
        try:
            event = self._plant.switch(name, active)
        except KaneDynamicsError as error:
            return False, str(error)
        self.publish(self._now())
        return True, f"'{name}' is so already" if event is None else str(event)

    def _on_list(self, request: Any, response: Any) -> Any:
        response.success = self._plant is not None
        response.message = NO_MODEL if self._plant is None else '\n'.join(self._plant.words())
        return response

    def status(self) -> Status:
        """Return the constraints for the diagnostics."""
        if not self._names:
            return Status(OK, 'no constraints.names')
        if self._plant is None:
            return Status(ERROR, NO_MODEL)
        states = dict(word.split(': ', 1) for word in self._plant.words())
        values: dict[str, object] = {**states, 'events': self._count}
        trouble = self._plant.trouble
        return Status(WARN, trouble, values) if trouble else Status(OK, 'ok', values)
