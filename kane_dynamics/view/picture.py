# SPDX-License-Identifier: Apache-2.0
"""A figure that shows instants of a recorded motion: robots, ground, forces, time and events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image

from kane_dynamics.typing import Floats
from kane_dynamics.view.camera import Camera
from kane_dynamics.view.colours import PATH, STATE_COLOURS
from kane_dynamics.view.forces import STATES
from kane_dynamics.view.painted import painted
from kane_dynamics.view.painter import polygons, small_triangles
from kane_dynamics.view.rays import render
from kane_dynamics.view.recording import Recording
from kane_dynamics.view.scene import LONGEST_ARROW, extent, placed
from kane_dynamics.view.style import paper_style
from kane_dynamics.view.window import usual_strength

MARGIN = 0.06  # of the space that the motion takes
FINE = 0.15  # of the robot's size: longest edge of a triangle of a flat picture
GHOST = 0.75  # how far earlier robots fade in a flat picture
SHOWN = 0.7  # how long an event is named [s]


class Picture:
    """
    Draws instants of a recording in one frame.

    Parameters
    ----------
    recording : Recording
        The motion.
    view : str
        Of `Camera.named`.
    width : float
        [inch].
    dots : int
        Pixels an inch.
    instants : sequence of int
        All that will be drawn: the frame holds them.
    passes : int
        Of `render`; 0 for flat pictures, which are quick.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        What is drawn.

    """

    def __init__(
        self,
        recording: Recording,
        view: str,
        width: float,
        dots: int,
        instants: Sequence[int],
        passes: int = 0,
    ) -> None:
        self._recording, self._camera, self._view = recording, Camera.named(view), view
        self._passes = passes
        _, size = extent(recording.shapes, recording.poses[:1])
        self._shapes = recording.shapes
        if passes == 0:
            self._shapes = tuple(small_triangles(s, FINE * size) for s in recording.shapes)
        self._strength = usual_strength(recording)
        self._length = LONGEST_ARROW * size / self._strength
        self._low, self._high = low, high = self._bounds(np.unique(instants))
        span = high - low
        height = width * float(np.clip(span[1] / span[0], 0.3, 1.2))
        self._artists: list[Any] = []
        with paper_style():
            self.figure = Figure((width, height + 0.5), dpi=dots, layout='constrained')
            self._canvas = FigureCanvasAgg(self.figure)
            self._axes = self.figure.subplots()
            self._axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect='equal')
            self._frame_axes(low, high)
            self._legend()

    def _bounds(self, selection: Any) -> tuple[Floats, Floats]:
        """Return the corners of the paper that holds all robots and arrows [m]."""
        recording = self._recording
        points, vectors = recording.force_points[selection], recording.force_vectors[selection]
        acting = recording.force_states[selection] > 0
        acting &= np.linalg.norm(vectors, axis=-1) <= self._strength
        ends = (points + self._length * vectors)[acting]
        corners = [placed(shape, recording.poses[k]) for k in selection for shape in self._shapes]
        every = np.concatenate([*corners, ends, recording.poses[selection, :, :3].reshape(-1, 3)])
        flat = self._camera.flat(every) if len(every) else np.zeros((1, 2))
        low, high = flat.min(axis=0), flat.max(axis=0)
        margin = MARGIN * max(float((high - low).max()), 0.1)
        return low - margin, high + margin

    def _frame_axes(self, low: Floats, high: Floats) -> None:
        axes = self._axes
        if self._view != 'oblique':
            axes.set(xlabel='x [m]', ylabel='y [m]' if self._view == 'top' else 'z [m]')
            if self._view == 'side':
                axes.axhline(0.0, color='0.4', linewidth=1.0)  # the ground
            return
        axes.set_axis_off()
        reach = float(np.abs([low, high]).max()) + 3.0
        step = 0.5 if (high - low).max() < 4.0 else 1.0
        ticks = step * np.arange(-np.ceil(reach / step), np.ceil(reach / step) + 1)
        ends = np.array([[[t, -reach, 0.0], [t, reach, 0.0]] for t in ticks])
        lines = self._camera.flat(np.concatenate([ends, ends[:, :, [1, 0, 2]]]))
        axes.add_collection(LineCollection(list(lines), colors='0.85', linewidths=0.7, zorder=0))
        axes.set_title(f'squares of {step:g} m', fontsize=8, loc='right', color='0.4')

    def _legend(self) -> None:
        occur = np.unique(self._recording.force_states)
        names = [STATES[k] for k in occur if STATES[k] != 'open']
        handles = [Patch(color=STATE_COLOURS[name], label=f'force: {name}') for name in names]
        if handles:
            self.figure.legend(handles=handles, loc='outside lower center', ncols=len(handles))

    def draw(self, *instants: int) -> None:
        """Draw some instants, and the path between them, instead of what was drawn."""
        for artist in self._artists:
            artist.remove()
        self._artists = []
        with paper_style():
            self._draw_path(instants)
            (self._shaded_robots if self._passes else self._flat_robots)(instants)
            for i in instants:
                self._draw_forces(i)
            self._draw_text(instants)

    def image(self, *instants: int) -> Image.Image:
        """Return the picture of some instants."""
        self.draw(*instants)
        self._canvas.draw()
        return Image.fromarray(np.asarray(self._canvas.buffer_rgba())).convert('RGB')

    def _draw_path(self, instants: Sequence[int]) -> None:
        """Draw where the first body went."""
        between = self._recording.poses[instants[0] : instants[-1] + 1, :1, :3]
        x, y = self._camera.flat(between.reshape(-1, 3)).T
        self._artists += self._axes.plot(x, y, '-', color=PATH, linewidth=1.5, zorder=0.5)

    def _flat_robots(self, instants: Sequence[int]) -> None:
        last = max(len(instants) - 1, 1)
        for k, i in enumerate(instants):
            pale = GHOST * (len(instants) - 1 - k) / last
            robot = painted(self._shapes, self._recording.poses[[i]], pale)
            zorder = 1.0 + (k + 1) / len(instants)
            self._artists.append(self._axes.add_collection(polygons(robot, self._camera, zorder)))

    def _shaded_robots(self, instants: Sequence[int]) -> None:
        surface = painted(self._shapes, self._recording.poses[list(instants)])
        self.figure.draw_without_rendering()  # now it is known how many pixels the axes have
        extent_ = self._axes.get_window_extent()
        size = max(round(extent_.width), 1), max(round(extent_.height), 1)
        low, high = self._low, self._high
        image = render(surface, self._camera, low, high, size, self._passes)
        corners = (low[0], high[0], low[1], high[1])
        self._artists.append(self._axes.imshow(image, extent=corners, zorder=2.0, aspect='equal'))

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
            width=0.004,
            zorder=3,
        )
        self._artists.append(arrows)

    def _draw_text(self, instants: Sequence[int]) -> None:
        recording = self._recording
        first, time = recording.time[[instants[0], instants[-1]]].tolist()
        text = f'{recording.name}   {time:.2f} s'
        if len(instants) > 1:
            text = f'{recording.name}   {first:.2f} s to {time:.2f} s'
        past = np.flatnonzero(recording.event_times <= time)
        newest = [k for k in past if recording.event_times[k] > time - SHOWN]
        if newest:
            text += f'   {recording.event_texts[newest[-1]]}'
        self._artists.append(
            self._axes.text(0.0, 1.02, text, transform=self._axes.transAxes, fontsize=9)
        )
