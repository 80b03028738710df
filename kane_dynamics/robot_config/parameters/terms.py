# SPDX-License-Identifier: Apache-2.0
"""Which terms of the dynamics are fed forward: parameters of all nodes that do so."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.spec import param


@dataclass(frozen=True)
class TermParameters:
    """Terms that are switched on, and joints that compensate gravity themselves."""

    terms_inertia: bool = param(
        True, 'Feed forward M(q) a of the reference.', name='terms.inertia'
    )
    terms_coriolis: bool = param(True, 'Feed forward C(q, v) v.', name='terms.coriolis')
    terms_gravity: bool = param(
        True, 'Feed forward g(q); false where the robot compensates gravity.', name='terms.gravity'
    )
    terms_friction: bool = param(
        True, 'Feed forward damping and Coulomb friction of the URDF.', name='terms.friction'
    )
    gravity_compensated_joints: tuple[str, ...] = param(
        ('',), 'Joints whose drive compensates gravity itself; g(q) is left out there.'
    )
