# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics identify``: from recorded motions and efforts to a better URDF."""

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.analysis.payload import PayloadEstimate
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import RobotSource, read_robot
from kane_dynamics.cli.printing import progress, writable_folder, write_csv, write_whole
from kane_dynamics.cli.recordings import (
    corner_of,
    hashes,
    in_efforts,
    observed_joints,
    read_recordings,
    samples_of,
)
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification import recording_checks as checks
from kane_dynamics.identification import report
from kane_dynamics.identification.constrained_samples import independent_speeds
from kane_dynamics.identification.friction import LINK_SIDE, MOTOR_SIDE
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify, tool_difference
from kane_dynamics.identification.motor_gains import efforts_by_currents, gains_of_file
from kane_dynamics.identification.result import Identification
from kane_dynamics.identification.samples import SampleBlocks, Samples
from kane_dynamics.robot.inertial_parameters import PARAMETERS, inertial_parameters
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.writing import updated_urdf
from kane_dynamics.robot_config.robot_source import RobotModel, read_parameter_file

SIDES = {'link': LINK_SIDE, 'motor': MOTOR_SIDE}
MANY = 8  # blocks, of more than that not every sample is looked at
TRAINED = 2.0 / 3.0  # of a recording, where none is for validation
Facts = dict[str, Any]


def identify_robot(options: argparse.Namespace) -> int:
    """Identify, write the files, print errors and warnings."""
    source = read_robot(options)
    model, folder = source.model, writable_folder(options.output)
    printing.check_files(options, 'csv')
    names = observed_joints(options, model)
    dynamics = _dynamics(options, model)
    facts: Facts = {'robot': model.robot.name, 'warnings': [], 'settings': {}}
    speeds, side = independent_speeds(dynamics, names), options.friction
    training, validation = _samples(options, source, dynamics, speeds, names, facts)
    with progress('terms of friction'):
        if side == 'auto':
            side = _side(dynamics, training, speeds, names)
        if options.tool_mass_only:
            tool = tool_difference(dynamics, training, SIDES[side], speeds)
            return _print_tool(model.robot, speeds.names[-1], tool)
        terms = dict.fromkeys(names, SIDES[side])
        terms |= select_friction(dynamics, training, start=SIDES[side], speeds=speeds)
    with progress('parameters'):
        result = identify(dynamics, training, friction=terms, speeds=speeds)
    with progress('validation'):
        errors = report.validation_errors(result, validation)
        seen = ((x.time, result.equations.efforts(x, x.tau), result.efforts(x)) for x in training)
        facts['warnings'] += [
            *result.warnings,
            *(text for one in seen for text in checks.contact_warnings(speeds.names, *one)),
            *report.worse_joints(errors),
            *checks.coupling_warnings(result, training[0]),
            *checks.lag_warnings(checks.effort_lag(result, training[0])),
        ]
    facts['settings'] |= {'friction': side, 'joints': list(names)}
    reason = report.refusal(result, errors)
    facts |= {'reason': reason, 'errors_percent': errors, **report.findings(result)}
    facts['files'] = _written(options, folder, source, result, max(validation, key=len), facts)
    printing.show(options.json, facts, _print)
    printing.print_notes(facts['warnings'], 'warning')
    if reason:
        raise InvalidInputError(f'no URDF is written: {reason}')
    return 0


def _dynamics(options: argparse.Namespace, model: RobotModel) -> Dynamics:
    if options.reference:
        return kd.dynamics(model.robot, model.constraints)
    return printing.compiled(model.robot, model.constraints)


def _with_payload(options: argparse.Namespace, source: RobotSource) -> Dynamics:
    """Return the dynamics of the robot with the payload of --loaded."""
    if not options.loaded_urdf:
        raise InvalidInputError('--loaded: need --loaded-urdf, the URDF with the payload')
    urdf = {'urdf' if source.file else 'robot': str(options.loaded_urdf)}
    model = read_robot(argparse.Namespace(**vars(options) | urdf)).model
    if model.robot.velocity_names != source.model.robot.velocity_names:
        raise InvalidInputError('--loaded-urdf: need the joints of ROBOT')
    return _dynamics(options, model)


