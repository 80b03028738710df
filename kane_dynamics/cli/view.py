# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics view``: a robot or a recording in the browser or as a picture; a live robot."""

from __future__ import annotations

import argparse
from pathlib import Path

from kane_dynamics.cli.arguments import Commands, port, ros_module
from kane_dynamics.cli.printing import console, print_remarks
from kane_dynamics.cli.robots import add_robot, chosen_robot
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.view.camera import VIEWS
from kane_dynamics.view.drawing import Drawing
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
    parser.add_argument(
        '--picture', type=Path, metavar='FILE', help='write a picture (.png, .pdf); no window'
    )
    parser.add_argument('--camera', default='oblique', choices=tuple(VIEWS), help='of these files')
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Show a recording or a robot in the browser, until interrupted, or write its picture."""
    from kane_dynamics.view.recording import load_recording
    from kane_dynamics.view.scene import start_server
    from kane_dynamics.view.window import PoseWindow, RecordingWindow

    if selection.live == (selection.robot is not None):
        raise InvalidInputError('view: need either a recording or a robot, or --live')
    if selection.live:
        others = ('urdf', 'config', 'base', 'gif', 'picture')
        unused = [f'--{name}' for name in others if getattr(selection, name) is not None]
        if unused:
            raise InvalidInputError(
                f'view: --live takes the robot from topics, got {", ".join(unused)}, too'
            )
        live = ros_module('live_view', 'a live view')
        return int(live.main(selection.host, selection.port, selection.ros_args))
    window: RecordingWindow | PoseWindow
    if Path(selection.robot).suffix == '.npz':
        recording = load_recording(selection.robot)
        if selection.gif is not None or selection.picture is not None:
            return _write_files(selection, recording)
        server = start_server(selection.host, selection.port)
        window = RecordingWindow(server, recording)
    elif selection.gif is not None:
        raise InvalidInputError(f"--gif: need a recording (.npz), got '{selection.robot}'")
    else:
        robot, drawing = _drawn(selection)
        if selection.picture is not None:
            return _write_files(selection, _standing(robot, drawing))
        server = start_server(selection.host, selection.port)
        window = PoseWindow(server, robot, drawing)
    console.print(f'open http://{selection.host}:{server.get_port()} (Ctrl-C ends)')
    try:
        window.run()
    finally:
        server.stop()
    return 0


def _drawn(selection: argparse.Namespace) -> tuple[Robot, Drawing]:
    from kane_dynamics.view.drawing import urdf_drawing

    values = chosen_robot(selection)  # `check` tells the remarks
    drawing = urdf_drawing(values.model.robot, values.source)
    print_remarks(drawing.notes)
    return values.model.robot, drawing


def _standing(robot: Robot, drawing: Drawing) -> Recording:
    """Return one instant of a robot with its joints at zero."""
    from kane_dynamics.view.recorder import Recorder

    recorder = Recorder(robot, drawing)
    recorder.add(0.0, robot.neutral(), [0.0] * robot.nv)
    return recorder.recording()


def _write_files(selection: argparse.Namespace, recording: Recording) -> int:
    from kane_dynamics.view.animation import ROBOTS, write_animation, write_picture

    if selection.gif is not None:
        console.print(f'wrote {write_animation(recording, selection.gif, selection.camera)}')
    if selection.picture is not None:
        count = min(ROBOTS, len(recording.time))
        console.print(
            f'wrote {write_picture(recording, selection.picture, selection.camera, count)}'
        )
    return 0
