# SPDX-License-Identifier: Apache-2.0
"""
The public names with their signatures, beside those in public_api.txt.

A change of the interface shows as a change of that file: `python test/test_public_api.py`.
"""

import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'doc'))
from site_parts.public import public_objects  # noqa: E402

SNAPSHOT = Path(__file__).with_name('public_api.txt')


def signature(value):
    """Return the parameters of something that can be called, without its annotations."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ''
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    text = str(inspect.Signature(plain))
    return re.sub(r' at 0x[0-9a-f]+', '', text)


def described(name, value):
    """Yield a line for a name, and one for each public method or property of a class."""
    if not inspect.isclass(value):
        yield f'{name}{signature(value) if callable(value) else ""}'
        return
    yield f'{name}{"" if issubclass(value, BaseException) else signature(value)}'
    for key in sorted(vars(value)):
        member = inspect.getattr_static(value, key)
        if not key.startswith('_'):
            plain = getattr(member, '__func__', member)
            yield f'{name}.{key}{signature(plain) if inspect.isfunction(plain) else ""}'


def present():
    """Return the interface of today as text."""
    lines = [line for name, value in public_objects() for line in described(name, value)]
    return '\n'.join(sorted(set(lines))) + '\n'


def test_the_interface_is_that_of_the_snapshot():
    assert SNAPSHOT.read_text(encoding='utf-8') == present(), 'python test/test_public_api.py'


if __name__ == '__main__':
    SNAPSHOT.write_text(present(), encoding='utf-8')
