# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics identify``: from recorded motions and efforts to a better URDF."""

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.analysis.payload import PayloadEstimate
from kane_dynamics.bags.recordings import Recording, file_hash, read_recording
from kane_dynamics.cli import printing
from kane_dynamics.cli.options import RobotSource, read_robot
from kane_dynamics.cli.printing import progress, writable_folder, write_csv, write_whole
from kane_dynamics.cli.recordings import joint_topics
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification import recording_checks as checks
from kane_dynamics.identification import report
from kane_dynamics.identification.constrained_samples import (
    constrained_samples,
    independent_speeds,
)
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.friction import LINK_SIDE, MOTOR_SIDE
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify, tool_difference
from kane_dynamics.identification.motor_gains import gains_of_file, motor_gains
from kane_dynamics.identification.result import Identification
from kane_dynamics.identification.samples import SampleBlocks, Samples, Timing, sample_makes
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot.inertial_parameters import PARAMETERS, inertial_parameters
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.writing import updated_urdf
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import RobotModel, read_parameter_file
from kane_dynamics.typing import Floats

SIDES = {'link': LINK_SIDE, 'motor': MOTOR_SIDE}
HIGHEST, OF_RATE = 8.0, 0.04  # corner of the filter where none is asked for: [Hz], sample rates
KEPT = 12.5  # samples in a period of the corner
MANY = 8  # blocks, of more than that not every sample is looked at
TRAINED = 2.0 / 3.0  # of a recording, where none is for validation
Facts = dict[str, Any]


def identify_robot(options: argparse.Namespace) -> int:
    """Identify, write the files, print errors and warnings."""
    source = read_robot(options)
    model, folder = source.model, writable_folder(options.output)
    if options.csv:
        writable_folder(options.csv.parent, '--csv')
    names = observed_joints(options, model)
    if options.reference:
        dynamics: Dynamics = kd.dynamics(model.robot, model.constraints)
    else:
        dynamics = printing.compiled(model.robot, model.constraints)
    with progress('identification') as tell:
        tell('reading', 0, 3)
        facts: Facts = {'robot': model.robot.name, 'warnings': [], 'settings': {}}
        speeds = independent_speeds(dynamics, names)
        training, validation = _samples(options, source, dynamics, speeds, names, facts)
        tell('terms of friction', 1, 3)
        side = options.friction
        if side == 'auto':
            side = _side(dynamics, training, speeds, names)
        if options.tool_mass_only:
            tool = tool_difference(dynamics, training, SIDES[side], speeds)
            return _print_tool(model.robot, speeds.names[-1], tool)
        terms = dict.fromkeys(names, SIDES[side])
        terms |= select_friction(dynamics, training, start=SIDES[side], speeds=speeds)
        tell('parameters', 2, 3)
        result = identify(dynamics, training, friction=terms, speeds=speeds)
    errors = report.validation_errors(result, validation)
    facts['settings'] |= {'friction': side, 'joints': list(names)}
    seen = ((x.time, result.equations.efforts(x, x.tau), result.efforts(x)) for x in training)
    facts['warnings'] += [
        *result.warnings,
        *(text for one in seen for text in checks.contact_warnings(speeds.names, *one)),
        *report.worse_joints(errors),
        *checks.coupling_warnings(result, training[0]),
        *checks.lag_warnings(checks.effort_lag(result, training[0])),
    ]
    reason = report.refusal(result, errors)
    facts |= {'reason': reason, 'errors_percent': errors, **report.findings(result)}
    facts['files'] = _written(options, folder, source, result, max(validation, key=len), facts)
    printing.show(options.json, facts, _print)
    printing.print_notes(facts['warnings'], 'warning')
    if reason:
        raise InvalidInputError(f'no URDF is written: {reason}')
    return 0


def observed_joints(options: argparse.Namespace, model: RobotModel) -> tuple[str, ...]:
    """Return the joints whose efforts were measured: those asked for, or all with motors."""
    if not options.bag:
        raise InvalidInputError('need --bag, at least one recording')
    if model.robot.base == 'floating':
        raise InvalidInputError('need a fixed or planar base, got a floating one')
    selection = options.joints.split(',') if options.joints else model.actuated
    for name in selection if options.joints else ():
        index_of('joint', name, model.joints)
    return tuple(name for name in model.joints if name in selection)


def corner_of(options: argparse.Namespace, clocks: Sequence[Timing]) -> float:
    """Return the corner of the filter for recordings [Hz]."""
    rate = 1.0 / max(clock.step for clock in clocks)
    return float(options.corner or min(HIGHEST, OF_RATE * rate))


