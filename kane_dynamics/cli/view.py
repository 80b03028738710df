# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics view``: a robot or a recording in the browser or as a picture; a live robot."""

from __future__ import annotations

import argparse
from pathlib import Path

from kane_dynamics.cli.arguments import Commands, port, ros_module
from kane_dynamics.cli.printing import console, print_remarks
from kane_dynamics.cli.robots import add_robot, chosen_robot
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.robot import Robot
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


def run(chosen: argparse.Namespace) -> int:
    """Show a recording or a robot in the browser, until interrupted, or write its picture."""
    from kane_dynamics.view.recording import load_recording
    from kane_dynamics.view.scene import start_server
    from kane_dynamics.view.window import PoseWindow, RecordingWindow

    if chosen.live == (chosen.robot is not None):
        raise InvalidInputError('view: need either a recording or a robot, or --live')
    if chosen.live:
        others = ('urdf', 'config', 'base', 'gif', 'picture')
        unused = [f'--{name}' for name in others if getattr(chosen, name) is not None]
        if unused:
            raise InvalidInputError(
                f'view: --live takes the robot from topics, got {", ".join(unused)}, too'
            )
        live = ros_module('live_view', 'a live view')
        return int(live.main(chosen.host, chosen.port, chosen.ros_args))
    window: RecordingWindow | PoseWindow
    if Path(chosen.robot).suffix == '.npz':
        recording = load_recording(chosen.robot)
        if chosen.gif is not None or chosen.picture is not None:
            return _write_files(chosen, recording)
        server = start_server(chosen.host, chosen.port)
        window = RecordingWindow(server, recording)
    elif chosen.gif is not None:
        raise InvalidInputError(f"--gif: need a recording (.npz), got '{chosen.robot}'")
    else:
        robot, drawing = _drawn(chosen)
        if chosen.picture is not None:
            return _write_files(chosen, _standing(robot, drawing))
        server = start_server(chosen.host, chosen.port)
        window = PoseWindow(server, robot, drawing)
    console.print(f'open http://{chosen.host}:{server.get_port()} (Ctrl-C ends)')
    try:
        window.run()
    finally:
        server.stop()
    return 0


def _drawn(chosen: argparse.Namespace) -> tuple[Robot, Drawing]:
    from kane_dynamics.view.drawing import urdf_drawing

    given = chosen_robot(chosen)  # `check` tells the remarks
    drawing = urdf_drawing(given.model.robot, given.source)
    print_remarks(drawing.remarks)
    return given.model.robot, drawing


def _standing(robot: Robot, drawing: Drawing) -> Recording:
    """Return one instant of a robot with its joints at zero."""
    from kane_dynamics.view.recorder import Recorder

    recorder = Recorder(robot, drawing)
    recorder.add(0.0, robot.neutral(), [0.0] * robot.nv)
    return recorder.recording()


def _write_files(chosen: argparse.Namespace, recording: Recording) -> int:
    from kane_dynamics.view.animation import ROBOTS, write_animation, write_picture

    if chosen.gif is not None:
        console.print(f'wrote {write_animation(recording, chosen.gif, chosen.camera)}')
    if chosen.picture is not None:
        count = min(ROBOTS, len(recording.time))
        console.print(f'wrote {write_picture(recording, chosen.picture, chosen.camera, count)}')
    return 0
