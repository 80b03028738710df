# SPDX-License-Identifier: Apache-2.0
"""From parameters, or their file, and URDF text to the model that a node works with."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError, shorten
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.robot.joint_kinds import Revolute
from kane_dynamics.robot.state import checked_payload_frames
from kane_dynamics.robot.text import file_parameters, parameter_file, robot_text
from kane_dynamics.robot_config.declared_constraints import named_motors, wheeled_base
from kane_dynamics.robot_config.parameters.spec import matching_spec, nearest_parameter
from kane_dynamics.robot_config.parameters.tables import (
    InverseDynamicsParameters,
    Parameters,
    RobotParameters,
    all_specs,
)
from kane_dynamics.typing import Indices

T = TypeVar('T', bound=Parameters)
BASE_NAMES = ('base_x', 'base_y', 'base_yaw')


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A robot with its base constraint and the index tables a node needs."""

    robot: Any  # The tree
    constraints: tuple[Any, ...]  # Constraints of the base, for the algorithms
    joints: tuple[str, ...]  # One-DoF joints that own a speed, in the order of v
    motors: tuple[str, ...]
    child_frame: PlanarFrame  # Pose of the odometry's child frame in the root link
    text: str  # The URDF
    notes: tuple[str, ...]  # What is unusual about the description
    drives: tuple[str, ...] = ()
    base: kd.bases.WheeledBase | None = None  # The base on wheels
    payloads: tuple[str, ...] = ()  # Links that may carry something

    @property
    def actuated(self) -> tuple[str, ...]:
        """Return motors and drives, in the order of v."""
        both = {*self.motors, *self.drives}
        return tuple(name for name in self.robot.velocity_names if name in both)

    @property
    def mobile(self) -> bool:
        """Return whether the robot needs odometry."""
        return bool(self.robot.base == 'planar')

    @cached_property
    def overactuated(self) -> bool:
        """Return whether the base has more driven and steered joints than it has freedoms."""
        base = self.base
        if base is None:
            return False
        return len(base.driven) + len(base.steering) > base.mobility() + base.steerability()

    @cached_property
    def angles(self) -> Indices:
        """Return the places in q of angles, which sensors may wrap at pi."""
        bodies, names = self.robot.bodies, self.robot.coordinate_names
        turning = {x.joint.name for x in bodies if isinstance(x.joint.kind, Revolute)}
        return self.q_index(tuple(n for n in names if n in turning or n == BASE_NAMES[2]))

    def q_index(self, names: tuple[str, ...]) -> Indices:
        """Return the places of the names in q."""
        return np.array([self.robot.coordinate_index(n) for n in names], dtype=np.intp)

    def v_index(self, names: tuple[str, ...]) -> Indices:
        """Return the places of the names in v."""
        return np.array([self.robot.velocity_index(n) for n in names], dtype=np.intp)

    def summary(self) -> str:
        """Return the model in words, one fact a line."""
        robot = self.robot
        lines = [f"robot '{robot.name}', {robot.base} base, {robot.nv} speeds"]
        for name in robot.velocity_names:
            i = robot.velocity_index(name)
            motor = 'motor' if name in self.motors else 'no motor'
            if name in self.drives:
                motor = 'driven by velocity'
            lines.append(
                f'{name}: {motor}, effort limit {robot.effort_limit[i]:g}, '
                f'damping {robot.damping[i]:g}, friction {robot.friction[i]:g}'
            )
        labels = ConstraintSet(robot, self.constraints).labels
        lines.append(f'constraints: {", ".join(labels) or "none"}')
        return '\n'.join(lines)


def base_frame(parameters: RobotParameters) -> str:
    """Return the name of the base frame in messages."""
    return parameters.frame_prefix + parameters.base_frame_id


def read_description(parameters: RobotParameters) -> str:
    """Return the URDF text of the parameters, or '' where it must come from the topic."""
    if parameters.robot_description or not parameters.urdf_file:
        return parameters.robot_description
    return robot_text(parameters.urdf_file, 'urdf_file', parameters.urdf_source_description)


def build_model(parameters: RobotParameters, text: str) -> RobotModel:
    """Build the model of a URDF text."""
    if '<' not in text:
        raise InvalidInputError(f'the robot description is no XML, it begins with {text[:40]!r}')
    base = 'fixed' if parameters.base_type == 'none' else 'planar'
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', kd.exceptions.ModelWarning)
        robot = kd.load_urdf(
            text, base=base, locked_joints=parameters.locked_joints, gravity=parameters.gravity
        )
        if _takes_velocity(parameters) and (gain := getattr(parameters, 'base_drive_gain', 0.0)):
            robot = _driven(parameters, robot, gain)
        base_on_wheels = wheeled_base(parameters, robot)
        constraints = _base_constraints(parameters, robot, base_on_wheels)
        for note in kd.independent_rows(robot, robot.neutral(), constraints).notes:
            warnings.warn(note, kd.exceptions.ModelWarning, stacklevel=2)
    joints = tuple(name for name in robot.joint_names if name != 'base')
    for name in joints:
        if name not in robot.velocity_names or name not in robot.coordinate_names:
            raise InvalidInputError(
                f"joint '{name}' has more than one degree of freedom, which joint_states cannot "
                'carry; add it to locked_joints'
            )
    local = joints if parameters.base_type != 'planar' else (*BASE_NAMES, *joints)
    drives = _drives(parameters, base_on_wheels)
    local = tuple(name for name in local if name not in drives)
    motors = getattr(parameters, 'joints', ())
    for name in (*motors, *getattr(parameters, 'command_joints', ())):
        if name not in local:
            raise NameNotFoundError('joint with a motor', name, local)
    follows = () if base_on_wheels is None else base_on_wheels.passive
    selection = tuple(n for n in local if (n in motors if motors else n not in follows))
    frame, notes = _child_frame(parameters, robot)
    return RobotModel(
        robot,
        constraints,
        joints,
        selection,
        frame,
        text,
        (*(str(w.message) for w in caught), *notes, *_unknown_friction(parameters)),
        drives,
        base_on_wheels,
        checked_payload_frames(robot, getattr(parameters, 'payloads', ())),
    )


