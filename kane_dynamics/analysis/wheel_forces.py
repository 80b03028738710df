# SPDX-License-Identifier: Apache-2.0
r"""
Normal, longitudinal and lateral force of each wheel, and tip-over margins.

Tractions are the multipliers of the constraint rows in `constrained_inverse_dynamics`, or friction
where wheels slide; normal forces share the ground wrench (`normal_forces`).

Multipliers balance the speeds that no motor drives, :math:`A_u^T \lambda = h_u`. Normal forces
that balance the robot as one rigid body may leave a rocker or bogie without balance; then the
multipliers of the rows along the normals are taken. They are exact where the null space of
:math:`A_u^T` has no part of them; else motors could press wheels against each other, and do so
with least efforts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np
import scipy

from kane_dynamics.algebra.scalars import as_array, cos, sin
from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.newton_euler import ExternalWrenches
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.analysis.contact_builders import ground_contacts
from kane_dynamics.analysis.contact_friction import friction_wrench
from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.normal_forces import EXACT, LEAST_NORM, NormalForces, normal_forces
from kane_dynamics.analysis.tip_over import TipOver, tip_over
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.rolling import RollingWheel, Touch
from kane_dynamics.constraints.wheels import NoSideSlip
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.functions import OneState
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import ArrayLike, Floats

ALONG = 'longitudinal'
_NOTHING = 1e-9  # of the force of the ground


@dataclass(frozen=True, eq=False, slots=True)
class ContactForce:
    """The force of the ground on a wheel or caster."""

    name: str  # Joint of the wheel, or name of the caster
    point: Floats  # shape (3,): Where it touches, world axes [m]
    force: Floats  # shape (3,): The whole force, world axes [N]
    normal: float  # Its parts: pressing
    longitudinal: float  # Its parts: pressing
    lateral: float  # Its parts: pressing
    friction: Floats  # shape (2,): mu along and across the track
    roundoff: float  # Force that is none [N]: what digits of the motion leave of a zero

    @property
    def use(self) -> float:
        """
        Return the part of the friction that is used: it slips at 1.

        Without load any traction slips, infinity; where there is none either nothing does, 0.
        """
        if np.isnan(self.friction).any():
            return np.nan
        loaded, parts = self.normal > self.roundoff, [0.0, 0.0]
        for k, traction in enumerate((self.longitudinal, self.lateral)):
            if abs(traction) > self.roundoff:
                most = self.friction.item(k) * self.normal if loaded else 0.0
                parts[k] = traction / most if most > 0.0 else np.inf
        return hypot(*parts)


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
    time: float = START,
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
    time: float = START,
) -> WheelForces:
    """Return the contact picture of a stance; parameters and errors as for `wheel_forces`."""
    coordinates, geometry = checked_coordinates(contacts.robot, q), contacts.at(q)
    wrench, polygon = contacts.wrench(q, v, a, external_wrenches), contacts.polygon_of(geometry)
    loads = normal_forces(polygon, wrench, contacts.stiffness)
    scrub_effort = contacts.sliding_forces(q, v, loads.forces) if contacts.sliding else {}
    engine = contacts.dynamics
    if scrub_effort or external_wrenches:
        pushed = _with_friction(contacts, coordinates, scrub_effort, external_wrenches)
        engine = OneState(contacts.robot, contacts.constraints, pushed)
    effort = engine.constrained_inverse_dynamics(q, v, a, actuated, weights, time=time)
    if loads.determined != EXACT and not scrub_effort:
        loads = with_joints(loads, contacts, coordinates, effort, actuated, time)
    tractions = tractions_of(contacts, coordinates, geometry.touches, effort.multipliers)
    for name, along in scrub_effort.items():
        track = geometry.touches[contacts.sliding[name]].axes[:2]
        tractions[name] = tractions[name] + along @ track
    margins = tip_over(polygon, wrench, contacts.dynamics.center_of_mass(q))
    roundoff = _NOTHING * max(map(abs, wrench[3:].tolist()))
    axes = np.zeros((len(contacts.names), 2, 3))  # those of casters stay
    for k, wheel in enumerate(contacts.wheels.values()):
        axes[k] = geometry.touches[wheel].axes[:2]
    # a traction may hold a part along the normal too
    pulls = np.array([*tractions.values()])
    parts = (axes @ pulls[..., None])[..., 0]
    forces = (parts[:, None] @ axes)[:, 0] + loads.forces[:, None] * contacts.normal
    touching = {}
    each = zip(contacts.names, loads.forces.tolist(), parts.tolist(), strict=True)
    for k, (name, load, (along, across)) in enumerate(each):
        what = name, polygon.points[k], forces[k], load, along, across, contacts.friction[k]
        touching[name] = ContactForce(*what, roundoff)
    return WheelForces(touching, loads, margins, effort)


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


def tractions_of(
    contacts: GroundContacts,
    q: Any,
    touches: Mapping[RollingWheel, Touch],
    multipliers: Floats,
) -> dict[str, Floats]:
    """Return the traction that rows give to each contact, (..., 3), world axes [N]."""
    forces = dict.fromkeys(contacts.names, np.zeros((*multipliers.shape[:-1], 3)))
    for part, joint, rows in contacts.part_rows:
        pushes = multipliers[..., rows]
        if isinstance(part, RollingWheel):
            forces[joint] = forces[joint] + pushes @ touches[part].directions
        elif isinstance(part, NoSideSlip):
            wheels = contacts.wheels
            sharing = [name for name in wheels if wheels[name].directions == (ALONG,)] or wheels
            left = as_array([-sin(q[2]), cos(q[2]), 0.0])
            for name in sharing:
                forces[name] = forces[name] + pushes / len(sharing) * left
    return forces


_NULL = 1e-8  # singular value, or part of a unit vector, of what is free; rows of unit length
_BALANCED = 1e-6  # of the forces: more than points differ that are not quite in one plane


def with_joints(
    loads: NormalForces,
    contacts: GroundContacts,
    q: Sequence[float],
    effort: ConstrainedEffort,
    actuated: Sequence[str],
    time: float,
) -> NormalForces:
    """Return normal forces that balance joints without motors too."""
    at = contacts.normal_rows
    if at.keys() != set(contacts.names):
        return loads
    undriven = np.ones(contacts.robot.nv, dtype=bool)
    undriven[speed_indices(contacts.robot, actuated, 'actuated')] = False
    rows = contacts.constraints.rows(q, effort.velocity, time)
    A = np.asarray(rows.matrix, dtype=float)[:, undriven]
    normals = np.array([at[name] for name in contacts.names])
    forces = effort.multipliers[normals]
    if np.abs(A[normals].T @ (forces - loads.forces)).max() <= _BALANCED * np.abs(forces).max():
        return loads
    unit = unit_scaling(np.linalg.norm(A, axis=1))[:, None] * A
    free = scipy.linalg.null_space(unit.T, rcond=_NULL)[normals]
    determined = EXACT if np.abs(free).max(initial=0.0) <= _NULL else LEAST_NORM
    pulls = forces < 0.0
    lift = np.where(pulls, np.nan, 0.0)
    return NormalForces(np.where(pulls, 0.0, forces), lift, determined, not pulls.any())
