# SPDX-License-Identifier: Apache-2.0
"""Batches in single precision beside double: errors, types, and what goes back to double."""

import casadi as ca
import mpmath
import numpy as np
import pytest
from kernel_cases import CASES, DEAD_CENTRE, FUNCTIONS
from numpy.testing import assert_array_equal
from support.compiling import compiled_kernel
from support.machines import planar_2r, sled_with_arm
from support.wheeled_robots import load

import kane_dynamics as kd
from kane_dynamics.compiler import batches
from kane_dynamics.compiler.llvm import native
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.limits import LARGEST_SINGLE_INPUT
from kane_dynamics.exceptions import InvalidInputError

# A hundred roundings of 6e-8 in a row, where nothing cancels; norm-wise for each state. Solves
# that are healthy enough for single precision lose another factor of ten.
ERROR, ERROR_OF_SOLVES = 5e-6, 5e-5
COUNTS = (0, 1, 15, 16, 17, 100)
AHEAD = (0.0, 0.1, -0.3, 1.5, 2.7, -np.pi / 2, np.pi / 2, np.pi, 40.0)


@pytest.fixture(scope='module')
def sled():
    """Return a sled with an arm, some of whose speeds follow from the others."""
    robot = sled_with_arm()
    rows = (kd.constraints.no_side_slip(robot, -0.1),)
    return kd.compile(robot, rows, payloads=('fore',), precision='float32')


@pytest.fixture(scope='module')
def dead_centre():
    """Return an arm with two rows that are one row in some states."""
    case = CASES['dead_centre']()
    return kd.compile(case.robot, case.constraints, precision='float32')


def states(fast, count, seed=3):
    """Return q, v and a of `count` states in single precision."""
    numbers = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, count, fast.robot.nv))
    return tuple(numbers.astype(np.float32))


def doubles(*arrays):
    """Return the same numbers in double."""
    return [x.astype(np.float64) for x in arrays]


def worst(found, expected):
    """Return the largest norm of an error over that of its state's result, small ones apart."""
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    axes = tuple(range(1, found.ndim))
    norm = np.sqrt(np.sum(expected**2, axis=axes))
    norm = np.maximum(norm, 0.1 * norm.max(initial=0.0))  # small ones are what terms leave
    return np.max(np.sqrt(np.sum((found - expected) ** 2, axis=axes)) / norm, initial=0.0)


@pytest.mark.parametrize('function', FUNCTIONS)
def test_error_of_functions(function, sled):
    inputs = dict(zip('qva', states(sled, 1000), strict=True))
    rows = [inputs[x] for x in FUNCTIONS[function]]
    call = getattr(sled, function)
    assert worst(call(*rows), call(*doubles(*rows))) < ERROR


def test_error_of_solves_for_constraint_rows(sled):
    before = sled.double_precision_count
    q, v, tau = states(sled, 1000)
    q[:, 2] *= 0.5  # across the way of the runner, base_y does not follow from base_x
    free = [name for name in sled.robot.velocity_names if name != 'base_y']
    for call in (
        lambda *x: sled.acceleration(*x),
        lambda *x: sled.consistent_acceleration(*x),
        lambda q, v, a: sled.consistent_velocity(q, v),
        lambda *x: sled.constrained_inverse_dynamics(*x, free, known=free).effort,
    ):
        assert worst(call(q, v, tau), call(*doubles(q, v, tau))) < ERROR_OF_SOLVES
    assert sled.double_precision_count == before


def test_poses(sled):
    q, *_ = states(sled, 100)
    np.testing.assert_allclose(sled.frame_poses(q), sled.frame_poses(*doubles(q)), atol=2e-6)


def test_types_decide(sled):
    q, v, a = states(sled, 20)
    exact = sled.inverse_dynamics(*doubles(q, v, a))
    single = sled.inverse_dynamics(q, v, a)
    # one array of doubles, a list, or one state: as before
    assert_array_equal(sled.inverse_dynamics(q, v.astype(float), a), exact)
    assert_array_equal(sled.inverse_dynamics(q.tolist(), v.tolist(), a.tolist()), exact)
    assert sled.inverse_dynamics(q[0], v[0], a[0]).dtype == np.float64
    # what is one for all states is rounded
    rest = np.zeros(sled.robot.nv)
    assert_array_equal(
        sled.inverse_dynamics(q, rest, rest + 0.1),
        sled.inverse_dynamics(q, np.zeros_like(v), np.full_like(a, 0.1)),
    )
    out = np.empty_like(single)
    assert sled.inverse_dynamics(q, v, a, out=out) is out
    assert_array_equal(out, single)
    with pytest.raises(InvalidInputError, match='out: need a writeable C-contiguous float32'):
        sled.inverse_dynamics(q, v, a, out=np.empty(exact.shape))
    with pytest.raises(InvalidInputError, match=r'different lengths \[19, 20\]'):
        sled.inverse_dynamics(q, v[1:], a)
    with pytest.raises(InvalidInputError, match='v: need shape'):
        sled.inverse_dynamics(q, v[:, 1:], a)
    strided = np.repeat(q, 2, axis=0)[::2]
    assert_array_equal(sled.inverse_dynamics(strided, v, a), single)


