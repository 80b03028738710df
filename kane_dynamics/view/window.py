# SPDX-License-Identifier: Apache-2.0
"""The window in the browser: a recording with a time slider, or a robot with joint sliders."""

from __future__ import annotations

import html
import time as wall
from collections.abc import Sequence
from typing import Any

import numpy as np

from kane_dynamics.robot.robot import Robot
from kane_dynamics.view.drawing import Drawing
from kane_dynamics.view.forces import STATES, Force
from kane_dynamics.view.recorder import pose_rows
from kane_dynamics.view.recording import Recording
from kane_dynamics.view.scene import Scene, extent
from kane_dynamics.view.style import STATE_COLOURS

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
        self._button.on_click(lambda _: self._toggle())
        span = max(self._end - self._start, 1e-3)
        self.slider = gui.add_slider(
            'time [s]',
            self._start,
            self._start + span,
            span / 1000.0,
            initial_value=self._start,
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
        forces = recorded_forces(recording, i)
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

    def _toggle(self) -> None:
        self._set_playing(not self.playing)

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


def recorded_forces(recording: Recording, i: int) -> list[Force]:
    """Return the forces of a recording at an instant."""
    return [
        Force(
            name,
            recording.force_points[i, k],
            recording.force_vectors[i, k],
            STATES[recording.force_states[i, k]],
            recording.force_units[k],
        )
        for k, name in enumerate(recording.force_names)
    ]


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
