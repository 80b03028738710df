# SPDX-License-Identifier: Apache-2.0
"""
Motion with constraints that come and go.

``python -m studies.events [--minutes 10] [--output FOLDER]``: random changes at 1 kHz, and a ball
that bounces, slides and rolls beside MuJoCo.
"""

from __future__ import annotations

import argparse

from rich.progress import track

from studies import report
from studies.events.beside_mujoco import beside_table
from studies.events.changes import changes, changes_table


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(prog='python -m studies.events', description=__doc__)
    parser.add_argument('--minutes', type=float, default=10.0, help='simulated [min]')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    results['changes'] = changes(options.minutes, track)
    tables = [changes_table(results['changes']), beside_table()]
    report.finish(console, options.output, 'events', results, tables)


if __name__ == '__main__':
    main()
