# SPDX-License-Identifier: Apache-2.0
"""
The text of a module as LLVM 14 and 15 read it (llvmlite 0.41 to 0.44, Ubuntu 24.04's among them).

Pointers have types there: here each is an ``i8*`` that is cast where it is used. Some functions
have no instruction: the C library gives them, one lane after the other.
"""

import re

_NAME, _KIND, _STEP = r'%[\w.]+', r'<[^>]+>|\S+', r'getelementptr (?:inbounds )?'
_AT, _ALIGNED = rf'ptr (?P<place>{_NAME})', r'(?P<aligned>, align \d+)?'
_TABLE = re.compile(
    r'^(@[\w.]+) = internal (?:constant|externally_initialized global) (\[[^]]+\])', re.MULTILINE
)
_IN_TABLE = re.compile(rf'({_NAME}) = {_STEP}(\S+), ptr (@[\w.]+), ')
_MEMORY = re.compile(r'@llvm\.mem(?:set\.p0|cpy\.p0\.p0)\.i64')
_POINTER = re.compile(r'\bptr\b')
# an instruction, and what it is with casts
_TYPED = {
    rf'(?P<name>{_NAME}) = load (?P<kind>.+), {_AT}{_ALIGNED}': (
        '{name}.cast = bitcast i8* {place} to {kind}*',
        '{name} = load {kind}, {kind}* {name}.cast{aligned}',
    ),
    rf'store (?P<kind>{_KIND}) (?P<value>{_KIND}), {_AT}{_ALIGNED}': (
        '{place}.cast = bitcast i8* {place} to {kind}*',
        'store {kind} {value}, {kind}* {place}.cast{aligned}',
    ),
    rf'(?P<name>{_NAME}) = {_STEP}(?P<kind>\S+), {_AT}, (?P<index>.+)': (
        '{name}.old = bitcast i8* {place} to {kind}*',
        '{name}.new = getelementptr {kind}, {kind}* {name}.old, {index}',
        '{name} = bitcast {kind}* {name}.new to i8*',
    ),
    rf'(?P<name>{_NAME}) = alloca (?P<kind>\[[^]]+\])(?P<aligned>.*)': (
        '{name}.own = alloca {kind}{aligned}',
        '{name} = bitcast {kind}* {name}.own to i8*',
    ),
}
_CALL = re.compile(rf'({_NAME} = )?call (\S+) ({_NAME})\((.*)\)')
_DECLARED = re.compile(r'declare (.+) (@kd\.(\w+)\.[\w.]+)\((.*)\)')
# number of arguments
_OF_ONE = 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh'
_IN_THE_C_LIBRARY = {**dict.fromkeys(_OF_ONE, 1), 'atan2': 2}
_PREDICATES = {'minimum': 'olt', 'maximum': 'ogt'}
_NEW = re.compile(rf'@llvm\.({"|".join([*_IN_THE_C_LIBRARY, *_PREDICATES])})\.')


def for_older_llvm(ir: str) -> str:
    """Return the same module without what LLVM 14 does not know."""
    text = _NEW.sub(r'@kd.\1.', ir)  # what is called llvm may not be defined
    text = _MEMORY.sub(lambda results: results[0].replace('p0', 'p0i8'), text)
    tables = dict(_TABLE.findall(text))
    text = _IN_TABLE.sub(
        lambda results: (
            f'{results[1]}.table = bitcast {tables[results[3]]}* {results[3]} to i8*\n'
            f'{results[1]} = getelementptr {results[2]}, ptr {results[1]}.table, '
        ),
        text,
    )
    lines = [line for old in text.splitlines() for line in _without_new_functions(old)]
    declared = [
        f'declare double @{name}({", ".join(["double"] * count)})'
        for name, count in _IN_THE_C_LIBRARY.items()
        if f'@llvm.{name}.' in ir
    ]
    return '\n'.join([*declared, *(typed for line in lines for typed in _typed(line))])


def _without_new_functions(line: str) -> list[str]:
    """Return a line, or the definition of the function that it declares."""
    declared = _DECLARED.fullmatch(line)
    if not declared:
        return [line]
    kind, name, function, arguments = declared.groups()
    count = len(arguments.split(', '))
    passed = ', '.join(f'{kind} %a{k}' for k in range(count))
    start = f'define internal {kind} {name}({passed}) {{'
    if function in _PREDICATES:
        body = _ordered(kind, _PREDICATES[function])
    else:
        body = _by_lanes(kind, function, count)
    return [start, *body, '}']


def _ordered(kind: str, predicate: str) -> list[str]:
    """Return the smaller or the larger of two values, NaN if one is NaN."""
    truth = re.sub('double|float', 'i1', kind)
    return [
        f'%first = fcmp {predicate} {kind} %a0, %a1',
        f'%chosen = select {truth} %first, {kind} %a0, {kind} %a1',
        f'%nan = fcmp uno {kind} %a0, %a1',
        f'%sum = fadd {kind} %a0, %a1',
        f'%value = select {truth} %nan, {kind} %sum, {kind} %chosen',
        f'ret {kind} %value',
    ]


def _by_lanes(kind: str, function: str, count: int) -> list[str]:
    """Return calls of a function of the C library, one for each lane."""
    if kind == 'double':
        passed = ', '.join(f'double %a{k}' for k in range(count))
        return [f'%value = call double @{function}({passed})', f'ret {kind} %value']
    lines, value = [], 'undef'
    for lane in range(int(kind.split()[0][1:])):
        for k in range(count):
            lines.append(f'%x{k}.{lane} = extractelement {kind} %a{k}, i32 {lane}')
        passed = ', '.join(f'double %x{k}.{lane}' for k in range(count))
        lines.append(f'%y{lane} = call double @{function}({passed})')
        lines.append(f'%v{lane} = insertelement {kind} {value}, double %y{lane}, i32 {lane}')
        value = f'%v{lane}'
    return [*lines, f'ret {kind} {value}']


def _typed(line: str) -> list[str]:
    """Return a line with its casts."""
    text = line.strip()
    for pattern, lines in _TYPED.items():
        if results := re.fullmatch(pattern, text):
            groups = {name: _old(x or '') for name, x in results.groupdict().items()}
            return [one.format(**groups) for one in lines]
    if results := _CALL.fullmatch(text):
        result, kind, function, passed = (_old(x or '') for x in results.groups())
        kinds = ', '.join(argument.rsplit(' ', 1)[0] for argument in passed.split(', '))
        cast = f'{(result or function).split(" ")[0]}.function'
        return [
            f'{cast} = bitcast i8* {function} to {kind} ({kinds})*',
            f'{result}call {kind} {cast}({passed})',
        ]
    return [_old(line)]


def _old(text: str) -> str:
    return _POINTER.sub('i8*', text)
