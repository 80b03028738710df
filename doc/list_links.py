# SPDX-License-Identifier: Apache-2.0
"""List the links to other sites, for who wants to call them: _build/external_links.txt."""

import re
from pathlib import Path

DOC = Path(__file__).resolve().parent


def external_links():
    """Return pairs of address and page."""
    pages = [page for page in DOC.rglob('*.md') if '_build' not in page.parts]
    return sorted(
        (link, page.relative_to(DOC).as_posix())
        for page in pages
        for link in re.findall(r'https?://[^\s)>`]+', page.read_text(encoding='utf-8'))
    )


if __name__ == '__main__':
    file = DOC / '_build' / 'external_links.txt'
    file.parent.mkdir(exist_ok=True)
    links = external_links()
    file.write_text(''.join(f'{link}  {page}\n' for link, page in links), encoding='utf-8')
    print(f'{len(links)} links to other sites, not called: {file}')
