# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics bag`` and ``view``: recorded motions, computed with and shown; robots, too."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.bags import computing
from kane_dynamics.bags.computing import JOINT_STATES, ODOM, Replay
from kane_dynamics.bags.files import JOINT_STATE, Series, open_bag, write_bag
from kane_dynamics.bags.recordings import Recording, file_hash, read_recording
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import RobotSource, read_robot, selected_joints
from kane_dynamics.cli.printing import console, number, progress, ros_module, write_csv
from kane_dynamics.control.contact_observer import ContactObserver
from kane_dynamics.control.effort_law import Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.constrained_samples import constrained_samples
from kane_dynamics.identification.samples import SampleBlocks, sample_makes
from kane_dynamics.robot_config.parameters.tables import (
    ContactObserverParameters,
    DynamicsNodeParameters,
    ForwardDynamicsParameters,
    InverseDynamicsParameters,
)
from kane_dynamics.robot_config.robot_source import RobotModel, read_parameter_file
from kane_dynamics.typing import Floats

ODOMETRY = 'nav_msgs/msg/Odometry'
HIGHEST, OF_RATE = 8.0, 0.04  # corner of the filter where none is asked for: [Hz], sample rates
KEPT = 12.5  # samples in a period of the corner
_TABLES: dict[str, type[DynamicsNodeParameters]] = {
    'effort': InverseDynamicsParameters,
    'external_effort': ContactObserverParameters,
    'acceleration': ForwardDynamicsParameters,
}


def bag(options: argparse.Namespace) -> int:
    """Compute, write what is asked for, print what was used and what it gave."""
    source = read_robot(options, _TABLES[options.compute])
    model = source.model
    if model.robot.base == 'floating':
        raise InvalidInputError(
            "--root-joint floating: bags are read for 'fixed' and 'planar' bases"
        )
    printing.check_files(options, 'csv', 'plot')
    dynamics = source.dynamics()
    with (
        open_bag(options.bag, joint_topics(options, model)) as messages,
        progress('dynamics of the robot') as report,
    ):
        if not options.reference:
            dynamics.compile(progress=report)
        series, replay, notes = _computed(options, source, dynamics, messages)
    notes += [f'first rejected: {reason}' for reason in replay.reasons]
    if not len(series.stamps):
        why = '; '.join(notes) or 'it has no messages'
        raise InvalidInputError(f"bag '{options.bag}' gives no result: {why}")
    summary = _summary(series, replay) | {'robot': model.robot.name, 'remarks': notes}
    summary['files'] = _write(options, series)
    printing.show(options.json, summary, _print)
    printing.print_notes([*notes, *_left_out(source)])
    return 0


def joint_topics(options: argparse.Namespace, model: RobotModel) -> dict[str, tuple[str, str]]:
    """Return the topics of the state of a robot, name and type by use."""
    topics = {JOINT_STATES: (options.joint_states, JOINT_STATE)}
    if model.mobile:
        topics[ODOM] = options.odom, ODOMETRY
    return topics


def observed_joints(options: argparse.Namespace, model: RobotModel) -> tuple[str, ...]:
    """Return the joints whose efforts were measured, of recordings that there must be."""
    if not options.bag:
        raise InvalidInputError('need --bag, at least one recording')
    if model.robot.base == 'floating':
        raise InvalidInputError('need a fixed or planar base, got a floating one')
    return selected_joints(options, model)


def hashes(paths: Sequence[Path]) -> dict[str, dict[str, str]]:
    """Return SHA-256 of recordings, no two of which may be the same."""
    files = dict[str, str]()
    for path in map(str, paths):
        try:
            digest = file_hash(Path(path))
        except OSError as error:
            raise InvalidInputError(f"'{path}' cannot be read: {error.strerror}") from error
        if digest in files:
            raise InvalidInputError(f"'{path}' is the same recording as '{files[digest]}'")
        files[digest] = path
    return {path: {'sha256': digest} for digest, path in files.items()}


