# SPDX-License-Identifier: Apache-2.0
"""Problems that others published: our answers are theirs."""

import re
from pathlib import Path

import pytest

from studies.suites import __main__ as suites
from studies.suites import iftomm, peers
from studies.suites.case import simulated

PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'benchmarks.md'
LONG = ('10 windows', '40 windows', 'Andrews', 'Bricard')  # to compile
CASES = [
    pytest.param(
        case,
        id=case.name,
        marks=pytest.mark.thorough if any(name in case.name for name in LONG) else (),
    )
    for case in suites.CASES
]


@pytest.mark.parametrize('case', CASES)
def test_answers_of_others(case):
    outcome = case.run()
    assert outcome.error <= case.tolerance
    assert outcome.fallbacks == 0


def test_order_of_convergence_at_singular_states():
    # cranks lie flat twice on their way: no order is lost there beyond that of the crossing
    answer = {4.0: iftomm.WINDOWS[2][4.0]}
    errors = [
        simulated(iftomm.windows(2), iftomm.direction, answer, step=h).error for h in (4e-3, 1e-3)
    ]
    assert errors[1] < errors[0] / 4.0


def test_mujoco_moves_the_same_windows():
    # an oracle of the model: soft loops of small steps come close
    error, _ = peers.in_mujoco(2, 2.5e-4)
    assert error < 2e-3


def test_the_page_shows_every_problem():
    text = PAGE.read_text()
    for case in suites.CASES:
        row = re.search(rf'^\| {re.escape(case.name)} \|.*\| ([\d.e+-]+) \| [^|]*\|$', text, re.M)
        assert row, f'{case.name}: run python -m studies.suites --page'
        assert float(row[0].split('|')[4]) <= case.tolerance
