# SPDX-License-Identifier: Apache-2.0
"""What `EventSimulation` checks before it begins with something."""

from __future__ import annotations

from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.events.named_constraints import NamedConstraint
from kane_dynamics.events.root_finding import State
from kane_dynamics.events.transition import TOUCHING
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.reference_dynamics import dynamics as reference
from kane_dynamics.robot.robot import Robot

_ON_CONSTRAINT = 1e-6  # [m or rad] that a constraint may be violated by when it is imposed


def free_dynamics(robot: Robot, values: Dynamics | None) -> Dynamics:
    """
    Return dynamics without constraints, of the robot.

    Raises
    ------
    InvalidInputError
        If they have constraints or an effort law, or are those of another robot.

    """
    if values is None:
        return reference(robot)
    if checked_dynamics(values).constraints:
        raise InvalidInputError(
            f'dynamics: need those without constraints, got {list(values.labels)}; name them as '
            'parts of the simulation'
        )
    if getattr(values, 'effort', None) is not None:
        raise InvalidInputError(
            'dynamics: need those without an effort law; give efforts to each step instead'
        )
    if values.robot.kinematic_key != robot.kinematic_key:
        raise InvalidInputError(f"dynamics: need those of '{robot.name}', got another robot's")
    return values


def check_place(robot: Robot, part: NamedConstraint, state: State) -> None:
    """
    Check that a part can begin at a place.

    Raises
    ------
    ConstraintError
        If a constraint is violated, or a contact below zero.

    """
    distance = part.contact.normal if part.contact else None
    selection = [rows for rows in (part.held, distance) if rows is not None]
    rows = ConstraintSet(robot, selection).rows(*state)
    for label, position in zip(rows.labels, rows.positions, strict=True):
        if position is None:
            continue
        if part.held is not None and abs(position) > _ON_CONSTRAINT:
            raise ConstraintError(
                f"'{part.name}': row '{label}' is violated by {position:.3g} at this place; move "
                'the robot onto it first'
            )
        if distance is not None and position < -TOUCHING:
            raise ConstraintError(
                f"'{part.name}': the distance '{label}' is {position:.3g}, below zero"
            )
