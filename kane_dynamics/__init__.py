# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of mobile manipulators with exact constraints, in dual quaternion algebra.

``import kane_dynamics as kd``: load a robot with `load_urdf` or `load_robot`, then call the
functions below. SI units; quaternions are scalar first (w, x, y, z); vectors of twists are
(omega, v), of wrenches (tau, f). ROS is needed only by `kane_dynamics.ros`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kane_dynamics import constraints, exceptions, simulation
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.kinematics import Kinematics, forward_kinematics
from kane_dynamics.algorithms.limited_inverse import LimitedEffort
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.constraints.closed_contacts import FrictionCone
from kane_dynamics.constraints.contacts import Plane
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.dynamics.functions import (
    NAMES,
    bias_force,
    center_of_mass,
    consistent_acceleration,
    consistent_velocity,
    constrained_inverse_dynamics,
    coriolis_matrix,
    find_function,
    forward_dynamics,
    friction_force,
    gauss_function,
    gauss_gradient,
    gibbs_function,
    gibbs_gradient,
    gravity_force,
    integrate,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    momentum,
    momentum_matrix,
    potential_energy,
)
from kane_dynamics.dynamics.rows import independent_rows
from kane_dynamics.formulations.generalized_speeds import (
    GeneralizedSpeeds,
    generalized_speeds,
    generalized_speeds_from_definition,
)
from kane_dynamics.formulations.kane import PartialVelocity, partial_velocities
from kane_dynamics.formulations.orbit import orbital_wrenches, wrenches_at_com
from kane_dynamics.robot.body import Body, Frame, Joint, Mimic, WheelShape
from kane_dynamics.robot.joint_kinds import (
    Cylindrical,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
)
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf import load_urdf
from kane_dynamics.simulation import Simulation, simulate

if TYPE_CHECKING:
    from kane_dynamics import bases
    from kane_dynamics.algorithms.frictional_contact import ContactMotion
    from kane_dynamics.algorithms.impact import Impact
    from kane_dynamics.analysis.contact_builders import base_ground_contacts, ground_contacts
    from kane_dynamics.analysis.ground_contacts import GroundContacts
    from kane_dynamics.analysis.normal_forces import ground_wrench
    from kane_dynamics.analysis.wheel_forces import WheelForces, wheel_forces
    from kane_dynamics.compiler.compile_robot import compile_robot as compile
    from kane_dynamics.compiler.compiled import CompiledDynamics
    from kane_dynamics.compiler.export import casadi_function, export_c
    from kane_dynamics.dynamics.contacts import (
        contact_forward_dynamics,
        impact,
        limited_inverse_dynamics,
    )
    from kane_dynamics.dynamics.interface import dynamics  # the module, which can be called
    from kane_dynamics.events import Event, EventSimulation
    from kane_dynamics.robot.mjcf import load_mjcf
    from kane_dynamics.robot.sample_robots import serial_chain
    from kane_dynamics.robot.text import load_robot
    from kane_dynamics.rollouts.rollout import rollout
    from kane_dynamics.rollouts.steps import Rollouts
    from kane_dynamics.symbolic.equations import EquationsOfMotion, equations_of_motion

__version__ = '0.2.0'

# Imported when first used: what code from the cache does without takes longer than that.
_LAZY = {
    'CompiledDynamics': ('compiler.compiled', 'CompiledDynamics'),
    'ContactMotion': ('algorithms.frictional_contact', 'ContactMotion'),
    'EquationsOfMotion': ('symbolic.equations', 'EquationsOfMotion'),
    'Event': ('events', 'Event'),
    'EventSimulation': ('events', 'EventSimulation'),
    'GroundContacts': ('analysis.ground_contacts', 'GroundContacts'),
    'Impact': ('algorithms.impact', 'Impact'),
    'Rollouts': ('rollouts.steps', 'Rollouts'),
    'WheelForces': ('analysis.wheel_forces', 'WheelForces'),
    'base_ground_contacts': ('analysis.contact_builders', 'base_ground_contacts'),
    'bases': ('bases', ''),
    'casadi_function': ('compiler.export', 'casadi_function'),
    'compile': ('compiler.compile_robot', 'compile_robot'),
    'contact_forward_dynamics': ('dynamics.contacts', 'contact_forward_dynamics'),
    'equations_of_motion': ('symbolic.equations', 'equations_of_motion'),
    'export_c': ('compiler.export', 'export_c'),
    'ground_contacts': ('analysis.contact_builders', 'ground_contacts'),
    'ground_wrench': ('analysis.normal_forces', 'ground_wrench'),
    'impact': ('dynamics.contacts', 'impact'),
    'limited_inverse_dynamics': ('dynamics.contacts', 'limited_inverse_dynamics'),
    'load_mjcf': ('robot.mjcf', 'load_mjcf'),
    'load_robot': ('robot.text', 'load_robot'),
    'mujoco': ('mujoco', ''),
    'rollout': ('rollouts.rollout', 'rollout'),
    'serial_chain': ('robot.sample_robots', 'serial_chain'),
    'wheel_forces': ('analysis.wheel_forces', 'wheel_forces'),
}

__all__ = [
    'Body',
    'CompiledDynamics',
    'ConstrainedEffort',
    'ContactMotion',
    'Cylindrical',
    'Dynamics',
    'EquationsOfMotion',
    'Event',
    'EventSimulation',
    'Frame',
    'Free',
    'FrictionCone',
    'GeneralizedSpeeds',
    'GroundContacts',
    'Helical',
    'Impact',
    'Inertia',
    'Joint',
    'Kinematics',
    'LimitedEffort',
    'Mimic',
    'Motion',
    'PartialVelocity',
    'Planar',
    'Plane',
    'Pose',
    'Prismatic',
    'Revolute',
    'Robot',
    'Rollouts',
    'RowSelection',
    'Simulation',
    'Spherical',
    'WheelForces',
    'WheelShape',
    'base_ground_contacts',
    'bases',
    'bias_force',
    'casadi_function',
    'center_of_mass',
    'compile',
    'consistent_acceleration',
    'consistent_velocity',
    'constrained_inverse_dynamics',
    'constraints',
    'contact_forward_dynamics',
    'coriolis_matrix',
    'dynamics',
    'equations_of_motion',
    'exceptions',
    'export_c',
    'forward_dynamics',
    'forward_kinematics',
    'friction_force',
    'gauss_function',
    'gauss_gradient',
    'generalized_speeds',
    'generalized_speeds_from_definition',
    'gibbs_function',
    'gibbs_gradient',
    'gravity_force',
    'ground_contacts',
    'ground_wrench',
    'impact',
    'independent_rows',
    'integrate',
    'inverse_dynamics',
    'kinetic_energy',
    'limited_inverse_dynamics',
    'load_mjcf',
    'load_robot',
    'load_urdf',
    'mass_matrix',
    'momentum',
    'momentum_matrix',
    'mujoco',
    'orbital_wrenches',
    'partial_velocities',
    'potential_energy',
    'rollout',
    'serial_chain',
    'simulate',
    'simulation',
    'wheel_forces',
    'wrenches_at_com',
]


def __getattr__(name: str) -> Any:
    if (function := find_function(name)) is not None:  # of the table, without a line above
        return globals().setdefault(name, function)
    if name not in _LAZY:
        known = exceptions.known_names(__all__, name)
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; {known}', name=name)
    module, attribute = _LAZY[name]
    value = import_module(f'{__name__}.{module}')
    value = getattr(value, attribute) if attribute else value
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith('__')), *__all__, *NAMES})
