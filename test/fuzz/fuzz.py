# SPDX-License-Identifier: Apache-2.0
"""
Fuzzing of everything that is read from outside; writes ``studies-results/fuzz.json``.

``python test/fuzz/fuzz.py --count 1000000`` tries that many inputs in all, ``--only NAME`` those
of one target, ``--first N`` from that number on.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import campaign  # noqa: E402
import command_targets  # noqa: E402
import file_targets  # noqa: E402

RESULTS = HERE.parents[1] / 'studies-results'
MEMORY = 8 * 2**30
"""Address space [bytes] that no input may exceed."""


def all_targets(chosen=''):
    """Return the targets; those of the nodes where ROS 2 is installed."""
    targets = file_targets.targets() + command_targets.targets()
    if importlib.util.find_spec('rclpy') is not None:
        for module in ('message_targets', 'goal_targets'):
            targets += importlib.import_module(module).targets()
    return [target for target in targets if chosen in target.name]


def commit():
    """Return the commit of the sources, '' where they are in no repository."""
    command = ['git', '-C', str(HERE), 'rev-parse', '--short=12', 'HEAD']
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def main():
    """Fuzz the targets, print a table, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--count', type=int, default=1_000_000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--only', default='')
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable()
    targets = all_targets(chosen.only)
    whole = sum(target.share for target in targets)
    outcomes = []
    for target in targets:
        count = round(chosen.count * target.share / whole)
        outcome = campaign.run(target, count, chosen.seed, chosen.first)
        outcomes.append(outcome)
        r = outcome.as_record()
        print(
            f'{r["name"]:34}{r["inputs"]:9,} tried {r["refused"]:9,} refused {r["accepted"]:9,} '
            f'accepted {r["unhandled"]:4} unhandled {r["slow"]:4} slow, longest '
            f'{r["longest_s"]:.3f} s, {r["seconds"]:.0f} s',
            flush=True,
        )
        for finding in outcome.findings:
            print('   ', finding['number'], finding['found'], '|', finding['input'][:300])
    if not chosen.only:
        RESULTS.mkdir(exist_ok=True)
        record = {
            'commit': commit(),
            'seed': chosen.seed,
            'inputs': sum(outcome.inputs for outcome in outcomes),
            'targets': [outcome.as_record() for outcome in outcomes],
        }
        (RESULTS / 'fuzz.json').write_text(json.dumps(record, indent=1) + '\n')
        findings = {outcome.name: outcome.findings for outcome in outcomes}
        (RESULTS / 'fuzz-findings.json').write_text(json.dumps(findings, indent=1) + '\n')
    return int(any(outcome.findings for outcome in outcomes))


if __name__ == '__main__':
    sys.exit(main())
