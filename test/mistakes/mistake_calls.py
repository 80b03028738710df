# SPDX-License-Identifier: Apache-2.0
"""
Every public call once as it should be, and each of its arguments as it should not.

A call is a function with the right arguments; each argument has a kind. `WRONG` holds, for each
kind, what users pass by mistake. `fuzzed` puts each wrong value in the place of each argument of
its kind, one at a time.
"""

from __future__ import annotations

import datetime
import tempfile
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from support.machines import DRIVE, at, differential_drive, inertia, planar_2r, revolute

import kane_dynamics as kd

C = kd.constraints


class World:
    """Robots, constraints and states that the calls share; compiled without the cache."""

    def __init__(self) -> None:
        self.robot = differential_drive(damping=0.4)
        self.arm = planar_2r()
        self.wheels = C.differential_drive(self.robot, 'left', 'right', DRIVE['r'])
        self.ball = kd.Robot(
            'ball', [kd.Body('ball', '', kd.Joint('ball', kd.Free()), inertia=inertia(1.0))]
        )
        self.of_arm = C.coupling(self.arm, *reversed(self.arm.joint_names), 0.5)
        self.fast = kd.compile(
            self.robot,
            [self.wheels],
            payloads=[self.robot.bodies[-1].name],
            derivatives=True,
            methods=True,
            cache=False,
        )
        self.links = tuple(body.name for body in self.robot.bodies)
        rng = np.random.default_rng(0)
        self.q, self.v, self.a, self.tau = rng.uniform(-0.5, 0.5, (4, self.robot.nv))
        self.q, self.v = kd.simulation.project(self.robot, [self.wheels], self.q, self.v, 0.0)
        motion = kd.forward_dynamics(self.robot, self.q, self.v, self.tau, [self.wheels])
        self.a = motion.acceleration
        self.speeds = kd.generalized_speeds(self.robot, lambda q, t: np.eye(self.robot.nv))
        self.simulation = kd.Simulation(self.robot, [self.wheels])
        self.kinematics = kd.forward_kinematics(self.robot, self.q)

    @property
    def wrench(self) -> dict[str, list[float]]:
        """Return a wrench on the last link."""
        return {self.links[-1]: [0.1] * 6}


@dataclass(frozen=True)
class Call:
    """A public call: its name, the function, and for each argument its kind and right value."""

    name: str
    function: Any
    arguments: dict[str, tuple[str, Any]]
    optional: tuple[str, ...] = ()  # arguments that may be None


@cache
def world() -> World:
    """Return the robots and states."""
    return World()


def _state(w: World, letters: str) -> dict[str, tuple[str, Any]]:
    values = {'q': w.q, 'v': w.v, 'a': w.a, 'tau': w.tau}
    names = letters.split()
    return {name: ('vector', values[name]) for name in names}


def calls() -> list[Call]:
    """Return all public calls with right arguments."""
    return [*_dynamics(), *_compiled(), *_constraints(), *_time(), *_models()]


