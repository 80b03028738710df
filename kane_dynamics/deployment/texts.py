# SPDX-License-Identifier: Apache-2.0
"""Text files from templates: ``@NAME@`` stands for a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_TEMPLATES = Path(__file__).parent / 'templates'
_PLACE = re.compile(r'@([A-Z][A-Z0-9_]*)@')


def filled(template: str, values: Mapping[str, object]) -> str:
    """Return a template of this package with its values."""
    text = (_TEMPLATES / f'{template}.in').read_text(encoding='utf-8')
    return _PLACE.sub(lambda result: str(values[result[1]]), text)


def quoted(names: Iterable[str]) -> str:
    """Return names as C strings, each with a comma after it."""
    return ''.join(f'{c_string(name)}, ' for name in names)


def listed(lines: Iterable[str]) -> str:
    """Return lines of a block comment in C."""
    return '\n'.join(f' *   {line.replace("*/", "* /")}' for line in lines)


def c_string(text: str) -> str:
    """Return a text as it stands in C."""
    escaped = text.replace('\\', '\\\\').replace('"', '\\"')
    return f'"{escaped}"'
