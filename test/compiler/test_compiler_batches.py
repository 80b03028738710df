# SPDX-License-Identifier: Apache-2.0
"""Many states at once: the same numbers as one by one, whatever their count."""

import os

import numpy as np
import pytest
from kernel_cases import DEAD_CENTRE, FUNCTIONS, compiled_value, error
from numpy.testing import assert_array_equal

import kane_dynamics as kd
from kane_dynamics.compiler import batches
from kane_dynamics.exceptions import InconsistentConstraintsError, InvalidInputError

# Lanes and single states may fuse products differently: a few ulp, grown by the solves.
ONE_BY_ONE = 1e-13
COUNTS = (0, 1, 3, 4, 5, 1000)


def states(case, count, rng):
    """Return q, v, a with `count` rows, the first 40 of them different."""
    some = [case.state(rng) for _ in range(min(max(count, 1), 40))]
    return [np.resize(part, (count, len(part[0]))) for part in zip(*some, strict=True)]


@pytest.mark.parametrize('count', COUNTS)
@pytest.mark.parametrize('name', ['massless', 'sled', 'planar_tree'])
class TestSameAsOneByOne:
    """Counts below, at and above the number of lanes, and more than one task holds."""

    @pytest.mark.parametrize('function', [*FUNCTIONS, 'acceleration', 'frame_poses'])
    def test_function(self, name, count, function, pair, rng):
        case, fast = pair(name)
        q, v, a = states(case, count, rng)
        needed = {'acceleration': 'qva', 'frame_poses': 'q', **FUNCTIONS}[function]
        rows = [{'q': q, 'v': v, 'a': a}[x] for x in needed]
        call = getattr(fast, function)
        result = call(*rows)
        assert len(result) == count
        for k in {*range(min(count, 7)), *range(max(0, count - 5), count)}:
            expected = call(*[x[k] for x in rows])
            assert error(result[k], expected) < ONE_BY_ONE
        still = {'q': case.robot.neutral(), 'v': np.zeros(case.robot.nv)}
        one = call(*[still.get(x, still['v']) for x in needed])
        assert result.shape == (count, *one.shape)


def test_one_state_with_many(pair, rng):
    case, fast = pair('massless')
    q, v, a = states(case, 6, rng)
    for one in range(3):
        mixed, full = [q, v, a], [q, v, a]
        mixed[one] = mixed[one][2]
        full[one] = np.tile(full[one][2], (6, 1))
        assert_array_equal(fast.inverse_dynamics(*mixed), fast.inverse_dynamics(*full))
    only = fast.inverse_dynamics(q[0], v[1], a)
    assert_array_equal(
        only, fast.inverse_dynamics(np.tile(q[0], (6, 1)), np.tile(v[1], (6, 1)), a)
    )
    assert fast.inverse_dynamics(q[0], v[1], a[:1]).shape == (1, 4)


def test_different_lengths(pair, rng):
    case, fast = pair('massless')
    q, v, a = states(case, 6, rng)
    with pytest.raises(InvalidInputError, match=r'batches have different lengths \[5, 6\]'):
        fast.inverse_dynamics(q, v[:5], a)
    with pytest.raises(InvalidInputError, match=r'different lengths \[1, 6\]'):
        fast.inverse_dynamics(q[:1], v, a)
    with pytest.raises(InvalidInputError, match=r'v: need shape \(4,\) or \(B, 4\), got \(6, 3\)'):
        fast.inverse_dynamics(q, v[:, :3], a)


@pytest.mark.parametrize('count', [1, 5, 300])
def test_output_into_an_array_of_the_caller(count, pair, rng):
    case, fast = pair('massless')
    q, v, a = states(case, count, rng)
    for function in FUNCTIONS:
        expected = compiled_value(fast, function, q, v, a)
        out = np.full(expected.shape, np.nan)
        assert compiled_value(fast, function, q, v, a, out=out) is out
        assert_array_equal(out, expected)
        with pytest.raises(InvalidInputError, match='out: need'):
            compiled_value(fast, function, q, v, a, out=np.empty((count + 1, *out.shape[1:])))
        with pytest.raises(InvalidInputError, match='out: need'):
            compiled_value(fast, function, q, v, a, out=np.empty(out.shape[1:]))


