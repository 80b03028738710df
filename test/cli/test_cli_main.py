# SPDX-License-Identifier: Apache-2.0
"""The frame of the command line: versions, exit codes, pipes, colours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kane_dynamics as kd
from kane_dynamics import cli

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / 'robots' / 'nonholonomic.urdf'
COMMAND = [sys.executable, '-m', 'kane_dynamics']


def environment(**more):
    return {**os.environ, 'PYTHONPATH': str(ROOT), **more}


def test_version_as_a_module():
    done = subprocess.run(
        [*COMMAND, '--version'], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stdout.strip() == f'kane-dynamics {kd.__version__}'


def test_exit_codes_are_in_the_help(capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(['--help'])
    assert left.value.code == cli.DONE
    printed = capsys.readouterr().out
    assert all(f'  {code:<5}{meaning}' in printed for code, meaning in cli.EXIT_CODES.items())


def test_no_command_is_a_usage_error():
    with pytest.raises(SystemExit) as left:
        cli.main([])
    assert left.value.code == cli.USAGE


@pytest.mark.parametrize(
    ('error', 'code', 'said'),
    [
        (KeyboardInterrupt(), cli.INTERRUPTED, ''),
        (kd.exceptions.InvalidInputError('need [b]'), cli.REFUSED, 'error: need [b]'),
        (PermissionError(13, 'Permission denied', '/x'), cli.REFUSED, "Permission denied: '/x'"),
        (UnicodeEncodeError('utf-8', '\ud800', 0, 1, 'no'), cli.REFUSED, "encode character '"),
    ],
)
def test_how_commands_end(error, code, said, monkeypatch, run):
    def fail(options):
        raise error

    monkeypatch.setitem(cli.COMMANDS, 'info', cli.COMMANDS['info']._replace(run=fail))
    ended, output, errors = run('info', 'holonomic')
    assert (ended, output) == (code, '')
    assert said in errors
    assert bool(errors) == bool(said)


@pytest.mark.skipif(os.name != 'posix', reason='a pipe of POSIX')
def test_a_broken_pipe_ends_quietly():
    read, write = os.pipe()
    os.close(read)  # as after | head
    done = subprocess.run(
        [*COMMAND, 'info', str(ARM)],
        stdout=write,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (cli.PIPE, b'')


def test_no_colour_where_nobody_sees_it(run):
    assert '\x1b' not in ''.join(map(str, run('info', ARM)))
