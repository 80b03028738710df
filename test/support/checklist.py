# SPDX-License-Identifier: Apache-2.0
"""Which claims of the five papers are tested: the table `test/papers/checklist.txt`, read here."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / 'test' / 'papers' / 'checklist.txt'


@dataclass(frozen=True)
class ChecklistRow:
    """One row: what a complete implementation must have, where it is from, what shows it."""

    number: int
    title: str
    source: str
    tests: tuple[str, ...]
    open: str = ''
    partly_open: str = ''


def read_table(text):
    """Return the rows of the table; see its head for the format."""
    rows = []
    for block in re.split(r'^(?=\d+\. )', text, flags=re.MULTILINE)[1:]:
        head, *lines = (line.strip() for line in block.splitlines())
        number, title = head.split('. ', 1)
        given = [line for line in lines if line and not line.startswith('#')]
        marks = {key: '' for key in ('from', 'open', 'open in part')}
        tests = []
        for line in given:
            key, _, value = line.partition(': ')
            if key in marks:
                marks[key] = value
            else:
                tests.append(line)
        rows.append(
            ChecklistRow(
                int(number),
                title,
                marks['from'],
                tuple(tests),
                marks['open'],
                marks['open in part'],
            )
        )
    return rows


def checklist():
    """Return the rows of the table in the repository."""
    return read_table(TABLE.read_text(encoding='utf-8'))


@cache
def tests_in(path):
    """Return the names of the tests in a file, 'test_x' or 'TestClass::test_x', not imported."""
    names = set()
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_'):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef) and node.name.startswith('Test'):
            names |= {
                f'{node.name}::{part.name}'
                for part in node.body
                if isinstance(part, ast.FunctionDef) and part.name.startswith('test_')
            }
    return names


def exists(test):
    """Return whether 'test/folder/file.py::name' is a test of the repository."""
    file, _, name = test.partition('::')
    path = ROOT / file
    return path.is_file() and name in tests_in(path)


def summary(rows, passed, failed):
    """
    Return what to print at the end of a run.

    A row counts when at least one of its tests passed and none failed. `passed` and `failed` are
    sets of test names without parameters.
    """
    shown = [row for row in rows if passed & set(row.tests) and not failed & set(row.tests)]
    named = {test for row in rows for test in row.tests}
    ran = len(named & (passed | failed))
    remarks = []
    for word, chosen in (
        ('open', [f'{row.number} {row.open}' for row in rows if row.open]),
        ('in part', [f'{row.number} {row.partly_open}' for row in rows if row.partly_open]),
        ('failed', [str(row.number) for row in rows if failed & set(row.tests)]),
    ):
        if chosen:
            remarks.append(f'{word}: {", ".join(chosen)}')
    if ran < len(named):
        remarks.append(f'{ran} of the {len(named)} tests of the checklist ran')
    return f'papers checklist: {len(shown)} of {len(rows)} rows tested ({"; ".join(remarks)})'


def pytest_terminal_summary(terminalreporter, config):
    """Print the count, unless pytest is quiet or no test of the checklist ran."""
    if config.get_verbosity() < 0 or not TABLE.is_file():
        return

    def names(*outcomes):
        reports = (r for outcome in outcomes for r in terminalreporter.stats.get(outcome, ()))
        return {report.nodeid.partition('[')[0] for report in reports}

    rows = checklist()
    passed, failed = names('passed', 'xpassed'), names('failed', 'error')
    if any((passed | failed) & set(row.tests) for row in rows):
        terminalreporter.write_line(summary(rows, passed, failed))
