# SPDX-License-Identifier: Apache-2.0
"""
Intra-process communication: messages between nodes of one process do not go by DDS.

A copy of the message waits in the queue of each subscription of the process, and the executor
calls that subscription in its turn, as it does after a message of DDS. For other listeners of the
topic DDS sends the message too. It then comes back to this process as well; that echo is left
out. Nothing here imports rclpy.
"""

from array import array
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

MOST_ECHOES = 100
"""Messages on their way by DDS that are remembered; of a full history the oldest never come."""
MOST_IN_TURN = 10
"""Messages after which timers, services and other processes have their turn."""

_IMMUTABLE = frozenset((bool, int, float, str, bytes))


def copied(message: Any) -> Any:
    """Return a copy of a ROS message; fields of fields too."""
    kind: Any = type(message)
    result = kind.__new__(kind)
    for slot in message.__slots__:
        value = getattr(message, slot)
        setattr(result, slot, value if type(value) in _IMMUTABLE else _copied_field(value))
    return result


def _copied_field(value: Any) -> Any:
    if isinstance(value, array):
        return value[:]
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        plain = not value or type(value[0]) in _IMMUTABLE
        return value[:] if plain else [copied(one) for one in value]
    return copied(value)


class MessageQueue:
    """The messages of one subscription that wait for its callback."""

    def __init__(self, callback: Callable[[Any], object]) -> None:
        self.callback = callback
        self._waiting: deque[Any] = deque()
        self._echoes: deque[bytes] = deque(maxlen=MOST_ECHOES)

    def keep(self, depth: int | None) -> None:
        """Keep so many of the newest messages from now on, none of those from before."""
        self._waiting = deque(maxlen=depth)

    def put(self, message: Any) -> None:
        """Let a message wait for `serve`."""
        self._waiting.append(message)

    def serve(self) -> None:
        """Call back with the oldest message, unless a newer one has taken its place."""
        if self._waiting:
            self.callback(self._waiting.popleft())

    def expect(self, data: bytes) -> None:
        """Note that DDS brings a message as well that waits here."""
        self._echoes.append(data)

    def is_echo(self, data: bytes) -> bool:
        """Return whether a message of DDS is one that waited here."""
        if data not in self._echoes:
            return False
        while self._echoes.popleft() != data:
            pass  # DDS keeps the order: what was sent before is lost
        return True


class IntraProcess:
    """
    The publishers and subscriptions of nodes that one thread serves.

    Parameters
    ----------
    serialize, deserialize : callable
        Return the bytes of a message, and the message of bytes and a type.

    """

    def __init__(
        self, serialize: Callable[[Any], bytes], deserialize: Callable[[bytes, Any], Any]
    ) -> None:
        self._serialize, self._deserialize = serialize, deserialize
        self._queues: defaultdict[tuple[str, Any], list[MessageQueue]] = defaultdict(list)
        self._owners: dict[Any, MessageQueue] = {}
        self._turns: deque[MessageQueue] = deque()
        self._scheduled = False
        self.create_task: Callable[[Callable[[], None]], object] | None = None
        self.served = 0

    def connect(self, publisher: Any) -> None:
        """Let a publisher hand its messages over from now on."""
        queues = self._queues[publisher.topic_name, publisher.msg_type]
        send, listeners = publisher.publish, publisher.get_subscription_count

        def publish(message: Any) -> None:
            if not queues or self.create_task is None:
                send(message)
            elif getattr(publisher, 'is_activated', True):
                self._hand_over(message, queues)
                if listeners() != len(queues):
                    send(self._expected(message, queues))

        publisher.publish = publish

    def subscribe(
        self, create: Callable[..., Any], kind: Any, callback: Callable[..., Any]
    ) -> Any:
        """Return the subscription that `create` makes with a callback for bytes."""
        queue = MessageQueue(callback)

        def receive(data: bytes) -> None:
            if not queue.is_echo(data):
                callback(self._deserialize(data, kind))

        subscription = create(receive)
        queue.keep(subscription.qos_profile.depth or None)
        self._queues[subscription.topic_name, kind].append(queue)
        self._owners[subscription] = queue
        return subscription

    def forget(self, subscription: Any) -> None:
        """Let nothing wait for a subscription any more."""
        if (queue := self._owners.pop(subscription, None)) is not None:
            self._queues[subscription.topic_name, subscription.msg_type].remove(queue)
            queue.keep(0)

    def _hand_over(self, message: Any, queues: list[MessageQueue]) -> None:
        for queue in queues:
            queue.put(copied(message))
            self._turns.append(queue)
        self._schedule()

    def _expected(self, message: Any, queues: list[MessageQueue]) -> bytes:
        """Return the bytes of a message that these queues have already."""
        data = self._serialize(message)
        for queue in queues:
            queue.expect(data)
        return data

    def _schedule(self) -> None:
        if self._turns and not self._scheduled and self.create_task is not None:
            self._scheduled = True
            self.create_task(self._serve)

    def _serve(self) -> None:
        """Serve what waits and what comes of it, but leave the executor some turns too."""
        try:
            for _ in range(MOST_IN_TURN):
                if self._turns:
                    self.served += 1
                    self._turns.popleft().serve()
        finally:
            self._scheduled = False
            self._schedule()
