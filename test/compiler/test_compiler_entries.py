# SPDX-License-Identifier: Apache-2.0
"""The way in: what is accepted, what is refused, who owns what."""

import ctypes
import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from kernel_cases import (
    AGREEMENT,
    DEAD_CENTRE,
    FUNCTIONS,
    compiled_value,
    error,
)
from numpy.testing import assert_allclose, assert_array_equal

import kane_dynamics as kd
from kane_dynamics.compiler.llvm import entry
from kane_dynamics.exceptions import InconsistentConstraintsError, InvalidInputError

CALLS = 100_000

fast_way_in = pytest.mark.skipif(
    sys.version_info < (3, 11), reason='Python 3.10 has no symbol PyObject_Vectorcall'
)


@pytest.fixture
def arm(pair, rng):
    """Return a compiled arm of 4 joints, with q, v, a and the efforts at them."""
    case, fast = pair('massless')
    q, v, a = case.state(rng)
    return fast, (q, v, a), kd.inverse_dynamics(case.robot, q, v, a)


class SpecialArray(np.ndarray):
    """A subclass that the fast way in must not mistake for an array."""


def strided(x):
    """Return x as every second entry of an array."""
    return np.repeat(x, 2)[::2]


def unaligned(x):
    """Return x at an odd address."""
    raw = np.zeros(8 * len(x) + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64)
    view[:] = x
    assert not view.flags.aligned
    return view


def read_only(x):
    """Return x as an array that cannot be written."""
    x = x.copy()
    x.setflags(write=False)
    return x


SAME_NUMBERS = {
    'list': lambda x: x.tolist(),
    'tuple': tuple,
    'strided': strided,
    'reversed': lambda x: x[::-1].copy()[::-1],
    'swapped bytes': lambda x: x.astype(x.dtype.newbyteorder()),
    'long double': lambda x: x.astype(np.longdouble),
    'objects': lambda x: x.astype(object),
    'subclass': lambda x: x.view(SpecialArray),
    'unaligned': unaligned,
    'read-only': read_only,
    'memory view': memoryview,
}


@pytest.mark.parametrize('kind', SAME_NUMBERS)
def test_same_numbers_in_another_form(kind, arm):
    fast, inputs, tau = arm
    for k in range(3):
        changed = list(inputs)
        changed[k] = SAME_NUMBERS[kind](inputs[k])
        result = fast.inverse_dynamics(*changed)
        assert type(result) is np.ndarray
        assert_array_equal(result, fast.inverse_dynamics(*inputs))
    assert error(result, tau) < 1e-14


def test_numbers_of_less_precision(arm):
    fast, inputs, _ = arm
    single = [x.astype(np.float32) for x in inputs]
    exact = fast.inverse_dynamics(*[x.astype(float) for x in single])
    assert_array_equal(fast.inverse_dynamics(*single), exact)
    assert_array_equal(
        fast.inverse_dynamics([1, 0, 2, 0], (0,) * 4, np.arange(4)),
        fast.inverse_dynamics(np.array([1.0, 0, 2, 0]), np.zeros(4), np.arange(4.0)),
    )


def test_names_of_the_inputs(arm):
    fast, (q, v, a), _ = arm
    expected = fast.inverse_dynamics(q, v, a)
    assert_array_equal(fast.inverse_dynamics(q=q, v=v, a=a), expected)
    assert_array_equal(fast.inverse_dynamics(q, a=a, v=v), expected)
    out = np.empty(4)
    assert fast.inverse_dynamics(q, v=v, a=a, out=out) is out
    assert_array_equal(out, expected)
    assert_array_equal(fast.acceleration(q, v, tau=a), fast.acceleration(q, v, a))


@pytest.mark.parametrize('function', FUNCTIONS)
def test_output_into_an_array_of_the_caller(function, arm):
    fast, state, _ = arm
    expected = compiled_value(fast, function, *state)
    out = np.full(expected.shape, np.nan)
    assert compiled_value(fast, function, *state, out=out) is out
    assert_array_equal(out, expected)
    again = np.full(expected.shape, np.nan)
    inputs = state[: len(FUNCTIONS[function])]
    if function != 'inverse_dynamics':  # wrenches come before `out` there
        assert getattr(fast, function)(*inputs, again) is again
        assert_array_equal(again, expected)
    key = ''.join(['o', 'ut'])  # equal to 'out', another string
    assert getattr(fast, function)(*inputs, **{key: again}) is again
    assert_array_equal(getattr(fast, function)(*inputs, None), expected)
    assert_array_equal(getattr(fast, function)(*inputs, out=None), expected)