@pytest.mark.parametrize('count', [5, 4000])
def test_output_over_an_input(count, pair, rng):
    case, fast = pair('massless')
    q, v, a = states(case, count, rng)
    expected = fast.inverse_dynamics(q, v, a)
    efforts = a.copy()
    assert fast.inverse_dynamics(q, v, efforts, out=efforts) is efforts
    assert_array_equal(efforts, expected)
    # rows of the output cover other rows of the input
    shared = np.vstack([a, np.zeros((1, 4))])
    fast.inverse_dynamics(q, v, shared[:-1], out=shared[1:])
    assert_array_equal(shared[1:], expected)
    block = np.zeros(16 * count)
    block[: 4 * count] = q.ravel()
    matrices = block.reshape(count, 4, 4)
    expected = fast.mass_matrix(q)
    fast.mass_matrix(block[: 4 * count].reshape(count, 4), out=matrices)
    assert_array_equal(matrices, expected)


@pytest.mark.parametrize('layout', ['F', 'strided', 'float32', 'lists'])
def test_layout_of_the_inputs(layout, pair, rng):
    case, fast = pair('massless')
    q, v, a = (x.astype(np.float32).astype(float) for x in states(case, 9, rng))
    change = {
        'F': np.asfortranarray,
        'strided': lambda x: np.repeat(x, 2, axis=0)[::2],
        'float32': lambda x: x.astype(np.float32),
        'lists': lambda x: x.tolist(),
    }[layout]
    expected = fast.inverse_dynamics(q, v, a)
    assert_array_equal(fast.inverse_dynamics(change(q), change(v), change(a)), expected)


@pytest.mark.parametrize('name', ['massless', 'sled'])
def test_not_a_number_stays_in_its_row(name, pair, rng):
    case, fast = pair(name)
    q, v, tau = states(case, 37, rng)
    clean = fast.acceleration(q, v, tau)
    for row in (0, 2, 36):
        bad = tau.copy()
        bad[row, -1] = np.nan
        result = fast.acceleration(q, v, bad)
        assert np.isnan(result[row]).any()
        others = np.arange(37) != row
        assert_array_equal(result[others], clean[others])


def test_rows_that_repeat_each_other_at_some_states(pair, rng):
    case, fast = pair('dead_centre')
    q, v, tau = states(case, 21, rng)
    q[[3, 20]], v[[3, 20]] = DEAD_CENTRE
    before = fast.fallback_count
    result = fast.acceleration(q, v, tau)
    assert fast.fallback_count == before
    for k in range(21):
        expected = kd.forward_dynamics(case.robot, q[k], v[k], tau[k], case.constraints)
        assert error(result[k], expected.acceleration) < 1e-10
    # NaN at such a state is not an error: it is one row of many
    tau[3, 0] = np.nan
    again = fast.acceleration(q, v, tau)
    assert np.isnan(again[3]).any()
    assert_array_equal(np.delete(again, 3, axis=0), np.delete(result, 3, axis=0))
    over = tau.copy()
    over[3] = 0.5
    expected = fast.acceleration(q, v, over)
    assert_array_equal(fast.acceleration(q, v, over, out=over), expected)


def test_contradiction_in_a_row_raises(pair, rng):
    case, fast = pair('dead_centre')
    q, v, tau = states(case, 5, rng)
    q[2], v[2] = DEAD_CENTRE[0], [3.0, -3.0, 3.0, 0.0]
    with pytest.raises(InconsistentConstraintsError, match='^state 2 of the batch: '):
        fast.acceleration(q, v, tau)


def test_same_bits_twice_and_on_any_number_of_cores(pair, rng, monkeypatch):
    case, fast = pair('massless')
    q, v, tau = states(case, 5000, rng)
    first = fast.acceleration(q, v, tau)
    for cores in (1, 2, 3, 7):
        monkeypatch.setattr(batches, 'available_cores', lambda n=cores: n)
        assert_array_equal(fast.acceleration(q, v, tau), first)


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork on this system')
def test_batches_after_a_fork(pair):
    """Regression: the threads of the parent do not exist in the child, which waited for them."""
    _, fast = pair('planar_2r')
    q = np.zeros((4096, 2))
    expected = fast.gravity_force(q)
    child = os.fork()
    if child == 0:
        import signal

        signal.alarm(20)
        same = np.array_equal(fast.gravity_force(q), expected)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
