# SPDX-License-Identifier: Apache-2.0
"""
Kernels for graphics cards: what they take of a card, their numbers, their rates.

``python -m studies.cuda [--only tiago panda] [--architectures sm_90]`` compiles inverse dynamics,
constrained forward and inverse dynamics and steps of TIAGo, the shipped robots and others in
single and double precision, assembles them by ptxas, without a gpu, and ends with 1 where one of
the first three spills in single precision. ``--spills``: these three alone in single precision, of
the presets, too; ``--keep`` writes the table of doc/gpu.md. ``--agreement 1000000``: instead, so
many states of each kernel on the processor, by the same LLVM IR, against its own kernels; with
``--card`` on the gpu.
``--run``: instead, states and steps a second on the gpu of this machine.
"""

from __future__ import annotations

import argparse
import sys

from rich.progress import track

from kane_dynamics.compiler.cuda.device import CudaDevice
from kane_dynamics.exceptions import DeviceError
from studies import report
from studies.cuda import agreement, kernels, rates, spills, timed
from studies.cuda.host import HostDevice


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='python -m studies.cuda', description=__doc__)
    parser.add_argument('--only', nargs='+', choices=spills.subjects(), metavar='ROBOT')
    parser.add_argument('--architectures', nargs='+', default=list(kernels.ARCHITECTURES))
    parser.add_argument('--derivatives', action='store_true', help='these too; minutes')
    parser.add_argument('--spills', action='store_true', help='one state, float32, presets')
    parser.add_argument('--keep', action='store_true', help='write doc/gpu.md by --spills')
    parser.add_argument('--agreement', type=int, metavar='STATES', help='compare numbers')
    parser.add_argument(
        '--card', action='store_true', help='--agreement on the card of this machine'
    )
    parser.add_argument('--run', action='store_true', help='measure on the card of this machine')
    parser.add_argument('--shim', action='store_true', help='--run on the processor: a rehearsal')
    parser.add_argument('--states', type=int, default=2**20, help='of --run')
    report.add_output(parser)
    options = parser.parse_args()
    if options.keep and (options.only or not options.spills):
        parser.error('--keep is of --spills with all robots')
    if not options.spills and {*(options.only or ())} - {*kernels.ROBOTS}:
        parser.error('presets are of --spills')
    return options


def main() -> None:
    """Compile all, compare all, or run all."""
    options = _options()
    every = spills.subjects() if options.spills else kernels.ROBOTS
    names = list(options.only or every)
    console, results = report.begin()
    name = 'cuda'
    if options.run:
        results['rates'] = []

        def keep(rows: list[rates.Row]) -> None:
            results['rates'] = rows
            report.keep(options.output, 'cuda_rates', results)

        device = timed.on_processor(HostDevice()) if options.shim else None
        asked = names, options.states, keep
        _, tables = rates.measured(*asked, lambda line: print(line, flush=True), device)
        name, missed = 'cuda_rates', []
    elif options.spills:
        try:
            found_spills = spills.measured(track(names, 'compiling'))
        except DeviceError as error:  # no assembler
            console.print(f'[yellow]left out - {error}[/]')
            return
        if options.keep:
            spills.keep(found_spills)
        results |= found_spills
        name, tables = 'cuda_spills', [spills.table(found_spills)]
        missed = spills.spilling(found_spills)
    elif options.agreement:
        device = CudaDevice() if options.card else HostDevice()
        found = [
            row
            for name in track(names, 'comparing')
            for row in agreement.rows(name, options.agreement, device)
        ]
        results['agreement'], tables = found, [agreement.table(found)]
        missed = agreement.missed(found)
    else:
        architectures = tuple(options.architectures)
        found = [
            row
            for name in track(names, 'compiling')
            for row in kernels.rows(name, architectures, options.derivatives)
        ]
        results['kernels'], tables = found, [kernels.table(found)]
        missed = kernels.spilling(found)
    report.finish(console, options.output, name, results, tables)
    sys.exit(bool(missed))


if __name__ == '__main__':
    main()