def read_recordings(
    options: argparse.Namespace,
    source: RobotSource,
    paths: Sequence[Path],
    joints: tuple[str, ...],
) -> list[Recording]:
    """Return recordings of the state of a robot, and of the efforts of some joints."""
    p, topics = source.parameters(InverseDynamicsParameters), joint_topics(options, source.model)
    with progress('reading') as tell:

        def read(k: int, path: Path) -> Recording:
            def told(share: float) -> None:
                tell(f"'{path}'", round(100 * (k + share)), 100 * len(paths))

            return read_recording(path, source.model, p, joints, topics, told)

        return [read(*pair) for pair in enumerate(paths)]


def corner_of(options: argparse.Namespace, recordings: Sequence[Recording]) -> float:
    """Return the corner of the filter for recordings [Hz]."""
    rate = 1.0 / max(one.clock.step for one in recordings)
    return float(options.corner or min(HIGHEST, OF_RATE * rate))


def samples_of(
    dynamics: kd.Dynamics, speeds: ObservedSpeeds, recordings: Sequence[Recording], corner: float
) -> SampleBlocks:
    """Return the samples of recordings, as the constraints allow."""

    def read(x: Recording, part: slice) -> list[Floats]:
        q, v, tau = x.rows(part)
        return [q, tau] if v is None else [q, tau, v]

    every = [sample_makes(x.time, partial(read, x), corner, KEPT * corner) for x in recordings]
    blocks = SampleBlocks([make for makes in every for make in makes])
    return blocks.map(partial(constrained_samples, dynamics, speeds))


def in_efforts(samples: SampleBlocks, scale: Floats) -> SampleBlocks:
    """Return samples whose currents are efforts, by the scale of each speed."""
    return samples.map(lambda x: replace(x, tau=x.tau * scale, raw=x.raw * scale))


def _computed(
    options: argparse.Namespace, source: RobotSource, dynamics: Dynamics, messages: Any
) -> tuple[Series, Replay, list[str]]:
    """Return the quantity that is asked for, with what counted the messages."""
    model, p = source.model, source.parameters(_TABLES[options.compute])
    if isinstance(p, ContactObserverParameters):
        observer = ContactObserver(dynamics, p)
        values = read_parameter_file(source.file) if source.file else {}
        gains, thresholds = (
            np.array([values.get(s.name_of(n), s.default) for n in observer.joints])
            for s in ContactObserverParameters.local
            if s.mark == '<joint>'
        )
        observer.configure(p, gains, thresholds)
        replay = Replay(model, p, observer.joints, True, options.clock)
        series = computing.external_efforts(dynamics, observer, replay.states(messages))
        return series, replay, []
    if not isinstance(p, InverseDynamicsParameters):
        replay = Replay(model, p, model.joints, True, options.clock)
        return computing.accelerations(dynamics, replay.states(messages)), replay, []
    motors = tuple(name for name in model.motors if name in model.joints)
    replay = Replay(model, p, motors, False, options.clock)
    gap = max(p.timeout_joint_states, options.knot_spacing)
    states = replay.states(messages)
    series, notes = computing.efforts(
        dynamics, Terms.of(p), states, motors, options.knot_spacing, gap
    )
    return series, replay, notes


def _left_out(source: RobotSource) -> list[str]:
    """Return what a parameter file asks of the nodes and is not done here."""
    if not source.file:
        return []
    values = read_parameter_file(source.file)
    left = [name for name in values if name.startswith('payload.') and name.endswith('.mass')]
    left += ['gravity_source'] if values.get('gravity_source', 'fixed') != 'fixed' else []
    return [f"'{name}' of '{source.file}' is left out for bags" for name in left]


