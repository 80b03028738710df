# SPDX-License-Identifier: Apache-2.0
"""
Wrong formulas break laws: a sample of all mutants, the same in every run.

``python test/mutation/test_mutation.py`` runs all of them and prints those that nothing sees.
"""

import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from laws import FILES, LAWS
from mutants import mutants, mutated
from mutation_runner import PASSED, SEEN, all_mutants, chosen
from survivors import SURVIVORS

WORKERS = 2
SAMPLE = 16
EVERY = [28, pytest.param(7, marks=pytest.mark.thorough)]  # of them is looked at as a program


def outcomes_of(count):
    """Yield the outcome of each law and of each of `count` mutants, 0: all."""
    runner = Path(__file__).with_name('mutation_runner.py')
    environment = {
        **os.environ,
        'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
        'OMP_NUM_THREADS': '1',
        'OPENBLAS_NUM_THREADS': '1',
    }
    files = [tempfile.TemporaryFile('w+') for _ in range(WORKERS)]
    workers = [
        subprocess.Popen(
            [sys.executable, str(runner), str(count), str(first), str(WORKERS)],
            stdout=file,
            env=environment,
        )
        for first, file in enumerate(files)
    ]
    for worker, file in zip(workers, files, strict=True):
        worker.wait()
        file.seek(0)
        yield from (json.loads(line) for line in file if line.startswith('{'))
        file.close()


@pytest.fixture(scope='module')
def outcomes():
    """Return the exit status and output of each law and each mutant of the sample, by name."""
    if not hasattr(os, 'fork'):
        pytest.skip('needs fork')
    return {outcome['name']: outcome for outcome in outcomes_of(SAMPLE)}


def test_every_file_has_mutants_with_names_of_their_own():
    names = [mutant.name for mutant in all_mutants()]
    assert len(set(names)) == len(names)
    assert [file for file in FILES if not mutants(file)] == []
    assert {law for laws in FILES.values() for law in laws.split()} == set(LAWS)


@pytest.mark.parametrize('every', EVERY)
def test_each_mutant_is_another_program(every):
    for file in FILES:
        found = mutants(file)
        source = ast.unparse(found[0].tree)
        for mutant in found[::every]:
            changed = mutated(mutant)
            compile(changed, mutant.file, 'exec')
            assert ast.unparse(changed) != source, mutant.name


def test_survivors_are_mutants_and_have_reasons():
    assert set(SURVIVORS) <= {mutant.name for mutant in all_mutants()}
    assert all(SURVIVORS.values())


@pytest.mark.thorough
def test_laws_that_saw_a_mutant_hold_on_the_true_package(outcomes):
    laws = [outcome for name, outcome in outcomes.items() if name in LAWS]
    assert laws
    assert [law for law in laws if law['status'] != PASSED] == []


@pytest.mark.thorough
@pytest.mark.parametrize('number', range(SAMPLE))
def test_wrong_formula_is_seen(outcomes, number):
    name = chosen(SAMPLE)[number].name
    assert outcomes[name]['status'] in SEEN, (name, outcomes[name]['text'])


def main():
    """Run every mutant; print what survives without a reason, and reasons that are not needed."""
    found = {outcome['name']: outcome for outcome in outcomes_of(0)}
    passed = {name for name, outcome in found.items() if outcome['status'] == PASSED}
    alive = [name for name in passed if name not in LAWS]
    broken = [name for name, outcome in found.items() if name in LAWS and name not in passed]
    unknown = [name for name in alive if name not in SURVIVORS]
    seen = [name for name in SURVIVORS if name not in alive]
    wrong = {'survives': unknown, 'listed, but seen': seen, 'fails on true formulas': broken}
    for heading, names in wrong.items():
        for name in names:
            print(f'{heading}: {name}')
    print(f'{len(all_mutants())} mutants, {len(alive)} survive, {len(unknown)} without a reason')
    return 1 if any(wrong.values()) else 0


if __name__ == '__main__':
    sys.exit(main())