@pytest.mark.parametrize('count', COUNTS)
def test_same_bits_at_any_place_and_nothing_beside_it(count, sled):
    q, v, a = states(sled, 100)
    whole = sled.inverse_dynamics(q, v, a)
    begin = 100 - count
    block = np.full((count + 2, sled.robot.nv), 7.0, dtype=np.float32)
    sled.inverse_dynamics(q[begin:], v[begin:], a[begin:], out=block[1:-1])
    assert_array_equal(block[1:-1], whole[begin:])
    assert_array_equal(block[[0, -1]], 7.0)
    efforts = a.copy()
    assert_array_equal(sled.inverse_dynamics(q, v, efforts, out=efforts), whole)


def test_same_bits_on_any_number_of_cores(sled, monkeypatch):
    q, v, tau = states(sled, 3001)
    first = sled.acceleration(q, v, tau)
    for cores in (1, 3):
        monkeypatch.setattr(batches, 'available_cores', lambda n=cores: n)
        assert_array_equal(sled.acceleration(q, v, tau), first)


def test_ill_states_go_to_double_then_to_dense_rows(dead_centre):
    q, v, tau = states(dead_centre, 40)
    q[:, 0], q[:, 1:] = 1.5, 0.2 * q[:, 1:]
    q[7, 0] = 0.02  # weak in single, sound in double
    q[20], v[20] = DEAD_CENTRE
    before = dead_centre.double_precision_count, dead_centre.fallback_count
    found = dead_centre.acceleration(q, v, tau)
    assert dead_centre.double_precision_count - before[0] == 2
    assert dead_centre.fallback_count == before[1]
    exact = dead_centre.acceleration(*doubles(q[7], v[7], tau[7]))
    assert_array_equal(found[7], exact.astype(np.float32))
    tau[20, 1] = np.nan  # not an error: one row of many, and nobody's count
    again = dead_centre.acceleration(q, v, tau)
    assert np.isnan(again[20]).all()
    assert_array_equal(np.delete(again, 20, axis=0), np.delete(found, 20, axis=0))
    assert dead_centre.double_precision_count - before[0] == 3
    assert dead_centre.fallback_count == before[1]
    tau[20, 1] = 0.0
    found = dead_centre.acceleration(q, v, tau)
    assert worst(found, dead_centre.acceleration(*doubles(q, v, tau))) < ERROR_OF_SOLVES


def test_states_that_cancel_go_to_double():
    robot = planar_2r()
    fast = kd.compile(robot, precision='float32')
    q, v, tau = states(fast, 40)
    v[::2] = 0.0
    # what holds the arm, and a little more, whose digits floats lose
    tau[::2] = fast.gravity_force(q[::2].astype(float)) * (1.0 + 1e-4)
    found = fast.acceleration(q, v, tau)
    assert fast.double_precision_count == 20
    exact = fast.acceleration(*doubles(q, v, tau))
    gap = np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert gap.max() < 1e-5


def test_solves_are_right_to_five_digits():
    """20,000 states of the shipped robot; `studies.cuda --agreement` has millions of others."""
    robot, _, rows = load('nonholonomic')
    fast = kd.compile(robot, rows, precision='float32')
    rng = np.random.default_rng(11)
    q = rng.uniform(-1.0, 1.0, (20_000, robot.nq)).astype(np.float32)
    v, tau = rng.uniform(-1.0, 1.0, (2, 20_000, robot.nv)).astype(np.float32)
    found = fast.acceleration(q, v, 10.0 * tau)
    exact = fast.acceleration(*doubles(q, v, 10.0 * tau))
    gap = np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert gap.max() < 1e-5
    assert 0 < fast.double_precision_count < 200


def test_large_angles_go_to_double(sled):
    q, v, a = states(sled, 50)
    before = sled.double_precision_count
    q[:, 3] = np.linspace(0.0, 1.9 * LARGEST_SINGLE_INPUT, 50)
    assert worst(sled.inverse_dynamics(q, v, a), sled.inverse_dynamics(*doubles(q, v, a))) < ERROR
    assert sled.double_precision_count - before == 24


