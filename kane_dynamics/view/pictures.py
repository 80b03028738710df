# SPDX-License-Identifier: Apache-2.0
"""All that is written of a recorded motion: itself, an animation, a strobe picture, curves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_path
from kane_dynamics.view.animation import write_animation, write_picture
from kane_dynamics.view.plots import Panel, write_curves
from kane_dynamics.view.rays import can_render
from kane_dynamics.view.recording import Recording

__all__ = ['write_pictures']


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

    The strobe picture is shaded where embreex is installed, else flat; see `write_picture`.

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
    place = Path(as_path('folder', folder))
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"folder '{place}' cannot be made: {error}") from error
    events = list(zip(recording.event_times.tolist(), recording.event_texts, strict=True))
    title = name.replace('_', ' ').capitalize()
    return [
        recording.save(place / f'{name}.npz'),
        write_animation(recording, place / f'{name}.gif', view, speed=speed),
        write_picture(recording, place / f'{name}_strobe.png', view, shaded=can_render()),
        write_curves(place / f'{name}.png', title, recording.time, panels, events),
    ]