def _summary(series: Series, replay: Replay) -> dict[str, Any]:
    difference = series.values - series.measured
    compared = series.quantity == 'effort'  # others are not what is measured
    return {
        'quantity': series.quantity,
        'rows': len(series.stamps),
        'messages': replay.counts(),
        'unusable_states': replay.unusable,
        'largest': dict(zip(series.names, np.abs(series.values).max(axis=0), strict=True)),
        'rms_difference_to_measured': {
            name: float(np.sqrt(np.nanmean(difference[:, k] ** 2)))
            for k, name in enumerate(series.names)
            if compared and np.isfinite(difference[:, k]).any()
        },
    }


def _write(options: argparse.Namespace, series: Series) -> list[str]:
    """Write the files that are asked for; return their paths."""
    files, time = [], np.asarray(series.stamps * 1e-9, dtype=float)
    values = dict(zip(series.names, series.values.T, strict=True))
    measured = dict(zip(series.names, series.measured.T, strict=True))
    if not np.isfinite(series.measured).any():
        measured = {}
    if options.output:
        files.append(write_bag(options.output, series, options.storage))
    if options.csv:
        columns = {f'{series.quantity}:{name}': x for name, x in values.items()}
        columns |= {f'measured_effort:{name}': x for name, x in measured.items()}
        files.append(write_csv(options.csv, {'time': time, **columns}))
    if options.plot:
        from kane_dynamics.view.plots import Panel, write_curves

        unit = '[rad/s² or m/s²]' if series.quantity == 'acceleration' else '[N m or N]'
        panels = [Panel(f'{series.quantity.replace("_", " ")} {unit}', values)]
        if measured:
            panels.append(Panel('measured effort [N m or N]', measured))
        name = 'Dynamics over a bag'
        files.append(write_curves(options.plot, name, time - time[0], panels))
    return [str(file) for file in files]


def _print(summary: Mapping[str, Any]) -> None:
    for name, counts in summary['messages'].items():
        printing.lines(f'{name}: {", ".join(f"{count} {kind}" for kind, count in counts.items())}')
    differences = summary['rms_difference_to_measured']
    rows = [
        (name, number(float(largest)), number(differences.get(name, np.inf)))
        for name, largest in summary['largest'].items()
    ]
    title = f'{summary["quantity"]} of {summary["robot"]}, {summary["rows"]} rows [SI]'
    printing.table(title, ('joint', 'largest', 'rms difference to measured'), rows)
    printing.lines(*(f'wrote {file}' for file in summary['files']))


def view(options: argparse.Namespace) -> int:
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
    from kane_dynamics.view.animation import ROBOTS, write_animation, write_picture
    from kane_dynamics.view.drawing import urdf_drawing
    from kane_dynamics.view.recorder import Recorder
    from kane_dynamics.view.recording import load_recording
    from kane_dynamics.view.window import PoseWindow, RecordingWindow, start_server

    window: Callable[[Any], RecordingWindow | PoseWindow]
    if options.robot.endswith('.npz'):
        recording = load_recording(options.robot)
        window = partial(RecordingWindow, recording=recording)
    elif options.gif is not None:
        raise InvalidInputError(f"--gif: need a recording (.npz), got '{options.robot}'")
    else:
        source = read_robot(options)  # `info` tells the remarks
        robot, drawing = source.model.robot, urdf_drawing(source.model.robot, source.urdf)
        printing.print_notes(drawing.notes)
        recorder = Recorder(robot, drawing)
        recorder.add(0.0, robot.neutral(), [0.0] * robot.nv)
        recording = recorder.recording()
        window = partial(PoseWindow, robot=robot, drawing=drawing)
    files = []
    if options.gif is not None:
        files.append(write_animation(recording, options.gif, options.camera))
    if options.picture is not None:
        count = min(ROBOTS, len(recording.time))
        files.append(write_picture(recording, options.picture, options.camera, count))
    if files:
        printing.lines(*(f'wrote {file}' for file in files))
        return 0
    server = start_server(options.host, options.port)
    console.print(f'open http://{options.host}:{server.get_port()} (Ctrl-C ends)')
    try:
        window(server).run()
    finally:
        server.stop()
    return 0
