# SPDX-License-Identifier: Apache-2.0
"""The reference of the commands is that of their parsers, and its examples are commands."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from kane_dynamics import cli

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location('update_cli', ROOT / 'doc' / 'update_cli.py')
update_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(update_cli)


def test_the_page_is_current():
    written = update_cli.PAGE.read_text(encoding='utf-8')
    assert written == update_cli.page(), 'run python doc/update_cli.py'


def test_every_command_is_there_with_every_option():
    text = update_cli.page()
    for name in cli.COMMANDS:
        assert f'\n## {name}\n' in text
    assert '`--older-than DAYS`' in text
    assert '| `--integrator` | `rk4` | one of midpoint, rk4, semi_implicit |' in text


@pytest.mark.parametrize(
    'line', sorted(set(re.findall(r'kane-dynamics [^`\n]+', update_cli.page())))
)
def test_examples_are_commands(line):
    cli.new_parser().parse_args(cli.split(shlex.split(line)[1:])[0])
