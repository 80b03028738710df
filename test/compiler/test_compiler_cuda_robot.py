# SPDX-License-Identifier: Apache-2.0
"""Robots on a graphics card, the card played by the processor: layouts, loads, what is redone."""

import re
from functools import partial
from types import SimpleNamespace

import kernel_cases
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support import cuda

import kane_dynamics as kd
from kane_dynamics.compiler.cuda import device as device_module
from kane_dynamics.compiler.cuda.device import CudaDevice
from kane_dynamics.exceptions import DeviceError, InvalidInputError, UnreachableAccelerationError

AGREEMENT = 1e-12  # roundoff of some hundred operations


@pytest.fixture(scope='module')
def sled():
    """Return a sled with an arm under its row, on the card and the reference."""
    case = kernel_cases.CASES['sled']()
    dynamics = kd.dynamics(case.robot, case.constraints)
    return case, cuda.robot(case.robot, case.constraints), dynamics


def states(case, dynamics, rng, count=40):
    """Return q, v, a on the constraints and efforts."""
    drawn = [case.state(rng) for _ in range(count)]
    q, v, _ = (np.array(x) for x in zip(*drawn, strict=True))
    a = np.array([dynamics.consistent_acceleration(*state) for state in drawn])
    return q, v, a, rng.uniform(-5.0, 5.0, v.shape)


TERMS = {
    'inverse_dynamics': 'qva',
    'bias_force': 'qv',
    'gravity_force': 'q',
    'mass_matrix': 'q',
    'kinetic_energy': 'qv',
    'potential_energy': 'q',
    'frame_poses': 'q',
    'center_of_mass': 'q',
    'momentum': 'qv',
    'momentum_matrix': 'q',
    'centroidal_momentum_rate': 'qva',
    'regressor': 'qva',
    'frame_jacobians': 'q',
    'frame_bias_accelerations': 'qv',
    'acceleration': 'qvu',
    'multipliers': 'qvu',
}


@pytest.mark.parametrize('name', TERMS)
def test_methods_are_those_of_the_reference(sled, name, rng):
    case, gpu, dynamics = sled
    given = dict(zip('qvau', states(case, dynamics, rng), strict=True))
    inputs = [given[x] for x in TERMS[name]]
    if name == 'frame_poses':
        expected = np.array(
            [kernel_cases.reference_poses(case.robot, gpu.frames, q) for q in given['q']]
        )
    else:
        expected = getattr(dynamics, name)(*inputs)
    for here in (slice(None), 3):
        found = getattr(gpu, name)(*[x[here] for x in inputs])
        assert found.shape == expected[here].shape
        assert_allclose(found, expected[here], rtol=0, atol=AGREEMENT * np.abs(expected).max())
    assert gpu.fallback_count == 0


def test_arrays_are_read_and_written_as_they_lie(sled, rng):
    """Rows of states, states last, one for all, every second: the same bits."""
    case, gpu, dynamics = sled
    q, v, a, _ = states(case, dynamics, rng)
    rows = gpu.inverse_dynamics(q, v, a)
    assert rows.flags.c_contiguous
    last = gpu.inverse_dynamics(np.asfortranarray(q), v, np.asfortranarray(a))
    assert last.T.flags.c_contiguous
    assert_array_equal(last, rows)
    wide = np.repeat(np.repeat(q, 2, axis=0), 3, axis=1)
    assert_array_equal(gpu.inverse_dynamics(wide[::2, ::3], v, a), rows)
    alone = np.array([gpu.inverse_dynamics(x, v[0], a[0]) for x in q])
    assert_array_equal(gpu.inverse_dynamics(q, v[0], a[0]), alone)
    matrices = [gpu.mass_matrix(x) for x in (q, np.asfortranarray(q))]
    assert matrices[1].transpose(1, 2, 0).flags.c_contiguous
    assert_array_equal(*matrices)


def test_results_go_into_given_arrays(sled, rng):
    case, gpu, dynamics = sled
    q, v, a, _ = states(case, dynamics, rng)
    expected = gpu.inverse_dynamics(q, v, a)
    for room in (np.empty_like(a), np.empty_like(a, order='F'), np.empty((len(a), 9))[:, ::2]):
        room = room[:, : a.shape[1]]
        assert gpu.inverse_dynamics(q, v, a, out=room) is room
        assert_array_equal(room, expected)
    own = a.copy()
    gpu.inverse_dynamics(q, v, own, out=own)  # inputs are read before they are overwritten
    assert_array_equal(own, expected)
    one = np.empty_like(a[0])
    assert gpu.inverse_dynamics(q[0], v[0], a[0], out=one) is one
    assert_array_equal(one, expected[0])
    for wrong in (np.empty((3, 5)), np.empty(a.shape, np.float32), a.tolist()):
        with pytest.raises(InvalidInputError, match='out: need an array of numpy'):
            gpu.inverse_dynamics(q, v, a, out=wrong)