def _dynamics() -> list[Call]:
    w = world()
    robot = {'robot': ('robot', w.robot)}
    rows = {'constraints': ('constraints', [w.wheels])}
    time = {'time': ('number', 0.0)}
    wrench = {'external_wrenches': ('wrenches', w.wrench)}
    plain = {
        'bias_force': 'q v',
        'center_of_mass': 'q',
        'coriolis_matrix': 'q v',
        'friction_force': 'v',
        'gibbs_function': 'q v a',
        'gibbs_gradient': 'q v a',
        'gravity_force': 'q',
        'kinetic_energy': 'q v',
        'mass_matrix': 'q',
        'momentum': 'q v',
        'momentum_matrix': 'q',
        'potential_energy': 'q',
    }
    found = [
        Call(f'kd.{name}', getattr(kd, name), {**robot, **_state(w, letters)})
        for name, letters in plain.items()
    ]
    found.append(
        Call(
            'kd.forward_kinematics',
            kd.forward_kinematics,
            {**robot, **_state(w, 'q v a')},
            optional=('v', 'a'),
        )
    )
    found.append(
        Call(
            'kd.taken_rows',
            kd.taken_rows,
            {**robot, **_state(w, 'q'), **rows, **_state(w, 'v'), **time},
            optional=('v',),
        )
    )
    # Gauss's function needs inertia in every direction, which a wheeled base in the plane lacks
    two = {name: ('vector', [0.1, 0.2]) for name in ('q', 'v', 'a', 'tau')}
    for name in ('gauss_function', 'gauss_gradient'):
        arguments = {'robot': ('robot', kd.serial_chain(2)), **two}
        found.append(Call(f'kd.{name}', getattr(kd, name), arguments))
    speeds = {'speeds': ('speeds', w.speeds)}
    return [
        *found,
        Call(
            'kd.inverse_dynamics', kd.inverse_dynamics, {**robot, **_state(w, 'q v a'), **wrench}
        ),
        Call(
            'kd.forward_dynamics',
            kd.forward_dynamics,
            {
                **robot,
                **_state(w, 'q v tau'),
                **rows,
                'method': ('choice', 'kane'),
                **speeds,
                **wrench,
                **time,
            },
        ),
        Call(
            'kd.constrained_inverse_dynamics',
            kd.constrained_inverse_dynamics,
            {
                **robot,
                **_state(w, 'q v a'),
                **rows,
                'actuated': ('names', w.robot.velocity_names[3:]),
                'weights': ('vector', np.ones(w.robot.nv)),
                'known': ('names', w.robot.velocity_names[3:]),
                'terms': ('names', ('gravity',)),
                **wrench,
                **time,
            },
            optional=('weights',),
        ),
        Call(
            'kd.consistent_acceleration',
            kd.consistent_acceleration,
            {
                **robot,
                **_state(w, 'q v a'),
                **rows,
                'known': ('names', w.robot.velocity_names[3:]),
                **time,
            },
            optional=('v',),
        ),
        Call(
            'kd.consistent_velocity',
            kd.consistent_velocity,
            {
                **robot,
                **_state(w, 'q v'),
                **rows,
                'known': ('names', w.robot.velocity_names[3:]),
                **time,
            },
        ),
        Call(
            'kd.integrate',
            kd.integrate,
            {**robot, **_state(w, 'q v'), 'dt': ('number', 0.1)},
        ),
        Call(
            'kd.orbital_wrenches',
            kd.orbital_wrenches,
            {
                **robot,
                **_state(w, 'q'),
                'centre': ('three', (0.0, 0.0, -1e7)),
                'mu': ('number', 4e14),
            },
        ),
        Call(
            'kd.wrenches_at_com',
            kd.wrenches_at_com,
            {**robot, 'wrenches': ('wrenches', w.wrench)},
        ),
        Call(
            'kd.partial_velocities',
            kd.partial_velocities,
            {**robot, **_state(w, 'q'), **speeds, **time},
        ),
        Call(
            'kd.generalized_speeds',
            kd.generalized_speeds,
            {
                **robot,
                'W': ('function', lambda q, t: np.eye(w.robot.nv)),
                'X': ('offset function', lambda q, t: np.zeros(w.robot.nv)),
                'names': ('labels', ()),
            },
        ),
        Call(
            'kd.defined_speeds',
            kd.defined_speeds,
            {
                **robot,
                'Y': ('function', lambda q, t: np.eye(w.robot.nv)),
                'Z': ('offset function', lambda q, t: np.zeros(w.robot.nv)),
                'names': ('labels', ()),
            },
        ),
        Call(
            'speeds.velocity',
            w.speeds.velocity,
            {'q': ('vector', w.q), 'u': ('vector', w.v), 't': ('number', 0.0)},
        ),
        Call(
            'speeds.speeds',
            w.speeds.speeds,
            {'q': ('vector', w.q), 'v': ('vector', w.v), 't': ('number', 0.0)},
        ),
        Call('kinematics.pose', w.kinematics.pose, {'link': ('name', w.links[-1])}),
        Call('kinematics.twist', w.kinematics.twist, {'link': ('name', w.links[-1])}),
        Call('kinematics.jacobian', w.kinematics.jacobian, {'link': ('name', w.links[-1])}),
        Call(
            'kinematics.acceleration', w.kinematics.acceleration, {'link': ('name', w.links[-1])}
        ),
    ]


