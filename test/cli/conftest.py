# SPDX-License-Identifier: Apache-2.0
"""What the tests of commands share: running one in this process."""

import json

import pytest

from kane_dynamics import cli


@pytest.fixture
def run(capsys):
    """Return a function: arguments of the command to exit code, output and errors, one line."""

    def call(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, ' '.join(captured.out.split()), ' '.join(captured.err.split())

    return call


@pytest.fixture
def run_json(run):
    """Return a function: arguments of a command to the result that it prints as JSON."""

    def call(*arguments):
        code, output, _ = run(*arguments, '--json')
        assert code == 0
        return json.loads(output)

    return call
