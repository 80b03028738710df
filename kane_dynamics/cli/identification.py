# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics identify``: from recorded motions and efforts to a better URDF."""

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.bags.recordings import Recording, file_hash, read_recording
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import RobotSource, read_robot
from kane_dynamics.cli.printing import progress, writable_folder, write_csv
from kane_dynamics.cli.recordings import joint_topics
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.identification import recording_checks as checks
from kane_dynamics.identification import report
from kane_dynamics.identification.comparison import Comparison, compared, refusal
from kane_dynamics.identification.friction import LINK_SIDE, MOTOR_SIDE
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.result import Identification
from kane_dynamics.identification.samples import Samples, prepared_samples, timing
from kane_dynamics.robot.urdf.writing import updated_urdf
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters

SIDES = {'link': LINK_SIDE, 'motor': MOTOR_SIDE}
HIGHEST, OF_RATE = 8.0, 0.04  # corner of the filter where none is asked for: [Hz], sample rates
KEPT = 12.5  # samples in a period of the corner
TRAINED = 2.0 / 3.0  # of a recording, where none is for validation


class _Data(NamedTuple):
    """Samples of the fit and of its test, and what is unusual about them."""

    training: tuple[Samples, ...]
    validation: tuple[Samples, ...]
    corner: float
    without_velocity: bool
    notes: list[str]


def identify_robot(options: argparse.Namespace) -> int:
    """Identify, write the files, print errors and warnings."""
    source = read_robot(options)
    model = source.model
    if model.robot.base == 'floating':
        raise InvalidInputError(
            "--root-joint floating: recordings are read for 'fixed' and 'planar' bases"
        )
    if not options.bag:
        raise InvalidInputError('identify: need a recording, --bag')
    names = _observed(options, source)
    folder = writable_folder(options.output)
    if options.reference:
        dynamics: Dynamics = kd.dynamics(model.robot, model.constraints)
    else:
        dynamics = printing.compiled(model.robot, model.constraints)
    with progress('identification') as tell:
        tell('reading', 0, 3)
        data = _read(options, source, dynamics, names)
        tell('terms of friction', 1, 3)
        speeds = ObservedSpeeds(dynamics, names)
        side = options.friction
        if side == 'auto':
            side = _side(dynamics, data.training, speeds)
        terms = select_friction(dynamics, data.training, start=SIDES[side], speeds=speeds)
        tell('parameters', 2, 3)
        result = identify(dynamics, data.training, friction=terms, speeds=speeds)
        comparison = compared(result, data.validation)
        equations, fit = result.equations, result.fit
        lag = checks.effort_lag(equations, data.training[0], result.base, fit.deviations)
    reason = refusal(result, comparison)
    facts = _facts(options, source, result, comparison, data, side)
    facts['warnings'] += checks.lag_warnings(lag)
    facts |= {'published': not reason, 'reason': reason}
    facts['files'] = _written(options, folder, source, result, comparison, facts)
    printing.show(options.json, facts, _print)
    printing.print_notes(facts['warnings'], 'warning')
    if reason:
        raise InvalidInputError(f'no URDF is written: {reason}')
    return 0


def _observed(options: argparse.Namespace, source: RobotSource) -> tuple[str, ...]:
    """Return the joints whose efforts are used: those with a motor, or those of --joints."""
    model = source.model
    names = tuple(name for name in model.actuated if name in model.joints)
    if not options.joints:
        return names
    for name in (selection := options.joints.split(',')):
        if name not in model.joints:
            raise NameNotFoundError('joint', name, model.joints)
    return tuple(name for name in model.joints if name in selection)


def _read(
    options: argparse.Namespace, source: RobotSource, dynamics: Dynamics, names: tuple[str, ...]
) -> _Data:
    """Return the samples of all recordings, checked."""
    model, p = source.model, source.parameters(InverseDynamicsParameters)
    topics = joint_topics(options, model)

    def read(path: Path) -> Recording:
        return read_recording(path, model, p, names, topics)

    training, notes = [read(path) for path in options.bag], list[str]()
    if options.validate:
        validation = [read(path) for path in options.validate]
    else:
        ends = [x.time[0] + TRAINED * (x.time[-1] - x.time[0]) for x in training]
        pairs = list(zip(training, ends, strict=True))
        validation = [x.part(x.time >= end) for x, end in pairs]
        training = [x.part(x.time < end) for x, end in pairs]
        notes.append('no recording for validation: the last third of each is held out')
    indices = model.v_index(names)
    for one in (*training, *validation):
        checks.check_efforts(names, one.tau[:, indices])
        notes += [*one.notes, *checks.timing_warnings(timing(one.time, one.q))]
    rows = [np.vstack([np.hstack([x.q, x.tau]) for x in part]) for part in (training, validation)]
    checks.check_separate(*rows)
    rate = 1.0 / max(timing(x.time, x.q).step for x in training)
    corner = options.corner or min(HIGHEST, OF_RATE * rate)
    without = any(x.v is None for x in (*training, *validation))
    if without:
        notes.append('velocities were not recorded: differences of positions are used')
    samples = [
        tuple(
            part
            for x in recordings
            for part in prepared_samples(
                x.time, x.q, x.tau, None if without else x.v, corner=corner, rate=KEPT * corner
            )
        )
        for recordings in (training, validation)
    ]
    q, v, tau = (np.vstack([getattr(x, name) for x in samples[0]]) for name in ('q', 'v', 'tau'))
    local = model.q_index(names)
    notes += checks.motion_warnings(names, q[:, local], v[:, indices])
    checks.check_signs_and_units(dynamics, names, q, v[:, indices], tau[:, indices])
    return _Data(*samples, corner, without, notes)


