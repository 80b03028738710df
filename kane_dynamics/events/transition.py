# SPDX-License-Identifier: Apache-2.0
r"""
From one mode to the next, at an instant.

Contacts that approach each other strike: `resolve_impact`. Those that stay closed then push, stick
or slip as their forces and Coulomb's law ask for (`frictional_motion`); constraints hold. Nothing
jumps where nothing strikes and no constraint is imposed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kane_dynamics.algorithms.contact_motion import ContactMotion, frictional_motion
from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.impact import NEWTON, resolve_impact
from kane_dynamics.algorithms.impact_path import POISSON
from kane_dynamics.algorithms.projection import onto_rows
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.events.constraint_rows import PartRows
from kane_dynamics.events.guards import GAP, GRIP, PUSH, Guard
from kane_dynamics.events.named_constraints import (
    HOLDS,
    OPEN,
    SLIPS,
    STICKS,
    Mode,
    NamedConstraint,
)
from kane_dynamics.events.root_finding import State
from kane_dynamics.exceptions import ContactError
from kane_dynamics.typing import Floats

TOUCHING = 1e-9  # [m] gap of contacts that are closed
AT_REST = 1e-9  # [m/s] speed of approach or slip that is none
_RETURNS = 1e-6  # [m/s] at which a contact opens by less than roundoff before it closes again
_TIE = 1e-7  # of all forces or accelerations: what roundoff may turn either way


@dataclass(frozen=True, eq=False)
class Setting:
    """
    What does not change from one transition to the next.

    Parameters
    ----------
    dynamics : Dynamics
        The robot without constraints, under the present gravity and payloads.
    rest_speed : float
        Speed of approach [m/s] below which a contact does not rebound.
    law : str
        Law of impacts, see `kane_dynamics.impact`.

    """

    dynamics: Dynamics
    rest_speed: float
    law: str


@dataclass(frozen=True, eq=False)
class Transition:
    """
    A new mode, and the jump of the speeds into it.

    Parameters
    ----------
    mode : Mode
        What the parts do.
    directions : mapping of str to ndarray
        Along which those that slip do.
    state : State
        With the speeds after the jump.
    impulse : ndarray, shape (nv,)
        M (v+ - v-) [N s or N m s].
    energy_loss : float
        Kinetic energy that it took [J].
    struck, settled : tuple of str
        Contacts that struck, and those among them that stay, though they would rebound if they had
        been faster.

    """

    mode: Mode
    directions: Mapping[str, Floats]
    state: State
    impulse: Floats
    energy_loss: float
    struck: tuple[str, ...]
    settled: tuple[str, ...]


def transition(
    setting: Setting,
    rows: PartRows,
    state: State,
    efforts: Floats,
    failing: Sequence[Guard] = (),
    rebound: bool = True,
) -> Transition:
    """
    Return the mode that follows at a state.

    Parameters
    ----------
    setting : Setting
        The robot and the laws.
    rows : PartRows
        Of all constraints and contacts.
    state : State
        Before.
    efforts : ndarray, shape (nv,)
        tau.
    failing : sequence of Guard
        What ended the last mode; it decides where roundoff would.
    rebound : bool
        Whether contacts may, as their restitution says.

    Raises
    ------
    InconsistentConstraintsError
        If constraints contradict each other.
    ContactError
        If no motion obeys the law of dry friction, also after an impact without collision.

    """
    try:
        return _transition(setting, rows, state, efforts, failing, rebound)
    except ContactError:
        return _transition(setting, rows, state, efforts, failing, rebound, jams=True)


def _transition(
    setting: Setting,
    rows: PartRows,
    state: State,
    efforts: Floats,
    failing: Sequence[Guard],
    rebound: bool,
    jams: bool = False,
) -> Transition:
    """Return what `transition` does; where contacts jam, impulses come before forces."""
    robot, parts, (q, v, t) = setting.dynamics.robot, rows.parts, state
    mass, every = setting.dynamics.mass_matrix(q), rows.at(q, v, t)
    held = select_rows(every.take(rows.held), cholesky_factor(mass))
    touching = [part for part in parts.values() if _touches(part, rows, every)]
    v, struck, settled = _after_impact(setting, mass, held, touching, rows, state, rebound, jams)
    returning = {guard.part.name for guard in failing if guard.kind == GAP} - {*struck}
    every = rows.at(q, v, t)
    separation = every.matrix @ v - every.velocity
    closed = [
        part
        for part in touching
        if separation[_first(part, rows)] <= (_RETURNS if part.name in returning else AT_REST)
    ]
    force = efforts - setting.dynamics.bias_force(q, v) - joint_friction(robot, v.tolist())
    if v is not state.v:
        held = replace(held, rows=every.take(rows.held))  # b depends on v
    words, directions, still = _decided(force, held, closed, rows, State(q, v, t), failing)
    states = {
        name: HOLDS if part.contact is None else words.get(name, OPEN)
        for name, part in parts.items()
    }
    mode = Mode(parts, states)
    on = rows.of([*mode.held, *still])
    end = onto_rows(robot, on, setting.dynamics.mass_matrix, q, v, t)
    change = end.v - state.v
    impulse = mass @ change
    loss = -float(change @ mass @ (state.v + 0.5 * change))
    new = State(end.q, end.v, t)
    return Transition(mode, directions, new, impulse, loss, struck, settled)


def _after_impact(
    setting: Setting,
    mass: Floats,
    held: RowSelection,
    touching: Sequence[NamedConstraint],
    rows: PartRows,
    state: State,
    rebound: bool,
    jams: bool,
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """Return the speeds after contacts struck, those that did, and those that settled."""
    v, every = state.v, rows.at(*state)
    pressed = [part for part in touching if part.contact and part.contact.normal is not None]
    contacts = rows.closed(pressed, every)
    approach = contacts.normal.velocity - contacts.normal.matrix @ v
    moved = held.rows.matrix @ v - held.rows.velocity
    strikes = max(approach.max(initial=0.0), np.abs(moved).max(initial=0.0)) > AT_REST
    if not (strikes or jams):
        return v, (), ()
    rebounds = (approach > setting.rest_speed) & rebound
    settling = (approach > AT_REST) & ~rebounds & (contacts.restitution > 0.0)
    contacts = replace(contacts, restitution=np.where(rebounds, contacts.restitution, 0.0))
    # Newton's has no impact but of what approaches
    law = POISSON if jams and setting.law == NEWTON else setting.law
    result = resolve_impact(mass, v, held, contacts, law)
    names, struck = [part.name for part in pressed], approach > AT_REST
    if jams:
        struck |= result.pushes > 0.0
    return (
        result.velocity,
        tuple(name for name, one in zip(names, struck, strict=True) if one),
        tuple(name for name, stays in zip(names, settling, strict=True) if stays),
    )


def _decided(
    force: Floats,
    held: RowSelection,
    closed: Sequence[NamedConstraint],
    rows: PartRows,
    state: State,
    failing: Sequence[Guard],
) -> tuple[dict[str, str], dict[str, Floats], list[Constraint]]:
    """Return what closed contacts do, directions of slips, and the rows of those that begin."""
    if not closed:
        return {}, {}, []
    v, every = state.v, rows.at(*state)
    contacts = rows.closed(closed, every)
    slip = contacts.tangent.matrix @ v - contacts.tangent.velocity
    speed = np.sqrt(np.bincount(contacts.owner, np.square(slip), len(closed)))
    slip = np.where(speed[contacts.owner] > AT_REST, slip, 0.0)
    result = frictional_motion(force, held, contacts, slip)
    begins = contacts.tangent.matrix @ result.acceleration - contacts.tangent.acceleration
    ended = {(guard.part.name, guard.kind) for guard in failing}
    words, directions, still = {}, {}, list[Constraint]()
    for k, part in enumerate(closed):
        local = contacts.owner == k
        word = _word(result, contacts, k, {kind for name, kind in ended if name == part.name})
        words[part.name] = word
        if word == SLIPS and local.any():
            along = slip[local] if speed[k] > AT_REST else _impending(result, begins, local)
            directions[part.name] = along / (np.linalg.norm(along) or 1.0)
            if speed[k] <= AT_REST and part.contact and part.contact.tangent:
                still.append(part.contact.tangent)  # what is left of an earlier slip has its way
    return words, directions, still


def _word(result: ContactMotion, contacts: ClosedContacts, k: int, ended: Collection[str]) -> str:
    """Return what a contact does; what ended its last state decides where roundoff would."""
    word, local = result.states[k], contacts.owner == k
    push, forces = result.pushes[k], result.tractions[local]
    pressing = float(np.abs(result.pushes).max())
    if word == OPEN and GAP in ended and result.separation[k] <= _TIE * _size(result):
        word = STICKS if local.any() else SLIPS
    if word != OPEN and PUSH in ended and push <= _TIE * pressing:
        return OPEN
    held = contacts.static_friction[k] * push * (1.0 - _TIE)
    if word == STICKS and GRIP in ended and float(np.linalg.norm(forces)) >= held:
        return SLIPS
    return word


def _size(result: ContactMotion) -> float:
    return float(np.abs(result.acceleration).max())


def _impending(result: ContactMotion, begins: Floats, local: Floats) -> Floats:
    """Return the direction in which a slip begins: against the friction where that is all."""
    accelerating = begins[local]
    if np.linalg.norm(accelerating) > _TIE * _size(result):
        return accelerating
    return -result.tractions[local]


def _touches(part: NamedConstraint, rows: PartRows, every: ConstraintRows) -> bool:
    if part.contact is None:
        return False
    if part.contact.normal is None:
        return True
    gap = every.positions[_first(part, rows)]
    return gap is not None and bool(gap <= TOUCHING)


def _first(part: NamedConstraint, rows: PartRows) -> int:
    """Return which of all rows is the distance of a contact: zeros where its load is given."""
    return rows.numbers(part.constraints)[0]
