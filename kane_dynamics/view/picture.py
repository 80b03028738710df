# SPDX-License-Identifier: Apache-2.0
"""A figure that shows instants of a recorded motion: robots, ground, forces, time and events."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image
from scipy.spatial import ConvexHull

from kane_dynamics.robot.checks import as_choice
from kane_dynamics.typing import Floats
from kane_dynamics.view.drawing import Shape
from kane_dynamics.view.forces import STATES
from kane_dynamics.view.plots import PATH, STATE_COLOURS, paper_style
from kane_dynamics.view.recording import Recording
from kane_dynamics.view.window import LONGEST_ARROW, VIEWS, extent, placed, usual_strength

MARGIN = 0.06  # of the space that the motion takes
COARSE, FINE = 0.15, 0.03  # longest edge of a triangle, as a part of the robot's size
MOST_FACES = 400  # of a mesh in a coarse picture; larger ones are drawn as their convex hull
LIGHT = np.array([-0.35, -0.75, 0.9]) / np.linalg.norm([-0.35, -0.75, 0.9])
DARKEST = 0.55  # of a surface that turns its side to the light
FADED = 0.6  # how far the first robot of a strobe picture fades
SHOWN = 0.7  # how long an event is named [s]


def paper_axes(view: str) -> Floats:
    """Return right, up and towards the viewer of a view as rows, shape (3, 3)."""
    azimuth, elevation = np.radians(VIEWS[as_choice('view', view, VIEWS)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    level = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    towards = np.cos(elevation) * level + np.sin(elevation) * np.array([0.0, 0.0, 1.0])
    return np.array([right, np.cross(towards, right), towards])


class Picture:
    """Draws instants of a recording in one frame."""

    def __init__(
        self,
        recording: Recording,
        view: str,
        width: float,
        dots: int,
        instants: Sequence[int],
        fine: bool = False,
    ) -> None:
        self._recording, self._camera, self._view = recording, paper_axes(view), view
        _, size = extent(recording.shapes, recording.poses[:1])
        longest, most = (FINE * size, np.inf) if fine else (COARSE * size, MOST_FACES)
        self._shapes = [small_triangles(shape, longest, most) for shape in recording.shapes]
        self._strength = usual_strength(recording)
        self._length = LONGEST_ARROW * size / self._strength
        low, high = self._bounds(np.unique(instants))
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

    def _flat(self, points: Floats) -> Floats:
        """Return where points are on paper, shape (..., 2) [m]."""
        flat: Floats = points @ self._camera[:2].T
        return flat

    def _bounds(self, instants: Any) -> tuple[Floats, Floats]:
        """Return the corners of the paper that holds all robots and arrows [m]."""
        recording = self._recording
        points, vectors = recording.force_points[instants], recording.force_vectors[instants]
        acting = recording.force_states[instants] > 0
        acting &= np.linalg.norm(vectors, axis=-1) <= self._strength
        ends = (points + self._length * vectors)[acting]
        corners = [placed(shape, recording.poses[k]) for k in instants for shape in self._shapes]
        origins = recording.poses[instants, :, :3].reshape(-1, 3)
        flat = self._flat(np.concatenate([*corners, ends, origins]))
        flat = flat if len(flat) else np.zeros((1, 2))
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
        lines = self._flat(np.concatenate([ends, ends[:, :, [1, 0, 2]]]))
        axes.add_collection(LineCollection(list(lines), colors='0.85', linewidths=0.7, zorder=0))
        axes.set_title(f'squares of {step:g} m', fontsize=8, loc='right', color='0.4')

    def _legend(self) -> None:
        names = [STATES[k] for k in np.unique(self._recording.force_states) if k > 0]
        handles = [Patch(color=STATE_COLOURS[name], label=f'force: {name}') for name in names]
        if handles:
            self.figure.legend(handles=handles, loc='outside lower center', ncols=len(handles))

    def draw(self, *instants: int) -> None:
        """Draw some instants, and the path between them, instead of what was drawn."""
        for artist in self._artists:
            artist.remove()
        with paper_style():
            between = self._recording.poses[instants[0] : instants[-1] + 1, :1, :3]
            path = self._flat(between.reshape(-1, 3)).T
            self._artists = self._axes.plot(*path, '-', color=PATH, linewidth=1.5, zorder=0.5)
            depth = self._recording.poses[list(instants), :, :3].sum(axis=1) @ self._camera[2]
            pale = np.linspace(FADED, 0.0, len(instants) + 1)[1:]
            for rank, k in enumerate(np.argsort(depth.round(6), kind='stable')):  # nearest last
                zorder = 1.0 + rank / len(instants)
                self._artists += [self._robot(instants[k], pale[k], zorder)]
                self._artists += self._arrows(instants[k])
            self._artists += [self._text(instants)]

    def image(self, *instants: int) -> Image.Image:
        """Return the picture of some instants."""
        self.draw(*instants)
        self._canvas.draw()
        return Image.fromarray(np.asarray(self._canvas.buffer_rgba())).convert('RGB')

    def _robot(self, i: int, pale: float, zorder: float) -> Any:
        """Draw the triangles of a robot from back to front, their colours nearer to white."""
        corners, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
        for shape in self._shapes:
            corners.append(placed(shape, self._recording.poses[i])[shape.faces])
            tint = np.array(shape.colour) * (1.0 - pale) + pale
            colours.append(np.tile(tint, (len(shape.faces), 1)))
        every, tints = np.concatenate(corners), np.concatenate(colours)
        normals = np.cross(every[:, 1] - every[:, 0], every[:, 2] - every[:, 0])
        lengths = np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)
        slope = np.abs(normals @ LIGHT) / lengths
        tints *= (DARKEST + (1.0 - DARKEST) * slope)[:, None]
        order = np.argsort(every.mean(axis=1) @ self._camera[2])
        triangles = PolyCollection(
            list(self._flat(every[order])),
            facecolors=tints[order],
            edgecolors=tints[order],
            linewidths=0.4,
            zorder=zorder,
            rasterized=True,
        )
        return self._axes.add_collection(triangles)

    def _arrows(self, i: int) -> list[Any]:
        recording = self._recording
        arrow = self._flat(self._length * recording.force_vectors[i])
        acting = recording.force_states[i] > 0
        acting &= np.linalg.norm(arrow, axis=1) > 1e-3 * self._length
        if not acting.any():
            return []
        start = self._flat(recording.force_points[i])[acting]
        colours = [STATE_COLOURS[STATES[k]] for k in recording.force_states[i][acting]]
        one = {'angles': 'xy', 'scale_units': 'xy', 'scale': 1.0, 'width': 0.004, 'zorder': 3}
        return [self._axes.quiver(*start.T, *arrow[acting].T, color=colours, **one)]

    def _text(self, instants: Sequence[int]) -> Any:
        recording = self._recording
        first, time = recording.time[[instants[0], instants[-1]]].tolist()
        text = f'{recording.name}   {time:.2f} s'
        if len(instants) > 1:
            text = f'{recording.name}   {first:.2f} s to {time:.2f} s'
        newest = (recording.event_times <= time) & (recording.event_times > time - SHOWN)
        if newest.any():
            text += f'   {recording.event_texts[np.flatnonzero(newest)[-1]]}'
        return self._axes.text(0.0, 1.02, text, transform=self._axes.transAxes, fontsize=9)


def small_triangles(shape: Shape, longest: float, most: float = np.inf) -> Shape:
    """Return a surface without triangles that reach far [m]; the hull of one with more faces."""
    triangles = shape.vertices[shape.faces]
    sides = triangles[:, 1:] - triangles[:, :1]
    triangles = triangles[np.cross(sides[:, 0], sides[:, 1]).any(axis=1)]  # with an area
    if len(triangles) > most:
        triangles = shape.vertices[ConvexHull(shape.vertices, qhull_options='QJ').simplices]
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
