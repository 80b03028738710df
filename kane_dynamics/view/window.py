# SPDX-License-Identifier: Apache-2.0
"""
The window in the browser (viser): a recording with a time slider, or a robot with joint sliders.

A scene shows a robot, the ground and force arrows.
"""

import html
import time as wall
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kane_dynamics.exceptions import MissingPackageError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats
from kane_dynamics.view.drawing import INSTALL, Drawing, Shape
from kane_dynamics.view.forces import STATES, Force
from kane_dynamics.view.plots import STATE_COLOURS, linear
from kane_dynamics.view.recorder import pose_rows
from kane_dynamics.view.recording import Recording

LONGEST_ARROW = 0.5  # of the robot's size
LEAST_ARROW = 1e-3  # of the longest; shorter ones are not shown
LEAST_SIZE = 0.1  # of a robot, for cameras and arrows [m]
# azimuth and elevation of the direction towards the viewer [deg]
VIEWS = {'oblique': (-60.0, 25.0), 'side': (-90.0, 0.0), 'top': (-90.0, 90.0)}


def start_server(host: str = 'localhost', port: int = 8080) -> Any:
    """Return a viser server; where the port is taken, on the next free one."""
    try:
        viser = import_module('viser')
    except ImportError as error:
        raise MissingPackageError('the window', 'viser', INSTALL) from error
    return viser.ViserServer(host=host, port=port, verbose=False)


class Scene:
    """Draws states; nothing here knows about time."""

    def __init__(
        self, server: Any, body_names: Sequence[str], shapes: Sequence[Shape], size: float
    ) -> None:
        self._server, self._size, self.strength = server, size, 1.0
        scene = server.scene
        scene.set_up_direction('+z')
        scene.add_grid(
            '/ground',
            infinite_grid=True,
            cell_size=0.1,
            section_size=1.0,
            fade_distance=12.0 * size,
        )
        self.bodies = {
            name: scene.add_frame(f'/robot/{name}', show_axes=False) for name in body_names
        }
        parents = ['/world', *(f'/robot/{name}' for name in body_names)]
        for k, shape in enumerate(shapes):
            scene.add_mesh_simple(
                f'{parents[shape.body + 1]}/shape_{k}',
                shape.vertices,
                shape.faces,
                color=tuple(round(255 * c) for c in shape.colour),
                flat_shading=True,
                side='double',
            )
        self.arrows: dict[str, Any] = {}

    def camera(self, centre: Floats, size: float) -> None:
        """Look at a point [m] from above, to see a space of some size [m] about it."""
        camera = self._server.initial_camera
        camera.look_at = tuple(centre)
        camera.position = tuple(centre + size * np.array([0.75, -0.75, 0.5]))

    def show(self, poses: Floats, forces: Sequence[Force]) -> None:
        """Draw a state."""
        with self._server.atomic():
            for node, pose in zip(self.bodies.values(), poses, strict=True):
                node.position, node.wxyz = pose[:3], pose[3:]
            acting = {force.name: force for force in forces if force.state != 'open'}
            for name in {*self.arrows, *acting}:
                self._show_arrow(name, acting.get(name))

    def _show_arrow(self, name: str, force: Force | None) -> None:
        length = LONGEST_ARROW * self._size / self.strength
        arrow = np.zeros(3) if force is None else length * np.asarray(force.vector)
        if force is None or np.linalg.norm(arrow) <= LEAST_ARROW * LONGEST_ARROW * self._size:
            if name in self.arrows:
                self.arrows[name].visible = False
            return
        ends = np.array([[force.point, force.point + arrow]], dtype=np.float32)
        colour = np.array([linear(STATE_COLOURS[force.state])], dtype=np.uint8)
        if name not in self.arrows:
            thin = 0.008 * self._size
            self.arrows[name] = self._server.scene.add_arrows(
                f'/forces/{name}',
                ends,
                colour,
                shaft_radius=thin,
                head_radius=2.5 * thin,
                head_length=5.0 * thin,
            )
            return
        node = self.arrows[name]
        node.points, node.colors = ends, colour
        node.visible = True


