# SPDX-License-Identifier: Apache-2.0
"""What the pages on the papers name exists: modules, functions, tests, files, links."""

import ast
import importlib
import re

import pytest
from support.checklist import ROOT

import kane_dynamics as kd

ERRATA = ROOT / 'doc' / 'errata.md'
PAGES = sorted((ROOT / 'doc' / 'papers').glob('*.md'))
FOLDERS = 'algebra|algorithms|constraints|formulations|kernels|model|simulation|symbolic|studies'


def entries():
    """Return number and cells of every row of the errata."""
    rows = re.findall(r'^\| (E\d+) \| (.*) \|$', ERRATA.read_text(encoding='utf-8'), re.MULTILINE)
    return {number: [cell.strip() for cell in cells.split(' | ')] for number, cells in rows}


def quoted(text):
    """Return what stands between backquotes."""
    return re.findall(r'`([^`\n]+)`', text)


def exists(test):
    """Return whether 'test/folder/file.py::name' is a test of the repository."""
    file, *names = test.split('::')
    if not (ROOT / file).is_file():
        return False
    node = ast.parse((ROOT / file).read_text())
    for name in names:
        parts = (part for part in node.body if getattr(part, 'name', '') == name)
        if (node := next(parts, None)) is None:
            return False
    return True


def resolve(name):
    """Return the object of a dotted name; AttributeError where there is none."""
    parts = name.split('.')
    above = [] if parts[0] == 'studies' else ['kane_dynamics']
    found, used = importlib.import_module('.'.join(above or parts[:1])), 0
    for used in range(1, len(parts) + 1):
        try:
            found = importlib.import_module('.'.join([*above, *parts[:used]]))
        except ModuleNotFoundError:
            break
    else:
        return found
    for part in parts[used - 1 :]:
        found = getattr(found, part)
    return found


def test_the_errata_are_numbered_from_1_to_32():
    numbers = [int(number[1:]) for number in entries()]
    assert sorted(numbers) == list(range(1, 33))


@pytest.mark.parametrize('number', [f'E{k}' for k in range(1, 33)])
def test_every_erratum_names_a_test_or_says_wording(number):
    where, printed, correct, shown_by = entries()[number]
    assert where and printed and correct
    if shown_by != 'wording':
        (test,) = quoted(shown_by)
        assert exists(test)


def test_formulas_are_not_called_wording():
    wording = {number for number, cells in entries().items() if cells[-1] == 'wording'}
    assert wording == {'E5', 'E6', 'E7', 'E11', 'E19', 'E26'}


def test_there_is_a_page_for_each_paper():
    names = {'README', 'silva', 'parsa', 'roithmayr', 'gillespie', 'bajodah_chen'}
    assert {page.stem for page in PAGES} == names
    index = (ROOT / 'doc' / 'papers' / 'README.md').read_text(encoding='utf-8')
    assert all(f'({name}.md)' in index for name in names - {'README'})


@pytest.mark.parametrize('page', [*PAGES, ERRATA], ids=lambda page: page.stem)
class TestPage:
    """Each page."""

    def test_modules_and_functions_exist(self, page):
        names = [n for n in quoted(page.read_text()) if re.match(rf'({FOLDERS})\.[\w.]+$', n)]
        assert names or page.stem == 'errata'
        for name in names:
            assert resolve(name) is not None, name

    def test_public_names_exist(self, page):
        for name in re.findall(r'`kd\.(\w+)', page.read_text()):
            assert hasattr(kd, name), name

    def test_tests_and_files_exist(self, page):
        for name in quoted(page.read_text()):
            if '::' in name:
                assert exists(name), name
            elif re.match(r'(test|examples|studies|kane_dynamics|doc)/', name):
                assert (ROOT / name).exists(), name

    def test_links_lead_somewhere(self, page):
        for link in re.findall(r'\]\(([\w./]+)\)', page.read_text()):
            assert (page.parent / link).is_file(), link

    def test_form(self, page):
        text = page.read_text()
        assert text.startswith('<!-- SPDX-License-Identifier: Apache-2.0 -->\n# ')
        tables = re.findall(r'(?:^\|.*\|\n)+', text, re.MULTILINE)
        for table in tables:
            widths = {len(re.findall(r'(?<!\\)\|', line)) for line in table.splitlines()}
            assert len(widths) == 1, table[:80]


def test_names_that_do_not_exist_are_seen():
    with pytest.raises(AttributeError):
        resolve('algorithms.mass_matrix.no_such_function')
    with pytest.raises(AttributeError):
        resolve('algorithms.no_such_module.f')
