# SPDX-License-Identifier: Apache-2.0
"""Which claims of the five papers are tested: `test/papers/claims.txt` and the marks `claim`."""

from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / 'test' / 'papers' / 'claims.txt'
MARKED = pytest.StashKey()  # numbers of claims by test name, without parameters


@dataclass(frozen=True)
class Claim:
    """What a complete implementation must have, where it is from, and what is missing of it."""

    title: str
    source: str
    missing: str = ''

    @property
    def open(self):
        """Return whether nothing of it is implemented."""
        return self.missing.startswith('open: ')


def claims():
    """Return the claims by number."""
    lines = [line for line in TABLE.read_text(encoding='utf-8').splitlines() if line[:1] != '#']
    return {k: Claim(*line.split(' | ')) for k, line in enumerate(lines, 1)}


def summary(table, marked, passed, failed):
    """
    Return what to print at the end of a run.

    A claim counts when at least one of its tests passed and none failed. `marked` has the numbers
    of the claims of each test; `passed` and `failed` are sets of tests.
    """

    def met_by(tests):
        return {number for test in tests for number in marked.get(test, ())}

    shown = met_by(passed) - met_by(failed)
    remarks = [f'{number} {claim.missing}' for number, claim in table.items() if claim.missing]
    left = [k for k in table if not table[k].open and k not in met_by(passed | failed)]
    for word, chosen in (('failed', sorted(met_by(failed))), ('not run', left)):
        if chosen:
            remarks.append(f'{word}: {", ".join(map(str, chosen))}')
    return f'papers checklist: {len(shown)} of {len(table)} claims tested ({"; ".join(remarks)})'


def pytest_collection_modifyitems(config, items):
    """Note which tests show which claims."""
    marked = config.stash.setdefault(MARKED, {})
    for item in items:
        for mark in item.iter_markers('claim'):
            marked.setdefault(item.nodeid.partition('[')[0], set()).update(mark.args)


def pytest_terminal_summary(terminalreporter, config):
    """Print the count, unless pytest is quiet or no test of a claim ran."""

    def names(*outcomes):
        reports = (r for outcome in outcomes for r in terminalreporter.stats.get(outcome, ()))
        return {report.nodeid.partition('[')[0] for report in reports}

    marked = config.stash.get(MARKED, {})
    passed, failed = names('passed', 'xpassed'), names('failed', 'error')
    if config.get_verbosity() >= 0 and (passed | failed) & set(marked):
        terminalreporter.write_line(summary(claims(), marked, passed, failed))
