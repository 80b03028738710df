# SPDX-License-Identifier: Apache-2.0
"""What the tests of commands share: running one in this process."""

from functools import partial

import pytest
from support.commands import as_json, outcome


@pytest.fixture
def run(capsys):
    """Return a function: arguments of the command to exit code, output and errors, one line."""
    return partial(outcome, capsys)


@pytest.fixture
def run_json(run):
    """Return a function: arguments of a command to the result that it prints as JSON."""
    return as_json(run)
