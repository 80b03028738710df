# SPDX-License-Identifier: Apache-2.0
"""Each function of a library as C and as a method of the loader."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from kane_dynamics.deployment.functions import FUNCTIONS, Spec

_INPUT_UNITS = {
    'q': 'rad, m or -',
    'v': 'rad/s or m/s',
    'a': 'rad/s^2 or m/s^2',
    'tau': 'N m or N',
    'time': 's',
    'gravity': 'm/s^2',
    'payloads': 'kg, m, kg m^2',
}


class Array(NamedTuple):
    """An argument of a function."""

    name: str
    shape: tuple[int, ...]
    unit: str

    @property
    def size(self) -> int:
        """Return the number of entries."""
        return math.prod(self.shape)


def arrays(name: str, spec: Spec) -> tuple[list[Array], list[Array]]:
    """Return inputs and outputs of a function; those without entries are left out of outputs."""
    meaning = FUNCTIONS[name]
    inputs = [
        Array(label, (size,), _INPUT_UNITS[label])
        for label, size in zip(meaning.inputs, spec.input_sizes, strict=False)
    ]
    made = zip(meaning.outputs, spec.output_shapes, meaning.units, strict=True)
    return inputs, [Array(*one) for one in made]


def declaration(prefix: str, name: str, spec: Spec) -> str:
    """Return the prototype with its comment."""
    inputs, outputs = arrays(name, spec)
    lines = [f'/* {FUNCTIONS[name].text}.']
    for way, several in (('in ', inputs), ('out', outputs)):
        lines += [f' * {way}  {x.name}: {_shape(x)} [{x.unit}]' for x in several]
    return '\n' + '\n'.join(lines) + f' */\n{_prototype(prefix, name, inputs, outputs)};\n'


def definition(prefix: str, name: str, spec: Spec) -> str:
    """Return the function that calls the machine code."""
    inputs, outputs = arrays(name, spec)
    kinds = ['const double *'] * (len(inputs) + 1) + ['double *'] * len(outputs)
    passed = [*(x.name for x in inputs), 'used', *(x.name for x in outputs)]
    upper = prefix.upper()
    lines = [
        f'double {prefix}_{name}_kernel({", ".join(kinds)});',
        '',
        f'{_prototype(prefix, name, inputs, outputs)} {{',
        '  const double *used = parameters ? parameters : default_parameters;',
        f'  if (used == default_parameters || all_finite(used, {upper}_PARAMETERS)) {{',
        f'    const double health = {prefix}_{name}_kernel({", ".join(passed)});',
        f'    if (health >= SURE) return {upper}_OK;',
        '  }',
        *[f'  make_nan({x.name}, {x.size});' for x in outputs],
        f'  return {upper}_NO_ANSWER;',
        '}',
    ]
    return '\n' + '\n'.join(lines) + '\n'


def method(name: str, spec: Spec) -> str:
    """Return the method of the loader."""
    inputs, outputs = arrays(name, spec)
    independent_indices = ', '.join(x.name for x in inputs)
    several = len(outputs) > 1
    made = ', '.join(f'{x.name} {x.shape} [{x.unit}]' for x in outputs)
    values = ', '.join(f'{x.name} {x.shape} [{x.unit}]' for x in inputs)
    body = f"self.call('{name}', {independent_indices})" + (
        '' if several else f"['{outputs[0].name}']"
    )
    return '\n'.join(
        [
            '',
            f'    def {name}(self, {independent_indices}):',
            '        """',
            f'        Return {FUNCTIONS[name].text}.',
            '',
            f'        In: {values}.',
            f'        Out: {"a dict of " if several else ""}{made}.',
            '        """',
            f'        return {body}',
            '',
        ]
    )


def table(specs: Mapping[str, Spec]) -> str:
    """Return the loader's table of functions."""
    lines = []
    for name, spec in specs.items():
        inputs, outputs = arrays(name, spec)
        independent_indices = tuple((x.name, x.size) for x in inputs)
        lines.append(
            f'    {name!r}: ({independent_indices!r}, '
            f'{tuple((x.name, x.shape) for x in outputs)!r}),'
        )
    return '\n'.join(['{', *lines, '}'])


def _prototype(prefix: str, name: str, inputs: list[Array], outputs: list[Array]) -> str:
    arguments = [
        *(f'const double *{x.name}' for x in inputs),
        'const double *parameters',
        *(f'double *{x.name}' for x in outputs),
    ]
    return f'int {prefix}_{name}({", ".join(arguments)})'


def _shape(array: Array) -> str:
    return ' x '.join(map(str, array.shape)) or '1'
