# SPDX-License-Identifier: Apache-2.0
"""What is raised while compiled code runs: nothing is written afterwards, nothing hangs."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support.machines import planar_2r

import kane_dynamics as kd
from kane_dynamics.compiler import batches
from kane_dynamics.compiler import engine as engine_module
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.llvm import module, native
from kane_dynamics.compiler.llvm.native import in_llvm

STRESS = Path(__file__).parents[1] / 'stress' / 'interrupted_batches.py'
needs_alarms = pytest.mark.skipif(not hasattr(signal, 'setitimer'), reason='no interval timers')


class Interrupted(BaseException):
    """As KeyboardInterrupt, but never the user's own."""


def arrays(states):
    return [np.zeros((states, 1))], np.zeros(states)


def in_a_batch(frame):
    """Return whether a frame is one of `batches.run_batch`, or called by it."""
    while frame is not None and frame.f_code is not batches.run_batch.__code__:
        frame = frame.f_back
    return frame is not None


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(batches, 'available_cores', lambda: 2)


@pytest.fixture(autouse=True)
def compiled_anew(modules_compiled_once, monkeypatch):
    """Let LLVM be at work while exceptions arrive: no module comes from earlier tests."""
    monkeypatch.setattr(native, '_compiled', modules_compiled_once)


@pytest.fixture
def alarms():
    """
    Return a function that raises in the main thread from now on, again and again.

    Where it raises again and again, then only in a batch: not while the test looks at the result.
    """
    again = []

    def on_alarm(number, frame):
        if not any(again) or in_a_batch(frame):
            raise Interrupted

    def start(delay, interval=0.0):
        again.append(interval)
        signal.setitimer(signal.ITIMER_REAL, delay, interval)

    before = signal.signal(signal.SIGALRM, on_alarm)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize('cores', [1, 2, 3, 16])
@pytest.mark.parametrize('states', [0, 1, 7, 8, 511, 1024, 1031, 40_000])
def test_every_state_runs_once_in_whole_vectors(states, cores, monkeypatch):
    monkeypatch.setattr(batches, 'available_cores', lambda: cores)
    parts = []
    given, rcond = arrays(states)
    batches.run_batch(lambda *x: parts.append(x), given, rcond)
    assert all(x[:2] == (given[0].ctypes.data, rcond.ctypes.data) for x in parts)
    covered = sorted(x[2:] for x in parts)
    edges = [begin for begin, _ in covered] + [states] * bool(covered)
    assert covered == list(itertools.pairwise(edges))
    assert not covered or edges[0] == 0
    assert all(edge % 8 == 0 for edge in edges[:-1])
    # an exception waits for the parts at work
    assert max((end - begin for begin, end in covered), default=0) <= 4096


def test_an_exception_waits_for_the_threads_at_work_and_stops_the_rest(two_cores):
    main, helping, leave = threading.current_thread(), threading.Event(), threading.Event()
    ended = []

    def part(first, rcond, begin, end):
        if threading.current_thread() is main:
            assert helping.wait(10)
            threading.Timer(0.2, leave.set).start()
            raise Interrupted
        helping.set()
        assert leave.wait(10)
        ended.append(begin)

    with pytest.raises(Interrupted):
        batches.run_batch(part, *arrays(40_000))
    assert len(ended) == 1  # of ten parts: the helper's first


@needs_alarms
def test_more_exceptions_while_waiting(two_cores, alarms):
    main, helping, leave = threading.current_thread(), threading.Event(), threading.Event()
    ended = []

    def part(first, rcond, begin, end):
        if threading.current_thread() is main:
            assert helping.wait(10)
            threading.Timer(0.1, leave.set).start()
            alarms(0.001, 0.002)
            time.sleep(10)
        helping.set()
        assert leave.wait(10)
        ended.append(begin)

    try:
        batches.run_batch(part, *arrays(40_000))
    except Interrupted:
        at_exit = len(ended)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    assert at_exit == 1


def test_no_further_exception_ends_a_batch_while_a_thread_writes(two_cores):
    """Regression: exceptions arrive where functions of Python begin, and those of the way out were
    three: four exceptions in a row left it."""
    main, helping, leave = threading.current_thread(), threading.Event(), threading.Event()
    began, ended = [], []

    def note(frame, event, argument):
        if event == 'call' and not ended:
            began.append(frame.f_code.co_name)

    def part(first, rcond, begin, end):
        if threading.current_thread() is main:
            assert helping.wait(10)
            threading.Timer(0.05, leave.set).start()
            sys.setprofile(note)
            raise Interrupted
        helping.set()
        assert leave.wait(10)
        ended.append(begin)

    try:
        with contextlib.suppress(Interrupted):
            batches.run_batch(part, *arrays(40_000))
    finally:
        sys.setprofile(None)
    assert ended and not began


