# SPDX-License-Identifier: Apache-2.0
"""YAML and JSON text from outside as plain values of bounded size; safe loaders only."""

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import yaml

from kane_dynamics.exceptions import InvalidInputError

DEEPEST = 50
"""Levels of lists and mappings inside each other."""
OPEN = 1000
"""Brackets of YAML that are open at a time, in comments too; the parser's time is their square."""
REPEATED = 10_000
"""Lists and mappings that aliases of YAML may repeat."""


def yaml_value(text: str) -> Any:
    """Return the first document of YAML text, None of empty text."""
    opened = accumulate((c in '[{') - (c in ']}') for c in text)
    if max(opened, default=0) > OPEN:
        raise _too_deep()
    try:
        value = next(iter(yaml.safe_load_all(text)), None)
    except RecursionError:
        raise _too_deep() from None
    except (yaml.YAMLError, ValueError, TypeError, LookupError, OverflowError) as error:
        # besides YAMLError: what a date that is none, or a number of 5,000 digits, raises inside
        raise InvalidInputError(f'cannot be read as YAML: {error}') from error
    return _bounded(value, len(text))


def json_value(text: str) -> Any:
    """Return the value of JSON text."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise InvalidInputError(f'cannot be read as JSON: {error}') from error
    return _bounded(value, len(text))


def _bounded(value: Any, length: int) -> Any:
    """Return a value whose lists and mappings, aliases followed, are few and not too deep."""
    waiting, count = [(value, 0)], 0
    while waiting:
        inner, depth = waiting.pop()
        if depth > DEEPEST:
            raise _too_deep()
        count += 1
        if count > length + REPEATED:  # each takes a character
            raise InvalidInputError(f'aliases repeat more than {REPEATED} lists and mappings')
        children = inner.values() if isinstance(inner, Mapping) else inner
        if isinstance(inner, (Mapping, list, tuple, set)):
            waiting += [(x, depth + 1) for x in children if isinstance(x, (Mapping, list, set))]
    return value


def _too_deep() -> InvalidInputError:
    return InvalidInputError(f'need at most {DEEPEST} lists and mappings inside each other')
