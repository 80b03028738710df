# SPDX-License-Identifier: Apache-2.0
"""
The way from Python into machine code on guarded memory: part of ``make sanitize``.

Each array ends at a page that nobody may touch. Batches are empty, odd, strided, reversed, of
other types, with NaN; each row gets the bits of a plain batch, and a bad row spoils no other.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.testing import assert_array_equal

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from guarded_memory import guard_new_arrays
from support.machines import planar_2r

import kane_dynamics as kd

ROWS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64, 1001)
LAYOUTS = {
    'plain': np.ascontiguousarray,
    'by columns': np.asfortranarray,
    'every second row': lambda x: np.repeat(x, 2, axis=0)[::2],
    'every second column': lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    'backwards': lambda x: x[::-1].copy()[::-1],
    'no native order': lambda x: x.astype('>f8'),
    'lists': lambda x: x.tolist() or x,
}


def calls(fast, q, v, a):
    """Return what all functions of states say."""
    return [
        fast.inverse_dynamics(q, v, a),
        fast.bias_force(q, v),
        fast.gravity_force(q),
        fast.mass_matrix(q),
        fast.acceleration(q, v, a),
    ]


def run(robot):
    """Call all functions with batches of all sizes and layouts; return how often."""
    fast, rng, count = kd.compile(robot), np.random.default_rng(14), 0
    for rows in ROWS:
        states = rng.uniform(-1.0, 1.0, (3, rows, robot.nv))
        expected = calls(fast, *states)
        for change in LAYOUTS.values():
            found = calls(fast, *map(change, states))
            for one, other in zip(found, expected, strict=True):
                assert_array_equal(one, other)
            count += len(found)
        for bad in (np.nan, np.inf, 1e300):
            spoiled = states.copy()
            spoiled[:, rows // 2 : rows // 2 + 1] = bad
            rest = np.arange(rows) != rows // 2
            with np.errstate(all='ignore'):
                tau = fast.inverse_dynamics(*spoiled)
            assert_array_equal(tau[rest], expected[0][rest])
            assert not np.isfinite(tau[~rest]).any()
            count += 1
    return count


def main():
    """Run; print how many calls there were. A wrong access ends the process."""
    guard_new_arrays()
    sys.stdout.write(f'{run(planar_2r())}\n')


if __name__ == '__main__':
    main()