def _compiled() -> list[Call]:
    w = world()
    plain = {
        'inverse_dynamics': 'q v a',
        'bias_force': 'q v',
        'gravity_force': 'q',
        'mass_matrix': 'q',
        'coriolis_matrix': 'q v',
        'kinetic_energy': 'q v',
        'potential_energy': 'q',
        'frame_poses': 'q',
        'acceleration': 'q v tau',
    }
    entries = [
        Call(
            f'fast.{name}',
            getattr(w.fast, name),
            {
                **{x: ('rows', value) for x, (_, value) in _state(w, letters).items()},
                'out': ('out', None),
            },
        )
        for name, letters in plain.items()
    ]
    return [
        *entries,
        Call(
            'fast.forward_dynamics',
            w.fast.forward_dynamics,
            {
                **_state(w, 'q v tau'),
                'time': ('number', 0.0),
                'method': ('choice', 'kane'),
                'speeds': ('speeds', w.speeds),
            },
        ),
        *(
            Call(
                f'fast.{name}',
                getattr(w.fast, name),
                {
                    **{x: ('rows', value) for x, (_, value) in _state(w, letters).items()},
                    **names,
                    'time': ('number', 0.0),
                },
            )
            for name, letters, names in (
                ('consistent_velocity', 'q v', {'known': ('names', w.robot.velocity_names[3:])}),
                (
                    'consistent_acceleration',
                    'q v a',
                    {'known': ('names', w.robot.velocity_names[3:])},
                ),
                (
                    'constrained_inverse_dynamics',
                    'q v a',
                    {
                        'actuated': ('names', w.robot.velocity_names[3:]),
                        'weights': ('vector', np.ones(w.robot.nv)),
                        'known': ('names', w.robot.velocity_names[3:]),
                        'terms': ('names', ('gravity',)),
                    },
                ),
            )
        ),
        Call(
            'fast.inverse_dynamics_derivatives',
            w.fast.inverse_dynamics_derivatives,
            {x: ('rows', value) for x, (_, value) in _state(w, 'q v a').items()},
        ),
        Call(
            'fast.forward_dynamics_derivatives',
            w.fast.forward_dynamics_derivatives,
            {
                **{x: ('rows', value) for x, (_, value) in _state(w, 'q v tau').items()},
                'time': ('number', 0.0),
            },
        ),
        Call(
            'fast.simulate',
            w.fast.simulate,
            {
                **_state(w, 'q v'),
                'duration': ('duration', 0.002),
                'effort': ('efforts', w.tau),
                'step': ('step', 0.001),
                'integrator': ('choice', 'rk4'),
            },
            optional=('effort',),
        ),
        Call('fast.engine', w.fast.engine, {'integrator': ('choice', 'rk4')}),
        Call('fast.set_gravity', w.fast.set_gravity, {'vector': ('three', w.robot.gravity)}),
        Call('fast.set_payload', w.fast.set_payload, _payload(w, 0.0)),
        Call(
            'kd.dynamics',
            kd.dynamics,
            {
                'robot': ('robot', w.robot),
                'constraints': ('constraints', [w.wheels]),
                'frames': ('names', w.links[:1]),
            },
        ),
        Call(
            'kd.compile',
            lambda robot, constraints, frames, payloads: kd.compile(
                robot, constraints, frames=frames, payloads=payloads, cache=False
            ),
            {
                'robot': ('robot', w.robot),
                'constraints': ('constraints', [w.wheels]),
                'frames': ('names', w.links[:1]),
                'payloads': ('names', w.links[:1]),
            },
        ),
        Call(
            'kd.casadi_function',
            kd.casadi_function,
            {
                'robot': ('robot', w.robot),
                'name': ('choice', 'mass_matrix'),
                'constraints': ('constraints', [w.wheels]),
                'frames': ('names', w.links[:1]),
            },
        ),
        Call(
            'kd.export_c',
            lambda robot, name, folder: kd.export_c(robot, name, folder),
            {
                'robot': ('robot', w.robot),
                'name': ('choice', 'mass_matrix'),
                'folder': ('folder', tempfile.gettempdir()),
            },
        ),
        Call(
            'kd.equations_of_motion',
            lambda robot, constraints: kd.equations_of_motion(robot, constraints, simplify=False),
            {'robot': ('robot', w.robot), 'constraints': ('constraints', [w.wheels])},
        ),
    ]


def _payload(w: World, mass: float) -> dict[str, tuple[str, Any]]:
    return {
        'frame': ('name', w.links[-1]),
        'mass': ('mass', mass),
        'com': ('three', (0.0, 0.0, 0.1)),
        'inertia': ('tensor', np.eye(3)),
    }