def _samples(
    options: argparse.Namespace,
    source: RobotSource,
    dynamics: Dynamics,
    speeds: ObservedSpeeds,
    names: tuple[str, ...],
    facts: Facts,
) -> tuple[SampleBlocks, ...]:
    """Return the samples of training and validation, checked; add to the facts."""
    paths = [*options.bag, *options.validate, *options.loaded]
    notes, ends = facts['warnings'], np.cumsum([len(options.bag), len(options.validate)])
    facts['recordings'] = hashes(paths)
    recordings = read_recordings(options, source, paths, names)
    q_index, v_index = source.model.q_index(names), source.model.v_index(names)
    for one in recordings:
        checks.check_efforts(names, one.extremes.tau[:, v_index])
        notes += one.notes
    training, validation, loaded = (recordings[slice(*x)] for x in pairwise([0, *ends, None]))
    if not validation:
        notes.append('no recording for validation: the last third of each is held out')
        validation = [x.part(TRAINED, 1.0) for x in training]
        training = [x.part(0.0, TRAINED) for x in training]
    parts = training, validation
    with progress('checks'):
        checks.check_separate(*((x for one in part for x in one.blocks()) for part in parts))
        corner = corner_of(options, recordings)
        both = [samples_of(dynamics, speeds, part, corner) for part in parts]
        if options.gains or loaded:
            payload = (
                (samples_of(dynamics, speeds, loaded, corner), _with_payload(options, source))
                if loaded
                else None
            )
            gains = partial(efforts_by_currents, dynamics, speeds, both[0])
            scale, told = gains(gains_of_file(options.gains), payload)
            both = [in_efforts(part, scale) for part in both]
            facts['settings']['gains'] = dict(zip(names, scale[v_index].tolist(), strict=True))
            notes += told
        few = slice(None, None, 1 + len(both[0]) // MANY)
        some = [(x.time[few], x.q[few], x.v[few], x.tau[few]) for x in both[0]]
        time, q, v, tau = (np.concatenate(x) for x in zip(*some, strict=True))
        notes += checks.motion_warnings(names, time, q[:, q_index], v[:, v_index])
        checks.check_ranges(dynamics.robot, names, q[:, q_index])
        checks.check_signs_and_units(dynamics, names, q, v[:, v_index], tau[:, v_index])
        notes += checks.weight_warnings(dynamics, names, q, tau[:, v_index])
    facts['settings'] |= {
        'corner_hz': round(corner, 6),
        'training_samples': sum(map(len, both[0])),
        'validation_samples': sum(map(len, both[1])),
    }
    still = partial(checks.at_rest, coordinates=q_index, speeds=v_index)
    return tuple(part.map(still) for part in both)


def _print_tool(robot: Robot, joint: str, more: PayloadEstimate) -> int:
    """Print the last body as the URDF has it, and as the efforts of its motion say."""
    k = robot.body_of_joint(joint)
    before = inertial_parameters(robot).reshape(-1, len(PARAMETERS))[k]
    rows = [
        (name, f'{x:.4g}', f'{x + change:.4g}', f'{deviation:.1g}')
        for name, x, change, deviation in zip(
            PARAMETERS, before, more.parameters, more.deviations, strict=True
        )
    ]
    title = f"'{robot.bodies[k].name}' with all that is welded to it, if others are as in the URDF"
    printing.table(title, ('parameter [SI]', 'URDF', 'identified', 'deviation'), rows)
    return 0


def _side(
    dynamics: Dynamics, training: Sequence[Samples], speeds: ObservedSpeeds, names: Sequence[str]
) -> str:
    """Return where efforts were measured: rotors of negative inertia are none."""
    trial = identify(dynamics, training, friction=dict.fromkeys(names, MOTOR_SIDE), speeds=speeds)
    friction = trial.solutions['least_squares'][trial.equations.inertial :]
    rotors = friction[len(MOTOR_SIDE) - 1 :: len(MOTOR_SIDE)]
    return 'link' if np.mean(rotors < 0.0) > 0.5 else 'motor'


def _written(
    options: argparse.Namespace,
    folder: Path,
    source: RobotSource,
    result: Identification,
    test: Samples,
    facts: Facts,
) -> list[str]:
    """Write the files; return their paths."""
    text, names = source.model.text, result.equations.speeds.names
    facts['urdf_sha256'] = hashlib.sha256(text.encode()).hexdigest()
    urdf, parameters = folder / 'robot_identified.urdf', folder / 'parameters.yaml'
    texts = {}
    if facts['reason']:  # those of before do not belong to this report
        urdf.unlink(missing_ok=True)
        parameters.unlink(missing_ok=True)
    else:
        texts[urdf] = updated_urdf(text, result.robot, tuple(result.friction))
        values = _node_parameters(source, result) | {'urdf_file': str(urdf.resolve())}
        texts[parameters] = yaml.safe_dump({'/**': {'ros__parameters': values}}, sort_keys=False)
    texts[folder / 'identification.yaml'] = yaml.safe_dump(printing.plain(facts), sort_keys=False)
    texts[folder / 'report.html'] = report.page(facts, result, test)
    for file, content in texts.items():
        write_whole(file, content)
    files = [*texts]
    if options.csv:
        efforts = {'measured': result.equations.efforts(test, test.tau)}
        efforts |= result.all_efforts(test)
        columns = {
            f'{label}_effort:{name}': values[:, k]
            for label, values in efforts.items()
            for k, name in enumerate(names)
        }
        files.append(write_csv(options.csv, {'time': test.time, **columns}))
    return [str(file) for file in files]


def _node_parameters(source: RobotSource, result: Identification) -> Facts:
    """Return what nodes need of a robot: its parameters from before, and its friction."""
    friction: Facts = {joint: {} for joint in result.friction}
    for joint, terms in result.friction.items():
        for term, value in terms.items():
            friction[joint] |= {term.kind: value, **term.scales}
    mobile = {'base_type': 'planar'} if source.model.mobile else {}
    before = read_parameter_file(source.file) if source.file else mobile
    replaced = tuple(f'friction.{joint}.' for joint in friction)
    kept = {name: x for name, x in before.items() if not name.startswith(replaced)}
    return kept | {'friction_compensation': 1.0, 'friction': friction}


def _print(facts: Mapping[str, Any]) -> None:
    errors, settings = facts['errors_percent'], facts['settings']
    shown = {key: x for key, x in errors.items() if 'raw' not in key or 'consistent' in key}
    rows = [
        (name, *(f'{x[name]:.1f}' for x in shown.values())) for name in errors['nominal filtered']
    ]
    title = f"errors of '{facts['robot']}' on validation samples [% of the range of each effort]"
    heads = (key.removesuffix(' filtered') for key in shown)
    printing.table(title, ('joint', *heads), rows)
    figures = f'condition {facts["condition"]:.1f}, rank {facts["rank"]}'
    printing.lines(f'{figures}, friction of the {settings["friction"]} side')
    printing.lines(*(f'wrote {file}' for file in facts['files']))
