# SPDX-License-Identifier: Apache-2.0
"""
Frozen dataclasses of the parameters of each node, made from the YAML files beside this one.

``governor.yaml`` becomes `GovernorParameters`, a subclass of those of the files that it includes;
its field ``timeout_odom`` is the parameter ``timeout.odom``. The files have the format of
generate_parameter_library, beside `description`, `include` and `defaults` (other ones of what is
included): the validations are ``bounds<>``, ``element_bounds<>``, ``fixed_size<>`` and
``one_of<>``, and ``__map_joints`` stands for the names of joints. `tables.pyi`, written by
``doc/update_nodes.py``, has the types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, make_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import yaml

from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters.spec import Spec, plain

_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_FILES = {
    ''.join(word.capitalize() for word in file.stem.split('_')) + 'Parameters': file.stem
    for file in sorted(Path(__file__).parent.glob('*.yaml'))
}


@dataclass(frozen=True)
class Parameters:
    """Values of parameters, by field; `specs` are all of them, also those with a `Spec.mark`."""

    included: ClassVar[tuple[type[Parameters], ...]]
    local: ClassVar[tuple[Spec, ...]]
    specs: ClassVar[tuple[Spec, ...]]


@cache
def table(file: str) -> type[Parameters]:
    """Return the class of a YAML file, by its name without suffix."""
    data = yaml.load(Path(__file__).with_name(f'{file}.yaml').read_bytes(), _LOADER)
    included = tuple(table(name) for name in data.get('include', ()))
    specs = {spec.name: spec for each in included for spec in each.specs}
    changed = [replace(specs[name], default=x) for name, x in data.get('defaults', {}).items()]
    local = (*_specs(data.get(file, {})), *changed)
    specs |= {spec.name: spec for spec in local}
    # all are of one constraint
    each = local[0].mark if local and all(spec.mark for spec in local) else ''
    return make_dataclass(
        next(name for name, stem in _FILES.items() if stem == file),
        [(spec.field, object, plain(spec.default)) for spec in local if spec.mark == each],
        bases=tuple(base for base in included if not all(x.mark for x in base.specs))
        or (Parameters,),
        frozen=True,
        namespace={
            '__doc__': data['description'],
            '__module__': __name__,
            'included': included,
            'local': local,
            'specs': tuple(specs.values()),
        },
    )


@cache
def all_specs() -> tuple[Spec, ...]:
    """Return the parameters of all nodes."""
    tables = [table(node.parameters) for node in NODES.values()]
    return tuple({spec.name: spec for each in tables for spec in each.specs}.values())


def __getattr__(name: str) -> type[Parameters]:
    """Return the class of a file when it is asked for: reading all files takes a while."""
    if name not in _FILES:
        raise AttributeError(name)
    return table(_FILES[name])


def _specs(tree: dict[str, Any], prefix: str = '') -> Iterator[Spec]:
    """Yield the parameters of a mapping; a leaf is what names its type."""
    for key, value in tree.items():
        part = f'<{key[6:-1]}>' if key.startswith('__map_') else key  # of joints: <joint>
        if isinstance(value.get('type'), str):
            yield _spec(prefix + part, **value)
        else:
            yield from _specs(value, f'{prefix}{part}.')


def _spec(
    name: str,
    *,
    type: str,
    default_value: Any,
    description: str,
    read_only: bool = False,
    validation: dict[str, Any] | None = None,
) -> Spec:
    """Return one parameter; an unknown key or validation is an error."""
    default = tuple(default_value) if type.endswith('_array') else default_value
    rules = {'bounds': None, 'choices': (), 'size': 0}
    for rule, values in (validation or {}).items():
        if rule == 'one_of<>':
            rules['choices'] = tuple(values[0])
        elif rule == 'fixed_size<>':
            rules['size'] = values[0]
        elif rule == ('element_bounds<>' if type.endswith('_array') else 'bounds<>'):
            rules['bounds'] = tuple(values)
        else:
            raise ValueError(f"parameter '{name}': no validation '{rule}' of {type}")
    return Spec(name, type, default, description, read_only, **rules)