def _takes_velocity(parameters: RobotParameters) -> bool:
    """Return whether drives are commanded by velocity, as where base.motion_source is needed."""
    if getattr(parameters, 'base_motion_source', ''):
        return parameters.base_type != 'none'
    return bool(getattr(parameters, 'base_command_interface', 'effort') != 'effort')


def _drives(parameters: RobotParameters, base: kd.bases.WheeledBase | None) -> tuple[str, ...]:
    """Return the speeds of the base that are commanded by velocity, if the base is."""
    if not _takes_velocity(parameters):
        return ()
    if parameters.base_type == 'none':
        raise InvalidInputError(
            "base.command_interface 'velocity' needs a base_type other than none"
        )
    if parameters.base_type == 'planar':
        return BASE_NAMES
    return named_motors(parameters) if base is None else (*base.driven, *base.steering)


def _driven(parameters: RobotParameters, robot: Any, gain: float) -> Any:
    """Return a robot with the dampers of velocity drives: `gain` per speed, base and steering."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)  # told of the base itself
        base = wheeled_base(parameters, robot)
    damping = {robot.bodies[0].joint.name: gain}
    if base is not None:
        damping |= dict.fromkeys((wheel.joint for wheel in base.wheels), 0.0)
        damping |= dict.fromkeys(base.centred, gain)
    return replace(robot, bodies=tuple(_damped(body, damping) for body in robot.bodies))


def _damped(body: Any, damping: Mapping[str, float]) -> Any:
    """Return a body whose joint has another damping and no friction, where there is one."""
    joint = body.joint
    if joint.name not in damping:
        return body
    return replace(body, joint=replace(joint, damping=damping[joint.name], friction=0.0))


def _base_constraints(
    parameters: RobotParameters, robot: Any, base: kd.bases.WheeledBase | None
) -> tuple[Any, ...]:
    """Return the constraints that base_type and base.constraint ask for."""
    kind = parameters.base_constraint
    if base is not None:
        # across its tracks the ground gives a base that skids what its turns need
        return (*base.constraints, *base.assumed)
    if kind in ('none', 'auto'):
        return ()
    if parameters.base_type == 'none':
        raise ConstraintError(f"base.constraint '{kind}' needs a base_type other than none")
    return (kd.constraints.no_side_slip(robot, axle_offset=parameters.base_axle_offset),)


def _unknown_friction(parameters: RobotParameters) -> tuple[str, ...]:
    """Return a remark where turning costs an effort that is not known."""
    friction = getattr(parameters, 'base_friction_coefficient', (1.0,))
    if parameters.base_type != 'skid_steer' or all(friction):
        return ()
    return (
        'base.friction_coefficient of the skid_steer base is not known: what turning costs its '
        'wheels is left out of their efforts',
    )


def _child_frame(parameters: RobotParameters, robot: Any) -> tuple[PlanarFrame, tuple[str, ...]]:
    """Return the pose of base_frame_id in the root link, and a remark if it is no link."""
    name = parameters.base_frame_id
    if robot.base != 'planar':
        return PlanarFrame(), ()
    if name not in robot.frames:
        return PlanarFrame(), (
            f"base_frame_id '{name}' is no link of the robot; it is taken as the root link",
        )
    frame = robot.frames[name]
    if frame.body != 0:
        raise InvalidInputError(
            f"base_frame_id '{name}' moves relative to the root link; odometry must belong to a "
            'link that is fixed to it'
        )
    position, turned = frame.pose.position(), frame.pose.rotation_matrix()
    yaw = float(np.arctan2(turned[1, 0], turned[0, 0]))
    return PlanarFrame(float(position[0]), float(position[1]), yaw), ()


def read_parameter_file(path: str | Path) -> dict[str, Any]:
    """Return the parameters of a file by their full names, whichever node they are written for."""
    file = parameter_file(path)
    values = file_parameters(file)
    for name in values:
        meant = '' if matching_spec(name, all_specs()) else nearest_parameter(name, all_specs())
        if meant:
            raise InvalidInputError(f"'{file}': no parameter '{name}'; did you mean '{meant}'?")
    return values


def parameters_of_file(path: str | Path, table: type[T], each: str = '', **values: Any) -> T:
    """Return a parameter table with the values of a file, and defaults; of one joint, say."""
    arguments, known = read_parameter_file(path), {}
    for spec in table.specs:
        name = spec.name_of(each) if each else spec.name
        if name not in arguments:
            continue
        value = spec.typed(arguments[name])
        if value is None:
            describe = shorten(arguments[name])
            raise InvalidInputError(f"'{path}': {name}: need {spec.kind}, got {describe}")
        if problem := spec.problem(value):
            raise InvalidInputError(f"'{path}': {problem}")
        known[spec.field] = value
    return table(**known | values)


def model_of_file(
    path: str | Path, urdf: str = '', table: type[RobotParameters] = InverseDynamicsParameters
) -> RobotModel:
    """Return the model that nodes build from a parameter file."""
    selection = {'urdf_file': urdf} if urdf else {}
    parameters = parameters_of_file(path, table, **selection)
    text = read_description(parameters)
    if not text:
        raise InvalidInputError(
            f"'{path}' names no urdf_file; give one with --urdf "
            f'({parameters.urdf_source_description})'
        )
    return build_model(parameters, text)
