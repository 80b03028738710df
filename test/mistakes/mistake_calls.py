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

import base_calls
import motion_calls
import numpy as np
import study_calls
from support.machines import DRIVE, at, differential_drive, inertia, planar_2r, revolute

import kane_dynamics as kd

C = kd.constraints
GROUPS = (base_calls, motion_calls, study_calls)


class Switching:
    """A simulation with events, as new for every call: names are taken once."""

    def __init__(self, robot: kd.Robot, wheels: Any) -> None:
        self.robot, self.wheels = robot, wheels

    @property
    def new(self) -> kd.EventSimulation:
        """Return a simulation with one part."""
        return kd.EventSimulation(self.robot, {'wheels': self.wheels})

    def add(self, name: Any, what: Any, limit: Any) -> None:
        """Add a part."""
        self.new.add(name, what, limit)

    def remove(self, name: Any) -> None:
        """Remove a part."""
        self.new.remove(name)

    def reset(self, q: Any, v: Any, time: Any) -> None:
        """Start again."""
        self.new.reset(q, v, time)

    def step(self, tau: Any, n: Any) -> None:
        """Advance."""
        self.new.step(tau, n)


class World:
    """Robots, constraints and states that the calls share; compiled without the cache."""

    def __init__(self) -> None:
        self.robot = differential_drive(damping=0.4)
        self.arm = planar_2r()
        self.wheels = C.differential_drive(self.robot, 'left', 'right', DRIVE['r'])
        self.ball = kd.Robot(
            'ball', [kd.Body('ball', '', kd.Joint('ball', kd.Free()), inertia=inertia(1.0))]
        )
        bar = kd.Body('bar', '', revolute('left', upper=1.0), inertia=inertia(1.0))
        self.hinge = kd.Robot('hinge', [bar])
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
        self.events = Switching(self.robot, self.wheels)
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


