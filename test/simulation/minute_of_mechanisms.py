# SPDX-License-Identifier: Apache-2.0
"""
Mechanisms whose rows repeat others, for a minute each: ``make laws``.

Prints the energy error of compiled steps, relative to the largest kinetic energy, what ranks
changed, and how many steps the reference took, which may be two for each change of rank; ends with
an error where a bound is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mechanisms import MECHANISMS

import kane_dynamics as kd

# Energy error over a minute: of order 4 and 2 in steps that resolve a turn by 0.01 to 0.1 rad.
# A repeated row that brakes takes all of it.
STEPS = {'rk4': (0.005, 1e-4), 'midpoint': (0.005, 3e-2)}
# An implicit step whose middle lies flat, where a row comes and goes, may have no solution.
HALVINGS = 6


def minute(name: str, fast: kd.CompiledDynamics, integrator: str, duration: float) -> bool:
    """Print one line; return whether the energy was kept, and by machine code."""
    _, _, q, v = MECHANISMS[name]()
    step, bound = STEPS[integrator]
    before, start = fast.fallback_count, time.perf_counter()
    motion = fast.simulate(q, v, duration, step=step, integrator=integrator, halvings=HALVINGS)
    wall = time.perf_counter() - start
    kinetic = fast.kinetic_energy(motion.q, motion.v)
    energy = kinetic + fast.potential_energy(motion.q)
    error = np.abs(energy - energy[0]).max() / kinetic.max()
    events, asked = motion.rank_events, fast.fallback_count - before
    lost = sum(event.energy for event in events)
    print(
        f'{name:14} {integrator:9} error {error:.1e} (bound {bound:.0e}), {len(events)} events '
        f'took {lost:.1e} J, {asked} of {len(motion.time) - 1} steps by the reference, '
        f'{wall:.1f} s'
    )
    return bool(error < bound) and asked <= 2 * len(events)


def main() -> int:
    """Run every mechanism with every integrator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--duration', type=float, default=60.0, help='[s] of motion')
    parser.add_argument('--only', choices=sorted(MECHANISMS), help='one mechanism')
    arguments = parser.parse_args()
    kept = []
    for name in [arguments.only] if arguments.only else MECHANISMS:
        robot, rows, _, _ = MECHANISMS[name]()
        fast = kd.compile(robot, rows, cache=False)
        kept += [minute(name, fast, integrator, arguments.duration) for integrator in STEPS]
    return 0 if all(kept) else 1


if __name__ == '__main__':
    sys.exit(main())
