# SPDX-License-Identifier: Apache-2.0
"""
The contact picture: normal, longitudinal and lateral force of each wheel, and tip-over margins.

Tractions are the multipliers of the constraint rows in `constrained_inverse_dynamics`, or friction
where wheels slide; normal forces share what the ground must give (`normal_forces`), or are
multipliers too, where joints such as rockers determine them (`row_loads`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algebra.scalars import cos, sin
from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.newton_euler import ExternalWrenches
from kane_dynamics.analysis.ground_contacts import (
    GroundContacts,
    ground_contacts,
    joint_of,
    parts_of,
)
from kane_dynamics.analysis.ground_wrench import ground_wrench
from kane_dynamics.analysis.normal_forces import EXACT, NormalForces, normal_forces
from kane_dynamics.analysis.row_forces import with_joints
from kane_dynamics.analysis.sliding_friction import friction_wrench
from kane_dynamics.analysis.tip_over import TipOver, tip_over
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.constraints.wheels import NoSideSlip
from kane_dynamics.functions.constrained import constrained_inverse_dynamics
from kane_dynamics.functions.terms import center_of_mass
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import Floats

ALONG = 'longitudinal'


@dataclass(frozen=True, eq=False, slots=True)
class ContactForce:
    """
    The force of the ground on a wheel or caster.

    Parameters
    ----------
    name : str
        Joint of the wheel, or name of the caster.
    point : ndarray, shape (3,)
        Where it touches, world axes [m].
    force : ndarray, shape (3,)
        The whole force, world axes [N].
    normal, longitudinal, lateral : float
        Its parts: pressing; along the track, to where the wheel rolls that turns forward about its
        axis; and to the left of that [N]. Of balls along x and y of the world.
    friction : ndarray, shape (2,)
        mu along and across the track.

    """

    name: str
    point: Floats
    force: Floats
    normal: float
    longitudinal: float
    lateral: float
    friction: Floats

    @property
    def use(self) -> float:
        """
        Return the part of the friction that is used: it slips at 1.

        |traction|/(mu N), with mu along and across as half axes of an ellipse; NaN where mu is not
        known, infinite where there is traction without mu N.
        """
        if np.isnan(self.friction).any():
            return np.nan
        traction, most = np.array([self.longitudinal, self.lateral]), self.friction * self.normal
        with np.errstate(divide='ignore'):
            parts = np.divide(traction, most, out=np.zeros(2), where=traction != 0.0)
        return float(np.linalg.norm(parts))


@dataclass(frozen=True, eq=False, slots=True)
class WheelForces:
    """
    Forces of all contacts, and how far the robot is from tipping.

    Parameters
    ----------
    contacts : mapping of str to ContactForce
        By name.
    loads : NormalForces
        Normal forces in the same order, and what they follow from.
    margins : TipOver
        Tip-over margins.
    effort : ConstrainedEffort
        Efforts of the actuated joints and multipliers of the rows.

    """

    contacts: Mapping[str, ContactForce]
    loads: NormalForces
    margins: TipOver
    effort: ConstrainedEffort

    @property
    def use(self) -> float:
        """Return the largest part of the friction that a contact uses; NaN if one is not known."""
        return float(np.max([contact.use for contact in self.contacts.values()]))


def wheel_forces(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    actuated: Sequence[str],
    weights: ArrayLike | None = None,
    *,
    casters: Mapping[str, tuple[str, ArrayLike]] | None = None,
    friction: float | ArrayLike | Mapping[str, float | ArrayLike] | None = None,
    stiffness: Mapping[str, float] | None = None,
    sliding: Sequence[RollingWheel] = (),
    external_wrenches: Mapping[str, ArrayLike] | None = None,
    time: float = 0.0,
) -> WheelForces:
    """
    Return normal, longitudinal and lateral force of each wheel of a motion, and tip-over margins.

    Parameters
    ----------
    robot, q, v, a, constraints, actuated, weights, external_wrenches, time
        As for `constrained_inverse_dynamics`.
    casters, friction, stiffness, sliding
        As for `ground_contacts`.

    Raises
    ------
    InvalidInputError, NameNotFoundError, ConstraintError
        As for `constrained_inverse_dynamics` and `ground_contacts`.
    UnreachableAccelerationError, InconsistentConstraintsError
        As for `constrained_inverse_dynamics`.

    """
    contacts = ground_contacts(
        robot,
        constraints,
        casters=casters,
        friction=friction,
        stiffness=stiffness,
        sliding=sliding,
    )
    return picture_of(contacts, q, v, a, actuated, weights, external_wrenches, time)


def picture_of(
    contacts: GroundContacts,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    actuated: Sequence[str],
    weights: ArrayLike | None = None,
    external_wrenches: Mapping[str, ArrayLike] | None = None,
    time: float = 0.0,
) -> WheelForces:
    """Return the contact picture of a stance; parameters and errors as for `wheel_forces`."""
    robot, place = contacts.robot, checked_coordinates(contacts.robot, q)
    wrench, polygon = ground_wrench(robot, q, v, a, external_wrenches), contacts.polygon(q)
    loads = normal_forces(polygon, wrench, contacts.stiffness)
    scrub_effort = contacts.sliding_forces(q, v, loads.forces)
    result = constrained_inverse_dynamics(
        robot,
        q,
        v,
        a,
        contacts.constraints,
        actuated,
        weights,
        external_wrenches=_with_friction(contacts, place, scrub_effort, external_wrenches),
        time=time,
    )
    if loads.determined != EXACT and not scrub_effort:
        loads = with_joints(loads, contacts, place, result, actuated, time)
    tractions = tractions_of(contacts, place, result.multipliers)
    for name, along in scrub_effort.items():
        tractions[name] += along @ contacts.sliding[name].touch(robot, place).axes[:2]
    forces = [
        _force(contacts, place, k, polygon.points[k], loads.forces[k], tractions[name])
        for k, name in enumerate(contacts.names)
    ]
    margins = tip_over(polygon, wrench, center_of_mass(robot, q))
    return WheelForces({one.name: one for one in forces}, loads, margins, result)


def _with_friction(
    contacts: GroundContacts,
    q: Sequence[float],
    scrub_effort: Mapping[str, Floats],
    external: ExternalWrenches,
) -> dict[str, ArrayLike]:
    """Return external wrenches and those of friction together."""
    wrenches = dict({} if external is None else external)
    for joint, force in scrub_effort.items():
        wheel = contacts.sliding[joint]
        body = contacts.robot.bodies[wheel.wheel.body].name
        wrench = friction_wrench(wheel, q, force)
        wrenches[body] = wrench + np.asarray(wrenches.get(body, 0.0), dtype=float)
    return wrenches


def tractions_of(contacts: GroundContacts, q: Any, multipliers: Floats) -> dict[str, Floats]:
    """
    Return the force along the ground that rows give to each contact, (..., 3), world axes [N].

    Parameters
    ----------
    contacts : Stance
        What the robot stands on.
    q : sequence of scalar
        Coordinates, checked numbers or traced.
    multipliers : ndarray, shape (..., k)
        Of the rows of its constraints.

    """
    forces = {name: np.zeros((*multipliers.shape[:-1], 3)) for name in contacts.names}
    free_across = [name for name, one in contacts.wheels.items() if one.directions == (ALONG,)]
    sharing = free_across or list(contacts.wheels)
    first = 0
    for part in parts_of(contacts.constraints):
        pushes = multipliers[..., first : first + len(part.labels)]
        first += len(part.labels)
        if isinstance(part, RollingWheel):
            joint, touch = joint_of(part), part.touch(contacts.robot, q)
            forces[joint] = forces[joint] + pushes @ touch.directions
        elif isinstance(part, NoSideSlip):
            left = as_array([-sin(q[2]), cos(q[2]), 0.0])
            for name in sharing:
                forces[name] = forces[name] + pushes / len(sharing) * left
    return forces


def _force(
    contacts: GroundContacts,
    q: Sequence[float],
    k: int,
    point: Floats,
    load: float,
    traction: Floats,
) -> ContactForce:
    """Return the force on a contact whose traction may hold a part along the normal too."""
    name = contacts.names[k]
    wheel = contacts.wheels.get(name)
    along = np.zeros((2, 3)) if wheel is None else wheel.touch(wheel.robot, q).axes[:2]
    longitudinal, lateral = (along @ traction).tolist()
    force = longitudinal * along[0] + lateral * along[1] + load * contacts.normal
    friction = contacts.friction[k]
    return ContactForce(name, point, force, float(load), longitudinal, lateral, friction)