# function, and its arguments in order; those with ? may be None, see `_usual` and `_special`
CALLS = """
kd.bias_force robot q v out
kd.center_of_mass robot q out
kd.coriolis_matrix robot q v out
kd.friction_force robot v out
kd.gibbs_function robot q v a
kd.gibbs_gradient robot q v a
kd.gravity_force robot q out
kd.kinetic_energy robot q v out
kd.mass_matrix robot q out
kd.momentum robot q v out
kd.momentum_matrix robot q out
kd.potential_energy robot q out
kd.forward_kinematics robot q v? a?
kd.independent_rows robot q constraints v? time reference?
kd.gauss_function robot q v a tau
kd.gauss_gradient robot q v a tau
kd.inverse_dynamics robot q v a external_wrenches out
kd.forward_dynamics robot q v tau constraints method speeds external_wrenches time
kd.constrained_inverse_dynamics robot q v a constraints actuated weights? known terms \
 external_wrenches time reference?
kd.contact_forward_dynamics robot q v tau constraints contacts external_wrenches time
kd.impact robot q v constraints contacts restitution? law time dynamics
kd.consistent_acceleration robot q v? a constraints known time
kd.consistent_velocity robot q v constraints known time
kd.integrate robot q v dt
kd.orbital_wrenches robot q centre mu
kd.wrenches_at_com robot wrenches
kd.partial_velocities robot q speeds time
kd.generalized_speeds robot W X names
kd.generalized_speeds_from_definition robot Y Z names
speeds.velocity q u t
speeds.speeds q v t
kinematics.pose link
kinematics.twist link
kinematics.jacobian link
kinematics.acceleration link
fast.inverse_dynamics q v a out
fast.bias_force q v out
fast.gravity_force q out
fast.mass_matrix q out
fast.coriolis_matrix q v out
fast.kinetic_energy q v out
fast.potential_energy q out
fast.frame_poses q out
fast.acceleration q v tau out
fast.forward_dynamics q v tau time method speeds
fast.consistent_velocity q v known time
fast.consistent_acceleration q v a known time
fast.constrained_inverse_dynamics q v a actuated weights known terms time reference?
fast.limited_inverse_dynamics q v a actuated weights? limits? cones deviation? time
fast.inverse_dynamics_derivatives q v a
fast.forward_dynamics_derivatives q v tau time
fast.simulate q v duration effort? step integrator
fast.engine integrator
fast.set_gravity vector
fast.set_payload frame mass com inertia
kd.dynamics robot constraints frames
kd.compile robot constraints frames payloads precision
kd.casadi_function robot name constraints frames
kd.export_c robot name folder
kd.equations_of_motion robot constraints
constraints.holonomic robot phi label
constraints.ConstraintSet robot constraints
constraints.rolling_ball robot joint radius plane
constraints.knife_edge robot link point heading plane
constraints.lock robot joint
constraints.joint_limit robot joint side
constraints.point_contact robot link point normal offset
constraints.point_slip robot link point normal direction?
constraints.contact normal tangent? friction static_friction? restitution
constraints.traction slip load friction static_friction?
constraints.rolling_contact rolling friction static_friction? restitution
constraints.coupling robot joint master ratio offset
constraints.loop_closure robot frame_a frame_b joint
constraints.no_side_slip robot axle_offset
constraints.rolling_wheel robot joint radius plane tyre_radius
constraints.roller_wheel robot joint angle radius plane
constraints.differential_drive robot left right radius
constraints.pfaffian robot A b label
constraints.nonlinear robot phi label
constraints.acceleration_form robot A b label
kd.simulate robot q v duration effort? constraints step integrator passive_force?
kd.rollout dynamics q v duration effort step integrator gravity precision
kd.Simulation robot constraints step integrator passive_force?
simulation.reset q? v? time
simulation.step tau n
simulation.project robot constraints q v t
kd.load_mjcf path_or_xml_text
kd.load_urdf path_or_xml_text base locked_joints gravity
kd.load_robot name base locked_joints gravity
kd.serial_chain n seed
robot.with_gravity gravity
robot.with_payload frame mass com inertia
robot.moving_body frame
robot.frame name
robot.body_of_joint joint
robot.velocity_index name
robot.coordinate_index name
kd.Inertia mass com tensor
kd.Plane normal offset
kd.Revolute axis
kd.Prismatic axis
kd.Helical axis pitch
kd.Joint armature damping friction
kd.Mimic ratio offset
kd.Robot bodies gravity
kd.limited_inverse_dynamics robot q v a constraints actuated weights? limits? cones deviation? \
 external_wrenches time
kd.EventSimulation robot constraints? q? v? step dynamics? rest_speed law precompile?
events.reset q? v? time
events.add name what limit?
events.remove name
events.step tau n
kd.ground_wrench robot q v a external_wrenches about
kd.ground_contacts robot constraints casters? friction? stiffness? sliding
kd.wheel_forces robot q v a constraints actuated weights? casters? friction? stiffness? \
 sliding external_wrenches time
kd.base_ground_contacts base friction? stiffness?
"""


def listed() -> list[list[str]]:
    """Return the words of the tables: name of a call, and its arguments."""
    tables = '\n'.join(group.strip() for group in (CALLS, *(one.CALLS for one in GROUPS)))
    return [line.split() for line in tables.replace('\\\n', '').splitlines()]


@cache
def calls() -> tuple[Call, ...]:
    """Return all public calls with right arguments."""
    w = world()
    owners, special = {'kd': kd, 'constraints': C} | vars(w), _special(w)
    for group in GROUPS:
        owners |= vars(group.world())
        special |= group.arguments()
    usual, functions = _usual(w), _with_fewer_arguments()
    found = []
    for name, *words in listed():
        owner, _, attribute = name.partition('.')
        function = functions.get(name) or getattr(owners[owner], attribute)
        names = [word.removesuffix('?') for word in words]
        arguments = {
            x: special.get((name, x)) or special.get((owner, x)) or usual[x] for x in names
        }
        optional = tuple(x for x, word in zip(names, words, strict=True) if word != x)
        found.append(Call(name, function, arguments, optional))
    return tuple(found)


