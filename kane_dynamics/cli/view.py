# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics view``: a robot or a recording in the browser or as a picture; a live robot."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from kane_dynamics.cli.options import Command
from kane_dynamics.cli.printing import console, print_remarks, ros_module
from kane_dynamics.cli.robots import read_robot
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.view.drawing import Drawing
from kane_dynamics.view.recording import Recording


def run(options: argparse.Namespace) -> int:
    """Show a recording or a robot in the browser, until interrupted, or write its picture."""
    if options.live == (options.robot is not None):
        raise InvalidInputError('view: need either a recording or a robot, or --live')
    if options.live:
        others = ('urdf', 'root_joint', 'gif', 'picture')
        unused = [f'--{name}' for name in others if getattr(options, name) is not None]
        if unused:
            raise InvalidInputError(
                f'view: --live takes the robot from topics, got {", ".join(unused)}, too'
            )
        live = ros_module('live_view', 'a live view')
        return int(live.main(options.host, options.port, options.ros_args))
    from kane_dynamics.view.recorder import Recorder
    from kane_dynamics.view.recording import load_recording
    from kane_dynamics.view.scene import start_server
    from kane_dynamics.view.window import PoseWindow, RecordingWindow

    window: Callable[[Any], RecordingWindow | PoseWindow]
    if options.robot.endswith('.npz'):
        recording = load_recording(options.robot)
        window = partial(RecordingWindow, recording=recording)
    elif options.gif is not None:
        raise InvalidInputError(f"--gif: need a recording (.npz), got '{options.robot}'")
    else:
        robot, drawing = _drawing(options)
        recorder = Recorder(robot, drawing)
        recorder.add(0.0, robot.neutral(), [0.0] * robot.nv)
        recording = recorder.recording()
        window = partial(PoseWindow, robot=robot, drawing=drawing)
    if options.gif is not None or options.picture is not None:
        return _write_files(options, recording)
    server = start_server(options.host, options.port)
    console.print(f'open http://{options.host}:{server.get_port()} (Ctrl-C ends)')
    try:
        window(server).run()
    finally:
        server.stop()
    return 0


def _drawing(options: argparse.Namespace) -> tuple[Robot, Drawing]:
    from kane_dynamics.view.drawing import urdf_drawing

    source = read_robot(options)  # `info` tells the remarks
    drawing = urdf_drawing(source.model.robot, source.urdf)
    print_remarks(drawing.notes)
    return source.model.robot, drawing


def _write_files(options: argparse.Namespace, recording: Recording) -> int:
    from kane_dynamics.view.animation import ROBOTS, write_animation, write_picture

    if options.gif is not None:
        console.print(f'wrote {write_animation(recording, options.gif, options.camera)}')
    if options.picture is not None:
        count = min(ROBOTS, len(recording.time))
        file = write_picture(recording, options.picture, options.camera, count)
        console.print(f'wrote {file}')
    return 0


COMMAND = Command(
    'show a recorded motion (.npz), or a robot, in the browser',
    'robot? --urdf --root-joint --live --host --port --gif --picture --camera',
    run,
)
