# SPDX-License-Identifier: Apache-2.0
"""Changes of texts, bytes and trees that readers may meet, drawn from a `random.Random`."""

from __future__ import annotations

import re
import xml.parsers.expat
from functools import cached_property

NUMBERS = (
    *('nan', 'inf', '-inf', '1e308', '-1e308', '1.7e308', '1e-308', '5e-324', '1e400', '-1e400'),
    *('0', '-0.0', '1', '-1', '2', '1e-12', '1e9', '1e16', '1e155', '0x10', '1_0', '1e', '.', '+'),
    *('1,5', '٣', '1.5707963', '6.2831853', '9' * 400, '0.' + '1' * 5000, '9' * 5000, '1 2', ''),
    *('0 0 0', '1 0 0', '0 0 -1', '1e308 1e308 1e308', '1e200 0 0', 'nan nan nan', '1e-200 0 0'),
)
WORDS = (
    *('', ' ', '\t\n', '<', '>', '&', '&amp;', '&#0;', '&#x110000;', ']]>', '"', "'", '\x00'),
    *('\ufeff', '\ud800', '\U0010ffff', 'é', '\u202e', '%s', '{0}', '{}', '\\', '..', '/', '~'),
    *(
        '$(arg x)',
        '${x}',
        '${',
        'xacro:include',
        'base',
        'world',
        'None',
        'true',
        'null',
        '-',
        '@',
    ),
    *('base_x', 'revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar', 'spherical'),
    *('file:///etc/passwd', 'package://no/such', 'http://localhost/', 'a' * 3000, '[bold]', '[/]'),
)
PIECES = (
    *('<!DOCTYPE a [<!ENTITY b "c">]>', '<!-- -->', '<?xml version="1.0" encoding="utf-16"?>'),
    *(
        '<?xml version="1.1"?>',
        '<?xml version="1.0" encoding="no-such"?>',
        '<![CDATA[ <link/> ]]>',
    ),
    *('<link/>', '<joint/>', '<link name="a"/>', '<robot>', '</robot>', '<xacro:if value="1">'),
    *('<mimic joint="a"/>', '<inertial/>', '<origin/>', '<a:b xmlns:a="c"/>', '<!ENTITY d SYSTEM'),
)


class Source:
    """
    A text to change, with the places that XML makes in it.

    Parameters
    ----------
    text : str
        The text; XML or not.

    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def values(self) -> list[tuple[int, int]]:
        """Return where the attribute values are."""
        return [match.span(1) for match in re.finditer(r'="([^"]*)"', self.text)]

    @cached_property
    def numbers(self) -> list[tuple[int, int]]:
        """Return where numbers are."""
        pattern = r'(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])'
        return [match.span() for match in re.finditer(pattern, self.text)]

    @cached_property
    def words(self) -> list[tuple[int, int]]:
        """Return where words are."""
        return [match.span() for match in re.finditer(r'[A-Za-z_]\w*', self.text)]

    @cached_property
    def lines(self) -> list[tuple[int, int]]:
        """Return where lines are, their ends included."""
        return [match.span() for match in re.finditer(r'[^\n]*\n', self.text)]

    @cached_property
    def elements(self) -> list[tuple[int, int]]:
        """Return where XML elements are; none where the text is no XML."""
        data = self.text.encode()
        if len(data) != len(self.text):
            return []
        found: list[tuple[int, int]] = []
        begun: list[int] = []
        parser = xml.parsers.expat.ParserCreate()

        def start(name, attributes):
            begun.append(parser.CurrentByteIndex)

        def end(name):
            begin, here = begun.pop(), parser.CurrentByteIndex
            closing = data.find(b'>', here) + 1
            found.append((begin, closing))

        parser.StartElementHandler, parser.EndElementHandler = start, end
        try:
            parser.Parse(data, True)
        except xml.parsers.expat.ExpatError:
            return []
        return sorted(found)


def _number(random):
    """Return a number as text: one of the list, or one of any size."""
    if random.random() < 0.6:
        return random.choice(NUMBERS)
    return f'{random.choice((-1, 1)) * 10.0 ** random.uniform(-20, 20):.6g}'


def _part(random, text, spans):
    """Return one of the places, or a random one where there is none."""
    if spans:
        return random.choice(spans)
    begin = random.randrange(len(text) + 1)
    return begin, min(begin + random.randrange(4), len(text))


def changed(random, source):
    """Return a text with one to four changes of one part each, later parts first."""
    kinds = random.choices(
        ('values', 'numbers', 'words', 'lines', 'elements', 'characters'),
        (8, 4, 2, 2, 5, 1),
        k=random.choice((1, 1, 1, 2, 3, 4)),
    )
    text = source.text
    spans = [
        _part(random, text, [] if kind == 'characters' else getattr(source, kind))
        for kind in kinds
    ]
    limit = len(text)
    for (begin, end), kind in sorted(zip(spans, kinds, strict=True), reverse=True):
        if end > limit:
            continue  # inside of a part that has been changed
        text = text[:begin] + _new_part(random, source, text[begin:end], kind) + text[end:]
        limit = begin
    return text


def _new_part(random, source, old, kind):
    """Return what stands in the place of a part."""
    if kind in ('values', 'numbers'):
        choices = ('number', 'word', 'other', 'nothing')
        what = random.choices(choices, (5, 3, 5, 1))[0]
    else:
        what = random.choice(('nothing', 'twice', 'other', 'word', 'piece', 'inside'))
    if what == 'number':
        return _number(random)
    if what == 'word':
        return random.choice(WORDS)
    if what == 'other':
        spans = getattr(source, kind, None) if kind != 'characters' else None
        begin, end = _part(random, source.text, spans)
        return source.text[begin:end]
    if what == 'twice':
        return old * random.choice((2, 2, 3, 50))
    if what == 'piece':
        return random.choice(PIECES)
    if what == 'inside':  # the element in itself, or wrapped
        place = old.find('>') + 1
        return old[:place] + old + old[place:] if place else f'<robot name="r">{old}</robot>'
    return ''


def changed_bytes(random, data):
    """Return bytes with changes that know nothing of their meaning."""
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        place = random.randrange(len(data) + 1)
        what = random.randrange(5)
        if what == 0 and place < len(data):
            data[place] ^= 1 << random.randrange(8)
        elif what == 1:
            data[place:place] = random.randbytes(random.choice((1, 2, 8, 100)))
        elif what == 2:
            del data[place : place + random.choice((1, 2, 8, 1000))]
        elif what == 3:
            size = random.choice((1, 2, 4, 8))
            data[place : place + size] = random.choice((b'\xff', b'\x00', b'\x7f')) * size
        else:
            del data[place:]
    return bytes(data)