def _usual(w: World) -> dict[str, tuple[str, Any]]:
    """Return kind and right value of an argument by its name."""
    wheels = w.robot.velocity_names[3:]
    values: dict[str, dict[str, Any]] = {
        'robot': {'robot': w.robot},
        'vector': dict(q=w.q, v=w.v, a=w.a, tau=w.tau, u=w.v, reference=w.v)
        | dict.fromkeys(('weights', 'deviation'), np.ones(w.robot.nv))
        | {'limits': np.full(w.robot.nv, 1e3)},
        'constraints': {'constraints': [w.wheels], 'contacts': []},
        'number': dict(time=0.0, t=0.0, dt=0.1, mu=4e14, ratio=2.0, offset=0.1, axle_offset=0.1)
        | {'pitch': 0.1, 'restitution': 0.5, 'angle': 0.5},
        'wrenches': dict.fromkeys(('external_wrenches', 'wrenches'), w.wrench),
        'later': {'precompile': [C.lock(w.robot, 'left')]},
        'dynamics': {'dynamics': kd.dynamics(w.robot)},
        'choice': dict(
            method='kane', integrator='rk4', precision='float64', base='fixed', side='upper'
        ),
        'names': dict(actuated=wheels, known=wheels, terms=('gravity',), locked_joints=())
        | dict.fromkeys(('frames', 'payloads'), w.links[:1]),
        'labels': {'names': ()},
        'label': {'label': 'rows'},
        'cones': {'cones': (), 'sliding': ()},
        'casters': {'casters': {'caster': (w.links[0], (-0.3, 0.0, 0.0))}},
        'springs': {'stiffness': {'left': 1e4, 'right': 1e4, 'caster': 1e4}},
        'row': dict(tangent=C.lock(w.hinge, 'left'), slip=C.no_side_slip(w.robot))
        | dict(rolling=C.rolling_ball(w.ball, 'ball', 0.1)),
        'speeds': {'speeds': w.speeds},
        'three': dict(centre=(0.0, 0.0, -1e7), vector=w.robot.gravity, gravity=(0.0, 0.0, -9.81))
        | dict(com=(0.0, 0.0, 0.1), axis=(0.0, 0.0, 1.0), point=(0.1, 0.0, 0.0))
        | dict(normal=(0.0, 0.0, 1.0), about=(0.0, 0.0, 0.0))
        | dict.fromkeys(('direction', 'heading'), (1.0, 0.0, 0.0)),
        'tensor': dict.fromkeys(('inertia', 'tensor'), np.eye(3)),
        'mass': dict(mass=1.0, rest_speed=1e-3, armature=0.1, damping=0.1, friction=0.1)
        | dict(static_friction=0.2, load=5.0, tyre_radius=0.01),
        'plane': {'plane': kd.Plane()},
        'name': dict.fromkeys(('link', 'frame', 'frame_b'), w.links[-1])
        | dict(frame_a=w.links[0], joint='left', name='left', left='left')
        | dict.fromkeys(('master', 'right'), 'right'),
        'function': dict.fromkeys(('W', 'Y'), lambda q, t: np.eye(w.robot.nv))
        | dict(phi=lambda q, t: [q[3] - 2.0 * q[4]], A=lambda q, t: np.ones((1, w.robot.nv)))
        | dict(b=lambda q, t: np.zeros(1)),
        'offset function': dict.fromkeys(('X', 'Z'), lambda q, t: np.zeros(w.robot.nv)),
        'out': {'out': None},
        'duration': {'duration': 0.002},
        'step': dict(step=0.001, radius=0.1, limit=5.0),
        'law': {'effort': w.tau},
        'passive force': {'passive_force': lambda t, q, v: np.zeros(w.robot.nv)},
        'count': dict(n=2, seed=0),
        'folder': {'folder': tempfile.gettempdir()},
        'path': {'path_or_xml_text': '<robot name="one"><link name="base"/></robot>'},
        'bodies': {'bodies': [kd.Body('link', '', revolute('hinge'), at(0, 0, 1), inertia(1.0))]},
    }
    return {name: (kind, x) for kind, named in values.items() for name, x in named.items()}


