# SPDX-License-Identifier: Apache-2.0
"""The wheels that a robot shows, and the bases that fit, for `check` and `info`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from rich.markup import escape

import kane_dynamics as kd
from kane_dynamics.bases.recognition import FoundWheel
from kane_dynamics.cli.printing import console, new_table
from kane_dynamics.cli.robots import ChosenRobot
from kane_dynamics.exceptions import ModelWarning


@dataclass(frozen=True)
class Fit:
    """A kind of base that fits: its block as YAML, and what it still needs."""

    text: str
    needs: tuple[str, ...]


@dataclass(frozen=True)
class Wheels:
    """Wheels, the bases that fit these, and remarks about them."""

    wheels: tuple[FoundWheel, ...]
    fits: tuple[Fit, ...]
    remarks: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of base that fit."""
        return tuple(fit.text for fit in self.fits)


def wheels_of(chosen: ChosenRobot) -> Wheels:
    """Return the wheels of a robot."""
    robot = chosen.model.robot
    found = kd.bases.found_wheels(robot)
    if not found:
        return Wheels((), (), ())
    with warnings.catch_warnings():  # told already
        warnings.simplefilter('ignore', ModelWarning)
        mobile = robot if robot.base != 'fixed' else kd.load_urdf(chosen.source, base='planar')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        fits = tuple(
            Fit(kind.text(), tuple(kind.needed(mobile))) for kind in kd.bases.fitting_kinds(mobile)
        )
    return Wheels(found, fits, tuple(dict.fromkeys(str(warning.message) for warning in caught)))


def print_wheels(found: Wheels) -> None:
    """Print wheels and bases, if there are any."""
    if not found.wheels:
        return
    headings = 'joint', 'kind', 'radius [m]', 'x, y [m]', 'steering', 'trail [m]'
    table = new_table('wheels by their axes and collision shapes', *headings)
    for wheel in found.wheels:
        radius = '?' if wheel.radius is None else f'{wheel.radius:g}'
        place = f'{wheel.centre[0]:g}, {wheel.centre[1]:g}'
        trail = f'{wheel.trail:.4g}' if wheel.steering else ''
        table.add_row(wheel.joint, wheel.kind, radius, place, wheel.steering or '', trail)
    console.print(table)
    for fit in found.fits:
        console.print(f'fits: {escape(fit.text)}', soft_wrap=True)
        for need in fit.needs:
            console.print(f'  [yellow]needs:[/yellow] {escape(need)}', soft_wrap=True)
    if not found.fits:
        console.print('no kind of base fits these wheels, with x of the root link forward')
