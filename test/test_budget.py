# SPDX-License-Identifier: Apache-2.0
"""
The size of the package: what doc/architecture.md allows, which may only fall.

Write the numbers of today into that page: `python test/test_budget.py`.
"""

import ast
import functools
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'kane_dynamics'
ARCHITECTURE = ROOT / 'doc' / 'architecture.md'
PAGE = ARCHITECTURE.read_text(encoding='utf-8')
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}
DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(node):
    """Return the lines of the docstrings in a syntax tree."""
    lines = set()
    for one in ast.walk(node):
        if isinstance(one, DEFINITIONS) and ast.get_docstring(one, clean=False) is not None:
            lines |= set(range(one.body[0].lineno, one.body[0].end_lineno + 1))
    return lines


def code_lines(path):
    """Return the number of lines that are not blank, no comment and no docstring."""
    text = path.read_text(encoding='utf-8')
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - docstring_lines(ast.parse(text)))


def room(path):
    """Return the folder of the package that holds a file, or the file itself."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0]


@functools.cache
def sizes():
    """Return the lines of code of each room."""
    counted = Counter()
    for path in PACKAGE.rglob('*.py'):
        counted[room(path)] += code_lines(path)
    return counted


def allowed():
    """Return the lines of code that the page allows each room."""
    rows = re.findall(r'^\| `([\w.]+)` \| ([\d,]+) \|', PAGE, re.MULTILINE)
    return {name: int(number.replace(',', '')) for name, number in rows}


def test_no_room_is_larger_than_its_budget():
    budget = allowed()
    larger = {name: size for name, size in sizes().items() if size > budget.get(name, 0)}
    assert larger == {}, 'make it smaller; a new capability gets a line of its own'


def test_a_budget_has_no_room_to_grow_back():
    """Budgets fall with the code: no more than 1 % and ten lines above it."""
    counted = sizes()
    loose = {name: size for name, size in allowed().items() if size > 1.01 * counted[name] + 10}
    assert loose == {}, 'write the lines of today into doc/architecture.md'


def functions():
    """Yield file, name and lines without docstrings of each function."""
    for path in sorted(PACKAGE.rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1 - len(docstring_lines(node))
                yield f'{path.relative_to(PACKAGE)}:{node.name}', lines


def most(word):
    """Return a number of the page: '- at most 30 files in a folder' for 'files in a folder'."""
    return int(re.search(rf'^- at most (\d+) {word}', PAGE, re.MULTILINE)[1])


def test_no_folder_has_too_many_files():
    folders = Counter(path.parent for path in PACKAGE.rglob('*.py'))
    most_files = most('files in a folder')
    assert {str(f.relative_to(PACKAGE)): n for f, n in folders.items() if n > most_files} == {}


def long_files():
    """Return the files of more than 300 lines."""
    texts = {p: p.read_text(encoding='utf-8').count('\n') for p in PACKAGE.rglob('*.py')}
    return [str(p.relative_to(PACKAGE)) for p, lines in sorted(texts.items()) if lines > 300]


def long_functions():
    """Return the functions of more than 60 lines."""
    return [name for name, lines in functions() if lines > 60]


LONG = {'files above 300 lines': long_files, 'functions above 60 lines': long_functions}


@pytest.mark.parametrize('word', LONG)
def test_long_files_and_functions_get_fewer(word):
    long = LONG[word]()
    assert len(long) <= most(word), long


def page_of_today():
    """Return the page with smaller numbers where the package is smaller."""
    counted, text = sizes(), PAGE
    for name, size in allowed().items():
        row = rf'^(\| `{re.escape(name)}` \| )[\d,]+( \|)'
        text = re.sub(row, rf'\g<1>{min(size, counted[name]):,}\2', text, flags=re.MULTILINE)
    folders = Counter(path.parent for path in PACKAGE.rglob('*.py'))
    today = {'files in a folder': max(folders.values())}
    today |= {word: len(long()) for word, long in LONG.items()}
    for word, count in today.items():
        text = text.replace(
            f'at most {most(word)} {word}', f'at most {min(count, most(word))} {word}'
        )
    return text


if __name__ == '__main__':
    ARCHITECTURE.write_text(page_of_today(), encoding='utf-8')
