# SPDX-License-Identifier: Apache-2.0
"""
Identification beside known answers.

``python -m studies.identification [--panda FOLDER] [--ur10 FILE] [--ur10e FOLDER] [--kuka FOLDER]
[--tiago FOLDER] [--strangers FOLDER] [--figaroh PYTHON] [--only PART ...] [--output FOLDER]``:
public recordings, simulated mobile manipulators, feed-forward in MuJoCo before and after, and
FIGAROH beside ours.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from studies import report
from studies.identification.arms import arms
from studies.identification.closed_loop import closed_loop
from studies.identification.kuka import kuka_tables
from studies.identification.mobile_base import simulated
from studies.identification.peers import beside_figaroh
from studies.identification.strangers import strangers
from studies.identification.ur10e import ur10e_tables

PARTS = 'arms', 'simulated', 'loop', 'figaroh', 'kuka', 'strangers', 'ur10e'


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog='python -m studies.identification', description=__doc__)
    parser.add_argument('--panda', type=Path, metavar='FOLDER', help="Franka's arm; see arms.py")
    parser.add_argument(
        '--ur10', type=Path, metavar='FILE', help='bag, else the copy of the tests'
    )
    parser.add_argument('--figaroh', type=Path, metavar='PYTHON', help='interpreter that has it')
    parser.add_argument('--tiago', type=Path, metavar='FOLDER', help='see peers.py')
    parser.add_argument('--kuka', type=Path, metavar='FOLDER', help='see kuka.py')
    parser.add_argument('--strangers', type=Path, metavar='FOLDER', help='see strangers.py')
    parser.add_argument('--ur10e', type=Path, metavar='FOLDER', help='see ur10e.py')
    parser.add_argument('--only', nargs='+', choices=PARTS, default=PARTS)
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    if 'arms' in options.only:
        arms(options.panda, options.ur10)
    tables = []
    if 'simulated' in options.only:
        tables += simulated()
    if 'loop' in options.only:
        tables.append(closed_loop())
    if 'figaroh' in options.only:
        tables += beside_figaroh(options.figaroh, options.tiago)
    if 'kuka' in options.only and options.kuka is not None:
        tables += kuka_tables(options.kuka)
    if 'strangers' in options.only and options.strangers is not None:
        tables += strangers(options.strangers)
    if 'ur10e' in options.only and options.ur10e is not None:
        tables += ur10e_tables(options.ur10e)
    results['tables'] = [[table.title, table.columns, table.rows] for table in tables]
    report.finish(console, options.output, 'identification', results, tables)


if __name__ == '__main__':
    main()
