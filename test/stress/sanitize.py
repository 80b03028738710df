# SPDX-License-Identifier: Apache-2.0
"""
Machine code and C of robots under sanitizers: ``make sanitize``.

Libraries of `kane-dynamics build` run in threads under AddressSanitizer with UBSan and under
ThreadSanitizer; the C of `export_c` under the former. Ordinary states come, and NaN, infinities
and numbers beyond all bounds; all arrays end at a page that nobody may touch.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import sanitizers

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.control.node_dynamics import known_speeds
from kane_dynamics.deployment.core import Plan, write_core
from kane_dynamics.robot_config.robot_source import model_of_file
from studies import machine

ROBOTS = ('nonholonomic', 'holonomic')
EXPORTED = ('inverse_dynamics', 'mass_matrix', 'forward_dynamics')
STATES = 2000
RESULT = Path('studies-results/sanitizers.json')


def loaded_functions(folder, name):
    """Return the functions of a library with the sizes of inputs and outputs."""
    spec = importlib.util.spec_from_file_location(name, folder / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FUNCTIONS


def library(folder, robot_name):
    """Run all functions of the library of a shipped robot; yield what was run."""
    model = model_of_file(robot_name)
    rows = ConstraintSet.of(model.robot, model.constraints)
    known = known_speeds(model, ())
    links = ('tool_link',)
    write_core(Plan(model.robot, rows, 'robot', model.actuated, known, links, links), folder)
    functions = loaded_functions(folder, 'robot')
    text, width, results = sanitizers.library_driver('robot', functions)
    (folder / 'driver.c').write_text(text)
    for kind in (sanitizers.ADDRESS, sanitizers.THREAD):
        program = sanitizers.build(folder, ['driver.c', 'robot.c', 'kernels.o'], kind)
        states = sanitizers.hard_states(width, STATES)
        made = sanitizers.run(program, states)
        assert made.size == len(states) * results
        calls = len(states) * len(functions) * sanitizers.THREADS
        yield f'library of {robot_name}', kind, len(functions), calls


def exported(folder, robot_name):
    """Run functions that `export_c` writes; yield what was run."""
    model = model_of_file(robot_name)
    for name in EXPORTED:
        rows = model.constraints if name == 'forward_dynamics' else ()
        kd.export_c(model.robot, name, folder, rows)
        function = kd.casadi_function(model.robot, name, rows)
        width = sum(function.size1_in(k) for k in range(function.n_in()))
        (folder / 'exported.c').write_text(sanitizers.exported_driver(name, width))
        program = sanitizers.build(folder, ['exported.c', f'{name}.c'], sanitizers.ADDRESS)
        states = sanitizers.hard_states(width, STATES)
        sanitizers.run(program, states)
        yield f'export_c of {robot_name}', sanitizers.ADDRESS, 1, len(states) + 2


def entries():
    """Return how many calls of `kd.compile` from Python ran on guarded memory."""
    script = Path(__file__).with_name('guarded_entries.py')
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def main():
    """Run all; write a summary; a finding is an exception with the sanitizer's report."""
    begin, rows = time.monotonic(), {}
    for robot_name in ROBOTS:
        for what in (library, exported):
            with tempfile.TemporaryDirectory() as folder:
                for subject, kind, functions, calls in what(Path(folder), robot_name):
                    row = rows.setdefault((subject, kind), [0, 0])
                    row[0], row[1] = row[0] + functions, row[1] + calls
                    sys.stdout.write(f'{subject}, {kind}: {calls} calls, nothing found\n')
    rows['functions of kd.compile from Python', 'guard pages'] = [5, entries()]
    runs = [
        {'subject': subject, 'sanitizer': kind, 'functions': functions, 'calls': calls}
        for (subject, kind), (functions, calls) in rows.items()
    ]
    RESULT.parent.mkdir(exist_ok=True)
    figures = {
        'commit': machine.commit(),
        'machine': machine.describe(),
        'seconds': round(time.monotonic() - begin, 1),
        'found': 0,
        'runs': runs,
    }
    RESULT.write_text(json.dumps(figures, indent=1) + '\n')


if __name__ == '__main__':
    main()