def test_arrays_live_as_long_as_a_helper_works(two_cores, monkeypatch):
    """Even where a further exception makes the caller leave at once."""
    main, helping, leave = threading.current_thread(), threading.Event(), threading.Event()
    alive = []

    def part(first, rcond, begin, end):
        if threading.current_thread() is main:
            assert helping.wait(10)
            raise Interrupted
        helping.set()
        assert leave.wait(10)
        alive.append(arrays_gone.is_set())

    class Watched(np.ndarray):
        def __del__(self):
            arrays_gone.set()

    arrays_gone = threading.Event()
    monkeypatch.setattr(batches, 'all', lambda waits: True, raising=False)
    given, rcond = arrays(40_000)
    given = [given[0].view(Watched)]
    with pytest.raises(Interrupted):
        batches.run_batch(part, given, rcond)
    del given
    assert not arrays_gone.is_set()
    leave.set()
    assert arrays_gone.wait(10)
    assert alive[0] is False


def test_without_another_thread(two_cores, monkeypatch):
    def refuse(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(batches, 'start_new_thread', refuse)
    batches._helpers.cache_clear()
    threads, parts = set(), []

    def part(first, rcond, begin, end):
        threads.add(threading.get_ident())
        parts.append(end - begin)

    batches.run_batch(part, *arrays(40_000))
    assert threads == {threading.get_ident()}
    assert sum(parts) == 40_000
    batches._helpers.cache_clear()


def test_an_exception_drops_the_modules_that_wait(monkeypatch):
    compiled, leave = [], threading.Event()

    def work(ir, target):
        compiled.append(len(ir))
        assert leave.wait(10)
        return b''

    def progress(what, done, total):
        if what.startswith('compiling'):
            raise Interrupted

    monkeypatch.setattr(native, '_compiled', work)
    with pytest.raises(Interrupted):
        kd.compile(planar_2r(), cache=False, progress=progress)
    leave.set()  # it did not wait for this
    assert in_llvm(int, '7') == 7  # waits for the one at work
    assert len(compiled) == 1


@needs_alarms
def test_compiling_after_an_interrupted_compilation(alarms, pair):
    for delay in (0.1, 0.3, 0.6):
        alarms(delay)
        with contextlib.suppress(Interrupted):  # one that arrives in a finalizer gets lost
            kd.compile(planar_2r(), cache=False)
            alarms(0.0)  # it was there before its alarm
    fast = kd.compile(planar_2r(), cache=False)
    q = np.array([0.2, -0.4])
    np.testing.assert_array_equal(fast.mass_matrix(q), pair('planar_2r')[1].mass_matrix(q))


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork on this system')
def test_a_fork_while_another_thread_is_inside_llvm():
    """Regression: the child found llvmlite's lock taken by a thread that does not exist there."""
    ir = module.kernel_ir(Tracer(kd.serial_chain(3), (), ()).forward_dynamics())
    inside = threading.Event()

    def work():
        inside.set()
        native.compile_object(ir)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if native.compile_object('define void @f() { ret void }') else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()


def test_steps_come_in_parts_between_which_an_exception_may_arrive(pair, monkeypatch):
    _, fast = pair('planar_2r')
    state = np.array([0.3, -0.2]), np.array([0.1, 0.4])
    efforts = np.random.default_rng(2).normal(size=(50, 2))
    once = fast.simulate(*state, 0.5, effort=efforts, step=0.01)
    engine, parts = fast.engine('rk4'), []
    run = engine._run
    monkeypatch.setattr(engine_module, '_MOST_STEPS_AT_ONCE', 7)
    monkeypatch.setattr(engine, '_run', lambda *x: parts.append(x[-2]) or run(*x))
    again = fast.simulate(*state, 0.5, effort=efforts, step=0.01)
    assert parts == [7] * 7 + [1]
    # the time at which a part begins is rounded anew; this robot does not depend on it
    np.testing.assert_array_equal(again.q, once.q)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != 'linux', reason='guard pages are made for Linux')
def test_stress():
    """10^5 interrupted calls are `make stress`."""
    counts = ['--interrupts', '100', '--calls', '15000']
    environment = {**os.environ, 'PYTHONPATH': str(Path(kd.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, '-X', 'faulthandler', STRESS, *counts],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, f'{done.stdout}\n{done.stderr}'
