# SPDX-License-Identifier: Apache-2.0
"""Both engines on 50 random constrained trees with redundant rows: ``make stress``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.random_efforts import difference_of_engines

COUNT, SAME = 50, 1e-12


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
    return 0 if worst < SAME and asked < COUNT // 2 else 1


if __name__ == '__main__':
    sys.exit(main())
