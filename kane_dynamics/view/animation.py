# SPDX-License-Identifier: Apache-2.0
"""Recorded motions as animations (GIF) and as still and strobe pictures (PNG, PDF)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from PIL import Image

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_count, as_path, as_positive
from kane_dynamics.view.picture import Picture
from kane_dynamics.view.recording import Recording
from kane_dynamics.view.style import DOTS, save_figure

__all__ = ['write_animation', 'write_picture']

SCREEN_DOTS = 100  # an inch, of animations
ROUNDOFF = 1e-9  # [s]
PASSES = 9  # of rays, in a shaded picture
FORMATS = ('.png', '.pdf')
ROBOTS = 6  # in a strobe picture


def write_animation(
    recording: Recording,
    path: str | os.PathLike[str],
    view: str = 'oblique',
    rate: float = 20.0,
    speed: float = 1.0,
    width: float = 6.4,
) -> Path:
    """
    Write a recorded motion as GIF.

    Parameters
    ----------
    recording : Recording
        The motion.
    path : str or path
        File that ends in .gif.
    view : str
        'oblique', 'side' or 'top'.
    rate : float
        Pictures a second of the animation [Hz].
    speed : float
        Recorded seconds a second of the animation.
    width : float
        In hundreds of pixels.

    Raises
    ------
    InvalidInputError
        If an argument is wrong or the file cannot be written.

    """
    file = _file(path, ('.gif',))
    scaling = as_positive('speed', speed) / as_positive('rate [Hz]', rate)
    count = max(round((recording.time[-1] - recording.time[0]) / scaling), 1)
    times = recording.time[0] + scaling * np.arange(count + 1)
    instants = [recording.at(time + ROUNDOFF) for time in times]
    picture = Picture(recording, view, width, SCREEN_DOTS, instants)
    first, *more = [picture.image(i).quantize(128, Image.Quantize.FASTOCTREE) for i in instants]
    try:
        first.save(file, save_all=True, append_images=more, duration=round(1e3 / rate), loop=0)
    except OSError as error:
        raise InvalidInputError(f"'{file}' cannot be written: {error}") from error
    return file


def write_picture(
    recording: Recording,
    path: str | os.PathLike[str],
    view: str = 'oblique',
    count: int = ROBOTS,
    width: float = 6.4,
    shaded: bool = True,
) -> Path:
    """
    Write one picture of a motion: the robot at equal times (strobe), with 200 dots an inch.

    Parameters
    ----------
    recording : Recording
        The motion.
    path : str or path
        File that ends in .png or .pdf.
    view : str
        'oblique', 'side' or 'top'.
    count : int
        How many robots; 1 is the start of the motion.
    width : float
        [inch].
    shaded : bool
        Whether light, shadow and what hides what are exact: rays, cast by embreex. Otherwise the
        shapes are painted flat, large meshes as coarse hulls, earlier robots paler.

    Raises
    ------
    InvalidInputError
        If an argument is wrong or the file cannot be written.
    MissingPackageError
        If a shaded picture is wanted and embreex is not installed.

    """
    file = _file(path, FORMATS)
    instants = _strobe(recording, count)
    passes = PASSES if shaded else 0
    picture = Picture(recording, view, as_positive('width', width), DOTS, instants, passes)
    picture.draw(*instants)
    return save_figure(picture.figure, file, also=())[0]


def strobe_image(
    recording: Recording, view: str = 'oblique', count: int = ROBOTS, width: float = 6.4
) -> Image.Image:
    """
    Return the flat picture of `write_picture`, quickly, for a screen.

    Parameters
    ----------
    recording, view, count
        As for `write_picture`.
    width : float
        In hundreds of pixels.

    Raises
    ------
    InvalidInputError
        If an argument is wrong.

    """
    instants = _strobe(recording, count)
    return Picture(recording, view, width, SCREEN_DOTS, instants).image(*instants)


def _strobe(recording: Recording, count: int) -> list[int]:
    number = as_count('count', count)
    if number == 0:
        raise InvalidInputError('count: need at least 1, got 0')
    times = np.linspace(recording.time[0], recording.time[-1], number)
    return [recording.at(time + ROUNDOFF) for time in times]


def _file(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> Path:
    file = Path(as_path('path', path))
    if file.suffix not in suffixes:
        raise InvalidInputError(
            f"path: need a file that ends in {' or '.join(suffixes)}, got '{file}'"
        )
    return file
