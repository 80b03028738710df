# SPDX-License-Identifier: Apache-2.0
"""Deadlines: an output is late when it comes after stamp + period."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from kane_dynamics.ros.base_node import OutputLog
from kane_dynamics.ros.diagnostics import OK, WARN, Status

pytestmark = pytest.mark.ros
PERIOD = 4_000_000  # [ns]


def fed(delays, busy, first=10**9):
    log = OutputLog()
    for i, delay in enumerate(delays):
        stamp = first + i * PERIOD
        log.done(stamp, stamp + round(delay * 1e9), busy)
    return log


def status(log):
    return log.status(True, '', lambda values: Status(OK, 'ok', values))


def test_late_counts_from_the_stamp_not_from_the_next_arrival():
    log = fed([0.001, 0.0039, 0.0041, 0.001, 0.05], 0.0001)
    assert log.late == 2
    assert status(log).values['late outputs'] == 2
    assert status(log).level == OK


@pytest.mark.parametrize(('busy', 'slow'), [(0.002, False), (0.0039, True)])
def test_too_slow_for_the_rate(busy, slow):
    report = status(fed([busy] * 200, busy))
    assert report.level == (WARN if slow else OK)
    line = 'too slow for the rate: an output takes 3.90 ms of a period of 3.98 ms'
    assert report.message == (line if slow else 'ok')
    assert report.values['computing [ms]'] == f'{1e3 * busy:.3f}, longest {1e3 * busy:.3f}'


def test_computing_longer_than_the_period_is_late_even_where_time_stands():
    assert fed([0.0] * 10, 0.005).late == 9  # simulated time does not wait


def test_time_that_goes_back_is_no_period():
    log = OutputLog()
    for stamp in (5 * PERIOD, PERIOD, PERIOD, 2 * PERIOD):
        log.done(stamp, stamp, 0.001)
    assert log.late == 0
    assert 'takes 1.00 ms of a period of 1.00 ms' in status(log).message


def test_nothing_to_report():
    assert status(OutputLog()).message == 'ok'
