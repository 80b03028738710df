# SPDX-License-Identifier: Apache-2.0
"""The site: every page can be reached, every public name is documented, links lead somewhere."""

import inspect
import json
import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

numpydoc = pytest.importorskip('numpydoc.docscrape', reason='the extra "docs" is not installed')

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / 'doc'
sys.path.append(str(DOC))

from site_parts.public import public_objects  # noqa: E402

MADE = {'_build', 'gallery'}  # by the build
PAGES = sorted(p for p in DOC.rglob('*.md') if not MADE & set(p.relative_to(DOC).parts))
NAMES = dict(public_objects())
# Functions make them, and the package raises its errors: nobody calls their constructors.
MADE_BY_FUNCTIONS = {
    'kane_dynamics.CompiledDynamics',
    'kane_dynamics.Dynamics',
    'kane_dynamics.Kinematics',
}


def test_every_page_is_in_one_list_of_contents():
    listed = []
    for page in PAGES:
        for block in re.findall(r'```{toctree}\n(.*?)```', page.read_text(), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(':')]
            listed += [page.parent / name for name in names]
    pages = {page.with_suffix('') for page in PAGES} - {DOC / 'index'}
    assert pages - {*listed} == set(), 'name these pages in a toctree, as of doc/index.md'
    assert sorted(listed) == sorted({*pages, DOC / 'gallery' / 'index'})


def documented():
    """Return the ids of the objects on the pages of the library."""
    found = set()
    for page in (DOC / 'api').glob('*.md'):
        module = 'kane_dynamics'
        for directive, name in re.findall(r'^\.\. (\w+):: (\S+)$', page.read_text(), re.MULTILINE):
            if directive == 'currentmodule':
                module = name
            elif directive == 'automodule':
                members = vars(import_module(name)).values()
                found |= {id(x) for x in members if getattr(x, '__module__', '') == name}
            else:
                place, _, short = name.rpartition('.')
                found.add(id(getattr(import_module(place or module), short)))
    return found


def test_every_public_name_is_on_a_page():
    present = documented()
    assert len(present) > 150
    assert [name for name, value in NAMES.items() if id(value) not in present] == []


@pytest.mark.parametrize('name', [name for name, value in NAMES.items() if callable(value)])
def test_every_public_name_has_a_docstring_with_its_parameters(name):
    value = NAMES[name]
    text = inspect.getdoc(value)
    assert text
    assert text.splitlines()[0].endswith('.')
    if name in MADE_BY_FUNCTIONS or (inspect.isclass(value) and issubclass(value, Exception)):
        return
    sections = numpydoc.NumpyDocString(text)
    said = {part.strip(' *') for p in sections['Parameters'] for part in p.name.split(',')}
    wanted = set(inspect.signature(value).parameters) - {'args', 'kwargs'}
    assert wanted <= said, f'not in the docstring: {sorted(wanted - said)}'


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(DOC)))
def test_links_to_files_lead_somewhere(page):
    for link in re.findall(r'\]\(([^)\s#]+)(?:#[^)]*)?\)', without_code(page.read_text())):
        if '://' not in link:
            assert (page.parent / link).exists(), link


def without_code(text):
    """Return the text without what is printed as code."""
    return re.sub(
        r'`[^`\n]*`', '', re.sub(r'^```.*?^```', '', text, flags=re.DOTALL | re.MULTILINE)
    )


def test_figures_are_those_of_the_results_that_are_kept():
    made = runpy.run_path(str(DOC / 'update_performance.py'))
    for page in made['PAGES']:
        text = page.read_text()
        assert '<!-- end -->' in text
        assert made['updated'](text) == text, 'run python doc/update_performance.py'
    for file in made['KEPT'].glob('*.json'):
        machine = json.loads(file.read_text())['machine']
        assert machine['commit'] and 'dirty' not in machine['commit']


def test_every_example_is_in_the_gallery():
    folders = {path.parent for path in (ROOT / 'examples').rglob('*.py')}
    assert {folder for folder in folders if not (folder / 'GALLERY_HEADER.rst').is_file()} == set()


def test_the_gallery_leaves_out_what_cannot_run_alone():
    """sphinx-gallery holds names of files against the pattern, older ones whole paths."""
    pattern = runpy.run_path(str(DOC / 'conf.py'))['sphinx_gallery_conf']['ignore_pattern']
    files = [*(ROOT / 'examples').rglob('*.py')]
    for spelt in ([file.name for file in files], [file.as_posix() for file in files]):
        out = {Path(name).name for name in spelt if re.search(pattern, name)}
        assert out == {'shelf.py', 'with_crocoddyl.py'}


@pytest.mark.thorough  # half a minute of processor time
def test_the_site_is_made_without_a_warning(tmp_path):
    pytest.importorskip('furo', reason='the extra "docs" is not installed')
    command = [sys.executable, '-m', 'sphinx', '-q', '-W', '--keep-going', '-b', 'html']
    options = ['-D', 'plot_gallery=0', '-d', tmp_path / 'trees', DOC, tmp_path / 'html']
    environment = os.environ | {'PYTHONPATH': os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run([*command, *options], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, '')
    assert (
        'kane_dynamics.inverse_dynamics'
        in (tmp_path / 'html' / 'api' / 'dynamics.html').read_text()
    )
