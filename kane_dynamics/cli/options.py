# SPDX-License-Identifier: Apache-2.0
"""The one table of arguments and options: a word means the same in every command. ROBOT, read."""

import argparse
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import kane_dynamics as kd
from kane_dynamics.bags.computing import CLOCKS, QUANTITIES
from kane_dynamics.bags.files import STORAGES
from kane_dynamics.control.motor_friction import MotorFriction
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.deployment.code_generation import CPUS
from kane_dynamics.deployment.functions import BY_DEFAULT, FUNCTIONS
from kane_dynamics.exceptions import InvalidInputError, ModelWarning
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.text import robot_files, robot_text
from kane_dynamics.robot_config.parameters.tables import (
    FrictionParameters,
    InverseDynamicsParameters,
    RobotParameters,
)
from kane_dynamics.robot_config.robot_source import RobotModel, model_of_file, parameters_of_file
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.typing import Floats
from kane_dynamics.view.window import VIEWS

BASES = ('fixed', 'planar', 'floating')


class Command(NamedTuple):
    """What a command does, its options by their names in `OPTIONS`, and defaults of its own."""

    help: str
    options: str
    run: Callable[[argparse.Namespace], int]
    defaults: Mapping[str, Any] = {}

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to the parser of the command."""
        for name in self.options.split():
            parser.add_argument(name.rstrip('?'), **OPTIONS[name])
        parser.set_defaults(run=self.run, **self.defaults)


def _number(text: str, allowed: Callable[[float], bool], what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and allowed(value)):
        raise argparse.ArgumentTypeError(f'need a {what}, got {text!r}')
    return value


def positive(text: str) -> float:
    """Return a number > 0 of the command line."""
    return _number(text, lambda x: x > 0.0, 'number > 0')


def nonnegative(text: str) -> float:
    """Return a number >= 0 of the command line."""
    return _number(text, lambda x: x >= 0.0, 'number >= 0')


def port(text: str) -> int:
    """Return a port of the command line."""
    return int(_number(text, lambda x: x in range(1, 65536), 'port from 1 to 65535'))


def domain(text: str) -> int:
    """Return a ROS domain of the command line; three more follow it."""
    return int(_number(text, lambda x: x in range(99), 'ROS domain from 0 to 98'))


def _flag(text: str) -> dict[str, Any]:
    return {'action': 'store_true', 'help': text}


def _file(text: str, metavar: str = 'FILE') -> dict[str, Any]:
    return _text(metavar, text, type=Path)


def _values(text: str) -> dict[str, Any]:
    return _text('NAME=VALUE', text, action='append', default=[])


def _text(metavar: str, text: str, **more: Any) -> dict[str, Any]:
    return {'metavar': metavar, 'help': text, **more}


def _choice(choices: Sequence[str], text: str = '') -> dict[str, Any]:
    return {'choices': tuple(choices), 'default': choices[0], 'help': text}


def _size(default: float | None, text: str, kind: Any = float) -> dict[str, Any]:
    return {'type': kind, 'default': default, 'help': text}


_ROBOT = 'name of a shipped robot, URDF or xacro file, package:// address, or parameter file'
_EVERY: dict[str, Any] = {'action': 'append', 'default': []}
_SEVERAL: dict[str, Any] = {'nargs': '+', 'default': []}
OPTIONS: dict[str, dict[str, Any]] = {
    'robot': _text('ROBOT', _ROBOT),
    'robot?': _text('ROBOT', _ROBOT, nargs='?'),
    'source': {'help': 'trajectory: .yaml as ros2 topic echo, .json, .csv'},
    'target': {'help': 'trajectory that is written, in any of these forms'},
    'bag': _text('BAG', 'folder of a rosbag2, or its file .mcap, .db3'),
    '--urdf': _text('FILE', 'URDF or xacro file of a parameter file without one'),
    '--root-joint': {'choices': BASES, 'help': 'of a URDF without parameter file, else fixed'},
    '--json': _flag('print the result as JSON'),
    '--reference': _flag('without machine code: slower, nothing to compile'),
    '--output': _file('file or folder that is written', 'PATH'),
    '--npz': _file('recording for view'),
    '--csv': _file('table of the results over time'),
    '--plot': _file('curves over time, .png, .pdf or .svg'),
    '--rate': _size(100.0, 'instants a second in files and plots [Hz]'),
    '--duration': _size(1.0, 'of a motion [s]', positive),
    '--step': _size(0.001, 'of the integration [s]', positive),
    '--integrator': {'default': 'rk4', 'choices': sorted(INTEGRATORS)},
    '--position': _values('coordinate at the start [rad or m]; neutral where left out'),
    '--velocity': _values('speed at the start; others rest, or follow from constraints'),
    '--effort': _values('effort on a speed [N m or N]; 0 where left out'),
    '--no-constraints': _flag('leave out those of the parameter file'),
    '--compute': _choice(QUANTITIES),
    '--bag': _file('recording: a bag, or a .csv with its time, positions and efforts', 'BAG')
    | _EVERY,
    '--validate': _file('recording for the test; else the last third of each', 'BAG') | _EVERY,
    '--joints': _text('JOINTS', 'whose efforts are used, with commas; else all with motors'),
    '--friction': _choice(('auto', 'link', 'motor'), 'side of the gear that efforts belong to'),
    '--tool-mass-only': _flag('print what the last body is if all others are as in the URDF'),
    '--gains': _file('YAML, joint: effort by its current; without one by the masses of the URDF'),
    '--loaded': _file('recording with a payload, which tells the gains', 'BAG') | _EVERY,
    '--loaded-urdf': _file('URDF with that payload'),
    '--corner': _size(None, 'of the filter [Hz]; else 8, or less by the sample rate', positive),
    '--joint-states': _text('TOPIC', 'of the joints', default='/joint_states'),
    '--odom': _text('TOPIC', 'of a mobile base', default='/odom'),
    '--clock': _choice(CLOCKS, 'clock that tells the age of messages'),
    '--knot-spacing': _size(0.1, 'of the splines through the coordinates [s]', positive),
    '--storage': _choice(STORAGES),
    '--base-csv': _file('twist of the base over time: time,vx,vy,yaw_rate'),
    '--interpolation-tolerance': _size(None, 'of efforts between points [N m or N]'),
    '--point-rate': _size(None, 'least number of points per second [Hz]', positive),
    '--ramp': _size(None, 'time of the first point [s]'),
    '--effort-scale': _size(0.9, 'part of effort limits'),
    '--velocity-scale': _size(0.9, 'part of velocity limits'),
    '--friction-coefficient': _size(None, 'of the wheels, which then do not slip'),
    '--friction-scale': _size(0.8, 'part of the friction coefficient'),
    '--tip-over-margin': _size(0.05, 'distance from tipping over [m]'),
    '--acceleration': _size(5.0, 'largest of motors [rad/s^2 or m/s^2]', positive),
    '--floor': _size(1.0, 'longest way of a base from its start [m]', positive),
    '--smoothing': _size(0.0, 'of accelerations [s]'),
    '--clear': _flag('delete the files that are listed'),
    '--older-than': _size(0.0, 'only files unused so long', nonnegative) | {'metavar': 'DAYS'},
    '--derivatives': _flag('of inverse and forward dynamics too'),
    '--methods': _flag('what methods other than gauss need too'),
    '--name': {'default': '', 'help': "prefix of names in C; from the robot's name"},
    '--functions': _text(
        'NAME', f'{", ".join(BY_DEFAULT)} where left out', choices=FUNCTIONS, **_SEVERAL
    ),
    '--frames': _text('FRAME', 'frames with a pose and a Jacobian', **_SEVERAL),
    '--payloads': _text('FRAME', 'frames that may carry a payload', **_SEVERAL),
    '--cpu': {'default': 'native', 'choices': CPUS},
    '--mujoco': _flag('write a model of MuJoCo and the plugin of its wheels, no library'),
    '--scene': _file('model of MuJoCo that surrounds the robot, for --mujoco'),
    '--cpp': _flag('write the ROS 2 package kane_dynamics_cpp into a workspace, without ROBOT'),
    '--no-side-slip': _flag('of a planar base'),
    '--format': _choice(('text', 'latex', 'sympy')),
    '--digits': {'type': int, 'default': 6, 'help': 'of coefficients, not for sympy'},
    '--no-simplify': _flag('fast, but much longer'),
    '--live': _flag('a robot on ROS topics; --ros-args may follow'),
    '--host': {'default': 'localhost', 'help': 'bind address'},
    '--port': _size(8080, 'first port to try', port),
    '--gif': _file('write a recording as animation; no window'),
    '--picture': _file('write a picture (.png, .pdf); no window'),
    '--camera': _choice(tuple(VIEWS), 'of these files'),
    '--domain': _size(None, 'ROS domain of the first law; by the process where left out', domain),
    '--force': _flag('write over the file'),
    '--yes': _flag('take proposals, marked as guessed'),
    '--lock': _text('JOINTS', 'joints and hands that stand still, with commas, or none'),
    '--base-type': _text('TYPE', 'kind of the base as the parameter base_type'),
    '--roller-angles': _text('ANGLES', 'of mecanum wheels [rad], with commas'),
    '--wheel-radius': _text('RADIUS', 'of the wheels [m]; else of their collision shapes'),
    '--casters': _text('ANSWER', 'lock or roll'),
    '--drive': _text('ANSWER', 'command of the drives of the base: effort or velocity'),
    '--tool': _text('LINK', 'link that is the tool'),
    '--gravity': _text('ANSWER', 'who holds the arm against gravity: controller or robot'),
}


def with_values(
    option: str, values: Floats, texts: Sequence[str], index: Callable[[str], int]
) -> Floats:
    """Return a copy of values with those of an option, NAME=VALUE, at index(NAME)."""
    filled, seen = values.copy(), set()
    for text in texts:
        name, _, value = text.partition('=')
        k = index(name)
        try:
            filled[k] = float(value)
        except ValueError:
            filled[k] = math.nan
        if not math.isfinite(filled[k]):
            raise InvalidInputError(
                f'{option}: need NAME=VALUE with a finite number, got {text!r}'
            )
        if name in seen:
            raise InvalidInputError(f"{option}: '{name}' comes twice")
        seen.add(name)
    return filled


def start_coordinates(options: argparse.Namespace, robot: Robot) -> Floats:
    """Return coordinates: neutral ones, and those of --position."""
    return with_values('--position', robot.neutral(), options.position, robot.coordinate_index)


def selected_joints(options: argparse.Namespace, model: RobotModel) -> tuple[str, ...]:
    """Return the joints of --joints, all with motors where left out, in the order of the model."""
    names = model.actuated if options.joints is None else options.joints.split(',')
    for name in names:
        index_of('joint', name, model.joints)
    return tuple(name for name in model.joints if name in names)


_URDF, _YAML = ('.urdf', '.xacro', '.xml'), ('.yaml', '.yml')
T = TypeVar('T', bound=RobotParameters)


@dataclass(frozen=True, eq=False)
class RobotSource:
    """A robot of the command line."""

    model: RobotModel  # Robot, constraints of its base, motors
    urdf: str  # URDF: its path, or the text where there is no such file
    file: str  # Parameter file, or the name of a shipped one; '' where there is none

    def parameters(self, table: type[T]) -> T:
        """Return the parameters of a node: those of the file, else defaults."""
        return parameters_of_file(self.file, table) if self.file else table()

    def dynamics(self) -> Dynamics:
        """Return the dynamics that nodes work with, under the friction of the file."""
        dynamics, motors = Dynamics(self.model), self.model.motors if self.file else ()
        values = [parameters_of_file(self.file, FrictionParameters, name) for name in motors]
        dynamics.friction = MotorFriction.of(self.model, values)
        return dynamics


def read_robot(
    options: argparse.Namespace, table: type[RobotParameters] = InverseDynamicsParameters
) -> RobotSource:
    """Return ROBOT of the command line; a parameter file is read for the node of `table`."""
    name, urdf, root_joint = options.robot, options.urdf or '', options.root_joint
    if _is_urdf(name):
        if urdf:
            raise InvalidInputError(f"need one URDF, got '{name}' and --urdf '{urdf}'")
        return RobotSource(*_urdf_model(name, root_joint or 'fixed'), '')
    if not name.endswith(_YAML) and name not in (known := robot_files()):
        raise InvalidInputError(
            f"no robot '{name}': need a URDF ({', '.join(_URDF)}), a parameter file (.yaml), or "
            f'one of {", ".join(known)}'
        )
    if root_joint is not None:
        raise InvalidInputError(
            f"--root-joint is only valid for a URDF: base_type in '{name}' says it"
        )
    model = model_of_file(name, urdf, table)
    named = urdf or parameters_of_file(name, table).urdf_file
    is_file = bool(named) and not named.endswith('.xacro')
    return RobotSource(model, str(resolve(named)) if is_file else model.text, name)


def _is_urdf(name: str) -> bool:
    """Return whether an argument means a robot description."""
    address = name.endswith(_URDF) or name.startswith(('package://', 'file://'))
    return address or (not name.endswith(_YAML) and Path(name).is_file())


def _urdf_model(name: str, root_joint: str) -> tuple[RobotModel, str]:
    """Return the model of a URDF alone, and where it is."""
    source = str(resolve(name, 'URDF')) if '://' in name else name
    if source.endswith('.xacro'):
        source = robot_text(source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        robot = kd.load_urdf(source, base=root_joint)
    text = source if '<' in source else Path(source).read_text(encoding='utf-8', errors='replace')
    joints = tuple(n for n in robot.joint_names if n in robot.velocity_names)
    notes = tuple(str(warning.message) for warning in caught)
    names = robot.velocity_names
    return RobotModel(robot, (), joints, names, PlanarFrame(), text, notes), source
