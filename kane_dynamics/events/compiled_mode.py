# SPDX-License-Identifier: Apache-2.0
"""A mode with the quickest that there is to move the robot in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kane_dynamics.events.compiled_subsets import CompiledSubsets
from kane_dynamics.events.flow import Flow, Slip
from kane_dynamics.events.guards import EventDetector
from kane_dynamics.events.named_constraints import Mode
from kane_dynamics.typing import Floats


class CompiledMode(NamedTuple):
    """A mode with what moves the robot in it, and what ends it."""

    mode: Mode
    directions: Mapping[str, Floats]
    flow: Flow
    watch: EventDetector


def compiled_mode(
    sets: CompiledSubsets, mode: Mode, directions: Mapping[str, Floats]
) -> CompiledMode:
    """Return a mode, and along which directions its contacts slip, ready to go on in."""
    rows = sets.rows(mode.parts)
    flow = sets.flow(rows, mode.held, _slips(mode, directions))
    watch = EventDetector(mode, rows, flow, directions)
    return CompiledMode(mode, directions, flow, watch)


def _slips(mode: Mode, directions: Mapping[str, Floats]) -> list[Slip]:
    """Return the contacts that slip with friction, for a flow."""
    slips, slipping = [], mode.slipping
    indices = mode.indices if slipping else {}
    for part in slipping:
        contact = part.contact
        if contact is not None and contact.tangent is not None:
            normal = indices[part.name][0] if contact.normal is not None else None
            local = contact.friction, normal, contact.load, directions[part.name]
            slips.append(Slip(contact.tangent, *local))
    return slips
