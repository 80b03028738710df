# SPDX-License-Identifier: Apache-2.0
"""The page about reliability is that of the results that are kept; its sums are right."""

import pytest

from studies import reliability

NODE = 'kane_inverse_dynamics'


def fault(name, **seen):
    counts = dict.fromkeys(('times', 'states', 'outputs', 'not_finite', 'unfounded', 'late'), 0)
    return {'fault': name, **counts, 'recovery': 0.0, 'refused': {}, **seen}


def a_soak(**more):
    minute = {'minute': 1.0, 'efforts': 1000, 'half_ms': 2.0, 'p99_ms': 5.0, 'longest_ms': 7.0}
    memory = {'mb_per_minute': 0.0, 'change_percent': 0.5, 'long_lives': 1}
    return {
        'commit': 'abc',
        'machine': {'processor': 'P', 'cores': 2, 'load': [1.5]},
        'minutes': 30.0,
        'rate_hz': 500.0,
        'time': 'wall',
        'priority': 0,
        'loop': False,
        'failures': [],
        'faults': [
            fault('a', times=2, outputs=1500, late=3, recovery=0.5, refused={NODE: 40}),
            fault('b', times=1, outputs=500, recovery=2.5),
            fault('never seen'),
        ],
        'efforts': {NODE: [minute, {**minute, 'minute': 2.0, 'p99_ms': 9.0, 'half_ms': 4.0}]},
        'memory': {NODE: {**memory, 'samples': [[7, 0.0, 100.0], [7, 60.0, 101.0]]}},
        **more,
    }


def test_the_page_and_its_plot_are_those_of_the_results():
    results = reliability.read()
    assert results
    assert (reliability.DOC / reliability.PAGE).read_text() == reliability.page(results)
    if set(reliability.SOAKS) & set(results):
        assert reliability.digest(results) in (reliability.DOC / reliability.FIGURE).read_text()


def test_sums_and_the_worst_of_a_soak():
    text = reliability.page({'soak_500': a_soak()})
    for line in (
        '| faults | 3 of 2 kinds |',
        '| outputs looked at | 2,000 |',
        '| efforts later than their timeout | 3 |',
        '| longest way back to all outputs | 2.5 s |',
        f'| `{NODE}` | 2,000 | 3.0 ms | 9.0 ms | 7.0 ms |',
        f'| `{NODE}` | 101.0 MB | +0.50 % | 1 |',
        '| a | 2 | 1,500 | 40 | 0.5 s |',
    ):
        assert line in text
    assert 'never seen' not in text
    assert 'Failed' not in text
    failed = reliability.page({'soak_500': a_soak(failures=['memory of x'], time='simulated')})
    assert 'Failed: memory of x.' in failed
    loop = reliability.page({'soak_loop': a_soak(loop=True, priority=50)})
    assert 'simulator and one controller at 500 Hz, wall time, efforts at real-time' in loop
    assert '| efforts later than their timeout | not judged |' in failed


def test_sums_of_fuzzing():
    target = {'name': 'URDF', 'inputs': 600, 'refused': 500, 'accepted': 100, 'unhandled': 0}
    target |= {'longest_s': 0.25, 'seconds': 60.0, 'slow': 2}
    other = {**target, 'name': 'YAML', 'inputs': 400, 'unhandled': 1}
    text = reliability.page({'fuzz': {'commit': 'abc', 'targets': [target, other]}})
    assert 'Commit `abc`: 1,000 inputs, 1 exceptions' in text
    assert 'family, 4 answers after more than 1 s' in text
    assert '| URDF | 600 | 500 | 100 | 0 | 0.250 s | 60 s |' in text


def test_a_plot_says_whose_it_is(tmp_path):
    one, other = {'soak_500': a_soak()}, {'soak_500': a_soak(rate_hz=250.0)}
    assert reliability.digest(one) != reliability.digest(other)
    reliability.draw(one, tmp_path / 'plot.svg')
    assert reliability.digest(one) in (tmp_path / 'plot.svg').read_text()


@pytest.mark.parametrize('name', reliability.NAMES)
def test_what_is_kept_names_its_commit(name):
    results = reliability.read()
    if name in results:
        assert len(results[name]['commit'].split('-')[0]) >= 7


def a_loop(processes, missed):
    return {
        'commit': 'abc',
        'machine': {'processor': 'P', 'cores': 2, 'load': [1.5]},
        'minutes': 10.0,
        'rate_hz': 500.0,
        'processes': processes,
        'missed': missed,
        'periods': 300_000,
        'undisturbed_missed': missed // 2,
        'undisturbed_periods': 150_000,
        'efforts_ms': {'half': 0.7 / 3 * processes, '99 %': 1.2, 'longest': 4.0},
        'processor_us': {'a': 300.0, 'b': 301.0},
    }


def test_deadlines_of_one_process_stand_beside_those_of_two():
    text = reliability.page({'deadlines': a_loop(2, 152), 'deadlines_together': a_loop(1, 3)})
    for line in (
        '|  | two processes | one process |',
        '| missed periods | 152 of 300,000 | 3 of 300,000 |',
        '| missed while the machine was not held up | 76 of 150,000 | 1 of 150,000 |',
        '| efforts after their state, half | 0.47 ms | 0.23 ms |',
        '| processor time of a period | 601 us | 601 us |',
    ):
        assert line in text
