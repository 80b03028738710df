# SPDX-License-Identifier: Apache-2.0
"""Bodies as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from kane_dynamics.robot.body import Body


def body_table(bodies: Sequence[Body]) -> list[str]:
    """Return a head and a line for each body: how it moves on which other one, and its mass."""
    rows = [('body', 'on', 'joint', 'kind', 'mass [kg]')]
    rows += [
        (
            body.name,
            body.parent or 'the world',
            body.joint.name,
            type(body.joint.kind).__name__.lower()
            + (f' follows {body.mimic.master}' if body.mimic else ''),
            f'{body.inertia.mass:.6g}',
        )
        for body in bodies
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        '  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