def test_output_over_an_input(arm):
    fast, (q, v, a), _ = arm
    expected = fast.inverse_dynamics(q, v, a)
    for k in range(3):
        inputs = [q.copy(), v.copy(), a.copy()]
        assert fast.inverse_dynamics(*inputs, out=inputs[k]) is inputs[k]
        assert_array_equal(inputs[k], expected)
    # an input that needs conversion takes the other way in
    inputs = [q.copy(), v.tolist(), a.copy()]
    assert_array_equal(fast.inverse_dynamics(*inputs, out=inputs[2]), expected)
    shared = np.r_[q, v, a]
    fast.inverse_dynamics(shared[:4], shared[4:8], shared[8:], out=shared[2:6])
    assert_array_equal(shared[2:6], expected)


def test_output_over_an_input_where_rows_repeat_each_other(pair):
    case, fast = pair('dead_centre')
    q, v = DEAD_CENTRE
    tau = np.array([0.3, -0.2, 0.5, 0.1])
    expected = kd.forward_dynamics(case.robot, q, v, tau, case.constraints).acceleration
    for efforts in (tau.copy(), unaligned(tau)):
        before = fast.fallback_count
        if efforts.flags.aligned:
            assert fast.acceleration(q, v, efforts, out=efforts) is efforts
            assert error(efforts, expected) < AGREEMENT
        else:
            assert error(fast.acceleration(q, v, efforts), expected) < AGREEMENT
            assert_array_equal(efforts, tau)
        assert fast.fallback_count == before


WRONG_INPUTS = {
    'too short': (lambda q: q[:3], r'q: need shape \(4,\) or \(B, 4\), got \(3,\)'),
    'too long': (lambda q: np.r_[q, 0.0], r'got \(5,\)'),
    'a number': (lambda q: 1.0, r'got \(\)'),
    'a column': (lambda q: q[:, None], r'got \(4, 1\)'),
    'a block': (lambda q: np.zeros((2, 2, 4)), r'got \(2, 2, 4\)'),
    'nothing': (lambda q: [], r'got \(0,\)'),
    'None': (lambda q: None, 'q: need'),
    'words': (lambda q: ['a', 'b', 'c', 'd'], 'q: need real numbers'),
    'ragged': (lambda q: [[1.0], [1.0, 2.0]], 'q: need real numbers'),
    'complex': (lambda q: ['1+2j'] * 4, 'q: need real numbers'),
}


@pytest.mark.parametrize('wrong', WRONG_INPUTS)
def test_wrong_input(wrong, arm):
    fast, (q, v, a), _ = arm
    change, message = WRONG_INPUTS[wrong]
    with pytest.raises(InvalidInputError, match=message):
        fast.inverse_dynamics(change(q), v, a)
    with pytest.raises(InvalidInputError, match='v: need|a: need'):
        fast.inverse_dynamics(q, v, change(a))


def test_wrong_number_or_name_of_inputs(arm):
    # as Python says it of the method, which is that of the reference engine
    fast, (q, v, a), _ = arm
    for dynamics in (fast, kd.dynamics(fast.robot)):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
            dynamics.inverse_dynamics(q, v)
        with pytest.raises(TypeError, match="unexpected keyword argument 'x'"):
            dynamics.inverse_dynamics(q, v, a, x=1)
        with pytest.raises(TypeError, match="multiple values for argument 'q'"):
            dynamics.inverse_dynamics(q, v, a, q=q)
        with pytest.raises(TypeError, match='takes from 3 to 4 positional arguments'):
            dynamics.bias_force(q, v, None, None)
        with pytest.raises(InvalidInputError, match='external_wrenches: need a mapping'):
            dynamics.inverse_dynamics(q, v, a, np.empty(4))


