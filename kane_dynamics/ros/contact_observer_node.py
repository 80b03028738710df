# SPDX-License-Identifier: Apache-2.0
"""``kane_contact_observer``: joint_states with efforts to contacts, collisions and payloads."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, MultiArrayDimension, MultiArrayLayout
from std_srvs.srv import Trigger

from kane_dynamics.analysis.contacts import ContactWrench
from kane_dynamics.analysis.payload import PayloadEstimate
from kane_dynamics.control.contact_observer import ContactObserver
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import JointStateInput
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.messages.conversions import set_stamp
from kane_dynamics.messages.inputs import Input
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.declare_parameters import declare_for_each, read_for_joints
from kane_dynamics.ros.diagnostics import WARN, Status
from kane_dynamics.ros.runtime import STATE
from kane_dynamics.typing import Floats

FORCE_FIRST = np.r_[3:6, 0:3]


def wrench_message(stamp: int, frame_id: str, result: ContactWrench) -> WrenchStamped:
    """Return a wrench at the origin of a frame, in its axes."""
    message = WrenchStamped()
    set_stamp(message.header.stamp, stamp)
    message.header.frame_id = frame_id
    torque, force = message.wrench.torque, message.wrench.force
    torque.x, torque.y, torque.z, force.x, force.y, force.z = result.wrench.tolist()
    return message


def covariance_message(result: ContactWrench) -> Float64MultiArray:
    """Return the covariance of a wrench, 6 x 6 by rows, force before torque."""
    ordered = result.covariance[np.ix_(FORCE_FIRST, FORCE_FIRST)]
    sides = [
        MultiArrayDimension(label=name, size=6, stride=stride)
        for name, stride in (('rows', 36), ('columns', 6))
    ]
    return Float64MultiArray(layout=MultiArrayLayout(dim=sides), data=ordered.ravel().tolist())


def payload_in_words(result: PayloadEstimate) -> str:
    """Return mass and centre of mass with their standard deviations, and what was visible."""
    com = ', '.join(f'{x:.4f}' for x in result.com)
    spread = ', '.join(f'{x:.4f}' for x in result.com_deviations)
    seen = ' '.join(result.visible) or 'nothing'
    return (
        f'mass {result.mass:.4f} +- {result.deviations[0]:.4f} kg, '
        f'com [{com}] +- [{spread}] m; visible: {seen}'
    )


class ContactObserverNode(DynamicsNode):
    """Publishes external efforts, the wrench on a link and a collision flag."""

    law: ContactObserver
    needed = ('tilt', 'efforts')

    def __init__(self, name: str = 'kane_contact_observer', **options: Any) -> None:
        super().__init__(name, **options)
        self._external = self.create_lifecycle_publisher(JointState, '~/external_effort', STATE)
        self._wrench = self.create_lifecycle_publisher(WrenchStamped, '~/wrench', STATE)
        self._covariance = self.create_lifecycle_publisher(
            Float64MultiArray, '~/wrench_covariance', STATE
        )
        self._collision = self.create_lifecycle_publisher(Bool, '~/collision', STATE)
        self.create_service(Trigger, '~/start_payload_estimate', self._on_start)
        self.create_service(Trigger, '~/finish_payload_estimate', self._on_finish)

    # model and parameters

    def prepare(self, dynamics: Dynamics) -> tuple[ContactObserver, Mapping[str, Input]]:
        """Make what depends on the robot: the observer, and the input of its efforts."""
        p = self.parameters
        observer = ContactObserver(dynamics, p)
        declare_for_each(self, self._table, '<joint>', observer.joints)
        self.configure(observer)
        guard = self.new_guard('efforts of joint_states', 'joint_states')
        efforts = JointStateInput(
            observer.joints, ('effort',), guard, p.allow_partial_joint_states
        )
        return observer, {'efforts': efforts}

    def configure(self, law: ContactObserver) -> None:
        """Hand gains, thresholds and noise to an observer."""
        numbers = [
            read_for_joints(self, f'observer.<joint>.{name}', law.joints)
            for name in ('gain', 'threshold')
        ]
        law.configure(self.parameters, *numbers)

    # the loop

    def _on_joint_states(self, message: JointState) -> None:
        self._on_message('efforts', message)
        super()._on_joint_states(message)

    def forget(self) -> None:
        """Drop measured state and external efforts."""
        super().forget()
        self.state_lost()

    def state_lost(self) -> None:
        """Begin anew: what external efforts are now, nobody knows; no collision stands."""
        if self.state is None:
            return
        if self.law.collision:
            self._collision.publish(Bool(data=False))
        self.law.reset()

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish what is felt of others."""
        efforts: Any = self.inputs['efforts']
        if not self.law.update(efforts.stamp, q, v, efforts.values['effort']):
            return
        message = JointState(name=list(self.law.joints), effort=self.law.external.tolist())
        set_stamp(message.header.stamp, stamp)
        self._external.publish(message)
        self._collision.publish(Bool(data=self.law.collision))
        if (result := self.law.wrench(q, v)) is not None:
            frame = self.parameters.frame_prefix + self.parameters.frame
            self._wrench.publish(wrench_message(stamp, frame, result))
            self._covariance.publish(covariance_message(result))

    # services

    def _answer(self, response: Trigger.Response, call: Callable[[ContactObserver], str]) -> Any:
        """Answer with the words of a call of the observer, or why it could not be."""
        try:
            if self.state is None:
                raise InvalidInputError('no model')
            response.message, response.success = call(self.law), True
        except KaneDynamicsError as error:
            response.message = str(error)
        return response

    def _on_start(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        def start(observer: ContactObserver) -> str:
            observer.start_estimate()
            return 'move the arm, then finish'

        return self._answer(response, start)

    def _on_finish(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        return self._answer(response, lambda one: payload_in_words(one.finish_estimate()))

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the efforts."""
        return {**super().statuses(), 'efforts': partial(self.status_of, 'efforts')}

    def output_status(self, values: dict[str, object]) -> Status:
        """Warn of collisions."""
        for name, effort in zip(self.law.joints, self.law.external.tolist(), strict=True):
            values[f'external effort of {name}'] = f'{effort:.3f}'
        if self.law.collision:
            return Status(WARN, 'collision', values)
        return super().output_status(values)
