# SPDX-License-Identifier: Apache-2.0
"""
Kernels for graphics cards: what they take of a card, their numbers, their rates.

``python -m studies.cuda [--only tiago panda] [--architectures sm_90]`` compiles inverse dynamics,
constrained forward and inverse dynamics and steps of TIAGo, the shipped robots and others in
single and double precision, without a card, and ends with 1 where one of the first three of TIAGo
or a shipped robot spills in single precision. ``--agreement 1000000``: instead, so many states of
each kernel on the processor, by the same CUDA C, against its own kernels. ``--run``: instead,
states and steps a second on the card of this machine.
"""

from __future__ import annotations

import argparse
import sys

from rich.progress import track

from kane_dynamics.kernels.cuda.host import HostDevice
from studies import report
from studies.cuda import agreement, kernels, rates, timed


def main() -> None:
    """Compile all, compare all, or run all."""
    parser = argparse.ArgumentParser(prog='python -m studies.cuda', description=__doc__)
    parser.add_argument('--only', nargs='+', choices=kernels.ROBOTS, default=list(kernels.ROBOTS))
    parser.add_argument('--architectures', nargs='+', default=list(kernels.ARCHITECTURES))
    parser.add_argument('--derivatives', action='store_true', help='these too; minutes')
    parser.add_argument('--agreement', type=int, metavar='STATES', help='compare numbers')
    parser.add_argument('--run', action='store_true', help='measure on the card of this machine')
    parser.add_argument('--shim', action='store_true', help='--run on the processor: a rehearsal')
    parser.add_argument('--states', type=int, default=2**20, help='of --run')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    name = 'cuda'
    if options.run:
        results['rates'] = []

        def keep(rows: list[rates.Row]) -> None:
            results['rates'] = rows
            report.keep(options.output, 'cuda_rates', results)

        device = timed.on_processor(HostDevice()) if options.shim else None
        asked = options.only, options.states, keep
        _, tables = rates.measured(*asked, lambda line: print(line, flush=True), device)
        name, missed = 'cuda_rates', []
    elif options.agreement:
        found = [
            row
            for name in track(options.only, 'comparing')
            for row in agreement.rows(name, options.agreement)
        ]
        results['agreement'], tables = found, [agreement.table(found)]
        missed = agreement.missed(found)
    else:
        architectures = tuple(options.architectures)
        found = [
            row
            for name in track(options.only, 'compiling')
            for row in kernels.rows(name, architectures, options.derivatives)
        ]
        results['kernels'], tables = found, [kernels.table(found)]
        missed = kernels.spilling(found)
    report.finish(console, options.output, name, results, tables)
    sys.exit(bool(missed))


if __name__ == '__main__':
    main()
