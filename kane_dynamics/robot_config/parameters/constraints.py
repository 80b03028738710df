# SPDX-License-Identifier: Apache-2.0
"""The parameters of each constraint of the simulator that comes and goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kane_dynamics.robot_config.parameters.spec import Spec, fixed, specs

KINDS = (
    'lock',
    'coupling',
    'no_side_slip',
    'rolling',
    'roller',
    'joint_stop',
    'point_contact',
    'loop_closure',
)
BEYOND = (0.0, 1e9)


@dataclass(frozen=True)
class ConstraintParameters:
    """Parameters of one constraint, ``constraints.<constraint>.*``."""

    type: str = fixed(
        'lock',
        'What it is: lock (of joint), coupling (joint to master), no_side_slip (of a planar '
        'base), rolling (of the wheel on joint), roller (of a wheel with rollers on joint), '
        'joint_stop (joint at its limit side), point_contact (a point of link over a plane), '
        'loop_closure (link fixed to other_link).',
        choices=KINDS,
    )
    active: bool = fixed(True, 'Whether it holds from the start and after ~/reset.')
    joint: str = fixed('', 'Name of the joint.')
    side: str = fixed('upper', 'End of the range of a joint_stop.', choices=('lower', 'upper'))
    master: str = fixed('', 'Joint that a coupled one follows.')
    ratio: float = fixed(1.0, 'Of a coupling: position of joint per position of master.')
    link: str = fixed('', 'Link of a point_contact or loop_closure.')
    other_link: str = fixed('', 'Link, or part of the world, that a loop_closure holds link to.')
    point: tuple[float, ...] = fixed(
        (0.0, 0.0, 0.0), 'Point of a point_contact in the frame of link.', unit='m', size=3
    )
    normal: tuple[float, ...] = fixed(
        (0.0, 0.0, 1.0),
        'Normal of the plane of a point_contact, or that a wheel rolls on, towards the free side.',
        size=3,
    )
    tyre_radius: float = fixed(
        0.0,
        'Of rolling: radius of the cross-section of a round tyre, less than that of its wheel.',
        unit='m',
        bounds=BEYOND,
    )
    roller_angle: float = fixed(
        0.0,
        'Of a roller wheel: from its forward direction to the axis of the roller on the ground, '
        'counterclockwise seen from above; 0: omni wheel.',
        unit='rad',
        bounds=(-3.2, 3.2),
    )
    offset: float = fixed(
        0.0,
        'Distance of the plane from the origin along its normal; of a coupling: position of joint '
        'where master is at 0; of no_side_slip: x of the axle.',
        unit='m (rad)',
    )
    friction: float = fixed(
        0.0,
        "Coulomb's coefficient of rolling and of a point_contact; 0: rolling holds without limit, "
        'a point_contact is smooth.',
        bounds=BEYOND,
    )
    load: float = fixed(
        0.0, 'Normal force of rolling with friction on a planar base.', unit='N', bounds=BEYOND
    )
    restitution: float = fixed(
        0.0, 'Of a joint_stop or a point_contact that strikes.', bounds=(0.0, 1.0)
    )
    limit: float = fixed(
        0.0,
        'Norm of the forces beyond which it lets go; 0: never. Not of contacts and rolling with '
        'friction.',
        unit='N or N m',
        bounds=BEYOND,
    )


CONSTRAINT_SPECS: tuple[Spec, ...] = tuple(
    replace(spec, name=f'constraints.<constraint>.{spec.name}')
    for spec in specs(ConstraintParameters)
)