WRONG_OUTPUTS = {
    'short': np.empty(3),
    'long': np.empty(5),
    'two dimensions': np.empty((1, 4)),
    'strided': np.empty(8)[::2],
    'single precision': np.empty(4, dtype=np.float32),
    'whole numbers': np.empty(4, dtype=int),
    'swapped bytes': np.empty(4, dtype=np.dtype(float).newbyteorder()),
    'read-only': read_only(np.empty(4)),
    'unaligned': unaligned(np.zeros(4)),
    'list': [0.0] * 4,
    'number': 0.0,
}


@pytest.mark.parametrize('wrong', WRONG_OUTPUTS)
def test_wrong_output(wrong, arm):
    fast, inputs, _ = arm
    out = WRONG_OUTPUTS[wrong]
    with pytest.raises(InvalidInputError, match=r'out: need a writeable C-contiguous float64'):
        fast.inverse_dynamics(*inputs, out=out)
    with pytest.raises(InvalidInputError, match=r'out: need a writeable C-contiguous float64'):
        fast.bias_force(*inputs[:2], out)


def test_matrices_are_written_row_by_row(arm):
    fast, (q, _, _), _ = arm
    with pytest.raises(InvalidInputError, match='out: need'):
        fast.mass_matrix(q, out=np.empty((4, 4), order='F'))
    batch = np.asfortranarray(np.tile(q, (3, 1)))
    assert_allclose(fast.mass_matrix(batch), np.tile(fast.mass_matrix(q), (3, 1, 1)), rtol=1e-14)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('function', FUNCTIONS)
def test_not_a_number_in_not_a_number_out(function, bad, arm):
    # the first angle turns a link under gravity: everything but M and the last column sees it
    fast, state, _ = arm
    for k in range(len(FUNCTIONS[function])):
        inputs = [x.copy() for x in state]
        inputs[k][1] = bad
        result = compiled_value(fast, function, *inputs)
        assert not np.isfinite(result).all()
        if np.isnan(bad):
            assert np.isnan(result).any()


@pytest.mark.parametrize('name', ['massless', 'sled', 'dead_centre'])
def test_not_a_number_through_the_solves(name, pair, rng):
    case, fast = pair(name)
    state = DEAD_CENTRE if name == 'dead_centre' else case.state(rng)[:2]
    for k in range(3):
        inputs = [x.copy() for x in (*state, np.ones(case.robot.nv))]
        inputs[k][-1] = np.nan
        assert np.isnan(fast.acceleration(*inputs)).any()


def references(*objects):
    """Return the number of references to each object."""
    return [sys.getrefcount(x) for x in objects]


