# SPDX-License-Identifier: Apache-2.0
"""
Write what each Python block of the pages prints below it: `doc/update_outputs.py [PAGE ...]`.

A block of text that follows a block of Python is its output; there `...` stands for digits that
differ between machines. What agrees already is left as it is.
"""

import os
import re
import sys
import tempfile
from contextlib import redirect_stdout
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'doc').rglob('*.md'))]
PAGES = [page for page in PAGES if not {'_build', 'gallery'} & set(page.parts)]
# These need a graphics card, a module beside them, or ROS: test_pages.py says which test has them.
ELSEWHERE = ('gpu.md', 'scale.md', 'scheduling.md')
BLOCK = re.compile(
    r'^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?',
    re.DOTALL | re.MULTILINE,
)


def agree(shown, printed):
    """Return whether a page shows what was printed."""
    return OutputChecker().check_output(shown or '', printed, ELLIPSIS | NORMALIZE_WHITESPACE)


def printed(code, name):
    """Return what a block prints, run by itself in a folder with robots, examples and presets."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()) as out:
        os.chdir(folder)
        try:
            for shared in ('robots', 'examples', 'config'):
                os.symlink(ROOT / shared, shared)
            exec(compile(code, name, 'exec'), {'__name__': '__main__'})
        finally:
            os.chdir(before)
    return re.sub(r'-(?=0(\.0*)?(?![.\d]))', '', out.getvalue())  # the sign of a 0 is roundoff


def updated(page):
    """Return the text of a page with what its blocks print."""

    def renewed(block):
        text = printed(block['code'], page.name)
        if not text or agree(block['output'], text):
            return block[0]
        return f'```python\n{block["code"]}```\n\n```text\n{text}```\n'

    return BLOCK.sub(renewed, page.read_text())


if __name__ == '__main__':
    for page in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        if page.name not in ELSEWHERE:
            page.write_text(updated(page))
