# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of mobile manipulators with exact constraints, in dual quaternion algebra.

``import kane_dynamics as kd``: load a robot with `load_urdf` or `load_robot`, then call the
functions below. SI units; quaternions are scalar first (w, x, y, z); vectors of twists are
(omega, v), of wrenches (tau, f). ROS is needed only by `kane_dynamics.ros`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kane_dynamics import bases, constraints, exceptions, simulation
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.contact_motion import ContactMotion
from kane_dynamics.algorithms.generalized_speeds import (
    GeneralizedSpeeds,
    defined_speeds,
    generalized_speeds,
)
from kane_dynamics.algorithms.impact import Impact
from kane_dynamics.algorithms.kinematics import Kinematics, forward_kinematics
from kane_dynamics.algorithms.limited_inverse import LimitedEffort
from kane_dynamics.algorithms.methods.motion import Motion
from kane_dynamics.algorithms.orbit import orbital_wrenches, wrenches_at_com
from kane_dynamics.algorithms.partial_velocities import PartialVelocity, partial_velocities
from kane_dynamics.constraints.friction_cones import FrictionCone
from kane_dynamics.constraints.plane import Plane
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.control.base_stance import base_stance
from kane_dynamics.control.contact_picture import ContactPicture, contact_picture
from kane_dynamics.control.ground_wrench import ground_wrench
from kane_dynamics.control.stance import Stance, stance
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.events import Event, EventSimulation
from kane_dynamics.functions.consistent import (
    consistent_acceleration,
    consistent_velocity,
    taken_rows,
)
from kane_dynamics.functions.constrained import (
    constrained_inverse_dynamics,
    forward_dynamics,
)
from kane_dynamics.functions.contacts import impact, least_constraint
from kane_dynamics.functions.limited import limited_inverse_dynamics
from kane_dynamics.functions.principles import (
    gauss_function,
    gauss_gradient,
    gibbs_function,
    gibbs_gradient,
)
from kane_dynamics.functions.terms import (
    bias_force,
    center_of_mass,
    coriolis_matrix,
    friction_force,
    gravity_force,
    integrate,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    momentum,
    momentum_matrix,
    potential_energy,
)
from kane_dynamics.model.body import Body, Frame, Joint, Mimic, WheelShape
from kane_dynamics.model.joint_kinds import (
    Cylindrical,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
)
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.sample_robots import serial_chain
from kane_dynamics.model.urdf import load_urdf
from kane_dynamics.reference_dynamics import dynamics
from kane_dynamics.simulation import Simulation, simulate

if TYPE_CHECKING:
    from kane_dynamics.kernels.compile_robot import compile_robot as compile
    from kane_dynamics.kernels.compiled import CompiledRobot
    from kane_dynamics.kernels.export import casadi_function, export_c
    from kane_dynamics.robot_text import load_robot
    from kane_dynamics.rollouts.result import Rollouts
    from kane_dynamics.rollouts.rollout import rollout
    from kane_dynamics.symbolic.equations import EquationsOfMotion, equations_of_motion

__version__ = '0.1.0'

# Imported when first used: CasADi and LLVM take as long as all the rest.
_LAZY = {
    'CompiledRobot': ('kernels.compiled', 'CompiledRobot'),
    'Rollouts': ('rollouts.result', 'Rollouts'),
    'EquationsOfMotion': ('symbolic.equations', 'EquationsOfMotion'),
    'casadi_function': ('kernels.export', 'casadi_function'),
    'compile': ('kernels.compile_robot', 'compile_robot'),
    'equations_of_motion': ('symbolic.equations', 'equations_of_motion'),
    'export_c': ('kernels.export', 'export_c'),
    'load_robot': ('robot_text', 'load_robot'),
    'rollout': ('rollouts.rollout', 'rollout'),
}

__all__ = [
    'Body',
    'CompiledRobot',
    'ConstrainedEffort',
    'ContactMotion',
    'ContactPicture',
    'Cylindrical',
    'Dynamics',
    'EquationsOfMotion',
    'Event',
    'EventSimulation',
    'Frame',
    'Free',
    'FrictionCone',
    'GeneralizedSpeeds',
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
    'Stance',
    'WheelShape',
    'base_stance',
    'bases',
    'bias_force',
    'casadi_function',
    'center_of_mass',
    'compile',
    'consistent_acceleration',
    'consistent_velocity',
    'constrained_inverse_dynamics',
    'constraints',
    'contact_picture',
    'coriolis_matrix',
    'defined_speeds',
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
    'gibbs_function',
    'gibbs_gradient',
    'gravity_force',
    'ground_wrench',
    'impact',
    'integrate',
    'inverse_dynamics',
    'kinetic_energy',
    'least_constraint',
    'limited_inverse_dynamics',
    'load_robot',
    'load_urdf',
    'mass_matrix',
    'momentum',
    'momentum_matrix',
    'orbital_wrenches',
    'partial_velocities',
    'potential_energy',
    'rollout',
    'serial_chain',
    'simulate',
    'simulation',
    'stance',
    'taken_rows',
    'wrenches_at_com',
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        known = exceptions.known_names(__all__, name)
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; {known}', name=name)
    module, attribute = _LAZY[name]
    value = getattr(import_module(f'{__name__}.{module}'), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith('__')), *__all__})
