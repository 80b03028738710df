# SPDX-License-Identifier: Apache-2.0
"""Exact constraints A(q, t) v = b_0(q, t): wheels, locks, couplings, loops, users' own rows."""

from kane_dynamics.constraints.base import Constraint, ConstraintRows, Row
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.contacts import joint_limit, point_contact
from kane_dynamics.constraints.dry_friction import (
    Contact,
    contact,
    point_slip,
    rolling_contact,
    traction,
)
from kane_dynamics.constraints.holonomic import holonomic
from kane_dynamics.constraints.joints import coupling, lock
from kane_dynamics.constraints.knife_edge import knife_edge
from kane_dynamics.constraints.loops import loop_closure
from kane_dynamics.constraints.nonlinear import acceleration_form, nonlinear
from kane_dynamics.constraints.pfaffian import pfaffian
from kane_dynamics.constraints.plane import GROUND, Plane
from kane_dynamics.constraints.rolling_wheels import roller_wheel, rolling_ball, rolling_wheel
from kane_dynamics.constraints.wheels import differential_drive, no_side_slip

__all__ = [
    'GROUND',
    'Constraint',
    'ConstraintRows',
    'ConstraintSet',
    'Contact',
    'Plane',
    'Row',
    'acceleration_form',
    'contact',
    'coupling',
    'differential_drive',
    'holonomic',
    'joint_limit',
    'knife_edge',
    'lock',
    'loop_closure',
    'no_side_slip',
    'nonlinear',
    'pfaffian',
    'point_contact',
    'point_slip',
    'roller_wheel',
    'rolling_ball',
    'rolling_contact',
    'rolling_wheel',
    'traction',
]
