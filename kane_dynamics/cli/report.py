# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics report``: a recorded motion against the model, on one page."""

import argparse
from collections.abc import Mapping
from typing import Any

from kane_dynamics.bags.motion_report import MotionReport
from kane_dynamics.bags.recordings import Recording
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import RobotSource, read_robot
from kane_dynamics.cli.printing import writable_folder, write_whole
from kane_dynamics.cli.recordings import (
    corner_of,
    hashes,
    in_efforts,
    observed_joints,
    read_recordings,
    samples_of,
)
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.identification.constrained_samples import independent_speeds
from kane_dynamics.identification.motor_gains import efforts_by_currents, gains_of_file
from kane_dynamics.identification.page import cell
from kane_dynamics.robot.checks import as_finite


def report(options: argparse.Namespace) -> int:
    """Compare, write the page, print the tables and warnings."""
    source = read_robot(options)
    writable_folder(options.output.parent)
    names, dynamics = observed_joints(options, source.model), source.dynamics()
    facts = hashes(options.bag)
    if not options.reference:
        with printing.progress('dynamics of the robot') as tell:
            dynamics.compile(progress=tell)
    speeds, warnings = independent_speeds(dynamics.engine, names), list[str]()
    recordings, measured = _recordings(options, source, names, warnings)
    warnings += [text for one in recordings for text in one.notes]
    corner = corner_of(options, recordings)
    samples = samples_of(dynamics.engine, speeds, recordings, corner)
    if options.gains and measured:
        gains = gains_of_file(options.gains)
        scale, told = efforts_by_currents(dynamics.engine, speeds, samples, gains)
        samples, warnings = in_efforts(samples, scale), warnings + told
    result = MotionReport(dynamics, speeds, samples, measured)
    warnings += result.warnings()
    try:
        ground = result.ground()
    except KaneDynamicsError as error:
        ground = {}
        warnings.append(f'no margins on the ground: {error}')
    tables = {'joints': result.joints(), 'ground': ground, 'recordings': facts}
    write_whole(options.output, result.page(warnings, tables))
    summary = {**tables, 'warnings': warnings, 'file': str(options.output)}
    printing.show(options.json, summary, _print)
    printing.print_notes(warnings, 'warning')
    return 0


def _recordings(
    options: argparse.Namespace, source: RobotSource, names: tuple[str, ...], warnings: list[str]
) -> tuple[list[Recording], bool]:
    """Return the recordings, and whether they have efforts; without them, that is a warning."""
    try:
        recordings = read_recordings(options, source, options.bag, names)
        for path, one in zip(options.bag, recordings, strict=True):
            as_finite(f"'{path}': efforts", one.extremes.tau)
        return recordings, True
    except InvalidInputError as error:
        recordings = read_recordings(options, source, options.bag, ())
        warnings.append(f'no measured efforts, those of the model alone: {error}')
        return recordings, False


def _print(summary: Mapping[str, Any]) -> None:
    for part in ('joints', 'ground'):
        rows = summary[part]
        head = list(dict.fromkeys(x for row in rows.values() for x in row if 'raw' not in x))
        lines = [(name, *(cell(row.get(key)) for key in head)) for name, row in rows.items()]
        printing.table(part, ('', *head), lines)
    printing.lines(f'wrote {summary["file"]}')
