# SPDX-License-Identifier: Apache-2.0
"""C code of a library: templates (``@NAME@`` is a value), processors, declarations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from kane_dynamics.compiler.llvm.native import Processor, processor
from kane_dynamics.deployment.functions import FUNCTIONS, Spec
from kane_dynamics.exceptions import InvalidInputError

_TEMPLATES = Path(__file__).parent / 'templates'
_PLACEHOLDER = re.compile(r'@([A-Z][A-Z0-9_]*)@')


def filled(template: str, values: Mapping[str, object]) -> str:
    """Return a template of this package with its values."""
    text = (_TEMPLATES / f'{template}.in').read_text(encoding='utf-8')
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)


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


# of the processors of PCs, by the psABI of x86-64; each level has those before it
_LEVELS = {
    'x86-64-v2': ('sse4.1', 'sse4.2'),
    'x86-64-v3': ('avx', 'avx2', 'bmi', 'bmi2', 'fma'),
    'x86-64-v4': ('avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'),
}
CPUS = ('native', 'generic', *_LEVELS)


def target_of(cpu: str) -> Processor:
    """Return what LLVM makes code for."""
    host = processor()
    if cpu == 'native':
        return host
    if cpu == 'generic':
        return Processor(host.triple, 'generic', '')
    if cpu not in CPUS or not host.triple.startswith('x86_64'):
        raise InvalidInputError(
            f'cpu: need one of {", ".join(CPUS)} on {host.triple}, got {cpu!r}'
        )
    return Processor(host.triple, cpu, '')


def supported(cpu: str) -> str:
    """Return a condition in C, for GCC and Clang: this processor runs the code."""
    host = processor()
    if cpu == 'generic' or not host.triple.startswith('x86_64'):
        return '1'  # other than x86-64: code is for the architecture's baseline or this very chip
    known = [name for names in _LEVELS.values() for name in names]
    if cpu == 'native':
        present = set(host.features.split(','))
        needed = [name for name in known if f'+{name}' in present]
    else:
        levels = list(_LEVELS)
        needed = [name for level in levels[: levels.index(cpu) + 1] for name in _LEVELS[level]]
    return ' && '.join(f'__builtin_cpu_supports("{name}")' for name in needed) or '1'


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
    arguments = ', '.join(x.name for x in inputs)
    several = len(outputs) > 1
    made = ', '.join(f'{x.name} {x.shape} [{x.unit}]' for x in outputs)
    described = ', '.join(f'{x.name} {x.shape} [{x.unit}]' for x in inputs)
    body = f"self.call('{name}', {arguments})" + ('' if several else f"['{outputs[0].name}']")
    return '\n'.join(
        [
            '',
            f'    def {name}(self, {arguments}):',
            '        """',
            f'        Return {FUNCTIONS[name].text}.',
            '',
            f'        In: {described}.',
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
        arguments = tuple((x.name, x.size) for x in inputs)
        lines.append(
            f'    {name!r}: ({arguments!r}, {tuple((x.name, x.shape) for x in outputs)!r}),'
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
