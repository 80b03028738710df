# SPDX-License-Identifier: Apache-2.0
r"""
From one mode to the next, at an instant.

Contacts that approach each other strike: `resolve_impact`. Those that stay closed then push, stick
or slip as their forces and Coulomb's law ask for (`frictional_motion`); constraints hold. Nothing
jumps where nothing strikes and no constraint is imposed.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.frictional_contact import ContactMotion, frictional_motion
from kane_dynamics.algorithms.impact import NEWTON, resolve_impact
from kane_dynamics.algorithms.impact_path import POISSON
from kane_dynamics.algorithms.newton_euler import joint_friction
from kane_dynamics.algorithms.projection import POSITION_TOLERANCE, onto_rows
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.events.guards import GAP, GRIP, PUSH, Guard
from kane_dynamics.events.named_constraints import (
    HOLDS,
    OPEN,
    SLIPS,
    STICKS,
    TOUCHING,
    Mode,
    NamedConstraint,
    NamedRows,
    State,
)
from kane_dynamics.exceptions import ContactError
from kane_dynamics.typing import Floats

AT_REST = 1e-9  # [m/s] speed of approach or slip that is none
_RETURNS = 1e-6  # [m/s] at which a contact opens by less than roundoff before it closes again
_ROUNDOFF = 1e-14  # of the size of A v - b0
_MOVED = 1e-12  # of coordinates that are on their rows
_TIE = 1e-7  # of all forces or accelerations: what roundoff may turn either way


@dataclass(frozen=True, eq=False)
class Setting:
    """What does not change from one transition to the next."""

    dynamics: Dynamics
    rest_speed: float
    law: str


@dataclass(frozen=True, eq=False)
class Transition:
    """A new mode, and the jump of the speeds into it."""

    mode: Mode
    directions: Mapping[str, Floats]
    state: State
    impulse: Floats
    energy_loss: float
    struck: tuple[str, ...]
    settled: tuple[str, ...]


class Instant(NamedTuple):
    """An instant at which the mode may change: the guards that failed, and whether any rebound."""

    setting: Setting
    rows: NamedRows
    state: State
    efforts: Floats
    failing: Sequence[Guard] = ()
    rebound: bool = True

    def transition(self) -> Transition:
        """Return the mode that follows; where contacts jam, impulses come before forces."""
        try:
            return self._transition()
        except ContactError:
            return self._transition(jams=True)

    def _transition(self, jams: bool = False) -> Transition:
        dynamics, rows, (q, v, t) = self.setting.dynamics, self.rows, self.state
        parts, mass, every = rows.parts, dynamics.mass_matrix(q), rows.at(q, v, t)
        touching = [part for part in parts.values() if _touches(part, rows, every)]
        v, struck, settled = self._after_impact(mass, touching, jams)
        returning = {guard.part.name for guard in self.failing if guard.kind == GAP} - {*struck}
        every = rows.at(q, v, t)
        separation = every.matrix @ v - every.velocity
        nothing = {part.name: _RETURNS if part.name in returning else AT_REST for part in touching}
        closed = [
            part for part in touching if separation[rows.first[part.name]] <= nothing[part.name]
        ]
        words, directions, still = self._decided(mass, closed, v)
        states = {
            name: HOLDS if part.contact is None else words.get(name, OPEN)
            for name, part in parts.items()
        }
        mode = Mode(parts, states)
        on = rows.of([*mode.held, *still])
        if not _satisfied(on(q, v, t), v):
            q, v, _ = onto_rows(dynamics.robot, on, dynamics.mass_matrix, q, v, t)
        change = v - self.state.v
        impulse = mass @ change
        loss = -float(impulse @ (self.state.v + 0.5 * change))
        new = State(q, v, t)
        return Transition(mode, directions, new, impulse, loss, struck, settled)

    def _held(self, mass: Floats, v: Floats) -> RowSelection:
        """Return the rows of constraints, at speeds."""
        every = self.rows.at(self.state.q, v, self.state.t)
        return select_rows(every.take(self.rows.held), cholesky_factor(mass))

    def _after_impact(
        self, mass: Floats, touching: Sequence[NamedConstraint], jams: bool
    ) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
        """Return the speeds after contacts struck, those that did, and those that settled."""
        setting, v, every = self.setting, self.state.v, self.rows.at(*self.state)
        pressed = [part for part in touching if part.contact and part.contact.normal is not None]
        separation = every.matrix @ v - every.velocity
        approach = -separation[[self.rows.first[part.name] for part in pressed]]
        moved = np.abs(separation[self.rows.held]).max(initial=0.0)
        if not (max(approach.max(initial=0.0), moved) > AT_REST or jams):
            return v, (), ()
        restitution = np.array([part.contact.restitution for part in pressed if part.contact])
        rebounds = (approach > setting.rest_speed) & self.rebound
        settling = (approach > AT_REST) & ~rebounds & (restitution > 0.0)
        restitution = np.where(rebounds, restitution, 0.0)
        struck = approach > AT_REST
        after = None if jams else self._by_steps(pressed, restitution, moved > AT_REST)
        if after is None:
            contacts = replace(self.rows.closed(pressed, every), restitution=restitution)
            # Newton's has no impact but of what approaches
            law = POISSON if jams and setting.law == NEWTON else setting.law
            impact = resolve_impact(mass, v, self._held(mass, v), contacts, law)
            after = impact.velocity
            if jams:
                struck |= impact.pushes > 0.0
        names = [part.name for part in pressed]
        return (
            after,
            tuple(name for name, one in zip(names, struck, strict=True) if one),
            tuple(name for name, stays in zip(names, settling, strict=True) if stays),
        )

    def _by_steps(
        self, pressed: Sequence[NamedConstraint], restitution: Floats, imposed: bool
    ) -> Floats | None:
        """Return the speeds after constraints and one contact without friction: machine code."""
        e, v = float(restitution.sum()), self.state.v
        rough = any(part.contact is None or part.contact.friction for part in pressed)
        if len(pressed) > 1 or rough or (imposed and e):
            return None
        before = self._onto([]) if imposed else v
        if before is None or not pressed:
            return before
        every, row = self.rows.at(*self.state), self.rows.first[pressed[0].name]
        if every.matrix[row] @ before >= every.velocity[row]:
            return before
        stopped = self._onto(pressed)
        return None if stopped is None else before + (1.0 + e) * (stopped - before)

    def _onto(self, pressed: Sequence[NamedConstraint]) -> Floats | None:
        """Return the nearest speeds on constraints and contacts, which a step of no length has."""
        (q, v, t), code = self.state, self.rows.code_beside(pressed)
        end = None if code is None else code.step(q, v, self.efforts, t, 0.0)
        if end is None or np.abs(end[: len(q)] - q).max(initial=0.0) > _MOVED:
            return None
        return np.asarray(end[len(q) : len(q) + len(v)])

    def _all_push(self, closed: Sequence[NamedConstraint], v: Floats) -> bool:
        """Return whether machine code finds that contacts without friction all push if held."""
        rows, (q, _, t) = self.rows, self.state
        if any(part.contact is None or part.contact.tangent is not None for part in closed):
            return False
        code = rows.code_beside(closed)
        values = None if code is None else code.look(q, v, self.efforts, t)
        if values is None:
            return False
        pushes = values[2, [rows.first[part.name] for part in closed]]
        return bool(pushes.min() > _TIE * pushes.max())

    def _decided(
        self, mass: Floats, closed: Sequence[NamedConstraint], v: Floats
    ) -> tuple[dict[str, str], dict[str, Floats], list[Constraint]]:
        """Return what closed contacts do, directions of slips, and rows of those that begin."""
        if not closed:
            return {}, {}, []
        if self._all_push(closed, v):
            return {part.name: SLIPS for part in closed}, {}, []
        dynamics = self.setting.dynamics
        friction = joint_friction(dynamics.robot, v.tolist())
        force = self.efforts - dynamics.bias_force(self.state.q, v) - friction
        contacts = self.rows.closed(closed, self.rows.at(self.state.q, v, self.state.t))
        slip = contacts.tangent.matrix @ v - contacts.tangent.velocity
        speed = contacts.slip_speeds(slip)
        slip = np.where(speed[contacts.owner] > AT_REST, slip, 0.0)
        motion = frictional_motion(force, self._held(mass, v), contacts, slip)
        begins = contacts.tangent.matrix @ motion.acceleration - contacts.tangent.acceleration
        ended = {(guard.part.name, guard.kind) for guard in self.failing}
        words, directions, still = {}, {}, list[Constraint]()
        for k, part in enumerate(closed):
            tangent = contacts.owner == k
            word = _word(motion, contacts, k, {kind for name, kind in ended if name == part.name})
            words[part.name] = word
            if word == SLIPS and tangent.any():
                along = slip[tangent]
                if speed[k] <= AT_REST:
                    along = _impending(motion, begins, tangent)
                    if part.contact and part.contact.tangent:
                        still.append(part.contact.tangent)  # an earlier slip's rest has its way
                directions[part.name] = along / (np.linalg.norm(along) or 1.0)
        return words, directions, still


def _word(motion: ContactMotion, contacts: ClosedContacts, k: int, ended: Collection[str]) -> str:
    """Return what a contact does; what ended its last state decides where roundoff would."""
    word, tangent = motion.states[k], contacts.owner == k
    push, forces = motion.pushes[k], motion.tractions[tangent]
    pressing = float(np.abs(motion.pushes).max())
    if word == OPEN and GAP in ended and motion.separation[k] <= _TIE * _size(motion):
        word = STICKS if tangent.any() else SLIPS
    if word != OPEN and PUSH in ended and push <= _TIE * pressing:
        return OPEN
    held = contacts.static_friction[k] * push * (1.0 - _TIE)
    if word == STICKS and GRIP in ended and float(np.linalg.norm(forces)) >= held:
        return SLIPS
    return word


def _size(motion: ContactMotion) -> float:
    return float(np.abs(motion.acceleration).max())


def _impending(motion: ContactMotion, begins: Floats, tangent: Floats) -> Floats:
    """Return the direction in which a slip begins: against the friction where that is all."""
    accelerating = begins[tangent]
    if np.linalg.norm(accelerating) > _TIE * _size(motion):
        return accelerating
    return -motion.tractions[tangent]


def _satisfied(rows: ConstraintRows, v: Floats) -> bool:
    """Return whether rows hold at a state but for roundoff."""
    if any(phi is not None and abs(phi) > POSITION_TOLERANCE for phi in rows.positions):
        return False
    missed = np.abs(rows.matrix @ v - rows.velocity)
    size = np.abs(rows.matrix).sum(axis=1) * math.sqrt(v @ v) + np.abs(rows.velocity)
    return bool((missed <= _ROUNDOFF * size).all())


def _touches(part: NamedConstraint, rows: NamedRows, every: ConstraintRows) -> bool:
    if part.contact is None:
        return False
    if part.contact.normal is None:
        return True
    gap = every.positions[rows.first[part.name]]
    return gap is not None and bool(gap <= TOUCHING)
