# SPDX-License-Identifier: Apache-2.0
"""What the launch files share; the only module that imports launch."""

from __future__ import annotations

from typing import Any

from launch.actions import Shutdown


def end_all(event: Any, context: Any) -> list[Any] | None:
    """
    End the launch when one of its nodes ends, with exit code 1 if that one failed.

    ``ros2 launch`` alone would go on with the other nodes, and return 0 in the end. Give it to a
    node as ``on_exit``.

    Parameters
    ----------
    event : launch.events.process.ProcessExited
        What has ended, and how.
    context : launch.LaunchContext
        The launch.

    Raises
    ------
    RuntimeError
        If the node failed; launch logs it and ends with exit code 1.

    """
    if context.is_shutdown:
        return None
    if event.returncode:
        raise RuntimeError(f'{event.process_name} ended with exit code {event.returncode}')
    return [Shutdown(reason=f'{event.process_name} has ended')]