def test_gravity_and_payload_are_read_at_each_call(sled):
    q, v, a = states(sled, 20)
    load = sled.set_payload, ('fore', 2.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.3]))
    before = sled.inverse_dynamics(q, v, a)
    try:
        sled.set_gravity((1.0, -2.0, -5.0))
        load[0](*load[1])
        found = sled.inverse_dynamics(q, v, a)
        assert worst(found, sled.inverse_dynamics(*doubles(q, v, a))) < ERROR
        assert np.abs(found - before).max() > 1.0
    finally:
        sled.set_gravity((0.0, 0.0, -9.81))
        sled.set_payload('fore', 0.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))


def test_time_stays_in_double():
    robot = planar_2r()
    servo = kd.constraints.pfaffian(
        robot, lambda q, t: [[1.0, 0.5]], lambda q, t: [np.sin(9.0 * t)]
    )
    fast = kd.compile(robot, (servo,), precision='float32')
    q, v, tau = states(fast, 20)
    late = 1e5 + 0.1  # a float has steps of 0.008 there
    found = fast.acceleration(q, v, tau, late)
    assert fast.double_precision_count == 20
    assert worst(found, fast.acceleration(*doubles(q, v, tau), late)) < 1e-6


def test_precision_is_part_of_the_key(cache_folder):
    robot = planar_2r()
    for precision in ('float64', 'float32'):
        assert kd.compile(robot, precision=precision).source == 'compiled'
    again = kd.compile(robot, precision='float32')
    assert again.source == 'cache'
    q = np.ones((17, 2), dtype=np.float32)
    assert again.gravity_force(q).dtype == np.float32
    assert again.double_precision_count == 0
    plain = kd.compile(robot)
    assert plain.source == 'cache'
    assert plain.gravity_force(q).dtype == np.float64


def test_what_is_refused():
    with pytest.raises(
        InvalidInputError, match=r"precision must be one of \['float64', 'float32'"
    ):
        kd.compile(planar_2r(), precision='float16')
    with pytest.raises(InvalidInputError, match="too large for precision='float32'"):
        kd.compile(kd.serial_chain(30), precision='float32')


def single(name, value):
    """Return a compiled function of x on rows of floats."""
    x = ca.SX.sym('x')
    function = ca.Function(name, [x], [value(x), ca.SX(1.0)])
    shape = (function.numel_out(0),)
    spec = KernelSpec(name, (1,), (shape,), function)
    return compiled_kernel(spec, ('x',), single=spec).call


@pytest.mark.parametrize('size', [1.0, 30.0, 999.0, 9999.0])
def test_sines_with_and_without_a_constant_ahead(size):
    waves = single(
        'waves', lambda x: ca.vertcat(*[f(x + c) for c in AHEAD for f in (ca.sin, ca.cos)])
    )
    quarters = np.arange(-40, 41) * np.pi / 4
    angles = [quarters[np.abs(quarters) < size], np.linspace(-size, size, 300)]
    x = np.concatenate(angles).astype(np.float32)[:, None]
    with mpmath.workdps(30):
        exact = [
            [float(f(mpmath.mpf(float(y)) + c)) for c in AHEAD for f in (mpmath.sin, mpmath.cos)]
            for y in x[:, 0]
        ]
    found = waves(x)
    assert found.dtype == np.float32
    # half an ulp of 1 of the polynomial, another of the reduced angle or of the constant's rest
    assert np.abs(found - np.array(exact)).max() < 1.3e-7
    alone, sizes = found[:, :2], np.abs(np.array(exact)[:, :2])
    # near zeros too, without a constant, to the last place
    assert (np.abs(alone - np.array(exact)[:, :2]) < 1.6 * np.spacing(sizes.astype('f4'))).all()


def test_functions_of_the_c_library():
    call = single('others', lambda x: ca.vertcat(ca.exp(x), ca.tanh(x), ca.atan2(x, 2.0), 1.0 / x))
    x = np.linspace(0.1, 5.0, 33, dtype=np.float32)[:, None]
    y = x[:, 0].astype(float)
    expected = np.transpose([np.exp(y), np.tanh(y), np.arctan2(y, 2.0), 1.0 / y])
    # a reciprocal is an estimate and a Newton step
    np.testing.assert_allclose(call(x), expected, rtol=3e-7)


def test_text_for_older_llvm(monkeypatch, sled):
    monkeypatch.setattr(native, 'IS_OLDER', True)
    call = single('old', lambda x: ca.vertcat(ca.tanh(x), ca.fmin(x, 1.0), ca.sin(x)))
    x = np.linspace(-2.0, 2.0, 19, dtype=np.float32)[:, None]
    y = x[:, 0].astype(float)
    expected = np.transpose([np.tanh(y), np.minimum(y, 1.0), np.sin(y)])
    np.testing.assert_allclose(call(x), expected, atol=1e-7)
