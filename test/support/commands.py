# SPDX-License-Identifier: Apache-2.0
"""Commands of `kane-dynamics` in the process of the test."""

import json

from kane_dynamics import cli


def outcome(capsys, *arguments):
    """Run a command; return its exit code, its output and its errors, each as one line."""
    code = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, ' '.join(captured.out.split()), ' '.join(captured.err.split())


def as_json(run):
    """Return a function: arguments to the result that a command prints as JSON."""

    def call(*arguments):
        code, output, errors = run(*arguments, '--json')
        assert code == 0, errors
        return json.loads(output)

    return call