def test_wrong_arrays_are_refused(sled):
    gpu, q = sled[1], np.zeros((4, 5))
    with pytest.raises(InvalidInputError, match=r'v: need shape \(5,\) or \(B, 5\), got \(4, 6\)'):
        gpu.bias_force(q, np.zeros((4, 6)))
    with pytest.raises(InvalidInputError, match=r'batches have different lengths \[3, 4\]'):
        gpu.bias_force(q, q[:3])
    with pytest.raises(InvalidInputError, match=r'gravity \[m/s\^2\]: need finite numbers'):
        gpu.loads(gravity=[0.0, np.nan, 0.0])
    with pytest.raises(InvalidInputError, match='must be named when compiling'):
        gpu.loads(payloads={'fore': {'mass': 1.0}})
    assert gpu.bias_force(q[:0], q[:0]).shape == (0, 5)


def test_states_that_are_not_finite_are_not_a_number(sled, rng):
    case, gpu, dynamics = sled
    q, v, a, tau = states(case, dynamics, rng)
    v[2, 1], q[5, 0] = np.nan, np.inf
    found = gpu.acceleration(q, v, tau)
    lost = np.isnan(found)
    assert lost[[2, 5]].all()
    assert not lost[[k for k in range(len(q)) if k not in (2, 5)]].any()
    assert gpu.fallback_count == 0


@pytest.mark.parametrize('precision, bound', [('float64', AGREEMENT), ('float32', 1e-6)])
def test_ill_states_are_redone_by_the_processor(precision, bound, rng):
    """Two rows that become one where the first angle is zero; near it single precision ends."""
    case = kernel_cases.CASES['dead_centre']()
    gpu = cuda.robot(case.robot, case.constraints, precision=precision)
    dynamics = kd.dynamics(case.robot, case.constraints)
    q, v, a, tau = states(case, dynamics, rng)
    q[4], v[4] = kernel_cases.DEAD_CENTRE
    q[7], v[7] = q[4] + [1e-2, 0.0, 0.0, 0.0], v[4]  # well in double, not in single precision
    redone = [4] if precision == 'float64' else [4, 7]
    found = gpu.acceleration(q, v, tau)
    assert gpu.fallback_count >= len(redone)
    kept = q.astype(precision), v.astype(precision), tau.astype(precision)
    expected = dynamics.acceleration(*kept)[redone]
    assert_allclose(found[redone], expected, rtol=0, atol=bound * np.abs(expected).max())


def test_efforts_are_those_of_the_reference_and_refusals_too(rng):
    case = kernel_cases.CASES['sled']()
    dynamics = kd.dynamics(case.robot, case.constraints)
    q, v, a, _ = states(case, dynamics, rng, 6)
    driven = tuple(name for name in case.robot.velocity_names if name != 'base_y')
    for precision, bound in (('float64', AGREEMENT), ('float32', 1e-5)):
        gpu = cuda.robot(case.robot, case.constraints, precision=precision)
        found = gpu.constrained_inverse_dynamics(q, v, a, driven)
        for k in range(len(q)):
            expected = dynamics.constrained_inverse_dynamics(q[k], v[k], a[k], driven)
            for name in ('effort', 'multipliers'):
                numbers = getattr(expected, name)
                off = np.abs(getattr(found, name)[k] - numbers).max()
                assert off < bound * np.abs(expected.numbers).max()
            assert found.rank[k] == expected.rank
        off = a + np.eye(case.robot.nv)[1]  # sideways
        with pytest.raises(UnreachableAccelerationError):
            gpu.constrained_inverse_dynamics(q, v, off, driven)