def _special(w: World) -> dict[tuple[str, str], tuple[str, Any]]:
    """Return kinds and right values that are others for one function, or for one owner."""
    special: dict[tuple[str, str], tuple[str, Any]] = {
        ('fast.set_payload', 'mass'): ('mass', 0.0),
        ('fast.simulate', 'effort'): ('efforts', w.tau),
        ('kd.rollout', 'dynamics'): ('either engine', kd.dynamics(w.robot)),
        ('kd.rollout', 'effort'): ('rows', w.tau),
        ('kd.casadi_function', 'name'): ('choice', 'mass_matrix'),
        ('kd.export_c', 'name'): ('choice', 'mass_matrix'),
        ('kd.base_ground_contacts', 'base'): (
            'base',
            kd.bases.differential(w.robot, ['left'], ['right'], radius=DRIVE['r']),
        ),
        ('kd.base_ground_contacts', 'stiffness'): ('springs', {'left': 1e4, 'right': 1e4}),
        ('kd.base_ground_contacts', 'friction'): ('mu', 0.5),
        ('kd.ground_contacts', 'friction'): ('mu', 0.5),
        ('kd.wheel_forces', 'friction'): ('mu', {'left': (0.5, 0.4)}),
        ('kd.load_robot', 'name'): ('name', 'nonholonomic'),
        ('kd.load_robot', 'base'): ('chosen base', 'floating'),
        ('kd.impact', 'law'): ('choice', 'poisson'),
        ('kd.EventSimulation', 'constraints'): ('parts', {'wheels': w.wheels}),
        ('kd.EventSimulation', 'law'): ('choice', 'poisson'),
        ('events.add', 'name'): ('label', 'brake'),
        ('events.add', 'what'): ('row', C.lock(w.robot, 'left')),
        ('events.remove', 'name'): ('name', 'wheels'),
        ('robot.frame', 'name'): ('name', w.links[0]),
        ('fast', 'time'): ('times', 0.0),
        ('fast.forward_dynamics_derivatives', 'time'): ('number', 0.0),
        ('constraints.joint_limit', 'robot'): ('robot', w.hinge),
        ('constraints.contact', 'normal'): ('row', C.joint_limit(w.hinge, 'left', 'upper')),
        ('constraints.rolling_ball', 'robot'): ('robot', w.ball),
        ('constraints.rolling_ball', 'joint'): ('name', 'ball'),
        ('constraints.loop_closure', 'joint'): ('choice', 'ball'),
        ('constraints.nonlinear', 'phi'): ('state function', lambda q, v, t: [v[0] * v[0] - v[1]]),
        ('constraints.acceleration_form', 'A'): (
            'matrix function',
            lambda q, v, t: np.ones((1, w.robot.nv)),
        ),
        ('constraints.acceleration_form', 'b'): ('state function', lambda q, v, t: [0.0]),
    }
    for name, value in (('q', w.q), ('v', w.v), ('a', w.a), ('tau', w.tau)):
        special['fast', name] = ('rows', value)
        special['kd.rollout', name] = ('rows', value)
        special['fast.simulate', name] = ('vector', value)
        # Gauss's function needs inertia in every direction, which a wheeled base lacks
        for function in ('kd.gauss_function', 'kd.gauss_gradient'):
            special[function, 'robot'] = ('robot', kd.serial_chain(2))
            special[function, name] = ('vector', [0.1, 0.2])
    return special


