# SPDX-License-Identifier: Apache-2.0
"""C code of a library: templates (``@NAME@`` is a value), processors, declarations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from kane_dynamics.compiler.llvm.kernel_spec import Spec
from kane_dynamics.compiler.llvm.native import Processor, processor
from kane_dynamics.deployment.functions import FUNCTIONS
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


# a question mark may begin a trigraph
_ESCAPES = str.maketrans({'\\': r'\\', '"': r'\"', '\n': r'\n', '\r': r'\r', '?': r'\?'})


def c_string(text: str) -> str:
    """Return a text as it stands in C."""
    return f'"{text.translate(_ESCAPES)}"'


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

    def __str__(self) -> str:
        return f'{self.name} {self.shape} [{self.unit}]'


class Function(NamedTuple):
    """A function of the library and of its loader."""

    prefix: str
    name: str
    text: str
    inputs: list[Array]
    outputs: list[Array]

    @classmethod
    def of(cls, prefix: str, name: str, spec: Spec) -> Function:
        """Return the function of a kernel."""
        meaning = FUNCTIONS[name]
        sizes = zip(meaning.inputs, spec.input_sizes, strict=False)
        inputs = [Array(label, (size,), _INPUT_UNITS[label]) for label, size in sizes]
        made = zip(meaning.outputs, spec.output_shapes, meaning.units, strict=True)
        return cls(prefix, name, meaning.text, inputs, [Array(*one) for one in made])

    @property
    def declaration(self) -> str:
        """Return the prototype with its comment."""
        lines = [f'/* {self.text}.']
        for way, several in (('in ', self.inputs), ('out', self.outputs)):
            for x in several:
                shape = ' x '.join(map(str, x.shape)) or '1'
                lines.append(f' * {way}  {x.name}: {shape} [{x.unit}]')
        return '\n' + '\n'.join(lines) + f' */\n{self._prototype};\n'

    @property
    def _prototype(self) -> str:
        arguments = [
            *(f'const double *{x.name}' for x in self.inputs),
            'const double *parameters',
            *(f'double *{x.name}' for x in self.outputs),
        ]
        return f'int {self.prefix}_{self.name}({", ".join(arguments)})'

    @property
    def definition(self) -> str:
        """Return the function that calls the machine code."""
        kinds = ['const double *'] * (len(self.inputs) + 1) + ['double *'] * len(self.outputs)
        passed = [*(x.name for x in self.inputs), 'used', *(x.name for x in self.outputs)]
        lost = '\n'.join(f'  make_nan({x.name}, {x.size});' for x in self.outputs)
        kernel, upper = f'{self.prefix}_{self.name}_kernel', self.prefix.upper()
        return f"""
double {kernel}({', '.join(kinds)});

{self._prototype} {{
  const double *used = parameters ? parameters : default_parameters;
  if (used == default_parameters || all_finite(used, {upper}_PARAMETERS)) {{
    const double health = {kernel}({', '.join(passed)});
    if (health >= SURE) return {upper}_OK;
  }}
{lost}
  return {upper}_NO_ANSWER;
}}
"""

    @property
    def entry(self) -> str:
        """Return the line of the table of functions in C."""
        counts = f'{len(self.inputs)}, {len(self.outputs)}'
        call = f'(void (*)(void)){self.prefix}_{self.name}'
        return f'    {{{c_string(self.name)}, {counts}, {call}}},'

    @property
    def method(self) -> str:
        """Return the method of the loader."""
        arguments = ', '.join(x.name for x in self.inputs)
        several = len(self.outputs) > 1
        item = '' if several else f"['{self.outputs[0].name}']"
        return f'''
    def {self.name}(self, {arguments}):
        """
        Return {self.text}.

        In: {', '.join(map(str, self.inputs))}.
        Out: {'a dict of ' if several else ''}{', '.join(map(str, self.outputs))}.
        """
        return self.call('{self.name}', {arguments}){item}
'''

    @property
    def line(self) -> str:
        """Return the line of the loader's table."""
        arguments = tuple((x.name, x.size) for x in self.inputs)
        results = tuple((x.name, x.shape) for x in self.outputs)
        return f'    {self.name!r}: ({arguments!r}, {results!r}),'
