# SPDX-License-Identifier: Apache-2.0
"""Draw architecture.svg from the imports of the package; run it after a change of the rooms."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'kane_dynamics'
PICTURE = ROOT / 'doc' / 'architecture.svg'
WIDTH, FLOOR, BOX, LETTER = 1000, 84, 40, 8.2  # [px]


def room_of(module, folder):
    """Return the room of a module in a folder: a folder or a file in it; None: not in it."""
    depth = len(folder)
    if module[:depth] != folder:
        return None
    if len(module) == depth:
        return folder[-1]
    path = ROOT.joinpath(*module[: depth + 1])
    if path.is_dir():
        return path.name
    return f'{path.name}.py' if path.with_suffix('.py').exists() else folder[-1]


def modules(node):
    """Yield the modules that a statement imports, and the names from them."""
    if isinstance(node, ast.ImportFrom):
        yield from ((*(node.module or '').split('.'), alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (tuple(alias.name.split('.')) for alias in node.names)


@functools.cache
def modules_of(path):
    """Return the modules that a file imports, and the names from them."""
    nodes = ast.walk(ast.parse(path.read_text(encoding='utf-8')))
    return {module for node in nodes for module in modules(node)}


def imports(folder=PACKAGE):
    """Return each room of a folder with the rooms that its files import, also in functions."""
    inside = folder.relative_to(ROOT).parts
    rooms = {}
    for path in sorted(folder.rglob('*.py')):
        parts = path.relative_to(ROOT).with_suffix('').parts
        here = room_of(parts[:-1] if parts[-1] == '__init__' else parts, inside)
        imported = rooms.setdefault(here, set())
        imported |= {room_of(module, inside) for module in modules_of(path)} - {None}
    itself = {inside[-1]} if folder != PACKAGE else set()  # its __init__ is no room beside others
    return {
        room: sorted(imported - {room} - itself)
        for room, imported in sorted(rooms.items())
        if room not in itself
    }


def floors(rooms):
    """Return the floor of each room, one below the lowest that imports it; no circles."""
    importers = {room: [above for above in rooms if room in rooms[above]] for room in rooms}
    depth = {}

    def dig(room, below=()):
        if room in below:
            raise ValueError(f'rooms import each other: {" -> ".join([room, *below[::-1]])}')
        if room not in depth:
            depth[room] = 1 + max(
                (dig(above, (*below, room)) for above in importers[room]), default=-1
            )
        return depth[room]

    for room in rooms:
        dig(room)
    return {room: max(depth.values()) - depth[room] for room in rooms}


def direct(rooms):
    """Return the arrows that do not follow from others, as pairs."""

    def reached(room):
        return {other for each in rooms[room] for other in (each, *reached(each))}

    return [
        (room, other)
        for room, found in rooms.items()
        for other in found
        if not any(other in reached(each) for each in found if each != other)
    ]


def picture():
    """Return the drawing as SVG: an arrow points to what is imported."""
    rooms = imports()
    level = floors(rooms)
    height = FLOOR * (1 + max(level.values()))
    place = {}
    for floor in range(1 + max(level.values())):
        row = [room for room in rooms if level[room] == floor]
        for k, room in enumerate(row):
            x = WIDTH * (k + 0.5 + 0.12 * (floor % 2)) / (len(row) + 0.12)
            place[room] = (round(x), height - FLOOR * floor - FLOOR // 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="14">',
        '<!-- SPDX-License-Identifier: Apache-2.0; written by doc/draw_architecture.py -->',
        '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"'
        ' orient="auto"><path d="M0 0 8 4 0 8z" fill="#667"/></marker>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for room, other in direct(rooms):
        (x, y), (to_x, to_y) = place[room], place[other]
        lines.append(
            f'<path d="M{x} {y + BOX // 2}L{to_x} {to_y - BOX // 2}" stroke="#99a"'
            f' marker-end="url(#tip)"><title>{room} imports {other}</title></path>'
        )
    for room, (x, y) in place.items():
        wide = round(LETTER * len(room) + 28)
        lines += [
            f'<rect x="{x - wide // 2}" y="{y - BOX // 2}" width="{wide}" height="{BOX}" rx="6"'
            ' fill="#eef3fb" stroke="#446"/>',
            f'<text x="{x}" y="{y + 5}" text-anchor="middle">{room}</text>',
        ]
    return '\n'.join([*lines, '</svg>']) + '\n'


def main():
    """Write the file."""
    PICTURE.write_text(picture(), encoding='utf-8')


if __name__ == '__main__':
    main()
