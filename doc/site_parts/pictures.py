# SPDX-License-Identifier: Apache-2.0
"""The gallery shows the pictures that an example writes into its folder of results."""

import tempfile
from pathlib import Path
from shutil import copyfile

from sphinx_gallery.scrapers import figure_rst

_FOLDER = Path(tempfile.gettempdir()) / 'kane_dynamics-gallery'
_SHOWN = ('.png', '.gif')


def where_pictures_go(gallery_conf, script_vars):
    """Return the arguments of an example: the folder of its results."""
    return ['--output', str(_folder(script_vars['src_file']))]


def saved_pictures(block, block_vars, gallery_conf):
    """Return the figures that the example has written, stills first."""
    folder = _folder(block_vars['src_file'])
    files = [path for ending in _SHOWN for path in sorted(folder.glob(f'*{ending}'))]
    shown = []
    for path, place in zip(files, block_vars['image_path_iterator'], strict=False):
        target = Path(place).with_suffix(path.suffix)
        copyfile(path, target)
        path.unlink()
        shown.append(str(target))
    return figure_rst(shown, gallery_conf['src_dir'])


def _folder(source):
    return _FOLDER / Path(source).stem
