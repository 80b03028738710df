# SPDX-License-Identifier: Apache-2.0
"""Watch the process that started a node, and end the node with it; no rclpy here."""

from __future__ import annotations

import os
import select


class Launcher:
    """Another process, watched by a file descriptor, so that a number used again is no matter."""

    def __init__(self, pid: int) -> None:
        self.pid, self.problem = pid, ''
        self._descriptor = -1
        self._lost = False
        if not pid:
            return
        try:
            self._descriptor = os.pidfd_open(pid)
            self._poll = select.poll()
            self._poll.register(self._descriptor, select.POLLIN)
        except ProcessLookupError:
            self._lost = True  # it ended while this process started
        except (AttributeError, OSError) as error:
            self.problem = f'process {pid} cannot be watched: {error}'

    def ended(self) -> bool:
        """Return whether the process has ended."""
        if self._descriptor >= 0 and not self._lost:
            self._lost = bool(self._poll.poll(0))
        return self._lost

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