def test_each_state_has_gravity_and_payload_of_its_own(rng):
    case = kernel_cases.CASES['dead_centre']()
    gpu = cuda.robot(case.robot, case.constraints, payloads=('tip',))
    dynamics = kd.dynamics(case.robot, case.constraints)
    q, v, a, tau = states(case, dynamics, rng, 5)
    q[3], v[3] = kernel_cases.DEAD_CENTRE  # one that is redone
    gravity, masses = rng.uniform(-9.0, 9.0, (5, 3)), rng.uniform(0.0, 2.0, 5)
    centres = rng.uniform(-0.1, 0.1, (5, 3))
    payload = {'tip': {'mass': masses, 'center_of_mass': centres}}
    loaded = gpu.under(gpu.loads(gravity, payload))
    found = loaded.acceleration(q, v, tau), loaded.inverse_dynamics(q, v, a)
    for k in range(5):
        dynamics.set_gravity(gravity[k])
        dynamics.set_payload('tip', masses[k], centres[k])
        gpu.set_gravity(gravity[k])
        gpu.set_payload('tip', masses[k], centres[k])
        expected = (
            dynamics.acceleration(q[k], v[k], tau[k]),
            dynamics.inverse_dynamics(q[k], v[k], a[k]),
        )
        for many, own in zip(found, expected, strict=True):
            assert_allclose(many[k], own, rtol=0, atol=1e-11 * np.abs(own).max())
        set_now = gpu.acceleration(q[k], v[k], tau[k])
        assert_allclose(set_now, expected[0], rtol=0, atol=1e-11 * np.abs(expected[0]).max())
    assert gpu.fallback_count == 2  # state 3, of both ways
    same = gpu.loads(payloads=payload)  # under the gravity that was set last
    gpu.set_gravity(gravity[0])
    again = gpu.under(gpu.loads(gravity[4])).inverse_dynamics(q[4], v[4], a[4])
    assert_allclose(again, found[1][4], rtol=0, atol=1e-11 * np.abs(again).max())
    assert_array_equal(same.gravity, gravity[[4] * 5])


def test_states_that_are_redone_carry_what_was_set_before():
    """Regression: the processor's robot knew the payloads of the loads alone."""
    case = kernel_cases.CASES['dead_centre']()
    gpu = cuda.robot(case.robot, case.constraints, payloads=('tip',))
    dynamics = kd.dynamics(case.robot, case.constraints)
    for either in (gpu, dynamics):
        either.set_payload('tip', 1.5)
    (q, v), tau = kernel_cases.DEAD_CENTRE, np.ones(case.robot.nv)
    found = gpu.under(gpu.loads(dynamics.robot.gravity)).acceleration(q, v, tau)
    assert gpu.fallback_count == 1
    assert_allclose(found, dynamics.acceleration(q, v, tau), rtol=0, atol=1e-9)


def differences(function, ways, h=1e-6):
    """Return the derivatives of a function along some ways, one in each column."""
    slopes = [(function(*way(h)) - function(*way(-h))) / (2.0 * h) for way in ways]
    return np.array(slopes).T


def moved(robot, q, v, x, e, h):
    return kd.integrate(robot, q, e, h), v, x


def changed(q, v, x, faster, more, h):
    return q, v + h * faster, x + h * more


def test_derivatives_are_those_of_differences(sled, rng):
    case, gpu, dynamics = sled
    q, v, a, tau = states(case, dynamics, rng, 3)
    axes = np.eye(case.robot.nv)
    for found, function, x in (
        (gpu.inverse_dynamics_derivatives(q, v, a), dynamics.inverse_dynamics, a),
        (gpu.forward_dynamics_derivatives(q, v, tau), dynamics.acceleration, tau),
    ):
        for k in range(3):
            place, speed, given = q[k], v[k], x[k]
            ways = {
                'dq': [partial(moved, case.robot, place, speed, given, e) for e in axes],
                'dv': [partial(changed, place, speed, given, e, 0.0) for e in axes],
                'dx': [partial(changed, place, speed, given, 0.0, e) for e in axes],
            }
            for name, along in ways.items():
                # h^2, and roundoff / h of numbers up to a hundred
                expected = differences(function, along)
                assert_allclose(getattr(found, name)[k], expected, rtol=0, atol=1e-6)


def card_of_this_machine():
    """Return why there is none, '' where there is one."""
    try:
        import cupy

        assert cupy.cuda.Device().compute_capability
    except ImportError:
        return 'CuPy is not installed: pip install'
    except RuntimeError:
        return 'nvidia-smi must list one'
    return ''


def test_what_there_is_no_card_for_is_told():
    robot = kd.serial_chain(2)
    with pytest.raises(InvalidInputError, match="device must be one of .*, got str 'gpu'"):
        kd.compile(robot, device='gpu')
    with pytest.raises(InvalidInputError, match="'gauss' alone"):
        kd.compile(robot, device='cuda', methods=True)
    reason = card_of_this_machine()
    if not reason:
        pytest.skip('there is a card')
    with pytest.raises(DeviceError, match=reason):
        kd.compile(robot, device='cuda')


class OnCard:
    """An array of another library on a card, as DLPack tells."""

    def __dlpack_device__(self):
        return 2, 0