def _with_fewer_arguments() -> dict[str, Any]:
    """Return functions with the arguments that are tried only."""
    return {
        'kd.rollout': lambda dynamics, q, v, duration, **how: kd.rollout(
            dynamics, q, v, duration, **how
        ),
        'kd.compile': lambda robot, constraints, frames, payloads, precision: kd.compile(
            robot,
            constraints,
            frames=frames,
            payloads=payloads,
            precision=precision,
            cache=False,
        ),
        'kd.export_c': lambda robot, name, folder: kd.export_c(robot, name, folder),
        'kd.equations_of_motion': lambda robot, constraints: kd.equations_of_motion(
            robot, constraints, simplify=False
        ),
        'constraints.rolling_ball': lambda robot, joint, radius, plane: C.rolling_ball(
            robot, joint, radius, plane=plane
        ),
        'simulation.project': kd.simulation.project,
        'kd.Joint': lambda armature, damping, friction: kd.Joint(
            'hinge', kd.Revolute(), armature=armature, damping=damping, friction=friction
        ),
        'kd.Mimic': lambda ratio, offset: kd.Mimic('hinge', ratio, offset),
        'kd.Robot': lambda bodies, gravity: kd.Robot('one', bodies, gravity),
    }


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
    found = (group.wrong(kind) for group in GROUPS)
    values = next((given for given in found if given), None) or _wrong(kind, right)
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
        'times': {what: x for what, x in number.items() if what != 'several'},
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
        'cones': {'none': None, 'text': 'wheels', 'number': 3, 'names': ['wheel']},
        'base': {'none': None, 'text': 'differential', 'number': 3, 'robot': w.robot},
        'casters': {
            'list': [(0.0, 0.0, 0.0)],
            'text': 'caster',
            'number': 3,
            'frame alone': {'caster': w.links[0]},
            'point alone': {'caster': (0.0, 0.0, 0.0)},
            'unknown frame': {'caster': ('hull', (0.0, 0.0, 0.0))},
            'no name of a frame': {'caster': (3, (0.0, 0.0, 0.0))},
            'no point': {'caster': (w.links[0], 'below')},
        },
        'mu': {
            'text': 'dry',
            'nan': np.nan,
            'negative': -0.1,
            'three': (0.1, 0.2, 0.3),
            'unknown contact': {'wheel_letf': 0.5},
            'text of one': {'left': 'dry'},
            'a function': len,
        },
        'springs': {
            'number': 1e4,
            'list': [1e4, 1e4],
            'text': 'stiff',
            'not of all': {'left': 1e4},
            'unknown contact': {'wheel_letf': 1e4},
            'zero': {'left': 0.0, 'right': 1e4, 'caster': 1e4},
            'none in it': {'left': None, 'right': 1e4, 'caster': 1e4},
        },
        'row': {
            'none': None,
            'text': 'ground',
            'number': 3,
            'the maker': C.point_contact,
            'several': [w.wheels],
        },
        'name': name,
        'plane': {
            'none': None,
            'text': 'ground',
            'normal': (0.0, 0.0, 1.0),
            'class': kd.Plane,
        },
        'parts': {
            'one alone': w.wheels,
            'list': [w.wheels],
            'text': 'wheels',
            'number': 3,
            'a none among them': {'wheels': None},
            'no name': {3: w.wheels},
            'of another robot': {'wheels': w.of_arm},
        },
        'later': {
            'one alone': w.wheels,
            'none': None,
            'text': 'wheels',
            'number': 3,
            'a none among them': [w.wheels, None],
            'of another robot': [w.of_arm],
        },
        'either engine': {'robot': w.robot, 'none': None, 'text': 'fast', 'number': 3, 'list': []},
        'dynamics': {
            'text': 'compiled',
            'number': 3,
            'the maker': kd.compile,
            'robot': w.robot,
            'with constraints': w.fast,
        },
        'names': {
            'one alone': 'left',
            'unknown': ['wheel_letf'],
            'numbers': [3],
            'nested': [['left']],
            'number': 3,
        },
        'labels': {'one alone': 'u', 'numbers': [3], 'too few': ['u'], 'number': 3},
        'label': {'number': 3, 'list': ['rows'], 'none': None},
        'chosen base': {'unknown': 'mobile', 'number': 3, 'list': ['fixed']},
        'choice': {'unknown': 'gaus', 'none': None, 'number': 3, 'list': ['kane']},
        'speeds': {'text': 'u', 'number': 3, 'function': len, 'array': np.eye(3)},
        'number': number,
        'step': {**number, 'zero': 0.0, 'negative': -0.1},
        'duration': {**number, 'negative': -1.0},
        'mass': {**number, 'negative': -0.1},
        'count': {**number, 'negative': -1, 'fraction': 1.5},
        'function': function,
        'state function': function,
        'passive force': {what: x for what, x in function.items() if not callable(x)}
        | {'too few arguments': function['too few arguments']},
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