def test_references_and_memory_over_many_calls(arm):
    fast, inputs, _ = arm
    out, dtype = np.empty(4), np.dtype(float)
    entry, bias = fast.inverse_dynamics, fast.bias_force
    as_list = inputs[0].tolist()

    def calls(n, slow):
        for _ in range(n):
            entry(*inputs)
            entry(*inputs, out=out)
            bias(*inputs[:2], out)
        for _ in range(slow):
            entry(as_list, *inputs[1:], out=out)
            try:
                entry(*inputs[:2], np.ones(3), out=out)
            except InvalidInputError:
                pass

    calls(1000, 1000)
    gc.collect()
    before, blocks = references(*inputs, out, as_list), sys.getallocatedblocks()
    (dtypes,) = references(dtype)
    calls(CALLS, CALLS // 50)
    gc.collect()
    assert references(*inputs, out, as_list) == before
    # every array of floats in the process refers to it; other tests' arrays may go meanwhile
    assert abs(references(dtype)[0] - dtypes) < CALLS // 2
    # one lost array in a hundred calls would be a thousand blocks
    assert sys.getallocatedblocks() - blocks < 200


def test_references_where_the_reference_is_asked(pair):
    case, fast = pair('dead_centre')
    inputs = DEAD_CENTRE[0], 3.0 * np.array([1.0, -1.0, 1.0, 0.0]), np.ones(4)  # contradictory
    out = np.empty(4)

    def calls(n):
        for _ in range(n):
            for more in ({'out': out}, {}):
                with suppress(InconsistentConstraintsError):
                    fast.acceleration(*inputs, **more)

    calls(100)
    before, count, lost = references(*inputs, out), fast.fallback_count, list[int]()
    for _ in range(3):  # other threads of the tests before may take blocks, too
        gc.collect()
        blocks = sys.getallocatedblocks()
        calls(200)
        gc.collect()
        lost.append(sys.getallocatedblocks() - blocks)
    assert fast.fallback_count == count + 1200
    assert references(*inputs, out) == before
    assert min(lost) < 150  # a block lost in every other call is 200


def test_results_are_independent_arrays(arm):
    fast, inputs, _ = arm
    first = fast.inverse_dynamics(*inputs)
    kept = first.copy()
    second = fast.inverse_dynamics(inputs[0] + 1.0, *inputs[1:])
    assert not np.shares_memory(first, second)
    assert first.flags.owndata
    assert first.flags.writeable
    assert_array_equal(first, kept)


def test_functions_outlive_the_compiled_robot(pair):
    robot = pair('planar_2r')[0].robot
    fast = kd.compile(robot, cache=False)
    robot_gone = weakref.ref(fast)
    entry, engine = fast.mass_matrix, fast.engine('rk4')
    q = np.array([0.3, 0.4])
    expected = kd.mass_matrix(robot, q)
    del fast, engine
    gc.collect()
    for _ in range(10):
        np.empty(1000).fill(np.nan)  # memory that was freed is written
        assert error(entry(q), expected) < 1e-14
        assert error(entry(np.tile(q, (5, 1)))[4], expected) < 1e-14
        assert error(entry(q.tolist()), expected) < 1e-14
    del entry
    gc.collect()
    assert robot_gone() is None


def test_several_robots_at_once(pair, rng):
    names = ('massless', 'slides', 'planar_2r', 'sled')
    made = [(pair(name), pair(name)[0].state(rng)) for name in names]
    expected = [fast.inverse_dynamics(*state) for (_, fast), state in made]
    for _ in range(20):
        for ((_, fast), state), tau in zip(made, expected, strict=True):
            assert_array_equal(fast.inverse_dynamics(*state), tau)


def test_calls_from_several_threads(pair, rng):
    case, fast = pair('massless')
    states = [case.state(rng) for _ in range(8)]
    batch = [np.array(part) for part in zip(*states, strict=True)]
    many = [np.repeat(part, 300, axis=0) for part in batch]
    expected = [fast.inverse_dynamics(*state) for state in states]
    accelerations = [fast.acceleration(*state) for state in states]

    def work(k):
        for _ in range(300):
            assert_array_equal(fast.inverse_dynamics(*states[k]), expected[k])
            assert_array_equal(fast.acceleration(*states[k]), accelerations[k])
        rows = fast.inverse_dynamics(*many)
        assert_allclose(rows[300 * k], expected[k], rtol=1e-13, atol=1e-13)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


@fast_way_in
def test_interpreters_without_the_fast_way_in(pair, arm, monkeypatch):
    monkeypatch.setattr(entry, 'entries_supported', lambda: False)
    _, inputs, _ = arm
    fast = arm[0]
    plain = kd.compile(fast.robot, cache=False)
    out = np.empty(4)
    assert type(plain.inverse_dynamics) is not type(fast.inverse_dynamics)
    assert_array_equal(plain.inverse_dynamics(*inputs), fast.inverse_dynamics(*inputs))
    assert plain.inverse_dynamics(*inputs, out=out) is out
    assert plain.bias_force(*inputs[:2], out) is out


@fast_way_in
def test_this_interpreter_has_the_fast_way_in(arm):
    assert entry.entries_supported()
    assert type(arm[0].inverse_dynamics) is type(len)
    assert arm[0].inverse_dynamics.__name__ == 'inverse_dynamics'


@fast_way_in
def test_interpreters_without_a_function(arm, monkeypatch):
    """Regression: Python 3.10 has no symbol PyObject_Vectorcall, and every compilation failed."""

    class Without:
        def __getattr__(self, wanted):
            if wanted == 'PyObject_Vectorcall':
                raise AttributeError(f'undefined symbol: {wanted}')
            return getattr(api, wanted)

    api, fast, inputs = ctypes.pythonapi, arm[0], arm[1]
    monkeypatch.setattr(ctypes, 'pythonapi', Without())
    plain = kd.compile(fast.robot, cache=False)
    monkeypatch.undo()
    assert type(plain.inverse_dynamics) is not type(len)
    assert_array_equal(plain.inverse_dynamics(*inputs), fast.inverse_dynamics(*inputs))
