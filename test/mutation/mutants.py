# SPDX-License-Identifier: Apache-2.0
"""
Wrong formulas, derived from the syntax tree of a file.

Each mutant has one sign flipped (``a + b``, ``a - b``, ``-a``, ``x += a``, ``x -= a``), the
arguments of one cross product swapped, one product of poses or rotations turned round, one map
between frames inverted, or one component of a coordinate or speed replaced by its neighbour.
Messages, annotations and literal lists are left alone.
"""

import ast
import copy
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / 'kane_dynamics'
_FLIPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add}
_CROSSED = {'cross', 'dual_cross', 'product'}
_INVERTED = {
    'adjoint': 'adjoint_inverse',
    'adjoint_inverse': 'adjoint',
    'to_child': 'to_parent',
    'to_parent': 'to_child',
}
_VECTORS = {'q', 'v', 'a', 'x'}
_IN_ORDER = ('pose', 'placement', 'rotation', 'make_quaternion', 'normalised')
_LISTS = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)
_LEFT_ALONE = {'annotation', 'returns', 'decorator_list'}


class Mutant(NamedTuple):
    """A file of the package, a name for what is wrong in it, the tree, and what to replace."""

    file: str
    name: str
    tree: ast.Module
    index: int
    wrong: ast.AST


@cache
def mutants(file):
    """Return every mutant of a file of the package; equal names are counted."""
    tree = ast.parse((PACKAGE / file).read_text(encoding='utf-8'))
    for index, node in enumerate(ast.walk(tree)):
        node.index = index
    seen, found = {}, []
    for function, node in _formulas(tree):
        for wrong in _wrong(node):
            name = f'{file} {function}: {ast.unparse(node)} -> {ast.unparse(wrong)}'
            seen[name] = seen.get(name, 0) + 1
            number = f' ({seen[name]})' if seen[name] > 1 else ''
            found.append(Mutant(file, name + number, tree, node.index, wrong))
    return found


def mutated(mutant):
    """Return the syntax tree of a mutant."""

    class Replace(ast.NodeTransformer):
        def visit(self, node):
            # operators and contexts are objects that all trees share, and so is their index
            own = isinstance(node, (ast.expr, ast.stmt))
            return mutant.wrong if own and node.index == mutant.index else super().visit(node)

    return ast.fix_missing_locations(Replace().visit(copy.deepcopy(mutant.tree)))


def _formulas(node, function='module'):
    """Yield the nodes in which something may be wrong, each with the function around it."""
    if isinstance(node, (ast.Raise, ast.JoinedStr)):
        return
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        function = node.name if function == 'module' else f'{function}.{node.name}'
    yield function, node
    for field, child in ast.iter_fields(node):
        if field not in _LEFT_ALONE:
            for part in child if isinstance(child, list) else [child]:
                if isinstance(part, ast.AST):
                    yield from _formulas(part, function)


def _wrong(node):
    """Return what may wrongly stand in place of a node."""
    flipped = _FLIPPED.get(type(getattr(node, 'op', None)))
    if isinstance(node, ast.BinOp) and flipped:
        return [] if _literal(node.left) or _literal(node.right) else [_with(node, op=flipped())]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        ordered = any(
            word in _label(s).lower() for s in (node.left, node.right) for word in _IN_ORDER
        )
        return [_with(node, left=node.right, right=node.left)] if ordered else []
    if isinstance(node, ast.AugAssign) and flipped:
        return [] if _literal(node.value) else [_with(node, op=flipped())]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [node.operand]
    if isinstance(node, ast.Call):
        return _wrong_call(node)
    return _neighbour(node) if isinstance(node, ast.Subscript) else []


def _wrong_call(node):
    name = _label(node)
    if name in _CROSSED and len(node.args) == 2:
        return [_with(node, args=node.args[::-1])]
    if name in _INVERTED and isinstance(node.func, ast.Attribute):
        return [_with(node, func=_with(node.func, attr=_INVERTED[name]))]
    return []


def _neighbour(node):
    """Return x[1] for x[0], and x[k - 1] for any other component of a coordinate or speed."""
    index = getattr(node.slice, 'value', None)
    if getattr(node.value, 'id', None) not in _VECTORS or type(index) is not int:
        return []
    return [_with(node, slice=ast.Constant(index - 1 if index else 1))]


def _label(node):
    """Return the last name in a value: of the function that is called, of the attribute."""
    node = getattr(node, 'func', node)
    return getattr(node, 'attr', getattr(node, 'id', ''))


def _literal(node):
    """Return whether a node is a list or a text, which are joined, not added."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, _LISTS)


def _with(node, **changes):
    """Return a copy of a node with other fields; its parts are shared."""
    made = copy.copy(node)
    for field, value in changes.items():
        setattr(made, field, value)
    return made
