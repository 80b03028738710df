# SPDX-License-Identifier: Apache-2.0
"""Deadlines: an output is late when it comes after stamp + period. No ROS needed."""

import pytest

from kane_dynamics.messages.loop_statistics import Deadlines

PERIOD = 4_000_000  # [ns]


def fed(delays, busy, first=10**9):
    deadlines = Deadlines()
    for i, delay in enumerate(delays):
        stamp = first + i * PERIOD
        deadlines.count(stamp, stamp + round(delay * 1e9), busy)
    return deadlines


def test_late_counts_from_the_stamp_not_from_the_next_arrival():
    deadlines = fed([0.001, 0.0039, 0.0041, 0.001, 0.05], 0.0001)
    assert deadlines.missed == 2
    assert deadlines.report().problem == ''


@pytest.mark.parametrize(('busy', 'slow'), [(0.002, False), (0.0039, True)])
def test_too_slow_for_the_rate(busy, slow):
    report = fed([busy] * 200, busy).report()
    assert report.period == pytest.approx(0.004, rel=0.01)
    assert ('too slow for the rate' in report.problem) == slow


def test_computing_longer_than_the_period_is_late_even_where_time_stands():
    assert fed([0.0] * 10, 0.005).missed == 9  # simulated time does not wait


def test_time_that_goes_back_is_no_period():
    deadlines = Deadlines()
    for stamp in (5 * PERIOD, PERIOD, PERIOD, 2 * PERIOD):
        deadlines.count(stamp, stamp, 0.0)
    assert deadlines.missed == 0
    assert deadlines.report().period == pytest.approx(0.001)


def test_nothing_to_report():
    assert Deadlines().report().problem == ''
