# SPDX-License-Identifier: Apache-2.0
"""Colours that a colour-blind person tells apart (Okabe and Ito), and what they stand for."""

from __future__ import annotations

STATE_COLOURS = {
    'open': '#999999',
    'holds': '#0072B2',
    'sticks': '#009E73',
    'slips': '#D55E00',
}
CYCLE = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000')
PATH = '#56B4E9'  # where a robot went
LIMIT = '#555555'  # of efforts and speeds


def linear(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of '#rrggbb' as light, from 0 to 255 (sRGB undone)."""
    parts = (part / 255.0 for part in bytes.fromhex(colour.removeprefix('#')))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    red, green, blue = (round(255 * c) for c in linear)
    return red, green, blue
