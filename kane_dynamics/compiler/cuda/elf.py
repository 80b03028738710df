# SPDX-License-Identifier: Apache-2.0
"""Size of the instructions in a cubin, which is an ELF file."""

from __future__ import annotations

import struct

# Of the file: where the table of sections begins, size and number of its entries, and the section
# of names; of a section: name, (type, flags, address), offset, size.
_FILE, _SECTION = struct.Struct('<40xQ10xHHH'), struct.Struct('<I4x8x8xQQ')


def code_size(cubin: bytes) -> int:
    """Return the size of all sections of instructions [bytes]."""
    table, size, count, names = _FILE.unpack_from(cubin)
    sections = [_SECTION.unpack_from(cubin, table + k * size) for k in range(count)]
    _, labels, _ = sections[names]
    return sum(
        length for label, _, length in sections if cubin[labels + label :].startswith(b'.text')
    )