def extent(shapes: Sequence[Shape], poses: Floats) -> tuple[Floats, float]:
    """Return the middle of a robot in several states, (m, b, 7), and its largest side [m]."""
    corners = [placed(shape, state) for shape in shapes for state in poses]
    every = np.concatenate([np.zeros((0, 3)), *corners, *poses[:, :, :3]])
    if not len(every):
        return np.zeros(3), 1.0
    low, high = every.min(axis=0), every.max(axis=0)
    return 0.5 * (low + high), max(float((high - low).max()), LEAST_SIZE)


def placed(shape: Shape, poses: Floats) -> Floats:
    """Return the vertices of a shape in the world, shape (n, 3) [m]."""
    if shape.body < 0:
        return shape.vertices
    position, wxyz = np.split(poses[shape.body], [3])
    placed_at: Floats = Rotation.from_quat(wxyz[[1, 2, 3, 0]]).apply(shape.vertices) + position
    return placed_at


FRAME = 1.0 / 30.0  # wall time between frames [s]
SPEEDS = ('0.1', '0.25', '0.5', '1', '2', '4')
UNLIMITED = np.pi  # slider of a joint without limits [rad or m]
NEWEST_EVENTS = 6
SOME = 10  # instants that the camera has in view
FEW = 90  # percent of the arrows are at most as long as intended


