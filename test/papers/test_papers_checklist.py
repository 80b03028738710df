# SPDX-License-Identifier: Apache-2.0
"""The table of the papers' claims is complete, and what it prints is what was seen to pass."""

import types

import pytest
from support.checklist import (
    ChecklistRow,
    checklist,
    exists,
    pytest_terminal_summary,
    read_table,
    summary,
)

ROWS = checklist()
OPEN = {21, 37, 39}  # not implemented; row 38 without unilateral contact and Coulomb friction
PARTLY_OPEN = {38}


def test_there_are_45_rows_in_order():
    assert [row.number for row in ROWS] == list(range(1, 46))
    assert all(row.title and row.source for row in ROWS)
    assert len({row.title for row in ROWS}) == 45


def test_only_what_is_not_implemented_is_open():
    assert {row.number for row in ROWS if row.open} == OPEN
    assert {row.number for row in ROWS if row.partly_open} == PARTLY_OPEN


@pytest.mark.parametrize('row', ROWS, ids=lambda row: str(row.number))
def test_every_other_row_names_tests_that_exist(row):
    assert bool(row.tests) != bool(row.open)
    assert len(set(row.tests)) == len(row.tests)
    assert [test for test in row.tests if not exists(test)] == []


def test_names_of_no_test_are_seen():
    here = 'test/papers/test_papers_checklist.py'
    assert exists(f'{here}::test_names_of_no_test_are_seen')
    assert not exists(f'{here}::test_that_nobody_wrote')
    assert not exists(f'{here}::checklist')
    assert not exists('test/papers/no_such_file.py::test_there_are_45_rows_in_order')


def test_reading_a_table():
    text = """\
# a remark
1. First thing
   from: Somebody (1)-(3)
   test/a.py::test_x
   # another remark
   test/a.py::TestY::test_z
2. Second: with a colon
   from: Somebody (4)
   open: not done
12. Twelfth
   from: Somebody (5)
   open in part: half of it
   test/b.py::test_x
"""
    assert read_table(text) == [
        ChecklistRow(
            1, 'First thing', 'Somebody (1)-(3)', ('test/a.py::test_x', 'test/a.py::TestY::test_z')
        ),
        ChecklistRow(2, 'Second: with a colon', 'Somebody (4)', (), open='not done'),
        ChecklistRow(
            12, 'Twelfth', 'Somebody (5)', ('test/b.py::test_x',), partly_open='half of it'
        ),
    ]


def row(number, *tests, **marks):
    return ChecklistRow(number, 'title', 'source', tests, **marks)


THREE = [row(1, 'a', 'b'), row(2, 'b', 'c', partly_open='half'), row(3, open='nothing')]


@pytest.mark.parametrize(
    ('passed', 'failed', 'text'),
    [
        ('abc', '', '2 of 3 rows tested (open: 3 nothing; in part: 2 half)'),
        (
            'ab',
            'c',
            '1 of 3 rows tested (open: 3 nothing; in part: 2 half; failed: 2)',
        ),
        (
            'ac',
            'b',
            '0 of 3 rows tested (open: 3 nothing; in part: 2 half; failed: 1, 2)',
        ),
        (
            'a',
            '',
            '1 of 3 rows tested (open: 3 nothing; in part: 2 half; '
            '1 of the 3 tests of the checklist ran)',
        ),
        # one set of parameters passed, another failed
        (
            'abc',
            'a',
            '1 of 3 rows tested (open: 3 nothing; in part: 2 half; failed: 1)',
        ),
    ],
)
def test_a_row_counts_when_a_test_of_it_passed_and_none_failed(passed, failed, text):
    assert summary(THREE, set(passed), set(failed)) == f'papers checklist: {text}'


class Reporter:
    """What the hook needs of pytest's reporter."""

    def __init__(self, **names):
        self.stats = {
            outcome: [types.SimpleNamespace(nodeid=name) for name in chosen]
            for outcome, chosen in names.items()
        }
        self.lines = []

    def write_line(self, line):
        self.lines.append(line)


def printed(verbosity=0, **names):
    reporter = Reporter(**names)
    config = types.SimpleNamespace(get_verbosity=lambda: verbosity)
    pytest_terminal_summary(reporter, config)
    return reporter.lines


def test_what_is_printed_at_the_end_of_a_run():
    first = ROWS[0].tests[0]
    (line,) = printed(passed=[f'{first}[one]', f'{first}[two]'], skipped=['elsewhere'])
    assert line.startswith('papers checklist: 1 of 45 rows tested (open: 21 ')
    assert 'of the checklist ran)' in line
    (line,) = printed(passed=[f'{first}[one]'], error=[f'{first}[two]'])
    assert line.startswith('papers checklist: 0 of 45 rows') and 'failed: 1' in line
    every_test = [test for row in ROWS for test in row.tests]
    (line,) = printed(passed=every_test)
    assert line.startswith('papers checklist: 42 of 45 rows tested (open: 21 ')
    assert 'ran' not in line.split()


def test_nothing_is_printed_where_nothing_of_it_ran_or_pytest_is_quiet():
    assert printed(passed=['test/other.py::test_x']) == []
    assert printed(verbosity=-1, passed=[ROWS[0].tests[0]]) == []
