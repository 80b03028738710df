# SPDX-License-Identifier: Apache-2.0
"""Sweeps in one process: names, random numbers, resumption, failures, errors."""

import json
import math
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support import sweep_functions as functions

import kane_dynamics as kd
from kane_dynamics.compiler.batches import available_cores, limited_cores
from kane_dynamics.exceptions import (
    InvalidInputError,
    KaneDynamicsError,
    MissingPackageError,
    NotFingerprintableError,
    SweepError,
)
from kane_dynamics.sweep import Job, Sweep, grid, run, status
from kane_dynamics.sweep.definition import package_stamp
from kane_dynamics.sweep.execution import Work, check_folder, replace_lost
from kane_dynamics.sweep.store import first_alone

CASES = grid(scale=[1.0, 2.0])


def quiet(done, total, failed):
    pass


def here(sweep, folder, **options):
    return run(sweep, folder, workers=0, progress=quiet, **options)


def keys(sweep):
    return [chunk.key for chunk in sweep.chunks()]


def test_grid_is_the_product_of_the_values():
    assert grid(a=[1, 2], b='xy'.split('y')[:1] + ['z']) == (
        {'a': 1, 'b': 'x'},
        {'a': 1, 'b': 'z'},
        {'a': 2, 'b': 'x'},
        {'a': 2, 'b': 'z'},
    )


def test_numbers_do_not_depend_on_chunks(tmp_path):
    found = [
        here(Sweep(functions.walks, CASES, 50, seed=3, chunk=chunk), tmp_path).arrays()
        for chunk in (50, 7, 1)
    ]
    for other in found[1:]:
        for name, rows in found[0].items():
            assert_array_equal(other[name], rows)
    assert_array_equal(found[0]['item'], np.tile(np.arange(50), 2))
    assert_array_equal(found[0]['case'], np.repeat([0, 1], 50))
    assert_array_equal(found[0]['end'], found[0]['steps'].sum(axis=1) * np.repeat([1.0, 2.0], 50))


def test_numbers_of_a_case_do_not_depend_on_other_cases(tmp_path):
    alone = here(Sweep(functions.walks, [{'scale': 2.0}], 10), tmp_path).arrays()
    among = here(Sweep(functions.walks, grid(scale=[0.5, 2.0, 3.0]), 10), tmp_path).arrays()
    assert_array_equal(alone['steps'], among['steps'][10:20])


def test_items_cases_and_seeds_have_numbers_of_their_own(tmp_path):
    steps = [
        here(Sweep(functions.walks, CASES, 25, seed=seed), tmp_path).arrays()['steps']
        for seed in (0, 1)
    ]
    assert len(np.unique(steps)) == 2 * 2 * 25 * 4


def test_what_is_done_is_not_computed_again(tmp_path):
    calls = tmp_path / 'calls'
    case = {'scale': 1.0, 'calls': str(calls)}

    def computed(items):
        calls.write_text('')
        here(Sweep(functions.counted, [case], items, chunk=10), tmp_path / 'results')
        return calls.read_text().split()

    assert computed(25) == ['0', '10', '20']
    assert computed(25) == []
    assert computed(40) == ['20', '30']  # the short last one is another one now


def test_a_lost_result_alone_is_computed_again(tmp_path):
    sweep = Sweep(functions.walks, CASES, 30, chunk=10)
    first = here(sweep, tmp_path)
    path = tmp_path / f'{keys(sweep)[4]}.npz'
    written = path.read_bytes()
    path.unlink()
    assert status(sweep, tmp_path).missing == 1
    here(sweep, tmp_path)
    assert path.read_bytes() == written
    assert len(first.done) == 6


def test_a_second_run_in_a_folder_is_refused(tmp_path):
    """Regression: it took the files of the first away, which ended with FileNotFoundError."""
    pytest.importorskip('fcntl', reason='locks of POSIX')
    sweep, told = Sweep(functions.walks, CASES[:1], items=4, chunk=2), []

    def another(done, total, failed):
        with pytest.raises(SweepError, match='another run works in') as error:
            here(sweep, tmp_path)
        told.append(error)

    assert run(sweep, tmp_path, workers=0, progress=another).missing == 0
    assert len(told) == 3
    assert here(sweep, tmp_path).missing == 0


