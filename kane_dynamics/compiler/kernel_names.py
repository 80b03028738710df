# SPDX-License-Identifier: Apache-2.0
"""Names of kernels and of their inputs, and which of them have what."""

PRECISIONS = ('float64', 'float32')

INPUTS = {
    'inverse_dynamics': ('q', 'v', 'a'),
    'bias_force': ('q', 'v'),
    'gravity_force': ('q',),
    'mass_matrix': ('q',),
    'coriolis_matrix': ('q', 'v'),
    'kinetic_energy': ('q', 'v'),
    'potential_energy': ('q',),
    'frame_poses': ('q',),
    'frame_jacobians': ('q',),
    'frame_bias_accelerations': ('q', 'v'),
    'center_of_mass': ('q',),
    'momentum': ('q', 'v'),
    'momentum_matrix': ('q',),
    'external_force': ('q', 'wrenches'),
    'forward_dynamics': ('q', 'v', 'tau', 'time'),
    'motion': ('q', 'v', 'tau', 'time'),
    'inertial_effort': ('q', 'a'),
    'coriolis_effort': ('q', 'v', 'x'),
    'balance_derivatives': ('q', 'v', 'a', 'lambda', 'time'),
    'effort_tangent': ('q', 'v', 'a', 'dq', 'dv'),
    'row_tangent': ('q', 'v', 'a', 'lambda', 'time', 'dq', 'dv'),
    'constraint_rows': ('q', 'v', 'time'),
    'row_table': ('q', 'v', 'time'),
    'multipliers': ('q', 'v', 'tau', 'time'),
    'gibbs_gradient': ('q', 'v', 'a'),
    'lagrange_terms': ('q', 'v'),
    'consistent_velocity': ('q', 'v', 'time'),
    'consistent_acceleration': ('q', 'v', 'a', 'time'),
    'constrained_effort': ('q', 'v', 'a', 'weights', 'terms', 'time'),
    'reference_effort': ('q', 'v', 'reference', 'a', 'weights', 'terms', 'time'),
    'frame_effort': ('q', 'v', 'a', 'wanted', 'gains', 'posture', 'weights', 'terms', 'time'),
}
# Kernels whose method takes arrays alone, or more that its Python form knows.
PLAIN = {
    'inverse_dynamics',
    'bias_force',
    'gravity_force',
    'mass_matrix',
    'coriolis_matrix',
    'kinetic_energy',
    'potential_energy',
    'frame_poses',
    'forward_dynamics',
}
# Kernels that have code in single precision too, where it is asked for.
IN_SINGLE = PLAIN | {
    'consistent_velocity',
    'consistent_acceleration',
    'constrained_effort',
    'reference_effort',
}
# What robots have as straight-line code only: of larger ones it is numpy.
STRAIGHT_LINE_ONLY = (
    'forward_dynamics',
    'multipliers',
    'consistent_velocity',
    'consistent_acceleration',
    'constrained_inverse_dynamics',
    'frame_effort',
    'frame_jacobians',
    'frame_bias_accelerations',
    'center_of_mass',
    'momentum',
    'momentum_matrix',
    'switched',
)
# Those of them that solve for constraint rows.
SOLVES_ROWS = IN_SINGLE - PLAIN | {'forward_dynamics'}
