# SPDX-License-Identifier: Apache-2.0
"""Kernels by name: their inputs, and which of them have what."""

from kane_dynamics.dynamics.table import AT_START, FUNCTIONS, ON_DEMAND

PRECISIONS = ('float64', 'float32')

INPUTS = {row.kernel: row.inputs for row in FUNCTIONS.values()} | {
    'external_force': ('q', 'wrenches'),
    'motion': ('q', 'v', 'tau', 'time'),
    'inertial_effort': ('q', 'a'),
    'coriolis_effort': ('q', 'v', 'x'),
    'balance_derivatives': ('q', 'v', 'a', 'lambda', 'time'),
    'effort_tangent': ('q', 'v', 'a', 'dq', 'dv'),
    'row_tangent': ('q', 'v', 'a', 'lambda', 'time', 'dq', 'dv'),
    'constraint_rows': ('q', 'v', 'time'),
    'row_table': ('q', 'v', 'time'),
    'gibbs_gradient': ('q', 'v', 'a'),
    'lagrange_terms': ('q', 'v'),
}
# Functions whose machine code is made with the robot's, by kernel: calls on plain arrays of one
# state go straight to it.
DIRECT = {row.kernel: row.name for row in FUNCTIONS.values() if row.compiled == AT_START}
# Kernels that solve for constraint rows, of those that have code in single precision.
SOLVES_ROWS = {
    'forward_dynamics',
    'consistent_velocity',
    'consistent_acceleration',
    'constrained_effort',
    'reference_effort',
}
IN_SINGLE = DIRECT.keys() | SOLVES_ROWS
# What robots have as straight-line code only: of larger ones it is numpy.
STRAIGHT_LINE_ONLY = (
    'forward_dynamics',
    *(row.name for row in FUNCTIONS.values() if row.compiled == ON_DEMAND and row.text),
    'constrained_inverse_dynamics',
    'frame_effort',
    'switched',
)
