# SPDX-License-Identifier: Apache-2.0
"""
Loops written in Python, as LLVM IR.

A routine is a Python function, or its text, of arrays, tables of integers and numbers. It may
hold assignments, ``for`` over ``range``, ``if``, ``return``, slices ``x[k:]`` as what begins at
entry k, calls of routines and kernels, ``empty(n)`` or ``zeros(n)`` as an array of its own; both
sides of ``and``, ``or`` are computed. Other names are numbers or tables of the robot, or of its
module. ``x[k:] = f(...)`` stores all lanes of a result; ``-> Lanes`` returns a vector.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np

from kane_dynamics.compiler.llvm.rows import SIZES
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.typing import Floats, NDArray

Array = Floats
Table = NDArray[np.int64]
Constants = Mapping[str, float | int | Sequence[int]]

_TYPES = {'Array': 'array', 'Table': 'table', 'int': 'i64', 'float': 'double', 'None': 'double'}
_FLAGS = 'reassoc nsz arcp contract'  # never `nnan` or `ninf`, as for straight-line code
_WHOLE = {ast.Add: 'add nsw', ast.Sub: 'sub nsw', ast.Mult: 'mul nsw', ast.FloorDiv: 'sdiv'}
_REAL = {ast.Add: 'fadd', ast.Sub: 'fsub', ast.Mult: 'fmul', ast.Div: 'fdiv'}
_COMPARED = {ast.Lt: 'lt', ast.LtE: 'le', ast.Gt: 'gt', ast.GtE: 'ge', ast.Eq: 'eq'}
_INTRINSICS = {'sqrt': 'sqrt', 'abs': 'fabs'}
PREFIX = '@rows_'  # of names of routines and tables
_MOST_ON_STACK = 2**15  # doubles; threads may have stacks of 512 kB
_SMALL = 2**9  # doubles; arrays that are always on the stack, or even in registers
Value = tuple[str, str]  # type and LLVM value
TABLE: Table = np.zeros(0, dtype=np.int64)  # stands for a table that is not known yet


def kernel(*arrays: Array) -> float:
    """Stand for a kernel of the robot in routines, which find it by the name it has there."""
    raise NotImplementedError


def empty(size: int) -> Array:
    """Return an array of a routine: of so many doubles, not set."""
    return np.empty(size)


def zeros(size: int) -> Array:
    """Return the same, all 0."""
    return np.zeros(size)


class Routine:
    """One routine on its way to LLVM IR."""

    def __init__(
        self,
        source: Callable[..., Any] | str,
        constants: Constants,
        names: Mapping[str, str],
        external: Collection[str] = (),
        prefix: str = PREFIX,
        element: str = 'double',
    ) -> None:
        text = source if isinstance(source, str) else inspect.getsource(source)
        tree: Any = ast.parse(textwrap.dedent(text)).body[0]
        self._tree, self._names = tree, names
        self._constants = getattr(source, '__globals__', {}) | dict(constants)
        self._block = Block(1)
        self._emit, self._lines = self._block.emit, self._block.lines
        self.declarations = self._block.declarations
        self._slots: dict[str, str] = {}
        self._arrays: list[int] = []
        self._labels = 0
        self._outside, self._prefix, self._element = external, prefix, element
        self._result = self._type(tree.returns)

    def _type(self, annotation: ast.expr | None) -> str:
        name = ast.unparse(annotation or ast.Constant(None))
        return Block(self._constants['LANES']).type if name == 'Lanes' else _TYPES[name]

    def text(self, name: str, linkage: str = 'internal ', attributes: str = '') -> str:
        """Return the LLVM IR of the routine under a name."""
        arguments = []
        for argument in self._tree.args.args:
            kind = self._type(argument.annotation)
            arguments.append(f'{_llvm(kind)} %{argument.arg}')
            self._set(argument.arg, (kind, f'%{argument.arg}'))
        self._body(self._tree.body)
        if not self._lines[-1].startswith('ret'):
            self._lines.append('ret double 0.0')
        # one entry each: text for older LLVM casts an address under a name made from its own
        allocations = [f'%{x}.slot = alloca [1 x {_llvm(k)}]' for x, k in self._slots.items()]
        lines, begin = self._lines, 0
        large = [size for size in self._arrays if size > _SMALL]
        if on_heap := sum(large) > _MOST_ON_STACK:
            self.declarations |= {'declare ptr @malloc(i64)', 'declare void @free(ptr)'}
            allocations += [  # aligned as arrays on the stack
                f'%heap = call ptr @malloc(i64 {8 * sum(large) + 63})',
                '%heap.begin = ptrtoint ptr %heap to i64',
                '%heap.back = sub i64 0, %heap.begin',
                '%heap.ahead = and i64 %heap.back, 63',
                '%work = getelementptr i8, ptr %heap, i64 %heap.ahead',
            ]
            free = ['call void @free(ptr %heap)']
            lines = [one for line in lines for one in [*free * line.startswith('ret '), line]]
        for k, size in enumerate(self._arrays):
            place = f'alloca [{size} x double], align 64'
            if on_heap and size > _SMALL:
                place, begin = f'getelementptr double, ptr %work, i64 {begin}', begin + size
            allocations.append(f'%array{k} = {place}')
        body = '\n  '.join([*allocations, *lines])
        head = f'define {linkage}{self._result} {name}({", ".join(arguments)}) {attributes}'
        return f'{head}{{\n  {body}\n}}\n'

    def _label(self) -> str:
        self._labels += 1
        return f'at{self._labels}'

    def _begin(self, label: str) -> None:
        self._lines += [f'br label %{label}', f'{label}:']

    def _set(self, name: str, value: Value) -> None:
        kind = self._slots.setdefault(name, value[0])
        local = self._as(kind, value)
        self._lines.append(f'store {_llvm(kind)} {local}, ptr {self._slot(name)}')

    def _slot(self, name: str) -> str:
        return self._emit(f'getelementptr {_llvm(self._slots[name])}, ptr %{name}.slot, i64 0')

    def _get(self, name: str) -> Value:
        kind = self._slots[name]
        return kind, self._emit(f'load {_llvm(kind)}, ptr {self._slot(name)}')

    def _as(self, kind: str, value: Value) -> str:
        if kind == 'double' and value[0] == 'i64':
            return self._emit(f'sitofp i64 {value[1]} to double')
        if value[0] == 'array' != kind:
            return self._emit(f'load {kind}, ptr {value[1]}, align 8')
        return value[1]

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            getattr(self, f'_{type(statement).__name__.lower()}')(statement)

    def _assign(self, node: ast.Assign) -> None:
        self._put(node.targets[0], self._value(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        self._put(node.target, self._value(ast.BinOp(node.target, node.op, node.value)))

    def _put(self, target: Any, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, value)
            return
        place, whole = self._place(target)[1], isinstance(target.slice, ast.Slice)
        kind = value[0] if whole else self._element
        text = f'store {kind} {self._as(kind, value)}, ptr {place}'
        self._lines.append(f'{text}, align {SIZES[self._element]}')

    def _expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._value(node.value)

    def _for(self, node: ast.For) -> None:
        inputs = [self._value(x)[1] for x in node.iter.args]  # type: ignore[attr-defined]
        first, last = inputs if len(inputs) == 2 else ('0', *inputs)
        name = node.target.id  # type: ignore[attr-defined]
        self._set(name, ('i64', first))
        check, inside, end = self._label(), self._label(), self._label()
        self._begin(check)
        more = self._emit(f'icmp slt i64 {self._get(name)[1]}, {last}')
        self._lines += [f'br i1 {more}, label %{inside}, label %{end}', f'{inside}:']
        self._body(node.body)
        self._set(name, ('i64', self._emit(f'add nsw i64 {self._get(name)[1]}, 1')))
        self._lines += [f'br label %{check}', f'{end}:']

    def _if(self, node: ast.If) -> None:
        inside, other, end = self._label(), self._label(), self._label()
        truth = self._value(node.test)[1]
        self._lines += [f'br i1 {truth}, label %{inside}, label %{other}', f'{inside}:']
        self._body(node.body)
        self._lines += [f'br label %{end}', f'{other}:']
        self._body(node.orelse)
        self._begin(end)

    def _return(self, node: ast.Return) -> None:
        value = self._as(self._result, self._value(node.value or ast.Constant(0.0)))
        self._lines.append(f'ret {self._result} {value}')
        if node is not self._tree.body[-1]:
            self._lines.append(f'{self._label()}:')

    def _value(self, node: Any) -> Value:
        results: Value = getattr(self, f'_{type(node).__name__.lower()}')(node)
        return results

    def _constant(self, node: ast.Constant) -> Value:
        return number(cast(float, node.value))

    def _name(self, node: ast.Name) -> Value:
        if node.id in self._slots:
            return self._get(node.id)
        constant = self._constants[node.id]
        if isinstance(constant, (int, float)):
            return number(constant)
        if not len(constant):
            return 'table', 'null'
        table = f'{self._prefix}{node.id}'
        return 'table', self._emit(f'getelementptr inbounds i64, ptr {table}, i64 0')

    def _place(self, node: ast.Subscript) -> Value:
        kind, base = self._value(node.value)
        lower = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
        lower = lower or ast.Constant(0)
        entry = 'i64' if kind == 'table' else self._element
        k = self._value(lower)[1]
        return kind, self._emit(f'getelementptr inbounds {entry}, ptr {base}, i64 {k}')

    def _subscript(self, node: ast.Subscript) -> Value:
        kind, place = self._place(node)
        if isinstance(node.slice, ast.Slice):
            return kind, place
        entry = 'i64' if kind == 'table' else self._element
        return entry, self._emit(f'load {entry}, ptr {place}, align {SIZES[entry]}')

    def _binop(self, node: ast.BinOp) -> Value:
        kind, *values = self._pair(node.left, node.right)
        operator: Any = type(node.op)
        how = f'{_REAL[operator]} {_FLAGS}' if kind == 'double' else _WHOLE[operator]
        return kind, self._emit(f'{how} {kind} {", ".join(values)}')

    def _pair(self, *nodes: ast.expr) -> tuple[str, str, str]:
        """Return the type of two values together, and each as one of it."""
        a, b = (self._value(node) for node in nodes)
        kind = 'i64' if a[0] == b[0] == 'i64' else 'double'
        return kind, self._as(kind, a), self._as(kind, b)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        kind, value = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return 'i1', self._emit(f'xor i1 {value}, true')
        return kind, self._emit(f'sub i64 0, {value}' if kind == 'i64' else f'fneg double {value}')

    def _compare(self, node: ast.Compare) -> Value:
        values = self._pair(node.left, node.comparators[0])
        return 'i1', self._compared(_COMPARED[type(node.ops[0])], *values)

    def _compared(self, how: str, kind: str, a: str, b: str) -> str:
        signed = 'icmp ' + ('' if how == 'eq' else 's')
        return self._emit(f'{signed if kind == "i64" else "fcmp o"}{how} {kind} {a}, {b}')

    def _boolop(self, node: ast.BoolOp) -> Value:
        how = 'and' if isinstance(node.op, ast.And) else 'or'
        truth = self._value(node.values[0])[1]
        for one in node.values[1:]:
            truth = self._emit(f'{how} i1 {truth}, {self._value(one)[1]}')
        return 'i1', truth

    def _call(self, node: ast.Call) -> Value:
        name = node.func.id  # type: ignore[attr-defined]
        if name in ('empty', 'zeros'):
            return self._array(node.args[0], name == 'zeros')
        if name in ('max', 'min'):
            kind, a, b = self._pair(*node.args)
            truth = self._compared('gt' if name == 'max' else 'lt', kind, a, b)
            return kind, self._emit(f'select i1 {truth}, {kind} {a}, {kind} {b}')
        inputs = [self._value(argument) for argument in node.args]
        if name == 'int':
            return 'i64', self._emit(f'fptosi double {inputs[0][1]} to i64')
        if name in _INTRINSICS:
            return 'double', self._block.intrinsic(_INTRINSICS[name], inputs[0][1])
        passed = ', '.join(f'{_llvm(kind)} {value}' for kind, value in inputs)
        *_, result, function = 'double', *self._names[name].rsplit(' ', 1)
        if name in self._outside:
            kinds = ', '.join(_llvm(kind) for kind, _ in inputs)
            self.declarations.add(f'declare double {function}({kinds})')
        return result, self._emit(f'call {result} {function}({passed})')

    def _array(self, node: ast.expr, is_zero: bool) -> Value:
        size = eval(ast.unparse(node), {}, self._constants)
        name = f'%array{len(self._arrays)}'
        self._arrays.append((size + 8) // 8 * 8)
        if is_zero:
            self.declarations.add('declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)')
            inputs = f'ptr {name}, i8 0, i64 {8 * size}, i1 false'
            self._lines.append(f'call void @llvm.memset.p0.i64({inputs})')
        return 'array', name


def _llvm(kind: str) -> str:
    return 'ptr' if kind in ('array', 'table') else kind


def number(value: float) -> Value:
    """Return the type of a number, and its literal."""
    return ('i64', str(value)) if isinstance(value, int) else ('double', Block(1).constant(value))
