# SPDX-License-Identifier: Apache-2.0
"""
Rows of states in memory and columns in vector lanes.

A batch has one row for each state, a kernel one vector for each entry. Entry by entry this costs a
load and a shuffle for each number. Here pieces of 16 bytes are loaded from all rows, pieces that
are two (double) or four (float) states apart side by side in one vector, and transposed within
these pieces: 12 shuffles for 64 floats. What a row has beyond whole pieces comes with a piece that
ends where the row ends.
"""

from collections.abc import Sequence

from kane_dynamics.compiler.llvm.straight_line import Block

SIZES = {'double': 8, 'float': 4, 'i64': 8}  # [bytes]
_PIECE = 16  # [bytes] what shuffles within a vector register keep together


def load_rows(block: Block, array: str, size: int) -> list[str]:
    """Return the entries of `block.lanes` rows of a row-major array, one value for each."""
    width = _width(block)
    if size < width or block.lanes % width:
        return [_gathered(block, array, k, size) for k in range(size)]
    entries = [''] * size
    for begin in _begins(size, width):
        pieces = []
        for first in range(width):
            rows = range(first, block.lanes, width)
            parts = [_piece(block, array, begin + row * size) for row in rows]
            pieces.append(_joined(block, parts))
        entries[begin : begin + width] = _transposed(block, pieces)
    return entries


def store_rows(block: Block, array: str, values: Sequence[str]) -> None:
    """Append the stores of values as the entries of rows."""
    width, size = _width(block), len(values)
    if size < width or block.lanes % width:
        for k, value in enumerate(values):
            _scatter(block, array, k, size, value)
        return
    for begin in _begins(size, width):
        pieces = _transposed(block, list(values[begin : begin + width]))
        for row in range(block.lanes):
            piece, part = pieces[row % width], row // width
            lanes = range(part * width, (part + 1) * width)
            one = shuffled(block, piece, piece, lanes, block.lanes)
            place = address(block, array, begin + row * size)
            kind, aligned = f'<{width} x {block.element}>', SIZES[block.element]
            block.lines.append(f'store {kind} {one}, ptr {place}, align {aligned}')


def load_parameter(block: Block, k: int) -> str:
    """Append the load of a parameter, a double in any precision, into all lanes."""
    place = block.emit(f'getelementptr inbounds double, ptr %parameters, i64 {k}')
    value = block.emit(f'load double, ptr {place}')
    if block.element == 'float':
        value = block.emit(f'fptrunc double {value} to float')
    return block.splat(value)


def address(block: Block, array: str, k: int) -> str:
    """Append the address of entry k of an array."""
    return block.emit(f'getelementptr inbounds {block.element}, ptr {array}, i64 {k}')


def shuffled(block: Block, a: str, b: str, lanes: Sequence[int], arguments: int) -> str:
    """Append the vector of some lanes of two vectors with `arguments` lanes each."""
    kind = f'<{arguments} x {block.element}>'
    mask = ', '.join(f'i32 {lane}' for lane in lanes)
    return block.emit(f'shufflevector {kind} {a}, {kind} {b}, <{len(lanes)} x i32> <{mask}>')


def _width(block: Block) -> int:
    return _PIECE // SIZES[block.element]


def _begins(size: int, width: int) -> list[int]:
    """Return where pieces of a row begin; the last one ends with the row."""
    whole = list(range(0, size - width + 1, width))
    return whole if size % width == 0 else [*whole, size - width]


def _piece(block: Block, array: str, k: int) -> str:
    kind = f'<{_width(block)} x {block.element}>'
    return block.emit(f'load {kind}, ptr {address(block, array, k)}, align {SIZES[block.element]}')


def _joined(block: Block, parts: list[str]) -> str:
    """Append one vector of all parts, a power of two of them."""
    width = _width(block)
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [shuffled(block, a, b, range(2 * width), width) for a, b in pairs]
        width *= 2
    return parts[0]


def _transposed(block: Block, pieces: list[str]) -> list[str]:
    """Append the transposition of all squares of `width` rows within vectors."""
    if len(pieces) == 2:
        a, b = pieces
        return [_picked(block, a, b, [(0, k), (1, k)]) for k in (0, 1)]
    a, b, c, d = pieces
    columns = []
    for k in (0, 2):
        pairs = [(0, k), (1, k), (0, k + 1), (1, k + 1)]
        upper, lower = _picked(block, a, b, pairs), _picked(block, c, d, pairs)
        for j in (0, 2):
            halves = [(0, j), (0, j + 1), (1, j), (1, j + 1)]
            columns.append(_picked(block, upper, lower, halves))
    return columns


def _picked(block: Block, a: str, b: str, picks: Sequence[tuple[int, int]]) -> str:
    """Append a vector that has the same picks (of which, entry) in each of its pieces."""
    width = len(picks)
    lanes = [
        which * block.lanes + begin + k
        for begin in range(0, block.lanes, width)
        for which, k in picks
    ]
    return shuffled(block, a, b, lanes, block.lanes)


def _gathered(block: Block, array: str, k: int, stride: int) -> str:
    """Append the loads of one entry of all rows."""
    loads = (
        block.emit(f'load {block.element}, ptr {address(block, array, k + lane * stride)}')
        for lane in range(block.lanes)
    )
    return next(loads) if block.lanes == 1 else block.packed(loads, 'poison')


def _scatter(block: Block, array: str, k: int, stride: int, value: str) -> None:
    """Append the stores of one entry of all rows."""
    for lane in range(block.lanes):
        one = value
        if block.lanes > 1:
            one = block.emit(f'extractelement {block.type} {value}, i32 {lane}')
        place = address(block, array, k + lane * stride)
        block.lines.append(f'store {block.element} {one}, ptr {place}')
