# SPDX-License-Identifier: Apache-2.0
"""Cost against number of joints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from studies import robots
from studies.peers.pinocchio_twin import PinocchioTwin
from studies.speed.kernels import one_function
from studies.speed.single_calls import Opponent, difference, forward, rnea
from studies.speed.timing import Contender, Effort, race

JOINTS = (5, 10, 20, 50, 100, 200)
QUICK_JOINTS = (5, 10, 20)
MOST_OPERATIONS = 70_000  # larger graphs are traced and counted, but not compiled
_INPUTS = {
    'inverse_dynamics': ('q', 'v', 'a'),
    'forward_dynamics': ('q', 'v', 'tau'),
    'mass_matrix': ('q',),
}


def scaling(
    quick: bool, effort: Effort, progress: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """Yield operations, costs to make, and time of a call for each size and function."""
    too_large: set[str] = set()
    for joints in QUICK_JOINTS if quick else JOINTS:
        case = robots.chain(joints)
        peer = PinocchioTwin(case.robot)
        for name, inputs in _INPUTS.items():
            if name in too_large:
                continue
            progress(f'{name}, {joints} joints')
            entry = _entry(case, peer, name, inputs, effort)
            if entry['ours_us'] is None:
                too_large.add(name)
            yield {'joints': joints, 'function': name, **entry}


def _entry(
    case: robots.Case, peer: PinocchioTwin, name: str, inputs: Sequence[str], effort: Effort
) -> dict[str, Any]:
    made = one_function(case.robot, name, inputs, MOST_OPERATIONS)
    theirs, expected, _ = _peer(case, peer, name)
    contenders, agreement = [theirs], None
    if made.call is not None:
        third = case.tau if name == 'forward_dynamics' else case.a
        state = (case.q, case.v, third)[: len(inputs)]
        agreement = difference(made.call(*state), expected)
        names = dict(zip('xyz', state, strict=False)) | {'f': made.call}
        contenders.insert(0, Contender('ours', f'f({", ".join("xyz"[: len(inputs)])})', names))
    times = race(contenders, effort)
    return {
        'operations': made.operations,
        'trace_s': made.trace_time,
        'compile_s': made.compile_time,
        'code_kb': made.code_size / 1024,
        'ours_us': 1e6 * times['ours'].median if made.call is not None else None,
        'peer': theirs.name,
        'theirs_us': 1e6 * times[theirs.name].median,
        'agreement': agreement,
    }


def _peer(case: robots.Case, peer: PinocchioTwin, name: str) -> Opponent:
    if name == 'inverse_dynamics':
        return rnea(peer, case)
    if name == 'forward_dynamics':
        return forward(peer, case)
    q = peer.coordinates(case.q)
    upper = np.triu(pin.crba(peer.model, peer.data, q))
    names = {'f': pin.crba, 'm': peer.model, 'd': peer.data, 'q': q}
    full = upper + np.triu(upper, 1).T
    return Opponent(Contender('pinocchio.crba', 'f(m, d, q)', names), full)
