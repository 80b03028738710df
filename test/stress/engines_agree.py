# SPDX-License-Identifier: Apache-2.0
"""
Both engines on random constrained trees with redundant rows, and on every wheel kind.

``make stress``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from support.random_efforts import difference_of_engines
from support.rolling_machines import MACHINES

import kane_dynamics as kd

COUNT, SAME = 50, 1e-12
DURATION, STEP, ALIKE = 0.2, 2e-3, 1e-9  # [s]; roundoff that 100 steps of fourth order let grow


def main():
    """Print the largest difference; return 0 where it is roundoff."""
    worst, asked = 0.0, 0
    for seed in range(COUNT):
        difference, left = difference_of_engines(seed)
        worst, asked = max(worst, difference), asked + left
    print(
        f'constrained inverse dynamics of {COUNT} random trees: engines differ by {worst:.1e}, '
        f'{asked} of {2 * COUNT} states were ill conditioned and left to the reference'
    )
    apart = wheels()
    return 0 if worst < SAME and asked < COUNT // 2 and apart < ALIKE else 1


def wheels():
    """Return how far the engines end apart when machines of every wheel kind roll."""
    worst = 0.0
    for name, make in MACHINES.items():
        m = make()
        reference = kd.simulate(m.robot, m.q, m.v, DURATION, constraints=m.rows, step=STEP)
        fast = kd.compile(m.robot, m.rows, cache=False)
        path = fast.simulate(m.q, m.v, DURATION, step=STEP)
        ends = [np.concatenate([p.q[-1], p.v[-1]]) for p in (path, reference)]
        apart = np.abs(ends[0] - ends[1]).max() / max(1.0, np.abs(ends[1]).max())
        energy = fast.kinetic_energy(path.q, path.v) + fast.potential_energy(path.q)
        drift = np.ptp(energy)
        print(
            f'{name}: engines end {apart:.1e} apart after {DURATION} s, energy changed by '
            f'{drift:.1e} J, {fast.fallback_count} steps by the reference'
        )
        worst = max(worst, apart)
    return worst


if __name__ == '__main__':
    sys.exit(main())
