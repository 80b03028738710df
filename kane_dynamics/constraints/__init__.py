# SPDX-License-Identifier: Apache-2.0
"""Exact constraints A(q, t) v = b_0(q, t): wheels, locks, couplings, loops, users' own rows."""

from kane_dynamics.constraints.base import Constraint, ConstraintRows, Row
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.contacts import GROUND, Plane, point_contact
from kane_dynamics.constraints.dry_friction import (
    Contact,
    contact,
    point_slip,
    rolling_contact,
    traction,
)
from kane_dynamics.constraints.joints import coupling, joint_limit, lock
from kane_dynamics.constraints.loops import loop_closure
from kane_dynamics.constraints.pfaffian import holonomic, pfaffian
from kane_dynamics.constraints.rolling_wheels import roller_wheel, rolling_ball, rolling_wheel
from kane_dynamics.constraints.traced_rows import acceleration_form, nonlinear
from kane_dynamics.constraints.wheels import differential_drive, knife_edge, no_side_slip

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
