# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics report``: a recorded motion against the model, on one page."""

import argparse
from collections.abc import Mapping
from typing import Any

from kane_dynamics.bags.motion_report import MotionReport
from kane_dynamics.bags.recordings import Recording, file_hash, read_recording
from kane_dynamics.cli import identification, printing
from kane_dynamics.cli.options import RobotSource, read_robot
from kane_dynamics.cli.printing import writable_folder, write_whole
from kane_dynamics.cli.recordings import joint_topics
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.identification.constrained_samples import independent_speeds
from kane_dynamics.identification.page import cell
from kane_dynamics.identification.recording_checks import timing_warnings
from kane_dynamics.robot.checks import as_finite
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters


def report(options: argparse.Namespace) -> int:
    """Compare, write the page, print the tables and warnings."""
    source = read_robot(options)
    writable_folder(options.output.parent)
    names, dynamics = identification.observed_joints(options, source.model), source.dynamics()
    if not options.reference:
        with printing.progress('dynamics of the robot') as tell:
            dynamics.compile(progress=tell)
    speeds, warnings = independent_speeds(dynamics.engine, names), list[str]()
    recordings, measured = _recordings(options, source, names, warnings)
    for path, one in zip(options.bag, recordings, strict=True):
        warnings += [*one.notes, *(f"'{path}': {x}" for x in timing_warnings(one.clock))]
        if one.extremes.v is None:
            warnings.append(f"'{path}': no velocities, differences of positions are used")
    corner = identification.corner_of(options, [one.clock for one in recordings])
    samples = identification.samples_of(dynamics.engine, speeds, recordings, corner)
    if options.gains and measured:
        facts = {'warnings': warnings, 'settings': {}}
        both = options.gains, dynamics.engine, speeds, [samples], facts
        (samples,) = identification.with_gains(*both)
    result = MotionReport(dynamics, speeds, samples, measured)
    warnings += result.warnings()
    files = {path.name: {'sha256': file_hash(path)} for path in options.bag}
    try:
        ground = result.ground()
    except KaneDynamicsError as error:
        ground = {}
        warnings.append(f'no margins on the ground: {error}')
    tables = {'joints': result.joints(), 'ground': ground, 'recordings': files}
    write_whole(options.output, result.page(warnings, tables))
    summary = {**tables, 'warnings': warnings, 'file': str(options.output)}
    printing.show(options.json, summary, _print)
    printing.print_notes(warnings, 'warning')
    return 0


def _recordings(
    options: argparse.Namespace, source: RobotSource, names: tuple[str, ...], warnings: list[str]
) -> tuple[list[Recording], bool]:
    """Return the recordings, and whether they have efforts; without them, that is a warning."""
    p, topics = source.parameters(InverseDynamicsParameters), joint_topics(options, source.model)

    def read(joints: tuple[str, ...]) -> list[Recording]:
        every = [read_recording(path, source.model, p, joints, topics) for path in options.bag]
        for path, one in zip(options.bag, every, strict=True):
            as_finite(f"'{path}': efforts", one.extremes.tau)
        return every

    try:
        return read(names), True
    except InvalidInputError as error:
        recordings = read(())
        warnings.append(f'no measured efforts, those of the model alone: {error}')
        return recordings, False


def _print(summary: Mapping[str, Any]) -> None:
    for part in ('joints', 'ground'):
        rows = summary[part]
        head = list(dict.fromkeys(x for row in rows.values() for x in row if 'raw' not in x))
        lines = [(name, *(cell(row.get(key)) for key in head)) for name, row in rows.items()]
        printing.table(part, ('', *head), lines)
    printing.lines(f'wrote {summary["file"]}')
