# SPDX-License-Identifier: Apache-2.0
"""Rates on cards: bounds by their figures, and the whole run with the processor in their place."""

import json
from types import SimpleNamespace

import pytest
from support import cuda

from studies import report, robots
from studies.cuda import rates, timed
from studies.cuda.limits import bound, limits


def gpu(capability, **figures):
    """Return what of CuPy is asked for the figures of a card."""
    runtime = SimpleNamespace(
        deviceGetAttribute=lambda attribute, device: figures[attribute],
        **{f'cudaDevAttr{name}': name for name in figures},
    )
    device = SimpleNamespace(compute_capability=capability, id=0)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device=lambda: device))


# As data sheets give them, with a product and a sum an operation: teraflops / 2, and TB/s.
@pytest.mark.parametrize(
    'capability, figures, single, double, memory',
    [
        ('80', (108, 1_410_000, 1_215_000, 5120), 19.5, 9.7, 1.555),  # A100 of 40 GB
        ('90', (132, 1_980_000, 3_201_000, 6144), 67.0, 33.5, 4.9),  # H200
    ],
)
def test_limits_are_those_of_data_sheets(capability, figures, single, double, memory):
    names = 'MultiProcessorCount', 'ClockRate', 'MemoryClockRate', 'GlobalMemoryBusWidth'
    xp = gpu(capability, **dict(zip(names, figures, strict=True)))
    for precision, flops in (('float32', single), ('float64', double)):
        found = limits(xp, precision)
        assert found.operations == pytest.approx(0.5e12 * flops, rel=0.01)
        assert found.memory == pytest.approx(1e12 * memory, rel=0.01)


def test_the_bound_is_the_smaller_one():
    row = {'limits': {'operations': 100.0, 'memory': 60.0}, 'operations': 10, 'bytes': 3}
    assert bound(row) == (10.0, 'operations')
    assert bound(row | {'bytes': 12}) == (5.0, 'memory')
    assert bound(row | {'bytes': 0}) == (10.0, 'operations')
    unknown = {'operations': None, 'memory': None}
    assert bound(row | {'limits': unknown}) == (None, 'not known')


def test_a_row_that_fails_does_not_lose_the_others(monkeypatch, tmp_path):
    def missing():
        raise robots.MissingRobotError('no such robot')

    monkeypatch.setattr(rates, 'ROBOTS', {'none': missing, 'arm': lambda: robots.chain(2)})
    monkeypatch.setattr(rates, 'STEPS', 3)
    monkeypatch.setattr(rates.Case, 'steps', lambda self, states: 1 / 0)
    device = timed.on_processor(cuda.device())
    kept = []

    def keep(rows):
        path = report.keep(tmp_path, 'rates', {'rates': rows})
        kept.append(len(json.loads(path.read_text())['rates']))

    found, tables = rates.measured(['none', 'arm'], 1500, keep, lambda line: None, device)
    assert kept == list(range(1, len(found) + 1))
    failed = [row['error'] for row in found if 'error' in row]
    assert failed == 2 * ['MissingRobotError: no such robot'] + 2 * [
        'ZeroDivisionError: division by zero'
    ]
    good = [row for row in found if 'error' not in row]
    assert len(good) == 8  # two kernels, two layouts, two precisions
    for row in good:
        assert row['rate'] >= row['rate_of_calls'] > 0.0  # a launch is part of its call
        # q, v, a or tau; the result; health
        assert row['bytes'] == (4 * 2 + 1) * {'float32': 4, 'float64': 8}[row['precision']]
    assert len(tables[0].rows) == len(found)
