# SPDX-License-Identifier: Apache-2.0
"""Samples of recordings: no delay, true derivatives, gaps cut, clocks reported."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification import samples
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.samples import SampleBlocks, prepared_samples, timing

STEP, RATE = 1e-3, 2.0 * np.pi * 0.7


def recording(seconds=4.0):
    """Return times, and a sine with its derivative in two joints."""
    t = np.arange(0.0, seconds, STEP)
    phase = np.array([0.3, 1.1])
    angle = RATE * t[:, None] + phase
    return t, np.sin(angle), RATE * np.cos(angle)


def test_a_slow_motion_passes_undelayed():
    t, q, v = recording()
    (found,) = prepared_samples(t, q, 5.0 * q, v)
    assert found.time[0] == pytest.approx(0.5)
    assert found.time[-1] <= t[-1] - 0.5
    assert_allclose(np.diff(found.time), 0.01, rtol=1e-9)
    angle = RATE * found.time[:, None] + [0.3, 1.1]
    assert_allclose(found.q, np.sin(angle), atol=1e-4)
    assert_allclose(found.v, RATE * np.cos(angle), atol=1e-3)
    assert_allclose(found.a, -(RATE**2) * np.sin(angle), atol=5e-3)
    assert_allclose(found.tau, 5.0 * found.q, atol=1e-12)
    assert_allclose(found.raw, 5.0 * np.sin(angle), atol=1e-9)
    assert_allclose(found.history[found.index], found.q)
    assert len(found.history) == len(t)


def test_long_recordings_are_filtered_in_blocks(monkeypatch):
    """Without a sample that is lost, and as the filter of the whole has them."""
    t, q, v = recording(9.0)
    (whole,) = prepared_samples(t, q, q, v)
    monkeypatch.setattr(samples, 'BLOCK', 2500)
    found = prepared_samples(t, q, q, v)
    assert len(found) == 4
    for kind in ('q', 'v', 'a', 'tau'):
        values = np.concatenate([getattr(one, kind) for one in found])
        times = np.concatenate([one.time for one in found])
        assert np.diff(times).max() < 0.0101
        reference = CubicSpline(whole.time, getattr(whole, kind))
        inside = times <= whole.time[-1]
        assert_allclose(values[inside], reference(times[inside]), rtol=0, atol=2e-3)


def test_speeds_come_from_positions_where_there_are_none():
    t, q, v = recording()
    (by_positions,), (by_speeds,) = prepared_samples(t, q, q), prepared_samples(t, q, q, v)
    assert_allclose(by_positions.v, by_speeds.v, atol=1e-3)
    assert_allclose(by_positions.a, by_speeds.a, atol=1e-2)


def test_noise_above_the_corner_is_taken_away(rng):
    t, q, v = recording()
    (found,) = prepared_samples(t, q, q + rng.normal(0.0, 0.1, q.shape), v)
    angle = RATE * found.time[:, None] + [0.3, 1.1]
    assert np.std(found.tau - np.sin(angle)) < 0.02
    assert np.std(found.raw - np.sin(angle)) == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize('recorded', [True, False])
def test_noise_of_rates_has_a_twin(recorded):
    """As large, as correlated in time, independent of it; nothing where there is no noise."""
    t, q, v = recording(60.0)
    n = np.random.default_rng(6).normal(size=(2, *q.shape))
    (clean,) = prepared_samples(t, q, q, v if recorded else None)
    measured = (q, q, v + 0.01 * n[1]) if recorded else (q + 1e-4 * n[0], q)
    (noisy,) = prepared_samples(t, *measured)
    inside = slice(500, -500)
    own, twin = (noisy.rates - clean.rates)[inside], noisy.noise[inside]
    assert own.std() > 1e-4
    assert twin.std() == pytest.approx(own.std(), rel=0.1)
    steps = [np.diff(x, axis=0).std() / x.std() for x in (own, twin)]
    assert steps[0] == pytest.approx(steps[1], rel=0.1)
    assert abs(np.sum(own * twin)) < 0.1 * np.sum(own**2)
    assert np.abs(clean.noise).max() < 2e-3
    assert np.abs(clean.noise[inside]).max() < 1e-7


def test_a_gap_cuts_and_a_short_one_does_not():
    t, q, v = recording(8.0)
    for missing, parts in ((8, 1), (400, 2)):
        kept = np.r_[0:3000, 3000 + missing : len(t)]
        found = prepared_samples(t[kept], q[kept], q[kept], v[kept])
        assert len(found) == parts
        for one in found:
            angle = RATE * one.time[:, None] + [0.3, 1.1]
            assert_allclose(one.q, np.sin(angle), atol=1e-3)
    assert found[0].time[-1] < t[2999] - 0.49
    assert found[1].time[0] > t[3400] + 0.49


@pytest.mark.parametrize(('seconds', 'parts'), [(1.05, 1), (1.15, 2)])
def test_parts_that_are_hardly_longer_than_what_is_left_out_are_left_out(seconds, parts):
    t, q, v = recording(8.0)
    kept = np.r_[0:3000, 4000 : 4000 + round(seconds / STEP)]  # twice 0.5 s, and ten samples
    assert len(prepared_samples(t[kept], q[kept], q[kept], v[kept])) == parts


def test_stamps_are_sorted_and_taken_once():
    t, q, v = recording()
    order = np.r_[np.random.default_rng(0).permutation(len(t)), 5, 6, 7]
    (found,) = prepared_samples(t[order], q[order], q[order], v[order])
    (expected,) = prepared_samples(t, q, q, v)
    assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)


def test_parts_keep_what_was_before():
    t, q, v = recording()
    (whole,) = prepared_samples(t, q, q, v)
    later = whole.part(slice(100, 200))
    assert len(later) == 100
    assert_allclose(later.presliding(1, 0.01), whole.presliding(1, 0.01)[100:200])


def test_blocks_are_made_when_they_are_asked_for():
    t, q, v = recording()
    (one,) = prepared_samples(t, q, q, v)
    made = []

    def make(k):
        made.append(k)
        return one.part(slice(10 * k, 10 * k + 10))

    blocks = SampleBlocks([partial(make, k) for k in range(6)])
    halves = blocks.map(lambda x: x.part(slice(5)))
    assert (len(halves), made) == (6, [])
    assert [len(x) for x in halves] == [5] * 6
    assert halves[-1].time[0] == one.time[50]
    assert made == [*range(6)]  # the last few stay
    assert halves[0].time[0] == one.time[0]
    assert made == [*range(6), 0]


def test_memory_does_not_grow_with_a_recording():
    """Regression: 0.17 kB a sample of six joints; here the most while terms are selected."""
    pytest.importorskip('clarabel', reason='pip install .[cones]')
    dynamics = kd.dynamics(kd.serial_chain(1))

    def make(k):
        t = 4.0 * k + np.arange(0.0, 4.0, 0.0005)
        q, v, a = ((2.0**n * np.sin(2.0 * t + 0.5 * np.pi * n))[:, None] for n in range(3))
        tau = 0.4 * a + 0.2 * np.tanh(v / 0.02)
        return prepared_samples(t, q, tau, v, rate=12.0)[0]

    def peak(count):
        blocks = SampleBlocks([partial(make, k) for k in range(count)])
        tracemalloc.start()
        friction = select_friction(dynamics, blocks, candidates=())
        values = identify(dynamics, blocks, friction=friction).fit.values
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most, values

    (few, expected), (many, values) = peak(5), peak(12)
    assert many < 1.1 * few
    assert_allclose(values, expected, atol=1e-3)


def test_the_clock_is_reported():
    t, q, _ = recording()
    q[100:110] = q[99]
    kept = np.r_[0:500, 520 : len(t)]
    found = timing(t[kept], q[kept])
    assert found.step == pytest.approx(STEP)
    assert found.gap == pytest.approx(21 * STEP)
    assert found.jitter < 1e-9
    assert found.repeated == pytest.approx(10 / (len(kept) - 1))


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'corner': 300.0}, 'corner'),
        ({'corner': 0.0}, 'corner'),
        ({'corner': None}, 'corner'),  # Regression: a TypeError, as without efforts a ValueError
        ({'tau': None}, 'samples: need'),
        ({'rate': 0.0}, 'rate'),
        ({'cut': 3.0}, 'no part without a gap'),
        ({'cut': -1.0}, 'cut'),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    t, q, v = recording()
    with pytest.raises(InvalidInputError, match=message):
        prepared_samples(t, q, **{'tau': q, 'v': v, **change})


def test_too_few_stamps_and_wrong_shapes_are_refused():
    with pytest.raises(InvalidInputError, match='3 different'):
        prepared_samples([0.0, 0.0, 1.0], np.zeros((3, 1)), np.zeros((3, 1)))
    with pytest.raises(InvalidInputError, match='samples'):
        prepared_samples([0.0, 1.0, 2.0], np.zeros((2, 1)), np.zeros((3, 1)))