def _side(dynamics: Dynamics, training: Sequence[Samples], speeds: ObservedSpeeds) -> str:
    """Return where efforts were measured: rotors of negative inertia are none."""
    trial = identify(dynamics, training, friction=MOTOR_SIDE, speeds=speeds)
    first, solution = trial.equations.inertial, trial.solutions['least_squares']
    columns = enumerate(trial.equations.columns, start=first)
    rotors = [solution[k] for k, (_, term) in columns if term.kind == 'rotor_inertia']
    return 'link' if np.mean(np.array(rotors) < 0.0) > 0.5 else 'motor'


def _facts(
    options: argparse.Namespace,
    source: RobotSource,
    result: Identification,
    comparison: Comparison,
    data: _Data,
    side: str,
) -> dict[str, Any]:
    """Return what parameters.yaml and the page say."""
    recordings = [*options.bag, *options.validate]
    return {
        'robot': source.model.robot.name,
        'version': kd.__version__,
        'urdf_sha256': hashlib.sha256(source.model.text.encode()).hexdigest(),
        'recordings': [{'file': x.name, 'sha256': file_hash(x)} for x in recordings],
        'settings': {
            'corner_hz': round(data.corner, 6),
            'friction': side,
            'joints': list(comparison.names),
            'velocities': 'from positions' if data.without_velocity else 'recorded',
            'training_samples': sum(map(len, data.training)),
            'validation_samples': sum(map(len, data.validation)),
            'validation': 'other recordings' if options.validate else 'the last third',
        },
        'warnings': list(dict.fromkeys([*data.notes, *result.warnings, *comparison.warnings])),
        **report.findings(result, comparison),
    }


def _written(
    options: argparse.Namespace,
    folder: Path,
    source: RobotSource,
    result: Identification,
    comparison: Comparison,
    facts: Mapping[str, Any],
) -> list[str]:
    """Write the files; return their paths."""
    table, html = folder / 'parameters.yaml', folder / 'report.html'
    urdf, files = folder / 'robot_identified.urdf', [table, html]
    table.write_text(yaml.safe_dump(printing.plain(facts), sort_keys=False), encoding='utf-8')
    title = f"Identification of '{facts['robot']}'"
    html.write_text(report.page(title, facts, comparison), encoding='utf-8')
    urdf.unlink(missing_ok=True)  # one of before does not belong to this report
    if facts['published']:
        text = updated_urdf(source.model.text, result.robot, comparison.names)
        urdf.write_text(text, encoding='utf-8')
        files.insert(0, urdf)
    if options.csv:
        curves = {'measured': comparison.measured, **comparison.predicted}
        columns = {
            f'{label}_effort:{name}': values[:, k]
            for label, values in curves.items()
            for k, name in enumerate(comparison.names)
        }
        files.append(write_csv(options.csv, {'time': comparison.time, **columns}))
    return [str(file) for file in files]


def _print(facts: Mapping[str, Any]) -> None:
    errors = facts['errors_percent']
    columns = {
        f'{label}, {against}': errors[f'{solution} {against}']
        for solution, label in report.ERRORS.items()
        for against in (('filtered',) if solution != 'consistent' else ('filtered', 'raw'))
    }
    rows = [
        (name, *(f'{values[name]:.1f}' for values in columns.values()))
        for name in facts['settings']['joints']
    ]
    title = f"errors of '{facts['robot']}' on validation samples [% of the range of each effort]"
    printing.table(title, ('joint', *columns), rows)
    printing.lines(
        f'condition {facts["condition"]:.1f}, rank {facts["rank"]}, '
        f'friction of the {facts["settings"]["friction"]} side',
        *(f'wrote {file}' for file in facts['files']),
    )
