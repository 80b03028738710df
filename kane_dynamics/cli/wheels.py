# SPDX-License-Identifier: Apache-2.0
"""What a robot shows, the bases that fit its wheels, and remarks, for `check` and `info`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from rich.markup import escape

from kane_dynamics.cli.printing import console, new_table
from kane_dynamics.cli.robots import ChosenRobot
from kane_dynamics.exceptions import ModelWarning
from kane_dynamics.robot_config.inspection import Findings, inspect_urdf


@dataclass(frozen=True)
class Fit:
    """A kind of base that fits: its block as YAML, and what it still needs."""

    text: str
    needs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GuardValues:
    """What a robot shows, the bases that fit its wheels, and every remark about it, once."""

    result: Findings
    fits: tuple[Fit, ...]
    notes: tuple[str, ...]


def look_at(values: ChosenRobot) -> GuardValues:
    """Return what there is to be seen of a robot."""
    result = inspect_urdf(values.source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        fits = tuple(Fit(kind.text(), tuple(kind.needed(result.robot))) for kind in result.kinds)
    about_fits = (str(warning.message) for warning in caught)
    notes = dict.fromkeys((*values.model.notes, *about_fits, *result.notes))
    return GuardValues(result, fits, tuple(notes))


def print_wheels(look: GuardValues) -> None:
    """Print wheels and bases, if there are any."""
    if not look.result.wheels:
        return
    headings = 'joint', 'kind', 'radius [m]', 'x, y [m]', 'steering', 'trail [m]'
    table = new_table('wheels by their axes and collision shapes', *headings)
    for wheel in look.result.wheels:
        radius = '?' if wheel.radius is None else f'{wheel.radius:g}'
        place = f'{wheel.centre[0]:g}, {wheel.centre[1]:g}'
        trail = f'{wheel.trail:.4g}' if wheel.steering else ''
        table.add_row(wheel.joint, wheel.kind, radius, place, wheel.steering or '', trail)
    console.print(table)
    for fit in look.fits:
        console.print(f'fits: {escape(fit.text)}', soft_wrap=True)
        for need in fit.needs:
            console.print(f'  [yellow]needs:[/yellow] {escape(need)}', soft_wrap=True)
    if not look.fits:
        console.print('no kind of base fits these wheels, with x of the root link forward')
