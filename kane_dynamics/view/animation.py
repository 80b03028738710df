# SPDX-License-Identifier: Apache-2.0
"""Recorded motions as animations (GIF) and as strobe pictures, drawn by Matplotlib."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_count, as_path, as_positive
from kane_dynamics.typing import Floats
from kane_dynamics.view.camera import Camera
from kane_dynamics.view.colours import STATE_COLOURS
from kane_dynamics.view.forces import STATES
from kane_dynamics.view.recording import Recording
from kane_dynamics.view.scene import LONGEST_ARROW, extent, placed
from kane_dynamics.view.shapes import Shape
from kane_dynamics.view.window import usual_strength

DOTS = 100  # an inch
MARGIN = 0.08  # of the space that the motion takes
MOST_FACES = 400  # of a mesh; larger ones are drawn as their convex hull
LIGHT = np.array([0.3, -0.5, 0.8])
DARKEST = 0.55  # of a surface that turns its side to the light
FINE = 0.15  # of the robot's size: longest edge of a triangle
GHOST = 0.75  # how far earlier robots of a strobe picture fade
SHOWN = 0.7  # how long an event is named [s]


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
    file = _file(path, '.gif')
    pace = as_positive('speed', speed) / as_positive('rate [Hz]', rate)
    count = max(round((recording.time[-1] - recording.time[0]) / pace), 1)
    times = recording.time[0] + pace * np.arange(count + 1)
    picture = _Picture(recording, view, width)
    images = [picture.image(recording.at(time + 1e-9)) for time in times]
    frames = [image.quantize(128, Image.Quantize.FASTOCTREE) for image in images]
    _save(frames[0], file, frames[1:], duration=round(1000.0 / rate), loop=0)
    return file


def write_strobe(
    recording: Recording,
    path: str | os.PathLike[str],
    view: str = 'oblique',
    count: int = 6,
    width: float = 6.4,
) -> Path:
    """
    Write one picture of a motion: the robot at equal times, earlier ones paler.

    Parameters
    ----------
    recording : Recording
        The motion.
    path : str or path
        File that ends in .png.
    view : str
        'oblique', 'side' or 'top'.
    count : int
        How many robots, at least 1.
    width : float
        In hundreds of pixels.

    Raises
    ------
    InvalidInputError
        If an argument is wrong or the file cannot be written.

    """
    file = _file(path, '.png')
    _save(strobe_image(recording, view, count, width), file)
    return file


def strobe_image(
    recording: Recording, view: str = 'oblique', count: int = 6, width: float = 6.4
) -> Image.Image:
    """
    Return the picture of `write_strobe`; `count` 1 is the start of a motion.

    Parameters
    ----------
    recording, view, count, width
        As for `write_strobe`.

    Raises
    ------
    InvalidInputError
        If an argument is wrong.

    """
    number = as_count('count', count)
    if number == 0:
        raise InvalidInputError('count: need at least 1, got 0')
    times = np.linspace(recording.time[0], recording.time[-1], number)
    picture = _Picture(recording, view, width)
    return picture.image(*[recording.at(time + 1e-9) for time in times])


class _Picture:
    """A figure that draws instants of a recording in one frame."""

    def __init__(self, recording: Recording, view: str, width: float) -> None:
        self._recording, self._camera, self._view = recording, Camera.named(view), view
        _, size = extent(recording.shapes, recording.poses[:1])
        self._shapes = [_in_small_triangles(s, FINE * size) for s in recording.shapes]
        self._strength = usual_strength(recording)
        self._length = LONGEST_ARROW * size / self._strength
        chosen = np.linspace(0, len(recording.time) - 1, 40).astype(int)
        low, high = self._bounds(np.unique(chosen))
        span = high - low
        height = width * float(np.clip(span[1] / span[0], 0.4, 1.2))
        self._figure = Figure((width, height + 0.8), dpi=DOTS, layout='constrained')
        self._canvas = FigureCanvasAgg(self._figure)
        self._axes = self._figure.subplots()
        self._axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect='equal')
        self._frame_axes(low, high)
        self._legend()
        self._artists: list[Any] = []

    def _bounds(self, chosen: Any) -> tuple[Floats, Floats]:
        """Return the corners of the paper that holds all robots and arrows [m]."""
        recording = self._recording
        ends = recording.force_points + self._length * recording.force_vectors
        corners = [placed(shape, recording.poses[k]) for k in chosen for shape in self._shapes]
        sizes = np.linalg.norm(recording.force_vectors, axis=-1)
        acting = (recording.force_states > 0) & (sizes <= self._strength)
        every = np.concatenate([*corners, ends[acting], recording.poses[:, :, :3].reshape(-1, 3)])
        flat = self._camera.flat(every) if len(every) else np.zeros((1, 2))
        low, high = flat.min(axis=0), flat.max(axis=0)
        margin = MARGIN * max(float((high - low).max()), 0.1)
        return low - margin, high + margin

    def _frame_axes(self, low: Floats, high: Floats) -> None:
        axes = self._axes
        if self._view != 'oblique':
            axes.set(xlabel='x [m]', ylabel='y [m]' if self._view == 'top' else 'z [m]')
            axes.grid(alpha=0.3)
            if self._view == 'side':
                axes.axhline(0.0, color='0.4', linewidth=1.0)
            return
        axes.set_axis_off()
        reach = float(np.abs([low, high]).max()) + 3.0
        step = 0.5 if (high - low).max() < 4.0 else 1.0
        ticks = step * np.arange(-np.ceil(reach / step), np.ceil(reach / step) + 1)
        ends = np.array([[[t, -reach, 0.0], [t, reach, 0.0]] for t in ticks])
        lines = self._camera.flat(np.concatenate([ends, ends[:, :, [1, 0, 2]]]))
        axes.add_collection(LineCollection(list(lines), colors='0.85', linewidths=0.7, zorder=0))
        axes.set_title(f'squares of {step:g} m', fontsize=8, loc='right', color='0.5')

    def _legend(self) -> None:
        occur = np.unique(self._recording.force_states)
        names = [STATES[k] for k in occur if STATES[k] != 'open']
        handles = [Patch(color=STATE_COLOURS[name], label=f'force: {name}') for name in names]
        if handles:
            self._figure.legend(
                handles=handles, loc='outside lower center', ncols=len(handles), frameon=False
            )

    def image(self, *instants: int) -> Image.Image:
        """Return the picture of some instants, forces and time of the last."""
        for artist in self._artists:
            artist.remove()
        self._artists = []
        for age, i in zip(range(len(instants) - 1, -1, -1), instants, strict=True):
            pale = GHOST * age / max(len(instants) - 1, 1)
            self._draw_robot(i, pale, zorder=2.0 - age / len(instants))
        self._draw_forces(instants[-1])
        self._draw_text(instants[-1])
        self._canvas.draw()
        return Image.fromarray(np.asarray(self._canvas.buffer_rgba())).convert('RGB')

    def _draw_robot(self, i: int, pale: float, zorder: float) -> None:
        poses = self._recording.poses[i]
        corners, colours = [], []
        for shape in self._shapes:
            triangles = placed(shape, poses)[shape.faces]
            normals = np.cross(
                triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
            )
            lengths = np.linalg.norm(normals, axis=1)
            seen = lengths > 0.0
            facing = np.abs(normals[seen] @ LIGHT) / (lengths[seen] * np.linalg.norm(LIGHT))
            shade = DARKEST + (1.0 - DARKEST) * facing
            corners.append(triangles[seen])
            colours.append(shade[:, None] * np.array(shape.colour))
        if not corners:
            return
        every, tints = np.concatenate(corners), np.concatenate(colours)
        order = np.argsort(self._camera.depth(every.mean(axis=1)))
        tints = tints[order] + pale * (1.0 - tints[order])
        flat = list(self._camera.flat(every[order]))
        robot = PolyCollection(
            flat, facecolors=tints, edgecolors=tints, linewidths=0.4, zorder=zorder
        )
        self._artists.append(self._axes.add_collection(robot))

    def _draw_forces(self, i: int) -> None:
        recording = self._recording
        start = self._camera.flat(recording.force_points[i])
        arrow = self._camera.flat(self._length * recording.force_vectors[i])
        long_enough = np.linalg.norm(arrow, axis=1) > 1e-3 * self._length
        acting = (recording.force_states[i] > 0) & long_enough
        if not acting.any():
            return
        names = [STATES[k] for k in recording.force_states[i][acting]]
        arrows = self._axes.quiver(
            *start[acting].T,
            *arrow[acting].T,
            color=[to_rgb(STATE_COLOURS[name]) for name in names],
            angles='xy',
            scale_units='xy',
            scale=1.0,
            width=0.006,
            zorder=3,
        )
        self._artists.append(arrows)

    def _draw_text(self, i: int) -> None:
        recording = self._recording
        time = float(recording.time[i])
        past = np.flatnonzero(recording.event_times <= time)
        newest = [k for k in past if recording.event_times[k] > time - SHOWN]
        text = f'{recording.name}   {time:.2f} s'
        if newest:
            text += f'   {recording.event_texts[newest[-1]]}'
        self._artists.append(
            self._axes.text(0.0, 1.02, text, transform=self._axes.transAxes, fontsize=9)
        )


def _in_small_triangles(shape: Shape, longest: float) -> Shape:
    """Return a surface for drawing from back to front: without triangles that reach far [m]."""
    faces = shape.faces
    if len(faces) > MOST_FACES:
        from scipy.spatial import ConvexHull

        faces = ConvexHull(shape.vertices).simplices
    triangles = shape.vertices[faces]
    while True:
        edges = np.linalg.norm(triangles - triangles[:, [1, 2, 0]], axis=-1)
        large = edges.max(axis=1, initial=0.0) > longest
        if not large.any():
            corners = triangles.reshape(-1, 3)
            return replace(shape, vertices=corners, faces=np.arange(len(corners)).reshape(-1, 3))
        first = edges[large].argmax(axis=1)  # the longest edge begins here
        order = (first[:, None] + np.arange(3)) % 3
        a, b, c = np.moveaxis(np.take_along_axis(triangles[large], order[..., None], 1), 1, 0)
        middle = 0.5 * (a + b)
        halves = [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        triangles = np.concatenate([triangles[~large], *halves])


def _file(path: str | os.PathLike[str], suffix: str) -> Path:
    file = Path(as_path('path', path))
    if file.suffix != suffix:
        raise InvalidInputError(f"path: need a file that ends in {suffix}, got '{file}'")
    return file


def _save(image: Image.Image, file: Path, more: Sequence[Image.Image] = (), **how: Any) -> None:
    options = {'save_all': True, 'append_images': list(more), **how} if more else {}
    try:
        image.save(file, **options)
    except OSError as error:
        raise InvalidInputError(f"'{file}' cannot be written: {error}") from error