def samples_of(
    dynamics: Dynamics, speeds: ObservedSpeeds, recordings: Sequence[Recording], corner: float
) -> SampleBlocks:
    """Return the samples of recordings, as the constraints allow."""

    def read(x: Recording, part: slice) -> list[Floats]:
        q, v, tau = x.rows(part)
        return [q, tau] if v is None else [q, tau, v]

    every = [sample_makes(x.time, partial(read, x), corner, KEPT * corner) for x in recordings]
    blocks = SampleBlocks([make for makes in every for make in makes])
    return blocks.map(partial(constrained_samples, dynamics, speeds))


def _samples(
    options: argparse.Namespace,
    source: RobotSource,
    dynamics: Dynamics,
    speeds: ObservedSpeeds,
    names: tuple[str, ...],
    facts: Facts,
) -> tuple[SampleBlocks, ...]:
    """Return the samples of training and validation, checked; add to the facts."""
    model, notes = source.model, facts['warnings']
    p, topics = source.parameters(InverseDynamicsParameters), joint_topics(options, model)
    paths = [*options.bag, *options.validate]
    recordings = [read_recording(path, model, p, names, topics) for path in paths]
    q_index, v_index = model.q_index(names), model.v_index(names)
    for path, one in zip(paths, recordings, strict=True):
        checks.check_efforts(names, one.extremes.tau[:, v_index])
        unusual = checks.timing_warnings(one.clock)
        notes += [*one.notes, *(f"'{path}': {text}" for text in unusual)]
    if any(one.extremes.v is None for one in recordings):
        notes.append('velocities were not recorded: differences of positions are used')
    training, validation = recordings[: len(options.bag)], recordings[len(options.bag) :]
    if not validation:
        notes.append('no recording for validation: the last third of each is held out')
        validation = [x.part(TRAINED, 1.0) for x in training]
        training = [x.part(0.0, TRAINED) for x in training]
    parts = training, validation
    checks.check_separate(*((x for one in part for x in one.blocks()) for part in parts))
    corner = corner_of(options, [one.clock for one in recordings])
    both = [samples_of(dynamics, speeds, part, corner) for part in parts]
    if options.gains:
        both = with_gains(options.gains, dynamics, speeds, both, facts)
    few = slice(None, None, 1 + len(both[0]) // MANY)
    some = [(x.q[few], x.v[few], x.tau[few]) for x in both[0]]
    q, v, tau = (np.vstack(x) for x in zip(*some, strict=True))
    checks.check_motion_units(model.robot, names, both[0][0])
    notes += checks.motion_warnings(names, q[:, q_index], v[:, v_index])
    checks.check_signs_and_units(dynamics, names, q, v[:, v_index], tau[:, v_index])
    notes += checks.weight_warnings(dynamics, names, q, tau[:, v_index])
    facts['recordings'] = {path.name: {'sha256': file_hash(path)} for path in paths}
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


def with_gains(
    file: Path,
    dynamics: Dynamics,
    speeds: ObservedSpeeds,
    both: Sequence[SampleBlocks],
    facts: Facts,
) -> list[SampleBlocks]:
    """Return samples whose currents are efforts, by the gains of a file or the URDF's masses."""
    known = gains_of_file(file)
    scale, names, notes = np.ones(dynamics.robot.nv), speeds.names, facts['warnings']
    for name, gain in known.items():
        scale[speeds.indices[index_of('joint with a gain', name, names)]] = gain
    if known:
        notes.append(f"gains of {[*known]} are those of '{file}': masses have the scale of these")
    if unknown := [name for name in names if name not in known]:
        terms = dict.fromkeys(names, MOTOR_SIDE)
        gains, deviations, in_doubt = motor_gains(Equations(dynamics, speeds, terms), both[0])
        indices = [names.index(name) for name in unknown]
        if doubtful := [names[k] for k in indices if in_doubt[k]]:
            raise InvalidInputError(
                f'gains of {doubtful} cannot be told from the masses of the URDF: give them in '
                f"'{file}', or leave these joints out by --joints"
            )
        scale[np.array(speeds.indices)[indices]] = gains[indices]
        notes += [
            f"gain of '{names[k]}' is {gains[k]:.4g} +- {deviations[k]:.1g}, by the masses of the "
            'URDF: how heavy the robot is, is not identified'
            for k in indices
        ]
    facts['settings']['gains'] = dict(zip(names, scale[speeds.indices].tolist(), strict=True))
    return [part.map(lambda x: replace(x, tau=x.tau * scale, raw=x.raw * scale)) for part in both]


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
