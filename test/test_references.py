# SPDX-License-Identifier: Apache-2.0
"""Who is cited by name and year stands in doc/references.bib."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIBLIOGRAPHY = (ROOT / 'doc' / 'references.bib').read_text(encoding='utf-8')
NAME = r"[A-Z][\w\-']+"
CITATION = re.compile(
    rf'\b({NAME})(?:(?:, and |, | and | )(?:{NAME}|et al\.?)){{0,4}},? \(?((?:19|20)\d\d)\b'
)
NO_AUTHORS = {'ICRA', 'November', 'JCGT'}
SOURCES = (
    'kane_dynamics/**/*.py',
    'doc/*.md',
    'doc/nodes/*.md',
    'studies/**/*.py',
    'examples/*.py',
    'README.md',
)


def plain(text):
    """Return names without the accents of TeX."""
    return re.sub(r'\{?\\.\{?(\w)\}?\}?', r'\1', text)


def entries():
    """Return the authors of each entry, with its years."""
    texts = plain(BIBLIOGRAPHY).split('\n@')[1:]
    return [(re.search(r'author\s*= \{(.*)\}', x)[1], re.findall(r'\b\d{4}\b', x)) for x in texts]


def test_every_citation_has_an_entry():
    known, missing = entries(), {}
    for pattern in SOURCES:
        for path in ROOT.glob(pattern):
            for author, year in CITATION.findall(path.read_text(encoding='utf-8')):
                name = author.removesuffix("'s")
                if name not in NO_AUTHORS and not any(
                    name in a and year in years for a, years in known
                ):
                    missing[f'{name} {year}'] = path.name
    assert missing == {}
