# SPDX-License-Identifier: Apache-2.0
"""Fields of named tuples are described by their class, under Parameters, and not once more."""

from collections import namedtuple

_FIELD = type(namedtuple('_Pair', 'first').first)


def _without_fields(app, what, name, value, skip, options):
    return True if isinstance(value, _FIELD) else None


def setup(app):
    app.connect('autodoc-skip-member', _without_fields)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
