# SPDX-License-Identifier: Apache-2.0
"""
Every order of starts under a real controller manager, and one part killed: how joints moved.

    PYTHONPATH=.:test/ros:$PYTHONPATH python test/ros2_control/start_orders.py [--cold] [--kill]
"""

import argparse
import itertools
import os
import sys
import tempfile

from start_bed import ALL_JOINTS, NODES, PARTS, StartBed

MOST = 5e-3  # [rad]


def measured(order, chosen, kill=''):
    """Start the parts in an order and kill one; return how far joints moved [rad], and words."""
    with tempfile.TemporaryDirectory() as folder:
        bed = StartBed(folder, chosen.controller, chosen.cold)
        try:
            for part in order:
                bed.begin(part)
            bed.complete()
            way, words = bed.robot.way(), ''
            if kill:
                now = bed.kill(kill, 2.0)
                ends = [one.last(lambda v, u: u.any(), now) for one in (bed.robot, bed.commands)]
                stood = bed.robot.last(lambda v, u: v.any(), now)
                way = bed.robot.way(now) if kill != 'hardware' else 0.0
                words = (
                    f'; efforts on joints until {ends[0]:.3f} s, of the manager until '
                    f'{ends[1]:.3f} s, joints moved until {stood:.3f} s'
                )
            return way, words
        finally:
            bed.close()


def main():
    """Print a line for each order, or for each part that is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--cold', action='store_true', help='no cache of machine code')
    parser.add_argument('--kill', action='store_true', help='kill a part, in place of all orders')
    parser.add_argument('--first', type=int, default=24, help='so many orders')
    parser.add_argument('--controller', default=ALL_JOINTS, choices=list(NODES))
    chosen = parser.parse_args()
    ways = []
    if chosen.kill:
        for part in ('manager', 'hardware', 'node'):
            way, words = measured(PARTS, chosen, part)
            print(f'SIGKILL of the {part}: joints moved {1e3 * way:.3f} mrad{words}', flush=True)
            ways.append(way)
    else:
        for order in itertools.islice(itertools.permutations(PARTS), chosen.first):
            way, _ = measured(order, chosen)
            print(f'{", ".join(order)}: joints moved {1e3 * way:.3f} mrad', flush=True)
            ways.append(way)
    print(f'most: {1e3 * max(ways):.3f} mrad, load {os.getloadavg()[0]:.1f}')
    return 0 if max(ways) < MOST else 1


if __name__ == '__main__':
    sys.exit(main())
