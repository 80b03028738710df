# SPDX-License-Identifier: Apache-2.0
"""The library of a robot under the sanitizers of gcc, and that these find what is wrong."""

import subprocess

import numpy as np
import pytest
from support import sanitizers
from test_deployment_core import loader

from kane_dynamics.deployment.core import Plan, write_core

PROBE = 'int main(void) { return 0; }\n'
RACE = """
#include <pthread.h>
static volatile int shared;
static pthread_barrier_t start; /* else one may be done before the other begins */
static void *work(void *none) {
  pthread_barrier_wait(&start);
  for (int k = 0; k < 100000; k++) shared++;
  return none;
}
int main(void) {
  pthread_t other;
  pthread_barrier_init(&start, 0, 2);
  pthread_create(&other, 0, work, 0);
  work(0);
  pthread_join(other, 0);
  return 0;
}
"""


@pytest.fixture(scope='module')
def driver(four_bar):
    """Return a program's text, the width of its states and the number of its results."""
    return sanitizers.library_driver('four_bar', loader(four_bar.folder, 'four_bar').FUNCTIONS)


def works_here(kind, folder):
    """Skip, loudly, where gcc has no such sanitizer, or the kernel does not let it run."""
    (folder / 'probe.c').write_text(PROBE)
    try:
        sanitizers.run(sanitizers.build(folder, ['probe.c'], kind), np.zeros(1))
    except (subprocess.CalledProcessError, RuntimeError) as error:
        pytest.skip(f'NO SANITIZER: {error}')


@pytest.fixture(params=[sanitizers.ADDRESS, sanitizers.THREAD], ids=['address', 'thread'])
def kind(request, compiler, tmp_path):
    """Return a sanitizer."""
    works_here(request.param, tmp_path)
    return request.param


def built(four_bar, text, kind, folder):
    (folder / 'driver.c').write_text(text)
    library = [four_bar.folder / name for name in ('four_bar.c', 'kernels.o')]
    return sanitizers.build(folder, ['driver.c', f'-I{four_bar.folder}', *library], kind)


def test_four_threads_get_the_same_bits_and_nothing_is_found(four_bar, driver, kind, tmp_path):
    text, width, results = driver
    program = built(four_bar, text, kind, tmp_path)
    states = sanitizers.hard_states(width)
    rows = sanitizers.run(program, states).reshape(len(states), results)
    ordinary, nan = rows[:50], rows[50]
    assert np.isfinite(ordinary).any(axis=1).all()
    assert np.isnan(nan).sum() > 4  # no number where there is no answer
    assert sanitizers.run(program, states[:0]).size == 0  # no states at all


def test_one_number_too_many_is_found(four_bar, driver, kind, tmp_path):
    text, width, _ = driver
    shorter = text.replace('i0_0 = guarded(4)', 'i0_0 = guarded(3)')
    assert shorter != text
    program = built(four_bar, shorter, kind, tmp_path)
    with pytest.raises(RuntimeError, match='SEGV'):
        sanitizers.run(program, sanitizers.hard_states(width))


BUILDS = {
    'all frames': {},
    'one frame': {'frames': ('coupler_end',)},
    'another frame': {'frames': ('crank',)},
    'a payload': {'payloads': ('coupler',)},
    'two payloads': {'payloads': ('coupler', 'coupler_end')},
    'fewer functions': {'functions': ('frame_poses',)},
    'another gravity': {'gravity': (0.0, -1.0, -9.0)},
}


@pytest.fixture(scope='module')
def builds(four_bar, tmp_path_factory):
    """Return folders of libraries of one name, that differ in what they are built for."""
    folders = {}
    for build, options in BUILDS.items():
        given = {'functions': ('frame_poses', 'gravity_force'), **options}
        robot = four_bar.plan.robot.with_gravity(given.pop('gravity', (0.0, 0.0, -9.81)))
        folders[build] = tmp_path_factory.mktemp('build')
        plan = Plan(robot, four_bar.plan.constraints, 'four_bar', (), **given)
        write_core(plan, folders[build])
    return folders


def test_a_loader_takes_its_own_build_alone(builds):
    for folder in builds.values():
        for other in builds.values():
            module = loader(folder, 'four_bar')
            library = other / 'libfour_bar.so'
            if folder is other:
                assert np.isfinite(module.Robot(library).frame_poses(np.zeros(4))).all()
                continue
            with pytest.raises(OSError, match='another robot or another build'):
                module.Robot(library)


def test_a_c_program_stops_before_arrays_of_another_build_overflow(builds, tmp_path):
    works_here(sanitizers.ADDRESS, tmp_path)
    for header, library in (
        ('one frame', 'one frame'),
        ('one frame', 'all frames'),
        ('all frames', 'one frame'),
        ('one frame', 'another frame'),
        ('a payload', 'two payloads'),
    ):
        folder = builds[header]
        text, width, _ = sanitizers.library_driver(
            'four_bar', loader(folder, 'four_bar').FUNCTIONS
        )
        (tmp_path / 'driver.c').write_text(text)
        parts = [builds[library] / name for name in ('four_bar.c', 'kernels.o')]
        sources = ['driver.c', f'-I{folder}', *parts]
        program = sanitizers.build(tmp_path, sources, sanitizers.ADDRESS)
        states = sanitizers.hard_states(width)
        if header == library:
            assert sanitizers.run(program, states).size
            continue
        with pytest.raises(RuntimeError, match='ended with 7'):
            sanitizers.run(program, states)


def test_a_race_is_found(compiler, tmp_path):
    works_here(sanitizers.THREAD, tmp_path)
    (tmp_path / 'race.c').write_text(RACE)
    with pytest.raises(RuntimeError, match='data race'):
        sanitizers.run(sanitizers.build(tmp_path, ['race.c'], sanitizers.THREAD), np.zeros(1))
