# SPDX-License-Identifier: Apache-2.0
"""The table of the papers' claims is complete, and what it prints is what was seen to pass."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support.checklist import (
    ROOT,
    Claim,
    claims,
    mark_claims,
    pytest_terminal_summary,
    summary,
)

OPEN: set[int] = set()  # not implemented


def test_there_are_45_claims():
    table = claims()
    assert list(table) == list(range(1, 46))
    assert all(claim.title and claim.source for claim in table.values())
    assert len({claim.title for claim in table.values()}) == 45


def test_every_claim_but_the_open_ones_has_a_test():
    assert {number for number, claim in claims().items() if claim.open} == OPEN
    assert {number for number, claim in claims().items() if claim.missing} == OPEN
    marked = set()
    for path in (ROOT / 'test').rglob('test_*.py'):
        for numbers in re.findall(r'^ *@pytest\.mark\.claim\((.*)\)$', path.read_text(), re.M):
            marked |= {int(number) for number in numbers.split(',')}
    assert marked == set(claims()) - OPEN


TABLE = {
    1: Claim('first', 'somebody'),
    2: Claim('second', 'somebody', 'open in part: half'),
    3: Claim('third', 'somebody', 'open: nothing'),
}
TESTS = {'a': {1}, 'b': {1, 2}, 'c': {2}}


@pytest.mark.parametrize(
    ('passed', 'failed', 'count', 'remark'),
    [
        ('abc', '', 2, ''),
        ('ab', 'c', 1, '; failed: 2'),
        ('ac', 'b', 0, '; failed: 1, 2'),
        ('a', '', 1, '; not run: 2'),
        ('abc', 'a', 1, '; failed: 1'),  # one set of parameters passed, another failed
    ],
)
def test_a_claim_counts_when_a_test_of_it_passed_and_none_failed(passed, failed, count, remark):
    expected = f'{count} of 3 claims tested (2 open in part: half; 3 open: nothing{remark})'
    found = summary(TABLE, TESTS, set(passed), set(failed))
    assert found == f'papers checklist: {expected}'


def printed(verbosity=0, **names):
    """Return what the hooks print after a run with these outcomes of tests of two claims."""
    stats = {}
    for outcome, given in names.items():
        for name in given:
            marks = [SimpleNamespace(args=(7, 8))] if name.startswith('test/a.py') else []
            item = SimpleNamespace(
                nodeid=name, user_properties=[], iter_markers=lambda _, found=marks: found
            )
            mark_claims([item])
            stats.setdefault(outcome, []).append(item)
    lines = []
    config = SimpleNamespace(get_verbosity=lambda: verbosity)
    pytest_terminal_summary(SimpleNamespace(stats=stats, write_line=lines.append), config)
    return lines


def test_nothing_is_remarked_where_every_claim_was_shown():
    table = {1: Claim('first', 'somebody')}
    assert summary(table, {'a': {1}}, {'a'}, set()) == 'papers checklist: 1 of 1 claims tested'


def test_what_is_printed_at_the_end_of_a_run():
    one, two = 'test/a.py::test_x[one]', 'test/a.py::test_x[two]'
    (line,) = printed(passed=[one, two], skipped=['elsewhere'])
    assert line.startswith('papers checklist: 2 of 45 claims tested (')
    assert 'not run: 1, 2, 3, 4, 5, 6, 9,' in line
    (line,) = printed(passed=[one], error=[two])
    assert line.startswith('papers checklist: 0 of 45 claims') and 'failed: 7, 8' in line


@pytest.mark.parametrize('options', [(), ('-n', '2')])
def test_the_line_is_the_same_from_several_processes(tmp_path, options):
    (tmp_path / 'conftest.py').write_text(
        'from support.checklist import *\n'
        'pytest_collection_modifyitems = mark_claims\n'
        'def pytest_configure(config):\n'
        "    config.addinivalue_line('markers', 'claim(number, ...): of the papers')\n"
    )
    (tmp_path / 'test_a.py').write_text(
        'import pytest\n'
        '@pytest.mark.claim(1, 2)\n@pytest.mark.parametrize("x", [0, 1])\ndef test_a(x): pass\n'
        '@pytest.mark.claim(2, 3)\ndef test_b(): assert False\n'
    )
    if options:
        pytest.importorskip('xdist')
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', *options, str(tmp_path)],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join([str(ROOT / 'test'), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        'papers checklist: 1 of 45 claims tested (failed: 2, 3; not run: 4, 5, 6,' in done.stdout
    )


def test_nothing_is_printed_where_nothing_of_it_ran_or_pytest_is_quiet():
    assert printed(passed=['test/other.py::test_x']) == []
    broken = SimpleNamespace(stats={'error': [SimpleNamespace(nodeid='test/broken.py')]})
    pytest_terminal_summary(broken, SimpleNamespace(get_verbosity=lambda: 0))
    assert printed(verbosity=-1, passed=['test/a.py::test_x[one]']) == []
