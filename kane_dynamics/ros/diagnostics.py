# SPDX-License-Identifier: Apache-2.0
"""REP-107 diagnostics: one status per component, once a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.messages.inputs import Input
from kane_dynamics.ros.runtime import WALL
from kane_dynamics.typing import Floats

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
PERIOD = 1.0


@dataclass(frozen=True)
class Status:
    """State of one component: level, one line, and values as strings."""

    level: bytes
    message: str
    values: Mapping[str, object] = field(default_factory=dict)

    def plus(self, values: Mapping[str, object]) -> Status:
        """Return the status with further values."""
        return replace(self, values={**self.values, **values})

    def to_msg(self, name: str, hardware: str) -> DiagnosticStatus:
        """Return the status as a message."""
        values = [KeyValue(key=key, value=str(value)) for key, value in self.values.items()]
        return DiagnosticStatus(
            level=self.level, name=name, message=self.message, hardware_id=hardware, values=values
        )


def input_status(source: Input | None) -> Status:
    """Return the status of an input: ERROR if unusable now, WARN if messages were rejected."""
    if source is None:
        return Status(ERROR, 'no model yet')
    guard, rejections = source.guard, source.guard.pop_rejections()
    values: dict[str, object] = {
        'age [s]': f'{guard.age():.4f}',
        'max age [s]': f'{guard.max_age:g}',
        'accepted': guard.accepted,
        'rejected': guard.rejected.total(),
    }
    values.update({f'rejected: {kind}': n for kind, n in sorted(guard.rejected.items())})
    if guard.last_reason:
        values['last rejection'] = guard.last_reason
    if problem := source.problem():
        return Status(ERROR, problem, values)
    if rejections:
        return Status(WARN, f'{rejections} messages rejected: {guard.last_reason}', values)
    return Status(OK, 'ok', values)


def instead(status: Status, action: str) -> Status:
    """Return the status of an input in whose place something else is done."""
    if status.level != ERROR:
        return status
    return Status(WARN, f'{status.message}; timeout_action: {action}', status.values)


def steering_status(base: WheeledBase, q: Floats, tolerance: float) -> Status:
    """Return how far steering angles are from the nearest that agree: WARN beyond a tolerance."""
    result = base.consistent_steering(q)
    values = {f'{wheel} [rad]': f'{x:.4f}' for wheel, x in result.slip_by_wheel().items()}
    if result.distance <= tolerance:
        return Status(OK, f'angles agree to {result.distance:.4f} rad', values)
    wheels = ', '.join(result.slip_by_wheel(tolerance))
    return Status(WARN, f'steering angles disagree by {result.distance:.3f} rad: {wheels}', values)


class Diagnostics:
    """Publishes the statuses of a node on ``/diagnostics``."""

    def __init__(self, node: Node, sources: Mapping[str, Callable[[], Status]]) -> None:
        self._node, self._sources = node, sources
        self._hardware = node.get_fully_qualified_name()
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._timer = node.create_timer(PERIOD, self.publish, clock=WALL)

    def publish(self) -> None:
        """Collect every status and publish them in one message."""
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        for component, source in self._sources.items():
            name = f'{self._hardware.removeprefix("/")}: {component}'
            message.status.append(source().to_msg(name, self._hardware))
        self._publisher.publish(message)
