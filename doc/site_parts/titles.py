# SPDX-License-Identifier: Apache-2.0
"""
The first sentence of an example's docstring is the title of its page in the gallery.

Examples keep the docstrings of all other files; a title underlined in reStructuredText is for
pages only.
"""

import re

_DOCSTRING = re.compile(r'(\.\. _sphx_glr_gallery_[^\n]*:\n\n\n?)(.+?)\n\n', re.DOTALL)


def _underline(app, docname, source):
    if docname.startswith('gallery/') and not docname.endswith('index'):
        source[0] = _DOCSTRING.sub(_titled, source[0], count=1)


def _titled(match):
    title = ' '.join(match[2].split()).removesuffix('.')
    return f'{match[1]}{title}\n{"=" * len(title)}\n\n'


def setup(app):
    app.connect('source-read', _underline)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