def test_arrays_on_a_card_come_by_dlpack():
    """CuPy played by numpy: what lies on a card is not fetched, other arrays are brought there."""
    answer = np.arange(3.0, dtype=np.float32)
    asked = []

    def from_dlpack(x):
        asked.append(x)
        return answer

    gpu = CudaDevice.__new__(CudaDevice)
    gpu.xp = SimpleNamespace(ndarray=np.ndarray, asarray=np.asarray, from_dlpack=from_dlpack)
    given = OnCard()
    assert gpu.array(given, np.dtype('float32')) is answer
    assert asked == [given]
    assert gpu.array(answer, np.dtype('float32')) is answer
    assert gpu.array([1, 2], np.dtype('float64')).dtype == 'float64'
    assert asked == [given]


class Driver:
    """The parts of CuPy that load and launch a kernel."""

    CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 4, 3
    CUDADriverError = RuntimeError
    ptr = 0

    def __init__(self, reason=''):
        self.reason, self.launches = reason, []
        self.driver, self.function = self, SimpleNamespace(Module=lambda: self)
        self.funcGetAttribute = lambda attribute, function: {4: 96, 3: 40}[attribute] + function

    def load(self, code):
        if self.reason:
            raise RuntimeError(self.reason)
        self.code = code

    def get_function(self, name):
        self.name = name
        return self

    def __call__(self, *launch):
        self.launches.append(launch)


def test_a_kernel_is_loaded_and_launched_by_the_driver():
    """CuPy played by a driver that writes down what it is asked."""
    device, driver = CudaDevice.__new__(CudaDevice), Driver()
    device.xp = SimpleNamespace(cuda=driver)
    kernel = device.load(b'code', 'name')
    assert (driver.code, driver.name, kernel.usage) == (b'code', 'name', (96, 40))
    kernel.run(129, [1, 2])
    assert driver.launches == [((2,), (128,), (1, 2))]
    device.xp = SimpleNamespace(cuda=Driver('unsupported version'))
    with pytest.raises(DeviceError, match='does not take name as PTX: unsupported version'):
        device.load(b'code', 'name')


def test_times_are_of_each_state():
    """A slide on a rail that is driven as sin t."""
    body = kd.Body('cart', '', kd.Joint('cart', kd.Prismatic((1, 0, 0))), inertia=_CART)
    robot = kd.Robot('rail', [body])
    rows = (kd.constraints.pfaffian(robot, lambda q, t: [[1.0]], lambda q, t: [np.sin(t)]),)
    gpu, t = cuda.robot(robot, rows), np.array([0.0, 0.4, 1.1])
    v = np.sin(t)[:, None]
    for given in (t, t.tolist(), t[:, None]):
        found = gpu.acceleration(np.zeros(1), v, np.zeros(1), given)
        assert_allclose(found[:, 0], np.cos(t), rtol=0, atol=1e-14)
    assert_allclose(gpu.acceleration(*np.zeros((3, 1)), 0.0), [1.0], rtol=0, atol=1e-14)


_CART = kd.Inertia(2.0, [0.0, 0.0, 0.0], np.diag([0.1, 0.1, 0.1]))


def test_the_example_of_the_page_runs(root, monkeypatch, capsys):
    """With numpy in place of CuPy, and fewer states."""
    device = cuda.device()
    page = (root / 'doc' / 'gpu.md').read_text(encoding='utf-8')
    code, shown = re.search(r'```python\n(.*?)```\n\n```text\n(.*?)```', page, re.DOTALL).groups()
    code = code.replace('import cupy', 'import numpy as cupy').replace('1_000_000', '300')
    code = code.replace('4096', '3')
    monkeypatch.chdir(root)
    monkeypatch.setattr(device_module, 'CudaDevice', lambda: device)
    exec(compile(code, 'gpu.md', 'exec'), {})
    assert capsys.readouterr().out == shown.replace('1000000', '300').replace('4096', '3')


def test_a_real_card_agrees(rng):
    """Runs where there is one."""
    if card_of_this_machine():
        pytest.skip('NO GRAPHICS CARD: the kernels ran on the processor only')
    import cupy

    case = kernel_cases.CASES['drive']()
    dynamics = kd.dynamics(case.robot, case.constraints)
    q, v, a, tau = states(case, dynamics, rng)
    gpu = kd.compile(case.robot, case.constraints, device='cuda')
    for inputs in ((q, v, a), [cupy.asarray(x) for x in (q, v, a)]):
        found = gpu.inverse_dynamics(*inputs).get()
        assert_allclose(found, dynamics.inverse_dynamics(q, v, a), rtol=0, atol=1e-10)
    found = gpu.acceleration(q, v, tau).get()
    assert_allclose(found, dynamics.acceleration(q, v, tau), rtol=0, atol=1e-9)
