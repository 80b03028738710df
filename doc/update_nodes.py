# SPDX-License-Identifier: Apache-2.0
"""
Write what follows from the YAML files of parameters: tables of the pages of nodes, and tables.pyi.

Run it after a change of a file in kane_dynamics/robot_config/parameters.
"""

import re
from dataclasses import fields
from pathlib import Path

from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters import tables

DOC = Path(__file__).resolve().parent
PAGES = [DOC / 'nodes.md', *sorted((DOC / 'nodes').glob('*.md'))]
SHARED = DOC / 'nodes' / 'parameters.md'
STUB = Path(tables.__file__).with_suffix('.pyi')
TYPES = {'bool': 'bool', 'int': 'int', 'double': 'float', 'string': 'str'}
STUB_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by doc/update_nodes.py.
from dataclasses import dataclass
from typing import ClassVar, Literal

from kane_dynamics.robot_config.parameters.spec import Spec

def all_specs() -> tuple[Spec, ...]: ...
def table(file: str) -> type[Parameters]: ...
@dataclass(frozen=True)
class Parameters:
    included: ClassVar[tuple[type[Parameters], ...]]
    local: ClassVar[tuple[Spec, ...]]
    specs: ClassVar[tuple[Spec, ...]]

"""


def executables():
    """Return the nodes as a Markdown table."""
    rows = ['| node | launch file | what it does |', '|---|---|---|']
    for name, node in NODES.items():
        launch = f'`{node.parameters}.launch.py`' if node.topics else '`simulation.launch.py`'
        rows.append(f'| [{name}](nodes/{name}.md) | {launch} | {node.summary} |')
    return '\n'.join(rows)


def markdown_table(specs):
    """Return parameters as a Markdown table."""
    rows = [
        '| parameter | type | default | legal values | changeable | description |',
        '|---|---|---|---|---|---|',
    ]
    for spec in specs:
        changeable = 'no' if spec.read_only else 'yes'
        text = spec.description.replace('|', r'\|')
        rows.append(
            f'| `{spec.name}` | {spec.kind} | `{spec.shown_default}` '
            f'| {spec.constraints() or "any"} | {changeable} | {text} |'
        )
    return '\n'.join(rows)


def with_included(table):
    """Return a class after all that it includes."""
    found = [each for group in table.included for each in with_included(group)]
    return [*dict.fromkeys(found), table]


def heading(group):
    """Return the heading of shared parameters, and what else there is to say of them."""
    title, _, rest = group.__doc__.removesuffix('.').partition('; ')
    return title, f'{rest[0].upper()}{rest[1:]}. ' if rest else ''


def link(group):
    """Return a link to shared parameters."""
    title, _ = heading(group)
    anchor = re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-')
    return f'[{title.partition(",")[0]}]({SHARED.name}#{anchor})'


def blocks():
    """Return the generated blocks of the pages, by what they are of."""
    nodes = {name: tables.table(node.parameters) for name, node in NODES.items()}
    names = {table: name for name, table in nodes.items()}
    users = {}
    for name, table in nodes.items():
        for group in with_included(table):
            users.setdefault(group, []).append(f'`{name}`')
    shared = [x for x, of in users.items() if len(of) > 1 and x not in names]
    shared.sort(key=lambda x: -len(users[x]))
    common = []
    for group in shared:
        of = 'all nodes' if len(users[group]) == len(nodes) else ', '.join(users[group])
        title, rest = heading(group)
        common.append(f'## {title}\n\n{rest}Of {of}.\n\n{markdown_table(group.local)}')
    found = {'executables': executables(), 'parameters of several nodes': '\n\n'.join(common)}
    for name, table in nodes.items():
        parts = with_included(table)
        own = [spec for x in parts if x not in shared for spec in x.local]
        links = '; '.join(link(x) for x in shared if x in parts)
        more = f'[Shared](parameters.md): {links}.'
        found[f'parameters of {name}'] = f'{markdown_table(own)}\n\n{more}' if own else more
    return found


def updated():
    """Return the text of each page with its generated blocks renewed."""
    texts = {page: page.read_text() for page in PAGES}
    for name, content in blocks().items():
        block = f'<!-- {name} -->\n{content}\n<!-- end -->'
        pattern = re.compile(rf'<!-- {name} -->\n.*?<!-- end -->', re.DOTALL)
        pages = [page for page, text in texts.items() if pattern.search(text)]
        if len(pages) != 1:
            raise ValueError(f'need one page with a block for {name}, have {len(pages)}')
        texts[pages[0]] = pattern.sub(lambda _, b=block: b, texts[pages[0]])
    return texts


def type_of(spec):
    """Return the type of a parameter for type checkers."""
    if spec.choices:
        return f'Literal[{", ".join(map(repr, spec.choices))}]'
    name = TYPES[spec.kind.removesuffix('_array')]
    return f'tuple[{name}, ...]' if spec.kind.endswith('_array') else name


def stub():
    """Return the types of the parameter classes."""
    names = {file.stem for file in STUB.parent.glob('*.yaml')}
    text = [STUB_HEAD]
    for table in dict.fromkeys(x for n in sorted(names) for x in with_included(tables.table(n))):
        bases = ', '.join(base.__name__ for base in table.__bases__)
        types = {spec.field: type_of(spec) for spec in table.local}
        own = [f'    {x.name}: {types[x.name]} = ...' for x in fields(table) if x.name in types]
        text += [
            '@dataclass(frozen=True)',
            f'class {table.__name__}({bases}):',
            *(own or ['    ...']),
            '',
        ]
    return '\n'.join(text)


if __name__ == '__main__':
    STUB.write_text(stub())
    for page, text in updated().items():
        page.write_text(text)
