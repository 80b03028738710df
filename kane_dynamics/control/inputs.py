# SPDX-License-Identifier: Apache-2.0
"""What all inputs share: a message is checked, kept and counted; nothing here needs rclpy."""

import math
from collections.abc import Callable
from typing import Any

from kane_dynamics.messages.input_monitor import InputMonitor, RejectedInput


class Input:
    """Newest message of a topic: checked, kept and counted; a subclass says how it is read."""

    periodic = True  # messages come at a rate, below which an age limit is of no use
    accept: Callable[..., None]  # checks a message and keeps it; raises RejectedInput

    def __init__(self, guard: InputMonitor) -> None:
        self.guard = guard

    def take(self, *message: Any) -> bool:
        """Check a message and keep it; return whether it was accepted."""
        return self.attempt(self.accept, *message)

    def attempt(self, accept: Callable[..., None], *arguments: Any) -> bool:
        """Count a message that `accept` rejects; return whether it was accepted."""
        try:
            accept(*arguments)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        return True

    def set_max_age(self, max_age: float) -> None:
        """Change the age limit [s]."""
        self.guard.max_age = max_age

    def problem(self) -> str:
        """Return why the newest message cannot be used, or ''."""
        return self.guard.problem()

    def reset(self) -> None:
        """Forget the newest message."""
        self.guard.reset()


class EventInput(Input):
    """Messages that act at once and need not come: they have no age."""

    def __init__(self, name: str) -> None:
        super().__init__(InputMonitor(name, math.inf, now=lambda: 0))

    def attempt(self, accept: Callable[..., None], *arguments: Any) -> bool:
        """Count a message; return whether it was accepted."""
        accepted = super().attempt(accept, *arguments)
        if accepted:
            self.guard.note(0)
        return accepted

    def problem(self) -> str:
        """Return '': without messages all is well."""
        return ''