def test_a_name_changes_with_all_that_numbers_depend_on(monkeypatch):
    robot = kd.serial_chain(2)
    base = {'cases': [{'robot': robot, 'x': 1.0}], 'items': 5, 'seed': 1}
    changed = [
        base,
        base | {'seed': 2},
        base | {'items': 6},
        base | {'version': '1'},
        base | {'cases': [{'robot': robot, 'x': math.nextafter(1.0, 2.0)}]},
        base | {'cases': [{'robot': robot.with_gravity([0.0, 0.0, -9.8]), 'x': 1.0}]},
    ]
    names = [keys(Sweep(functions.walks, **one)) for one in changed]
    names.append(keys(Sweep(functions.slow, **base)))
    monkeypatch.setattr('kane_dynamics.sweep.definition.package_stamp', lambda: 'another')
    names.append(keys(Sweep(functions.walks, **base)))
    assert len({name for (name,) in names}) == len(names)


def test_the_stamp_of_the_package_is_of_versions_and_sources(tmp_path, monkeypatch):
    stamp, path = package_stamp.__wrapped__, tmp_path / 'kane_dynamics' / '__init__.py'
    path.parent.mkdir()
    monkeypatch.setattr(kd, '__file__', str(path))
    stamps = [stamp()]
    path.write_text('a = 1')
    stamps.append(stamp())
    path.rename(path.with_name('a.py'))
    stamps.append(stamp())
    monkeypatch.setattr(kd, '__version__', '0.0.1')
    stamps.append(stamp())
    monkeypatch.setattr(np, '__version__', '3.0.0')
    stamps.append(stamp())
    assert len(set(stamps)) == len(stamps)


def test_a_robot_of_the_same_content_is_the_same(tmp_path):
    first, second = ({'robot': kd.serial_chain(3)} for _ in range(2))
    assert keys(Sweep(functions.walks, [first])) == keys(Sweep(functions.walks, [second]))


def test_a_name_changes_with_the_file_of_the_function(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / 'of_a_user.py'
    path.write_text('def f(job):\n    return {"x": [1.0]}\n')
    names = [keys(Sweep('of_a_user:f')), keys(Sweep('of_a_user:f', version='1'))]
    path.write_text('def f(job):\n    return {"x": [2.0]}\n')
    assert keys(Sweep('of_a_user:f')) != names[0]
    assert keys(Sweep('of_a_user:f', version='1')) == names[1]


def test_a_failure_is_kept_with_its_inputs_and_stops_nothing(tmp_path):
    mended = tmp_path / 'mended'
    case = {'scale': 1.0, 'mended': str(mended)}
    sweep, folder = Sweep(functions.failing, [case], 30, seed=5, chunk=10), tmp_path / 'results'
    told = []
    found = run(sweep, folder, workers=0, progress=lambda *numbers: told.append(numbers))
    assert told == [(0, 30, 0), (0, 30, 10), (10, 30, 10), (20, 30, 10)]
    (failure,) = found.failures
    assert failure.error == "RuntimeError('seven')"
    assert 'sweep_functions.py' in failure.traceback
    assert failure.job.items == range(0, 10)
    report = json.loads(failure.path.read_text())
    assert (report['seed'], report['items']) == (5, [0, 10])
    assert json.loads(report['parameters']) == case
    assert_array_equal(found.arrays()['item'], np.arange(10, 30))

    with pytest.raises(RuntimeError, match='seven'):  # where it can be seen
        functions.failing(failure.job.only(7))
    assert len(functions.failing(failure.job.only(6))['end']) == 1

    mended.touch()
    assert len(here(sweep, folder).failures) == 1  # is known to fail
    after = here(sweep, folder, retry=True)
    assert (after.failures, after.missing) == ((), 0)
    assert not failure.path.exists()
    assert_array_equal(after.arrays()['item'], np.arange(30))


def test_jobs_are_copied_whole():
    import pickle

    job = Job({'robot': kd.serial_chain(2), 'gains': np.ones(2)}, 4, range(3, 6))
    other = pickle.loads(pickle.dumps(job))
    assert [g.normal() for g in other.generators()] == [g.normal() for g in job.generators()]
    with pytest.raises(TypeError):
        job.parameters['gains'] = 3
    with pytest.raises(ValueError, match='read-only'):
        job.parameters['gains'][0] = 3


def test_a_limit_of_cores_holds_inside_alone(tmp_path):
    before = available_cores()
    cases = [{'robot': kd.serial_chain(1)}]
    found = here(Sweep(functions.cores, cases), tmp_path).arrays()
    assert_array_equal(found['cores'], [1])
    with limited_cores(1000):
        assert available_cores() == before
    assert available_cores() == before


def test_the_first_is_alone_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    events, both = [], Barrier(2, timeout=60.0)

    def first():
        with first_alone('key'):
            events.append('in')
            time.sleep(0.1)
            events.append('out')

    def other():
        with first_alone('key'):
            events.append('other')
            both.wait()  # breaks unless two are inside

    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(first)]
        while not events:
            time.sleep(0.001)
        jobs += [pool.submit(other), pool.submit(other)]
        for job in jobs:
            job.result()
    assert events == ['in', 'out', 'other', 'other']


