# SPDX-License-Identifier: Apache-2.0
"""
Run laws on mutated copies of the package, in forked children of one process.

Usage: mutation_runner.py COPY TESTS FIRST STRIDE

COPY is a folder with a copy of the package that this process may change, TESTS the folder that
holds the test tree. Every STRIDE-th mutation from FIRST on is applied in turn and taken back.
Prints one line of JSON for each: name, exit status of pytest, what it said. The libraries are
imported once; each child imports the mutated package and runs its laws in it.
"""

import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

PASSED, FAILED, BROKEN = 0, 1, 2


def import_libraries():
    """Import what the package and its tests need, and forget the package itself."""
    import casadi  # noqa: F401
    import llvmlite.binding  # noqa: F401
    import pytest  # noqa: F401
    import scipy.linalg
    import scipy.spatial.transform  # noqa: F401

    import kane_dynamics  # noqa: F401

    for name in [name for name in sys.modules if name.split('.')[0] == 'kane_dynamics']:
        del sys.modules[name]


def run_laws(copy, tests, arguments):
    """Return the exit status of pytest and its output, from this (child) process."""
    import pytest

    import kane_dynamics

    if Path(kane_dynamics.__file__).parents[1] != copy:
        return 99, f'imported {kane_dynamics.__file__}'
    paths = [str(tests.parent / a) if a.startswith('test/') else a for a in arguments]
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        status = pytest.main(
            [*paths, '-x', '-q', '--no-header', '--tb=line', '-p', 'no:cacheprovider']
        )
    return int(status), output.getvalue()[-600:]


def in_child(copy, tests, arguments):
    """Run laws in a forked child; return its status and output."""
    with tempfile.TemporaryFile('w+') as report:
        child = os.fork()
        if child == 0:
            status = 98
            try:
                status, text = run_laws(copy, tests, arguments)
                report.write(text)
                report.flush()
            finally:
                os._exit(status)
        _, wait_status = os.waitpid(child, 0)
        report.seek(0)
        return os.waitstatus_to_exitcode(wait_status), report.read()


def main(copy, tests, first, stride):
    """Apply the mutations and report on each."""
    sys.dont_write_bytecode = True
    copy, tests = Path(copy).resolve(), Path(tests).resolve()
    sys.path.insert(0, str(copy))
    os.chdir(copy)
    import_libraries()
    from mutation_table import LAWS, MUTATIONS

    def report(name, status, text):
        print(json.dumps({'name': name, 'status': status, 'text': text}), flush=True)

    for law in list(LAWS)[first::stride]:
        report(law, *in_child(copy, tests, LAWS[law]))
    for number in range(first, len(MUTATIONS), stride):
        mutation = MUTATIONS[number]
        path = copy / 'kane_dynamics' / mutation.file
        source = path.read_text()
        try:
            path.write_text(source.replace(mutation.text, mutation.wrong))
            report(number, *in_child(copy, tests, LAWS[mutation.law]))
        finally:
            path.write_text(source)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
