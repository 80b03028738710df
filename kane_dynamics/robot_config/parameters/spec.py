# SPDX-License-Identifier: Apache-2.0
"""
Declarative parameters: one frozen dataclass per node is its table.

Each field carries the ROS name, unit, bounds, choices, read-only flag and description. The same
table declares the parameters, validates changes, is read into the frozen dataclass, generates the
tables of ``doc/nodes.md`` and checks the names in launch and YAML files. Nothing here needs rclpy.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

ALIKE = 0.8
"""Likeness (difflib) from which a name counts as another one with a typing error."""
_INTEGERS = 2**63
"""Where the integers of a parameter end."""
Value = bool | int | float | str | tuple[str, ...] | tuple[float, ...]


@dataclass(frozen=True)
class Spec:
    """
    One parameter as ROS sees it.

    Attributes
    ----------
    name : str
        Full ROS name; ``<joint>`` or ``<constraint>`` in it stands for the name of one.
    default : Value
        Value without an override; an empty string array is ``('',)``, since ``[]`` has no type.
    bounds : tuple of float or None
        Smallest and largest legal value, both included.

    """

    name: str
    default: Value
    description: str
    unit: str = ''
    bounds: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    size: int = 0
    read_only: bool = False

    @property
    def kind(self) -> str:
        """Return the ROS type in words, taken from the default."""
        if isinstance(self.default, tuple):
            return 'string_array' if isinstance(self.default[0], str) else 'double_array'
        names = {bool: 'bool', int: 'int', float: 'double', str: 'string'}
        return names[type(self.default)]

    @property
    def shown_default(self) -> str:
        """Return the default as it would be written in YAML."""
        return _shown(self.default)

    def constraints(self) -> str:
        """Return what a legal value must satisfy, in words; '' where everything is legal."""
        if self.choices:
            return 'one of ' + ', '.join(self.choices)
        count = f'{self.size} numbers' if self.size else ''
        if self.bounds is not None:
            return f'{count} {self.bounds[0]:g} to {self.bounds[1]:g}'.strip()
        return count

    def typed(self, value: Any) -> Value | None:
        """Return a value of a file in the type of this parameter, or None where it has another."""
        if isinstance(self.default, tuple):
            one = Spec(self.name, self.default[0], '')
            items = value if isinstance(value, (list, tuple)) else (None,)
            typed = tuple(one.typed(item) for item in items)
            return None if None in typed else plain(typed)
        if isinstance(self.default, float) and type(value) is int:
            return float(value) if abs(value) < _INTEGERS else None
        return value if type(value) is type(self.default) else None

    def problem(self, value: object) -> str:
        """Return why a value is illegal, or '' if it is legal."""
        value = plain(value)  # rclpy hands out arrays
        numbers: Any = value if isinstance(value, tuple) else (value,)
        if self.kind.startswith('double') and not np.isfinite(np.asarray(numbers, float)).all():
            return f"parameter '{self.name}' must be finite, got {value}"
        if self.bounds and not all(self.bounds[0] <= x <= self.bounds[1] for x in numbers):
            return f"parameter '{self.name}' must be {self.constraints()}, got {value}"
        if self.choices and value not in self.choices:
            why = f'. {self.description}' if len(self.choices) == 1 else ''
            return f"parameter '{self.name}' must be {self.constraints()}, got '{value}'{why}"
        if self.size and len(numbers) != self.size:
            return f"parameter '{self.name}' needs {self.size} numbers, got {len(numbers)}"
        return ''


def param(
    default: Value,
    description: str,
    *,
    name: str = '',
    unit: str = '',
    bounds: tuple[float, float] | None = None,
    choices: Sequence[str] = (),
    size: int = 0,
    read_only: bool = False,
) -> Any:
    """Return a dataclass field with the `Spec` of a parameter; `name` where not the field's."""
    spec = Spec(name, default, description, unit, bounds, tuple(choices), size, read_only)
    return field(default=default, metadata={'spec': spec})


fixed = partial(param, read_only=True)  # while the node runs


def specs(table: type) -> tuple[Spec, ...]:
    """Return the parameters of a table (a dataclass made of `param` fields), in order."""
    return tuple(
        replace(f.metadata['spec'], name=f.metadata['spec'].name or f.name) for f in fields(table)
    )


def plain(value: Any) -> Any:
    """Return a hashable value: arrays as tuples, the placeholder ``['']`` as ``()``."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return tuple(x for x in value if x != '')


def placeholder(name: str) -> str:
    """Return what stands for another name in the name of a parameter, or ''."""
    return next((part for part in name.split('.') if part.startswith('<')), '')


def matching_spec(name: str, table: Iterable[Spec]) -> Spec | None:
    """Return the entry of a table that a full parameter name belongs to, or None."""
    for spec in table:
        mark = placeholder(spec.name)
        head, _, tail = spec.name.partition(mark) if mark else ('', '', '')
        if name == spec.name or (
            mark
            and len(name) > len(head) + len(tail)
            and name.startswith(head)
            and name.endswith(tail)
        ):
            return spec
    return None


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant, or '' where none is alike."""
    return next(iter(difflib.get_close_matches(name, names, 1, ALIKE)), '')


def nearest_parameter(name: str, table: Iterable[Spec]) -> str:
    """Return the parameter that was probably meant, for the same joint or constraint, or ''."""
    parts, known = name.split('.'), []
    for spec in table:
        local, mark = spec.name.split('.'), placeholder(spec.name)
        same = bool(mark) and len(local) == len(parts)
        known.append(spec.name.replace(mark, parts[local.index(mark)]) if same else spec.name)
    return nearest(name, known)


def markdown_table(table: Iterable[Spec]) -> str:
    """Return the parameters as a Markdown table for ``doc/nodes.md``."""
    rows = [
        '| parameter | type | default | unit | legal values | changeable | description |',
        '|---|---|---|---|---|---|---|',
    ]
    for spec in table:
        changeable = 'no' if spec.read_only else 'yes'
        rows.append(
            f'| `{spec.name}` | {spec.kind} | `{spec.shown_default}` '
            f'| {spec.unit or "-"} | {spec.constraints() or "any"} | {changeable} '
            f'| {spec.description} |'
        )
    return '\n'.join(rows)


def _shown(value: Value) -> str:
    """Return a default as it would be written in YAML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        inside = ', '.join(_shown(x) for x in value)
        return f'[{inside}]'
    return f"'{value}'" if isinstance(value, str) else str(value)
