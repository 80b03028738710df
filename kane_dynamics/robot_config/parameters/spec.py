# SPDX-License-Identifier: Apache-2.0
"""One parameter as ROS sees it: what is legal, and which name was meant. Nothing needs rclpy."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

ALIKE = 0.8
"""Likeness (difflib) from which a name counts as another one with a typing error."""
_INTEGERS = 2**63
"""Where the integers of a parameter end."""
_TYPES: dict[str, type] = {'bool': bool, 'int': int, 'double': float, 'string': str}


@dataclass(frozen=True)
class Spec:
    """One parameter as ROS sees it."""

    name: str  # Full ROS name
    kind: str  # ROS type, as ``double`` or ``string_array``
    default: Any  # Value without an override
    description: str
    read_only: bool = False
    bounds: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()  # Legal values; none where all are
    size: int = 0  # Count of numbers in an array; 0 where any is legal

    @property
    def mark(self) -> str:
        """Return what stands for another name in this one, ``<joint>`` for instance, or ''."""
        return next((part for part in self.name.split('.') if part.startswith('<')), '')

    @property
    def field(self) -> str:
        """Return the name in a parameter table: ``timeout_odom`` of ``timeout.odom``."""
        return self.name.rpartition('>.')[2].replace('.', '_')

    def each(self, name: str) -> str | None:
        """Return what stands for the mark in a full name; None: it is not of this parameter."""
        if not self.mark:
            return '' if name == self.name else None
        head, _, tail = self.name.partition(self.mark)
        inside = name.removeprefix(head).removesuffix(tail)
        return inside if inside and name == head + inside + tail else None

    def name_of(self, each: str) -> str:
        """Return the full name for one joint, link or constraint."""
        return self.name.replace(self.mark, each)

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

    def typed(self, value: Any) -> Any:
        """Return a value of a file in the type of this parameter, or None where it has another."""
        if self.kind.endswith('_array'):
            one = replace(self, kind=self.kind.removesuffix('_array'))
            items = value if isinstance(value, (list, tuple)) else (None,)
            typed = tuple(one.typed(item) for item in items)
            return None if None in typed else plain(typed)
        if self.kind == 'double' and type(value) is int:
            return float(value) if abs(value) < _INTEGERS else None
        return value if type(value) is _TYPES[self.kind] else None

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


def plain(value: Any) -> Any:
    """Return a hashable value: arrays as tuples, the placeholder ``['']`` as ``()``."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return tuple(x for x in value if x != '')


def matching_spec(name: str, table: Iterable[Spec]) -> Spec | None:
    """Return the entry of a table that a full parameter name belongs to, or None."""
    return next((spec for spec in table if spec.each(name) is not None), None)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant, or '' where none is alike."""
    return next(iter(difflib.get_close_matches(name, names, 1, ALIKE)), '')


def nearest_parameter(name: str, table: Iterable[Spec]) -> str:
    """Return the parameter that was probably meant, for the same joint or constraint, or ''."""
    parts, known = name.split('.'), []
    for spec in table:
        local = spec.name.split('.')
        same = bool(spec.mark) and len(local) == len(parts)
        known.append(spec.name_of(parts[local.index(spec.mark)]) if same else spec.name)
    return nearest(name, known)


def _shown(value: Any) -> str:
    """Return a default as it would be written in YAML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        inside = ', '.join(_shown(x) for x in value)
        return f'[{inside}]'
    return f"'{value}'" if isinstance(value, str) else str(value)
