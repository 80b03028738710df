# SPDX-License-Identifier: Apache-2.0
"""
The short check on every Python 3.10 to 3.13 of this machine, with the oldest and newest llvmlite.

``python3 test/platforms/pythons.py FOLDER`` keeps an environment for each in FOLDER and prints
which Pythons were there, what was installed and what came out.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ('3.10', '3.11', '3.12', '3.13')
# the first llvmlite with wheels for that Python, and not below what setup.py asks for
OLDEST_LLVMLITE = {'3.10': '0.41.1', '3.11': '0.41.1', '3.12': '0.42.0', '3.13': '0.44.0'}
NEEDED = ('numpy', 'scipy', 'numpy-quaternion', 'defusedxml', 'PyYAML', 'casadi', 'rich')
SHORT_SUITE = (
    'test/compiler/test_compiler_entries.py',
    'test/compiler/test_compiler_older_llvm.py',
    'test/compiler/test_compiler_other_processors.py',
    '-k',
    'not references',  # minutes where calls are slow
)


def interpreter(version):
    """Return a Python that runs, on the PATH or among pyenv's, or None."""
    found = shutil.which(f'python{version}')
    pyenv = Path(os.environ.get('PYENV_ROOT', Path.home() / '.pyenv'))
    candidates = [found] if found else []
    candidates += sorted(map(str, pyenv.glob(f'versions/{version}*/bin/python')), reverse=True)
    for candidate in candidates:  # pyenv's shims are there without the version behind them
        asked = subprocess.run([candidate, '--version'], capture_output=True, check=False)
        if asked.returncode == 0:
            return candidate
    return None


def prepared(python, folder, llvmlite):
    """Return the interpreter of an environment with this llvmlite ('' is the newest)."""
    place = folder / 'bin' / 'python'
    if not place.exists():
        subprocess.run([python, '-m', 'venv', folder], check=True)
    wanted = f'llvmlite=={llvmlite}' if llvmlite else 'llvmlite'
    install = [place, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    subprocess.run([*install, *NEEDED, 'matplotlib', 'pytest', 'hypothesis', wanted], check=True)
    return place


def passes(python):
    """Run the short check and the short suite with an interpreter."""
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    suite = [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--no-header', *SHORT_SUITE]
    for command in ([python, 'test/platforms/short_check.py'], suite):
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        print(done.stdout.strip().splitlines()[-1] if done.returncode == 0 else done.stdout)
        if done.returncode != 0:
            print(done.stderr)
            return False
    return True


def main():
    folder = Path(sys.argv[1])
    found = {version: interpreter(version) for version in VERSIONS}
    for version, python in found.items():
        print(f'python{version}: {python or "not on this machine"}')
    good = True
    for version, python in found.items():
        if python is None:
            continue
        for llvmlite in (OLDEST_LLVMLITE[version], ''):
            name = f'python{version}-llvmlite{llvmlite or "-newest"}'
            good &= passes(prepared(python, folder.resolve() / name, llvmlite))
    return 0 if good and any(found.values()) else 1


if __name__ == '__main__':
    sys.exit(main())
