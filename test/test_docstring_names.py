# SPDX-License-Identifier: Apache-2.0
"""What docstrings, comments and pages name is there: identifiers, modules, files."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / 'kane_dynamics').rglob('*.py'))
PAGES = [
    *ROOT.glob('*.md'),
    *(p for p in (ROOT / 'doc').rglob('*.md') if 'gallery' not in p.parts),
]
FOREIGN = {'concurrent', 'futures', 'threading', 'Lock', 'math', 'fsum'}  # of Python
FOREIGN |= {'nnan', 'ninf'}  # of LLVM
MADE = {'results/speed.json', 'results/cuda_rates.json', 'identified/parameters.yaml'}
OTHERS = ('a200/', 'r100/', 'a/', 'b/')  # files of robots; of a diff
CODE = re.compile(r'(?<![:`])`([A-Za-z_][\w.]*)`(?!`)')
FILE = re.compile(r'(?<![\w/<{])((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:py|md|yaml|json))\b')


def tree(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text())


def identifiers():
    """Return everything that the package gives a name, and the words of its short texts."""
    names = {part for path in SOURCES for part in (path.stem, *path.parts)}
    for path in (ROOT / 'kane_dynamics').rglob('*.yaml'):
        names |= set(re.findall(r'\w+', path.read_text()))
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            for field in ('name', 'id', 'attr', 'arg', 'asname'):
                if isinstance(name := getattr(node, field, None), str):
                    names |= set(name.split('.'))
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if len(node.value) < 60:  # a key, a message, no docstring
                    names |= set(re.findall(r'\w+', node.value))
    return names | FOREIGN


def texts(path):
    """Return docstrings and comments of a file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.value.value
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def test_names_in_docstrings_and_comments_are_there():
    known = identifiers()
    unknown = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in SOURCES
        for text in texts(path)
        for name in CODE.findall(text)
        if name != 'tables.pyi' and not known.issuperset(name.split('.'))
    }
    assert unknown == set()


@pytest.mark.parametrize('page', PAGES, ids=lambda path: path.name)
def test_files_that_a_page_names_are_there(page):
    named = set(FILE.findall(page.read_text())) - MADE
    folders = [ROOT, ROOT / 'doc', *{path.parent for path in SOURCES}]
    missing = {
        name
        for name in named
        if not name.startswith(OTHERS) and not any((place / name).exists() for place in folders)
    }
    assert missing == set()
