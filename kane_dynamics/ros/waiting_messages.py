# SPDX-License-Identifier: Apache-2.0
"""Messages that have come while a callback was busy, taken before their turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def take_waiting(subscriptions: Iterable[Any]) -> None:
    """Call back what waits at subscriptions, oldest first: an age is that of the newest then."""
    for subscription in subscriptions:
        with subscription.handle:
            while independent_indices := subscription.handle.take_message(
                subscription.msg_type, subscription.raw
            ):
                subscription.callback(independent_indices[0])
