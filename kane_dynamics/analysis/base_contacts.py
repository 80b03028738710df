# SPDX-License-Identifier: Apache-2.0
"""What a wheeled base stands on: its wheels and supports, and what slides of a skid steer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from numpy.typing import ArrayLike

from kane_dynamics.analysis.ground_contacts import GroundContacts, ground_contacts, joint_of
from kane_dynamics.bases.reach import TwistReach
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.robot.checks import as_one

ACROSS = 'lateral'


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
    fixed = {wheel.joint for wheel in base.wheels if wheel.kind == 'fixed'}
    stands = ground_contacts(
        base.robot,
        base.constraints,
        casters={f'support {k}': (body, point) for k, point in enumerate(base.supports)},
        friction=friction,
        stiffness=stiffness,
        sliding=[_across(one) for one in rolling if skids and joint_of(one) in fixed],
    )
    return replace(stands, reach=TwistReach(base))


def _across(wheel: RollingWheel) -> RollingWheel:
    """Return the row of a wheel across its track."""
    return replace(wheel, labels=(f'{joint_of(wheel)}/{ACROSS}',), directions=(ACROSS,))