def _constraints() -> list[Call]:
    w = world()
    robot = {'robot': ('robot', w.robot)}
    arm = w.robot.joint_names[-1]
    row = np.ones((1, w.robot.nv))
    return [
        Call(
            'constraints.holonomic',
            C.holonomic,
            {
                **robot,
                'phi': ('function', lambda q, t: [q[3] - 2.0 * q[4]]),
                'label': ('label', 'rows'),
            },
        ),
        Call(
            'constraints.ConstraintSet',
            C.ConstraintSet,
            {**robot, 'constraints': ('constraints', [w.wheels])},
        ),
        Call(
            'constraints.rolling_ball',
            lambda robot, joint, radius: C.rolling_ball(robot, joint, radius),
            {'robot': ('robot', w.ball), 'joint': ('name', 'ball'), 'radius': ('step', 0.1)},
        ),
        Call('constraints.lock', C.lock, {**robot, 'joint': ('name', arm)}),
        Call(
            'constraints.coupling',
            C.coupling,
            {
                **robot,
                'joint': ('name', 'left'),
                'master': ('name', 'right'),
                'ratio': ('number', 2.0),
                'offset': ('number', 0.1),
            },
        ),
        Call(
            'constraints.loop_closure',
            C.loop_closure,
            {
                **robot,
                'frame_a': ('name', w.links[0]),
                'frame_b': ('name', w.links[-1]),
                'joint': ('choice', 'ball'),
            },
        ),
        Call(
            'constraints.no_side_slip',
            C.no_side_slip,
            {**robot, 'axle_offset': ('number', 0.1)},
        ),
        Call(
            'constraints.rolling_wheel',
            C.rolling_wheel,
            {**robot, 'joint': ('name', 'left'), 'radius': ('step', 0.1)},
        ),
        Call(
            'constraints.differential_drive',
            C.differential_drive,
            {
                **robot,
                'left': ('name', 'left'),
                'right': ('name', 'right'),
                'radius': ('step', 0.1),
            },
        ),
        Call(
            'constraints.pfaffian',
            C.pfaffian,
            {
                **robot,
                'A': ('function', lambda q, t: row),
                'b': ('function', lambda q, t: np.zeros(1)),
                'label': ('label', 'rows'),
            },
        ),
        Call(
            'constraints.nonlinear',
            C.nonlinear,
            {
                **robot,
                'phi': ('state function', lambda q, v, t: [v[0] * v[0] - v[1]]),
                'label': ('label', 'rows'),
            },
        ),
        Call(
            'constraints.acceleration_form',
            C.acceleration_form,
            {
                **robot,
                'A': ('matrix function', lambda q, v, t: row),
                'b': ('state function', lambda q, v, t: [0.0]),
                'label': ('label', 'rows'),
            },
        ),
    ]


def _time() -> list[Call]:
    w = world()
    timing = {'step': ('step', 0.001), 'integrator': ('choice', 'rk4')}
    return [
        Call(
            'kd.simulate',
            kd.simulate,
            {
                'robot': ('robot', w.robot),
                **_state(w, 'q v'),
                'duration': ('duration', 0.002),
                'effort': ('law', w.tau),
                'constraints': ('constraints', [w.wheels]),
                **timing,
            },
            optional=('effort',),
        ),
        Call(
            'kd.Simulation',
            kd.Simulation,
            {
                'robot': ('robot', w.robot),
                'constraints': ('constraints', [w.wheels]),
                **timing,
            },
        ),
        Call(
            'simulation.reset',
            w.simulation.reset,
            {**_state(w, 'q v'), 'time': ('number', 0.0)},
            optional=('q', 'v'),
        ),
        Call(
            'simulation.step',
            w.simulation.step,
            {'tau': ('vector', w.tau), 'n': ('count', 2)},
        ),
        Call(
            'simulation.project',
            kd.simulation.project,
            {
                'robot': ('robot', w.robot),
                'constraints': ('constraints', [w.wheels]),
                **_state(w, 'q v'),
                't': ('number', 0.0),
            },
        ),
    ]


