# SPDX-License-Identifier: Apache-2.0
"""The rooms of the package import each other one way, and the pages for maintainers are true."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / 'doc' / 'architecture.md').read_text(encoding='utf-8')
_spec = importlib.util.spec_from_file_location('drawing', ROOT / 'doc' / 'draw_architecture.py')
drawing = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(drawing)


def test_the_picture_is_that_of_the_imports():
    present = drawing.PICTURE.read_text(encoding='utf-8')
    assert present == drawing.picture(), 'run python doc/draw_architecture.py'


def test_arrows_go_one_way():
    level = drawing.floors(drawing.imports())
    assert level['exceptions.py'] == 0
    order = ('algebra', 'robot', 'constraints', 'algorithms', 'compiler', 'ros')
    assert [level[room] for room in order] == sorted(level[room] for room in order)


@pytest.mark.parametrize(
    'folder',
    sorted({path.parent for path in drawing.PACKAGE.rglob('*.py')}),
    ids=lambda folder: str(folder.relative_to(drawing.ROOT)),
)
def test_arrows_go_one_way_at_every_depth(folder):
    drawing.floors(drawing.imports(folder))  # refuses circles


def test_a_circle_is_told():
    with pytest.raises(ValueError, match='import each other: (a -> b -> a|b -> a -> b)'):
        drawing.floors({'a': ['b'], 'b': ['a']})


def test_an_arrow_that_follows_from_others_is_not_drawn():
    rooms = {'a': ['b', 'c'], 'b': ['c'], 'c': []}
    assert drawing.direct(rooms) == [('a', 'b'), ('b', 'c')]


def test_every_room_has_a_line():
    rooms = set(re.findall(r'^\| `([\w.]+)` \|', PAGE, re.MULTILINE))
    assert rooms == (set(drawing.imports()) - {'kane_dynamics'}) | {'__init__.py'}


def test_files_of_the_walks_exist():
    files = [path.as_posix() for path in (ROOT / 'kane_dynamics').rglob('*.py')]
    names = re.findall(r'`([\w/]+\.py)`', PAGE.split('## A URDF', 1)[1])
    assert len(names) > 25
    assert [name for name in names if not any(f.endswith(f'/{name}') for f in files)] == []


@pytest.mark.parametrize('page', ['architecture.md', 'notation.md'])
def test_links_lead_somewhere(page):
    text = (ROOT / 'doc' / page).read_text(encoding='utf-8')
    for link in re.findall(r'\]\(([\w./]+)\)', text):
        assert (ROOT / 'doc' / link).exists(), link


def test_the_same_papers_are_cited_everywhere():
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    assert {'cff-version', 'message', 'title', 'authors'} <= set(citation)
    references = (ROOT / 'doc' / 'references.bib').read_text(encoding='utf-8')
    for paper in citation['references']:
        assert paper['authors'][0]['family-names'] in references
        assert paper.get('doi', '') in references
    version = re.search(r"__version__ = '(.*)'", (ROOT / 'kane_dynamics/__init__.py').read_text())
    assert citation['version'] == version[1]
