# SPDX-License-Identifier: Apache-2.0
"""Why efforts came late in the demo."""

import gc
import time

import pytest

from kane_dynamics.demo.figures import DelayWatch, LoopLog, Sample, causes

PERIOD = Sample(4e-3, 1e-3, 1e-5, 0.0)  # a usual one
LATE = {
    'garbage collection': Sample(12e-3, 8.5e-3, 1e-5, 7e-3),
    'computing': Sample(12e-3, 9e-3, 1e-5, 1e-4),
    'no core free': Sample(12e-3, 1e-3, 7e-3, 0.0),
    'waiting for a message or timer': Sample(12e-3, 1e-3, 1e-5, 0.0),
}


@pytest.mark.parametrize('late', [0, 1, 10, 19])
@pytest.mark.parametrize('cause', LATE)
def test_cause_is_what_took_most_beyond_its_usual_share(cause, late):
    samples, now = [Sample(0.0, 0.0, 0.0, 0.0)], [0.0] * 4
    for k in range(20):
        now = [a + b for a, b in zip(now, LATE[cause] if k == late else PERIOD, strict=True)]
        samples.append(Sample(*now))
    assert causes(samples, [late]) == {cause: 1}
    assert causes(samples, []) == {}


def test_too_few_samples_have_no_causes():
    assert causes([Sample(0.0, 0.0, 0.0, 0.0)] * 2, [0]) == {}


def test_places_of_stamps():
    recording = LoopLog(stamps=[4, 8, 12, 16])
    assert recording.indices([8, 16, 20]) == [1, 3]


def test_watch_tells_computing_collecting_and_sleeping_apart():
    watch = DelayWatch()
    try:
        start = watch.sample()
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        computed = watch.sample()
        time.sleep(0.02)
        slept = watch.sample()
        heap = [[k] for k in range(100_000)]
        gc.collect()
        collected = watch.sample()
    finally:
        watch.close()
    assert len(heap) == 100_000
    assert computed.computed - start.computed >= 0.02
    assert slept.elapsed - computed.elapsed >= 0.02
    assert slept.computed - computed.computed < 0.01
    assert collected.collected > slept.collected
    gc.collect()
    assert watch.sample().collected == collected.collected  # closed