def _models() -> list[Call]:
    w = world()
    urdf = '<robot name="one"><link name="base"/></robot>'
    joint = revolute('hinge')
    return [
        Call(
            'kd.load_urdf',
            kd.load_urdf,
            {
                'path_or_xml_text': ('path', urdf),
                'base': ('choice', 'fixed'),
                'locked_joints': ('names', ()),
                'gravity': ('three', (0.0, 0.0, -9.81)),
            },
        ),
        Call('kd.serial_chain', kd.serial_chain, {'n': ('count', 2), 'seed': ('count', 0)}),
        Call('robot.with_gravity', w.robot.with_gravity, {'gravity': ('three', (0.0, 0.0, 1.6))}),
        Call('robot.with_payload', w.robot.with_payload, _payload(w, 1.0)),
        Call('robot.moving_body', w.robot.moving_body, {'frame': ('name', w.links[0])}),
        Call('robot.frame', w.robot.frame, {'name': ('name', w.links[0])}),
        Call('robot.body_of_joint', w.robot.body_of_joint, {'joint': ('name', 'left')}),
        Call('robot.velocity_index', w.robot.velocity_index, {'name': ('name', 'left')}),
        Call('robot.coordinate_index', w.robot.coordinate_index, {'name': ('name', 'left')}),
        Call(
            'kd.Inertia',
            kd.Inertia,
            {
                'mass': ('mass', 1.0),
                'com': ('three', (0.0, 0.0, 0.1)),
                'tensor': ('tensor', np.eye(3)),
            },
        ),
        Call('kd.Revolute', kd.Revolute, {'axis': ('three', (0.0, 0.0, 1.0))}),
        Call('kd.Prismatic', kd.Prismatic, {'axis': ('three', (0.0, 0.0, 1.0))}),
        Call(
            'kd.Helical',
            kd.Helical,
            {'axis': ('three', (0.0, 0.0, 1.0)), 'pitch': ('number', 0.1)},
        ),
        Call(
            'kd.Joint',
            lambda armature, damping, friction: kd.Joint(
                'hinge', kd.Revolute(), armature=armature, damping=damping, friction=friction
            ),
            {'armature': ('mass', 0.1), 'damping': ('mass', 0.1), 'friction': ('mass', 0.1)},
        ),
        Call(
            'kd.Mimic',
            lambda ratio, offset: kd.Mimic('hinge', ratio, offset),
            {'ratio': ('number', 2.0), 'offset': ('number', 0.1)},
        ),
        Call(
            'kd.Robot',
            lambda bodies, gravity: kd.Robot('one', bodies, gravity),
            {
                'bodies': ('bodies', [kd.Body('link', '', joint, at(0, 0, 1), inertia(1.0))]),
                'gravity': ('three', (0.0, 0.0, -9.81)),
            },
        ),
    ]


def _no_numbers(n: int) -> dict[str, Any]:
    """Return what is no vector of n real numbers."""
    ones = np.ones(n)
    return {
        'none': None,
        'text': 'zeros',
        'numeric text': ['1'] * n,
        'complex': ones + 1j,
        'truth values': ones > 0.0,
        'a truth value': [True, *ones[1:]],
        'masked': np.ma.masked_array(ones, mask=ones > 0.0),
        'dates': np.full(n, np.datetime64('2020-01-01')),
        'a date': [datetime.date(2020, 1, 1), *ones[1:]],
        'records': np.zeros(n, dtype=[('x', float)]),
        'objects': np.array([object()] * n),
        'mapping': dict.fromkeys(range(n), 1.0),
        'ragged': [[1.0], [1.0, 2.0]],
        'the robot': world().robot,
    }


def wrong_values(call: Call, argument: str) -> dict[str, Any]:
    """Return what users pass by mistake for an argument, by what it is."""
    kind, right = call.arguments[argument]
    values = _wrong(kind, right)
    return {what: x for what, x in values.items() if not (x is None and argument in call.optional)}


