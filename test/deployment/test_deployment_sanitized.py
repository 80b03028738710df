# SPDX-License-Identifier: Apache-2.0
"""The library of a robot under the sanitizers of gcc, and that these find what is wrong."""

import subprocess

import numpy as np
import pytest
from support import sanitizers
from test_deployment_core import loader

PROBE = 'int main(void) { return 0; }\n'
RACE = """
#include <pthread.h>
static int shared;
static void *work(void *none) { for (int k = 0; k < 1000; k++) shared++; return none; }
int main(void) {
  pthread_t other;
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


def test_a_race_is_found(compiler, tmp_path):
    works_here(sanitizers.THREAD, tmp_path)
    (tmp_path / 'race.c').write_text(RACE)
    with pytest.raises(RuntimeError, match='data race'):
        sanitizers.run(sanitizers.build(tmp_path, ['race.c'], sanitizers.THREAD), np.zeros(1))