def test_who_follows_a_failure_does_not_wait(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    with pytest.raises(RuntimeError, match='broken'), first_alone('key'):
        raise RuntimeError('broken')
    with first_alone('key'), first_alone('key'):
        pass


def test_without_a_cache_nobody_waits(tmp_path, monkeypatch):
    (tmp_path / 'file').touch()
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))
    with first_alone('key'), first_alone('key'):
        pass


@pytest.mark.parametrize(
    ('answer', 'told'),
    [
        (3.0, 'arrays by name'),
        ({}, 'arrays by name'),
        ({'x': [1.0]}, 'one row of numbers for each of the 2 items'),
        ({'x': 1.0}, 'one row of numbers'),
        ({'x': [None, None]}, 'object of shape'),
        ({'item': [1.0, 2.0]}, 'other than'),
        ({'_x': [1.0, 2.0]}, 'do not begin with _'),
        ({'no word': [1.0, 2.0]}, 'by words'),
    ],
)
def test_what_is_no_result_is_a_failure(answer, told, tmp_path):
    try:
        sweep = Sweep(functions.answers, [{'answer': answer}], 2)
    except NotFingerprintableError:
        pytest.fail('the case itself must be data')
    (failure,) = here(sweep, tmp_path).failures
    assert told in failure.error


def test_another_code_is_told_before_anything_is_computed(tmp_path):
    sweep = Sweep(functions.walks, CASES[:1])
    work = Work(sweep.function, None, 'another', status(sweep, tmp_path).store, 3)
    assert not work.run(next(sweep.chunks()))
    assert 'another kane_dynamics' in status(sweep, tmp_path).failures[0].error


def test_a_broken_result_is_told(tmp_path):
    sweep = Sweep(functions.walks, CASES[:1])
    found = here(sweep, tmp_path)
    path = tmp_path / f'{keys(sweep)[0]}.npz'
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InvalidInputError, match='remove it and run the sweep again'):
        found.arrays()