def _wrong(kind: str, right: Any) -> dict[str, Any]:
    w = world()
    if kind in ('vector', 'rows', 'three'):
        n = len(right)
        values = _no_numbers(n) | {
            'one too many': np.ones(n + 1),
            'one too few': np.ones(n - 1),
            'a number': 1.0,
        }
        if kind == 'rows':
            return values | {
                'rows of the wrong length': np.ones((4, n + 1)),
                'three axes': np.ones((1, 1, n)),
            }
        nan, infinite = np.ones(n), np.ones(n)
        nan[-1], infinite[0] = np.nan, np.inf
        return values | {'nan': nan, 'infinite': infinite, 'a row': np.ones((1, n))}
    number = {
        'none': None,
        'text': 'a lot',
        'numeric text': '1',
        'nan': np.nan,
        'infinite': np.inf,
        'complex': 1j,
        'truth value': True,
        'several': [1.0, 2.0],
        'a function': len,
    }
    name = {'unknown': 'wheel_letf', 'none': None, 'number': 3, 'list': ['left'], 'empty': ''}
    function = {
        'number': 3.0,
        'text': 'A',
        'array': np.eye(3),
        'too few arguments': lambda: 0.0,
        'gives nothing': lambda *state: None,
        'gives text': lambda *state: 'rows',
        'gives too many': lambda *state: np.ones((2, 50)),
        'gives nan': lambda *state: np.full((1, w.robot.nv), np.nan),
    }
    found: dict[str, dict[str, Any]] = {
        'robot': {
            'none': None,
            'text': 'robot.urdf',
            'compiled': w.fast,
            'number': 3,
            'class': kd.Robot,
        },
        'constraints': {
            'one alone': w.wheels,
            'none': None,
            'text': 'wheels',
            'number': 3,
            'a none among them': [w.wheels, None],
            'names': ['wheels'],
            'the maker': [C.differential_drive],
            'of another robot': [w.of_arm],
        },
        'name': name,
        'names': {
            'one alone': 'left',
            'unknown': ['wheel_letf'],
            'numbers': [3],
            'nested': [['left']],
            'number': 3,
        },
        'labels': {'one alone': 'u', 'numbers': [3], 'too few': ['u'], 'number': 3},
        'label': {'number': 3, 'list': ['rows'], 'none': None},
        'choice': {'unknown': 'gaus', 'none': None, 'number': 3, 'list': ['kane']},
        'speeds': {'text': 'u', 'number': 3, 'function': len, 'array': np.eye(3)},
        'number': number,
        'step': {**number, 'zero': 0.0, 'negative': -0.1},
        'duration': {**number, 'negative': -1.0},
        'mass': {**number, 'negative': -0.1},
        'count': {**number, 'negative': -1, 'fraction': 1.5},
        'function': function,
        'state function': function,
        # traced once; that numbers are finite is known where they are used
        'offset function': {k: x for k, x in function.items() if k not in ('gives nan',)},
        'matrix function': {k: x for k, x in function.items() if k not in ('gives nan',)},
        'law': {
            **_no_numbers(w.robot.nv),
            'one too many': np.ones(w.robot.nv + 1),
            'nan': np.full(w.robot.nv, np.nan),
            **{what: x for what, x in function.items() if callable(x)},
        },
        'efforts': {
            **_no_numbers(w.robot.nv),
            'one too many': np.ones(w.robot.nv + 1),
            'nan': np.full(w.robot.nv, np.nan),
            'rows of no step': np.ones((7, w.robot.nv)),
            'a function': lambda t, q, v: w.tau,
        },
        'wrenches': {
            'list': [0.0] * 6,
            'text': 'push',
            'number': 3,
            'unknown link': {'tol': [0.0] * 6},
            'no name': {3: [0.0] * 6},
            'five numbers': {w.links[-1]: [0.0] * 5},
            'nan': {w.links[-1]: [np.nan] * 6},
            'complex': {w.links[-1]: [1j] * 6},
            'none in it': {w.links[-1]: None},
        },
        'out': {
            'list': [0.0] * 3,
            'wrong shape': np.empty(2),
            'integers': np.empty(w.robot.nv, dtype=int),
            'number': 3.0,
            'text': 'out',
        },
        'path': {
            'missing': 'no/such/robot.urdf',
            'package': 'package://some_robot/urdf/robot.urdf',
            'file url': 'file:///no/such/robot.urdf',
            'folder': '.',
            'empty': '',
            'none': None,
            'number': 3,
            'bytes': b'<robot name="one"/>',
            'robot': w.robot,
            'no xml': '<robot',
            'no robot': '<sdf/>',
            'no link': '<robot name="none"/>',
            'xacro': '<robot name="a"><link name="${x}"/></robot>',
        },
        'folder': {'missing': 'no/such/folder', 'none': None, 'number': 3, 'list': ['.']},
        'tensor': {**_no_numbers(3), 'vector': np.ones(3), 'not positive': -np.eye(3)},
        'bodies': {
            'none': None,
            'one alone': kd.Body('link', '', revolute('hinge')),
            'names': ['link'],
            'number': 3,
            'twice': [kd.Body('link', '', revolute('hinge'))] * 2,
            'no parent': [kd.Body('link', 'other', revolute('hinge'))],
        },
    }
    return found[kind]