class RecordingWindow:
    """Plays a recording: time slider, play and pause, speed, states and forces of constraints."""

    def __init__(self, server: Any, recording: Recording) -> None:
        self._recording, self._server, self._shown = recording, server, -1
        _, size = extent(recording.shapes, recording.poses[:1])
        self.scene = Scene(server, recording.body_names, recording.shapes, size)
        self.scene.strength = usual_strength(recording)
        some = recording.poses[:: max(len(recording.poses) // SOME, 1)]
        self.scene.camera(*extent(recording.shapes, some))
        self.playing = True
        self._start, self._end = float(recording.time[0]), float(recording.time[-1])
        self._build_panel(server.gui)
        self.show(self._start)

    def _build_panel(self, gui: Any) -> None:
        gui.set_panel_label(self._recording.name)
        self._button = gui.add_button('Pause')
        self._button.on_click(lambda _: self._set_playing(not self.playing))
        start, span = self._start, max(self._end - self._start, 1e-3)
        self.slider = gui.add_slider(
            'time [s]', start, start + span, span / 1000.0, initial_value=start
        )
        self.slider.on_update(lambda event: self._on_slider(event.client is not None))
        self.speed = gui.add_dropdown('speed', SPEEDS, initial_value='1')
        if len(self._recording.event_times):
            gui.add_button('Next event').on_click(lambda _: self._to_next_event())
        self.table = gui.add_html('')

    @property
    def time(self) -> float:
        """Return the time that is shown [s]."""
        return float(self.slider.value)

    def show(self, time: float) -> None:
        """Show the last recorded instant that is not after a time [s]."""
        recording, i = self._recording, self._recording.at(time)
        if i == self._shown:
            return
        self._shown = i
        states = [STATES[k] for k in recording.force_states[i]]
        sites = recording.force_points[i], recording.force_vectors[i]
        rows = zip(recording.force_names, *sites, states, recording.force_units, strict=True)
        forces = [Force(*row) for row in rows]
        self.scene.show(recording.poses[i], forces)
        past = recording.event_times <= recording.time[i]
        times = recording.event_times[past].tolist()
        texts = [text for text, was in zip(recording.event_texts, past, strict=True) if was]
        lines = [f'{t:.4f} s: {text}' for t, text in zip(times, texts, strict=True)]
        self.table.content = force_table(forces, lines[-NEWEST_EVENTS:])

    def tick(self, elapsed: float) -> None:
        """Go on by wall time [s]; after the end from the beginning."""
        if not self.playing:
            return
        time = self.time + elapsed * float(self.speed.value)
        self.slider.value = time if time <= self._end else self._start
        self.show(self.slider.value)

    def run(self) -> None:
        """Play until interrupted."""
        before = wall.monotonic()
        while True:
            wall.sleep(FRAME)
            now = wall.monotonic()
            self.tick(now - before)
            before = now

    def _on_slider(self, by_hand: bool) -> None:
        if by_hand:
            self._set_playing(False)
            self.show(self.time)

    def _set_playing(self, playing: bool) -> None:
        self.playing = playing
        self._button.label = 'Pause' if playing else 'Play'

    def _to_next_event(self) -> None:
        """Pause at the first event after the time shown, or the first of all."""
        times = self._recording.event_times
        later = times[times > self._recording.time[self._shown]]
        self._set_playing(False)
        i = int(np.searchsorted(self._recording.time, later[0] if len(later) else times[0]))
        time = float(self._recording.time[min(i, len(self._recording.time) - 1)])
        self.slider.value = time  # rounded to its steps
        self.show(time)


class PoseWindow:
    """Shows a robot with a slider for each coordinate of a joint with one."""

    def __init__(self, server: Any, robot: Robot, drawing: Drawing) -> None:
        self._robot, self._q = robot, robot.neutral()
        centre, size = extent(drawing.shapes, pose_rows(robot, self._q)[None])
        names = [body.name for body in robot.bodies]
        self.scene = Scene(server, names, drawing.shapes, size)
        self.scene.camera(centre, size)
        server.gui.set_panel_label(robot.name)
        self.sliders: dict[str, Any] = {}
        for name in robot.coordinate_names:
            if name in robot.velocity_names:  # not a part of a quaternion
                self.sliders[name] = self._slider(server.gui, name)
        self.show()

    def _slider(self, gui: Any, name: str) -> Any:
        k = self._robot.coordinate_index(name)
        low, high = float(self._robot.lower[k]), float(self._robot.upper[k])
        if not (np.isfinite([low, high]).all() and low < high):
            low, high = -UNLIMITED, UNLIMITED
        start = min(max(float(self._q[k]), low), high)
        slider = gui.add_slider(name, low, high, (high - low) / 500.0, initial_value=start)
        slider.on_update(lambda _: self.show())
        self._q[k] = start
        return slider

    def show(self) -> None:
        """Show the robot where the sliders are."""
        for name, slider in self.sliders.items():
            self._q[self._robot.coordinate_index(name)] = slider.value
        self.scene.show(pose_rows(self._robot, self._q), ())

    def run(self) -> None:
        """Stay until interrupted; the sliders do the rest."""
        while True:
            wall.sleep(1.0)


def usual_strength(recording: Recording) -> float:
    """Return the force or couple that few arrows exceed [N or N m]; 1 without forces."""
    sizes = np.linalg.norm(recording.force_vectors, axis=-1)
    acting = sizes[sizes > 0.0]
    return float(np.percentile(acting, FEW)) if len(acting) else 1.0


def force_table(forces: Sequence[Force], events: Sequence[str]) -> str:
    """Return constraints, their states in words and colour and forces, and events, as HTML."""
    style = 'margin:0 1em;font-size:0.85em'
    rows = [
        f'<tr><td style="color:{STATE_COLOURS[force.state]}">&#9632; {force.state}</td>'
        f'<td>{html.escape(force.name)}</td><td align="right">'
        f'{np.linalg.norm(force.vector):.4g} {force.unit}</td></tr>'
        for force in forces
    ]
    lines = ''.join(f'<div>{html.escape(event)}</div>' for event in events)
    return f'<div style="{style}"><table width="100%">{"".join(rows)}</table>{lines}</div>'