def test_results_that_do_not_fit_together_are_told(tmp_path):
    answers = [{'x': [1.0]}, {'y': [1.0]}, {'x': [[1.0]]}]
    for pair, told in (((0, 1), 'do not fit'), ((0, 2), 'different shapes')):
        cases = grid(answer=[answers[k] for k in pair])
        with pytest.raises(SweepError, match=told):
            here(Sweep(functions.answers, cases), tmp_path).arrays()
    with pytest.raises(SweepError, match='do not fit'):
        status(Sweep(functions.walks), tmp_path).arrays()


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        ({'function': lambda job: {}}, 'import by name'),
        ({'function': 3}, 'import by name'),
        ({'function': 'support.sweep_functions'}, "need 'package.module:function'"),
        ({'function': 'no_such_module:f'}, "need 'package.module:function'"),
        ({'function': 'support.sweep_functions:none'}, "need 'package.module:function'"),
        ({'function': 'support.sweep_functions:os'}, 'is no function'),
        ({'function': 'builtins:print'}, 'give the version'),
        ({'cases': {'scale': 1.0}}, 'need a list of mappings, got dict'),
        ({'cases': []}, 'at least one'),
        ({'cases': [3]}, 'need a mapping'),
        ({'cases': [{3: 4}]}, 'need names'),
        ({'cases': [{'x': 1}, {'x': 1}]}, 'the same'),
        ({'cases': [{'x': np.array([None])}]}, 'got one of objects'),
        ({'cases': [{'x': object()}]}, 'has no content to hash'),
        ({'cases': [{'x': print}]}, 'has no content to hash'),
        ({'items': 0}, 'items: need a whole number >= 1, got int 0'),
        ({'items': 1.5}, 'whole number'),
        ({'chunk': 0}, 'chunk: need a whole number >= 1'),
        ({'seed': -1}, 'whole number'),
    ],
)
def test_a_sweep_that_is_none_is_told(options, told):
    with pytest.raises(KaneDynamicsError, match=told):
        Sweep(**{'function': functions.walks, **options})


def test_a_function_that_hides_another_is_told(monkeypatch):
    original = functions.walks
    monkeypatch.setattr(functions, 'walks', functions.slow)
    with pytest.raises(InvalidInputError, match='is another one'):
        Sweep(original)


def test_wrong_arguments_are_told(tmp_path):
    sweep = Sweep(functions.walks, CASES[:1])
    with pytest.raises(InvalidInputError, match='need a Sweep'):
        run(functions.walks, tmp_path)
    with pytest.raises(InvalidInputError, match='deaths: need a whole number >= 1'):
        run(sweep, tmp_path, deaths=0)
    with pytest.raises(InvalidInputError, match='workers'):
        run(sweep, tmp_path, workers=-1)
    with pytest.raises(InvalidInputError, match='scheduler'):
        run(sweep, tmp_path, scheduler=8786)
    with pytest.raises(InvalidInputError, match='no files can be written'):
        run(sweep, os.devnull)
    with pytest.raises(InvalidInputError, match='need a sequence'):
        grid(robot='robots/nonholonomic.urdf')
    with pytest.raises(InvalidInputError, match='need one in'):
        Job({}, 0, range(3)).only(3)


def test_without_dask_its_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'distributed', None)
    with pytest.raises(MissingPackageError, match=r"pip install 'kane_dynamics\[sweep\]'"):
        run(Sweep(functions.walks, CASES[:1]), tmp_path, progress=quiet)


def test_workers_that_do_not_see_the_folder_are_named(tmp_path):
    class Client:
        def run(self, function, path):
            return {'tcp://near:1': function(path), 'tcp://far:1': False}

    store = status(Sweep(functions.walks, CASES[:1]), tmp_path).store
    with pytest.raises(SweepError, match='all share:.*far'):
        check_folder(Client(), store)
    assert list(tmp_path.iterdir()) == []


def test_workers_that_dask_gave_up_are_asked_for_again():
    def supervisor(status):
        return SimpleNamespace(status=SimpleNamespace(name=status))

    names = ('running', 'closed', 'failed', 'starting')
    asked = []
    workers = SimpleNamespace(
        workers={k: supervisor(name) for k, name in enumerate(names)},
        worker_spec=dict.fromkeys(range(4)),
        scale=asked.append,
    )
    for _ in range(2):  # the second time there is nothing to do
        replace_lost(workers)
        assert list(workers.workers) == [0, 3]
        assert asked == [4]


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / 'doc' / 'scale.md').read_text()
    module, script = re.findall(r'```python\n(.*?)```', page, re.DOTALL)
    (shown,) = re.findall(r'```text\n(.*?)```', page, re.DOTALL)
    (tmp_path / 'swings.py').write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert 'workers=2' in script
    script = script.replace('workers=2', 'workers=0')
    exec(compile(script, 'scale.md', 'exec'), {'__name__': '__main__'})
    assert capsys.readouterr().out == shown
