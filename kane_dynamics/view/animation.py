# SPDX-License-Identifier: Apache-2.0
"""A recorded motion as animation (GIF), as strobe picture (PNG, PDF), and with its curves."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_count, as_path, as_positive
from kane_dynamics.view.picture import Picture
from kane_dynamics.view.plots import COLUMN, DOTS, Panel, save_figure, write_curves
from kane_dynamics.view.recording import Recording

__all__ = ['write_animation', 'write_picture', 'write_pictures']

SCREEN_DOTS = 100  # an inch, of animations
ROUNDOFF = 1e-9  # [s]
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
    width: float = COLUMN,
) -> Path:
    """
    Write one picture of a motion: the robot at equal times (strobe), with 200 dots an inch.

    Matplotlib draws the triangles from back to front, earlier robots paler.

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

    Raises
    ------
    InvalidInputError
        If an argument is wrong or the file cannot be written.

    """
    file = _file(path, ('.png', '.pdf'))
    instants = _strobe(recording, count)
    picture = Picture(recording, view, as_positive('width', width), DOTS, instants, fine=True)
    picture.draw(*instants)
    return save_figure(picture.figure, file, also=())[0]


def strobe_image(recording: Recording, count: int = ROBOTS) -> Image.Image:
    """Return a coarse `write_picture` for a screen, 640 pixels wide."""
    instants = _strobe(recording, count)
    return Picture(recording, 'oblique', 6.4, SCREEN_DOTS, instants).image(*instants)


def write_pictures(
    recording: Recording,
    folder: str | os.PathLike[str],
    name: str,
    panels: Sequence[Panel],
    view: str = 'oblique',
    speed: float = 1.0,
) -> list[Path]:
    """
    Write a recording (npz), its animation (gif), a strobe picture and its curves (png).

    Parameters
    ----------
    recording : Recording
        The motion.
    folder : str or path
        It is made where it does not exist.
    name : str
        Of the files, without an ending.
    panels : sequence of Panel
        Curves over the times of the recording.
    view, speed
        As for `write_animation`.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InvalidInputError
        If an argument is wrong, or files cannot be written there.

    """
    target = Path(as_path('folder', folder))
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"folder '{target}' cannot be made: {error}") from error
    events = list(zip(recording.event_times.tolist(), recording.event_texts, strict=True))
    title = name.replace('_', ' ').capitalize()
    return [
        recording.save(target / f'{name}.npz'),
        write_animation(recording, target / f'{name}.gif', view, speed=speed),
        write_picture(recording, target / f'{name}_strobe.png', view),
        write_curves(target / f'{name}.png', title, recording.time, panels, events),
    ]


def _strobe(recording: Recording, count: int) -> list[int]:
    times = np.linspace(recording.time[0], recording.time[-1], as_count('count', count, 1))
    return [recording.at(time + ROUNDOFF) for time in times]


def _file(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> Path:
    file = Path(as_path('path', path))
    if file.suffix not in suffixes:
        raise InvalidInputError(
            f"path: need a file that ends in {' or '.join(suffixes)}, got '{file}'"
        )
    return file
