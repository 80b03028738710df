# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site from the pages of this folder: `make docs`."""

import sys
from pathlib import Path

DOC = Path(__file__).resolve().parent
sys.path[:0] = [str(DOC.parent), str(DOC)]

from site_parts.pictures import saved_pictures, where_pictures_go  # noqa: E402

from kane_dynamics import __version__  # noqa: E402

project = 'kane_dynamics'
author = 'kane_dynamics contributors'
copyright = f'{author}, Apache-2.0'
release = version = __version__

extensions = [
    'myst_parser',
    'sphinx.ext.autodoc',
    'sphinx.ext.mathjax',
    'numpydoc',
    'sphinx_copybutton',
    'sphinx_gallery.gen_gallery',
    'site_parts.references',
    'site_parts.titles',
    'site_parts.tuples',
]
exclude_patterns = ['_build', 'references.bib', '**/GALLERY_HEADER.rst']
nitpicky = True
default_role = 'py:obj'
nitpick_ignore_regex = [
    # A word in single backticks is often an argument or a formula: a link where it can be.
    ('py:obj', '.*'),
    # The sites of numpy and scipy are not asked: a build needs no net.
    ('py:.*', r'(numpy|np|scipy|casadi|sympy|gymnasium|collections|typing|pathlib)\..*'),
]
# Pages name words of a code that has no colours in Pygments.
highlight_language = 'none'
suppress_warnings = ['config.cache']  # the functions of the gallery are not pickled

myst_heading_anchors = 3
myst_enable_extensions = ['dollarmath', 'attrs_inline']

autodoc_typehints = 'none'  # the docstrings name types, shapes and units
autodoc_preserve_defaults = True
autodoc_member_order = 'bysource'
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    'examples_dirs': '../examples',
    'gallery_dirs': 'gallery',
    'thumbnail_size': (560, 400),
    'filename_pattern': r'\.py$',
    'image_scrapers': (saved_pictures,),
    'reset_argv': where_pictures_go,
    'download_all_examples': False,
    'show_memory': False,
    'write_computation_times': False,
    'copyfile_regex': '',
    # a module, and one whose package is not installed: of a file its name alone is looked at
    'ignore_pattern': r'(^|/)(shelf|with_crocoddyl)\.py$',
    'within_subsection_order': 'FileNameSortKey',
}

html_theme = 'furo'
html_title = f'kane_dynamics {__version__}'
html_static_path = ['site_parts/static']
html_css_files = ['site.css']
html_theme_options = {'navigation_with_keys': True}
html_copy_source = False
html_show_sourcelink = False
copybutton_exclude = '.linenos, .gp, .go'
