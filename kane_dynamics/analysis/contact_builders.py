# SPDX-License-Identifier: Apache-2.0
"""Ground contacts of a robot: wheels, from their constraint rows, and casters."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kane_dynamics.analysis.contact_friction import (
    common_normal,
    friction_pair,
    joint_of,
    placed_casters,
    spring_array,
)
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.bases.block import TwistReach
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.constraints.wheels import NoSideSlip
from kane_dynamics.dynamics.interface import dynamics
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.body import check_unique
from kane_dynamics.robot.checks import as_one, as_several
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike


def ground_contacts(
    robot: Robot,
    constraints: Sequence[Constraint],
    *,
    casters: Mapping[str, tuple[str, ArrayLike]] | None = None,
    friction: float | ArrayLike | Mapping[str, float | ArrayLike] | None = None,
    stiffness: Mapping[str, float] | None = None,
    sliding: Sequence[RollingWheel] = (),
) -> GroundContacts:
    """
    Return what a robot stands on: loads, margins and friction follow from it.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Of the robot; those of wheels and balls say where it touches the ground. The side force of
        `no_side_slip`, also in `differential_drive`, is shared evenly by the wheels without a
        lateral row, by all if each has one. Forces of other rows count, but are no wheel's.
    casters : mapping of str to (str, array_like), optional
        Massless casters without friction, by name: a frame and the point, in its axes [m], where
        it touches the ground.
    friction : float, (float, float), or mapping of str to these, optional
        mu, or mu along and across the track, of all contacts or by name.
    stiffness : mapping of str to float, optional
        Of suspension and tyre of each contact along the normal [N/m].
    sliding : sequence of RollingWheel
        Directions along which wheels slide against dry friction instead of rolling, e.g.
        ``rolling_wheel(...).only('lateral')`` of the wheels of a skid steer.

    Raises
    ------
    NameNotFoundError
        If a frame or contact does not exist.
    InvalidInputError
        If a number is not finite, negative, or missing (friction of what slides, stiffness of one
        contact); or two contacts have one name.
    ConstraintError
        If a side force has no wheel to act on, a wheel both rolls and slides along a direction, or
        wheels stand on planes with different normals.

    """
    several = ConstraintSet.of(robot, constraints)
    rolling = several.wheels
    slides = {joint_of(wheel): wheel for wheel in as_several(RollingWheel, 'sliding', sliding)}
    for joint, wheel in slides.items():
        both = sorted(set(wheel.labels) & set(several.labels))
        if both:
            raise ConstraintError(f"wheel '{joint}' rolls and slides along the same: {both}")
    if not rolling and any(isinstance(part, NoSideSlip) for part in several.parts):
        raise ConstraintError('the force of no_side_slip has no wheel to act on, none rolls')
    on_joints = {joint_of(wheel): wheel for wheel in rolling}
    wheels = on_joints | {joint: slides[joint] for joint in slides if joint not in on_joints}
    placed = placed_casters(robot, casters)
    names = (*wheels, *placed)
    check_unique('contact', names)
    coefficients = np.array([friction_pair(name, friction, names) for name in names])
    unknown = [name for name in slides if np.isnan(coefficients[names.index(name)]).any()]
    if unknown:
        raise InvalidInputError(f'friction: need that of wheels that slide, {unknown}')
    touching = [robot.bodies[wheel.wheel.body].name for wheel in wheels.values()]
    touching += [robot.bodies[frame.body].name for frame in placed.values()]
    return GroundContacts(
        dynamics(robot, several, frames=tuple(dict.fromkeys(touching))),
        names,
        wheels,
        slides,
        placed,
        coefficients.reshape(-1, 2),
        None if stiffness is None else spring_array(stiffness, names),
        common_normal(wheels),
    )


def base_ground_contacts(
    base: WheeledBase,
    *,
    friction: float | ArrayLike | Mapping[str, float | ArrayLike] | None = None,
    stiffness: Mapping[str, float] | None = None,
) -> GroundContacts:
    """
    Return what a mobile base stands on, see `ground_contacts`.

    Its supports are the contacts 'support 0', 'support 1', ...; wheels of a skid steer slide
    across their track.

    Parameters
    ----------
    base : WheeledBase
        From `bases.differential`, `bases.mecanum`, ...
    friction, stiffness
        As for `ground_contacts`.

    Raises
    ------
    NameNotFoundError, InvalidInputError, ConstraintError
        As for `ground_contacts`; or if `base` is none.

    """
    as_one(WheeledBase, 'base', base, 'what bases.differential etc. return')
    body = base.robot.bodies[0].name
    skids = base.kind == 'skid_steer'
    rolling = [one for one in base.constraints if isinstance(one, RollingWheel)]
    fixed = {wheel.joint for wheel in base.wheels if wheel.kind == 'fixed' and skids}
    stands = ground_contacts(
        base.robot,
        base.constraints,
        casters={f'support {k}': (body, point) for k, point in enumerate(base.supports)},
        friction=friction,
        stiffness=stiffness,
        sliding=[
            replace(one, labels=(f'{joint_of(one)}/lateral',), directions=('lateral',))
            for one in rolling
            if joint_of(one) in fixed
        ],
    )
    return replace(stands, reach=TwistReach(base))
