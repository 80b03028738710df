# SPDX-License-Identifier: Apache-2.0
"""
Run laws on mutated modules, in forked children of one process.

Usage: mutation_runner.py COUNT FIRST STRIDE

Of COUNT mutants (0: all of them), each STRIDE-th from FIRST on is imported in the place of its
module by a child of its own, which then runs the laws of the file. Prints one line of JSON for
each: name, exit status of pytest, what it said. Libraries are imported once. In the end the tests
that saw these mutants run on true formulas, or the whole laws where all mutants were asked for.
"""

import io
import json
import os
import signal
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_loader
from pathlib import Path

from laws import FILES, LAWS
from mutants import PACKAGE, mutants, mutated
from survivors import SURVIVORS

PASSED = 0
# a test fails; a test or a conftest cannot be imported, because a machine cannot be built; no end
SEEN = (1, 2, 4, -signal.SIGPROF)
LONGEST = 150.0  # [s] of computing; a wrong sign may keep a loop from ending


def all_mutants():
    """Return every mutant of every listed file."""
    return [mutant for file in FILES for mutant in mutants(file)]


def chosen(count):
    """
    Return `count` mutants that are not known to survive, always the same; 0: all there are.

    They are drawn by their names: where one comes or goes, the others of the sample stay.
    """
    every = all_mutants()
    if not count:
        return every
    seen = [mutant for mutant in every if mutant.name not in SURVIVORS]
    return sorted(seen, key=lambda mutant: sha256(mutant.name.encode()).digest())[:count]


class MutantLoader(SourceFileLoader):
    """Gives one module from a syntax tree; a finder of modules, too."""

    def __init__(self, mutant):
        name = mutant.file.removesuffix('.py').replace('/', '.')
        super().__init__(f'kane_dynamics.{name}', str(PACKAGE / mutant.file))
        self.code = compile(mutated(mutant), self.path, 'exec')

    def get_code(self, fullname):
        return self.code

    def find_spec(self, fullname, path=None, target=None):
        return spec_from_loader(fullname, self) if fullname == self.name else None


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


class Failures:
    """Plugin of pytest that keeps which tests failed."""

    def __init__(self):
        self.names = []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.names.append(report.nodeid)


def run_tests(*asked):
    """Return the exit status of pytest, its output and failed tests, from this (child) process."""
    import pytest

    output, failures = io.StringIO(), Failures()
    with redirect_stdout(output), redirect_stderr(output):
        options = ('-x', '-q', '--no-header', '--tb=line', '-p', 'no:cacheprovider')
        status = pytest.main([*asked, *options], [failures])
    return int(status), output.getvalue()[-600:], failures.names


def outcome_of(mutant):
    """Return the first law that sees a mutant, or the last one, and what `run_tests` does."""
    sys.meta_path.insert(0, MutantLoader(mutant))
    for law in FILES[mutant.file].split():
        status, text, failed = run_tests(*LAWS[law])
        if status != PASSED:
            break
    return law, status, text, failed


def in_child(function, *arguments):
    """Return the exit status of a forked child and what its function returned, or None."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report'
        child = os.fork()
        if child == 0:
            status = 98
            try:
                signal.setitimer(signal.ITIMER_PROF, LONGEST)
                os.environ['XDG_CACHE_HOME'] = folder  # no machine code of another mutant
                report.write_text(json.dumps(function(*arguments)), encoding='utf-8')
                status = 0
            finally:
                os._exit(status)
        _, wait_status = os.waitpid(child, 0)
        found = json.loads(report.read_text(encoding='utf-8')) if report.exists() else None
        return os.waitstatus_to_exitcode(wait_status), found


def main(count, first, stride):
    """Run the mutants, then what saw one on true formulas, and report on each."""
    os.chdir(PACKAGE.parent)
    sys.path.insert(0, str(PACKAGE.parent))
    import_libraries()

    def report(name, status, text):
        print(json.dumps({'name': name, 'status': status, 'text': text}), flush=True)

    asked = {}
    for mutant in chosen(count)[first::stride]:
        ended, outcome = in_child(outcome_of, mutant)
        law, status, text, failed = outcome or ('', ended, '', [])
        report(mutant.name, status, text)
        whole = not count or not failed  # nothing failed where a test cannot be imported
        asked.setdefault(law, []).extend(LAWS.get(law, ()) if whole else failed)
    laws = [law for law in LAWS if law in asked]
    ended, outcomes = in_child(lambda: [run_tests(*dict.fromkeys(asked[law])) for law in laws])
    for law, outcome in zip(laws, outcomes or [(ended, '', [])] * len(laws), strict=True):
        report(law, *outcome[:2])


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
