# SPDX-License-Identifier: Apache-2.0
"""Which claims of the five papers are tested: `test/papers/claims.txt` and the marks `claim`."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / 'test' / 'papers' / 'claims.txt'
PROPERTY = 'claim'  # of a report: the number of a claim


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
    text = f'papers checklist: {len(shown)} of {len(table)} claims tested'
    return f'{text} ({"; ".join(remarks)})' if remarks else text


def mark_claims(items):
    """Let the report of each test say which claims it shows, also from another process."""
    for item in items:
        for mark in item.iter_markers('claim'):
            item.user_properties.extend((PROPERTY, number) for number in mark.args)


def pytest_terminal_summary(terminalreporter, config):
    """Print the count, unless pytest is quiet or no test of a claim ran."""
    passed, failed, marked = set(), set(), {}
    for tests, outcomes in ((passed, ('passed', 'xpassed')), (failed, ('failed', 'error'))):
        for report in (r for outcome in outcomes for r in terminalreporter.stats.get(outcome, ())):
            test = report.nodeid.partition('[')[0]
            tests.add(test)
            properties = getattr(report, 'user_properties', ())  # none if it was not collected
            numbers = {value for name, value in properties if name == PROPERTY}
            marked.setdefault(test, set()).update(numbers)
    if config.get_verbosity() >= 0 and any(marked.values()):
        terminalreporter.write_line(summary(claims(), marked, passed, failed))
