# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics view``: a robot, a recording or a live robot in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from kane_dynamics.cli.arguments import Commands, port, ros_module
from kane_dynamics.cli.printing import console, print_remarks
from kane_dynamics.cli.robots import add_robot, chosen_robot
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.view.recording import Recording


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('view', help='show a recorded motion, or a robot, in the browser')
    add_robot(parser, also='recording (.npz)')
    parser.add_argument(
        '--live', action='store_true', help='a robot on ROS topics; --ros-args may follow'
    )
    parser.add_argument('--host', default='localhost', help='address that the browser asks')
    parser.add_argument('--port', type=port, default=8080, help='the next free one from here')
    parser.add_argument('--gif', type=Path, metavar='FILE', help='write a recording as animation')
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Show a recording or a robot in the browser, until interrupted."""
    from kane_dynamics.view.drawing import urdf_drawing
    from kane_dynamics.view.recording import load_recording
    from kane_dynamics.view.scene import start_server
    from kane_dynamics.view.window import PoseWindow, RecordingWindow

    if chosen.live == (chosen.robot is not None):
        raise InvalidInputError('view: need either a recording or a robot, or --live')
    if chosen.live:
        live = ros_module('live_view', 'a live view')
        return int(live.main(chosen.host, chosen.port, chosen.ros_args))
    window: RecordingWindow | PoseWindow
    if Path(chosen.robot).suffix == '.npz':
        recording = load_recording(chosen.robot)
        if chosen.gif is not None:
            return _write_gif(recording, chosen.gif)
        server = start_server(chosen.host, chosen.port)
        window = RecordingWindow(server, recording)
    elif chosen.gif is not None:
        raise InvalidInputError(f"--gif: need a recording (.npz), got '{chosen.robot}'")
    else:
        given = chosen_robot(chosen)  # `check` tells the remarks
        robot = given.model.robot
        drawing = urdf_drawing(robot, given.source)
        print_remarks(drawing.remarks)
        server = start_server(chosen.host, chosen.port)
        window = PoseWindow(server, robot, drawing)
    console.print(f'open http://{chosen.host}:{server.get_port()} (Ctrl-C ends)')
    try:
        window.run()
    finally:
        server.stop()
    return 0


def _write_gif(recording: Recording, path: Path) -> int:
    from kane_dynamics.view.animation import write_animation

    console.print(f'wrote {write_animation(recording, path)}')
    return 0
