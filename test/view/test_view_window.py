# SPDX-License-Identifier: Apache-2.0
"""The scene of the window, without a browser: nodes, messages, sliders, time."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip('viser', reason='the extra "view" is not installed')

import kane_dynamics as kd
from kane_dynamics.exceptions import MissingPackageError
from kane_dynamics.view.drawing import urdf_drawing
from kane_dynamics.view.forces import Force
from kane_dynamics.view.plots import STATE_COLOURS, linear
from kane_dynamics.view.recorder import pose_rows
from kane_dynamics.view.window import PoseWindow, RecordingWindow, Scene, force_table, start_server

PORT = 8311


@pytest.fixture
def server():
    server = start_server(port=PORT)
    yield server
    server.stop()


@pytest.fixture
def window(server, drive):
    return RecordingWindow(server, drive)


def test_bodies_stand_where_they_were_recorded(window, drive):
    for k in (0, 3, 5):
        window.show(drive.time[k])
        for node, pose in zip(window.scene.bodies.values(), drive.poses[k], strict=True):
            assert_allclose(node.position, pose[:3], atol=1e-15)
            assert_allclose(node.wxyz, pose[3:], atol=1e-15)
    assert tuple(window.scene.bodies) == drive.body_names


def test_arrows_are_forces_in_the_colour_of_their_state(window, drive):
    window.scene.strength = 60.0
    window.show(0.1)
    arrow = window.scene.arrows['wheel_left_joint/rolling']
    start, end = arrow.points[0]
    assert_allclose(start, drive.force_points[1, 1], atol=1e-6)  # single precision
    turned = np.array([np.cos(0.1), np.sin(0.1), 0.0])  # 20 N along the track of the wheel
    length = np.linalg.norm(end - start)
    assert_allclose((end - start) / length, turned, atol=1e-6)
    other = window.scene.arrows['wheel_right_joint/rolling']
    assert_allclose(np.ptp(other.points[0], axis=0), 1.5 * np.abs(end - start), atol=1e-6)
    window.scene.strength = 30.0
    seen = []
    for k in range(1, 6):
        window.show(drive.time[k])
        seen.append(arrow.visible)
        state = ('holds', 'holds', 'sticks', 'slips', 'slips', 'open')[k]
        if state != 'open':
            assert_array_equal(arrow.colors, [linear(STATE_COLOURS[state])])
    assert seen == [True, True, True, True, False]
    assert_allclose(np.linalg.norm(np.diff(arrow.points[0], axis=0)), 2.0 * length, rtol=1e-5)


def test_states_are_told_apart_without_colour(window):
    colours = [linear(colour) for colour in STATE_COLOURS.values()]
    brightness = sorted(np.array(colours) @ (0.2126, 0.7152, 0.0722))
    assert len({round(b) for b in brightness}) == 4
    window.show(0.3)
    assert 'slips' in window.table.content and 'wheel_left_joint/rolling' in window.table.content
    assert '20 N' in window.table.content
    assert '0.2000 s: left sticks' in window.table.content
    window.show(0.0)
    assert 'left sticks' not in window.table.content


def test_what_is_not_text_stays_text():
    force = Force('<script>', np.zeros(3), np.zeros(3))
    assert '<script>' not in force_table([force], ['<b>'])


def test_time_goes_on_with_the_chosen_speed_and_begins_again(window):
    assert window.time == 0.0
    window.tick(0.2)
    assert_allclose(window.time, 0.2, atol=1e-9)
    window.speed.value = '0.5'
    window.tick(0.2)
    assert_allclose(window.time, 0.3, atol=1e-9)
    window.tick(1.0)
    assert window.time == 0.0
    window._set_playing(not window.playing)
    window.tick(0.2)
    assert window.time == 0.0 and window._button.label == 'Play'
    window._set_playing(not window.playing)
    assert window.playing and window._button.label == 'Pause'


def test_a_slider_that_is_moved_by_hand_pauses(window, drive):
    window.slider.value = 0.3
    window._on_slider(by_hand=True)
    assert not window.playing
    assert_allclose(window.scene.bodies[drive.body_names[0]].position, drive.poses[3, 0, :3])


def test_next_event(window):
    window._to_next_event()
    assert window.time == pytest.approx(0.2) and not window.playing
    assert 'sticks' in window.table.content
    window._to_next_event()
    assert window.time == pytest.approx(0.3)
    window._to_next_event()  # from the last to the first
    assert window.time == pytest.approx(0.2)


def test_what_is_sent_to_browsers(server, window, monkeypatch):
    sent = []
    monkeypatch.setattr(server.scene._websock_interface, 'queue_message', sent.append)
    window.show(0.2)
    kinds = {type(message).__name__ for message in sent}
    assert {'SetPositionMessage', 'SetOrientationMessage'} <= kinds
    moved = {getattr(message, 'name', '') for message in sent}
    assert '/robot/base_footprint' in moved and '/forces/wheel_left_joint/rolling' in moved
    sent.clear()
    window.show(0.2)  # the same instant
    assert sent == []


def test_sliders_move_joints(server, robots):
    source = robots / 'nonholonomic.urdf'
    robot = kd.load_urdf(source, base='floating')
    window = PoseWindow(server, robot, urdf_drawing(robot, source))
    assert set(window.sliders) == set(robot.coordinate_names[7:])  # no parts of quaternions
    q = robot.neutral()
    for k, (name, slider) in enumerate(window.sliders.items()):
        slider.value = slider.min + (0.3 + 0.05 * k) * (slider.max - slider.min)
        q[robot.coordinate_index(name)] = slider.value
    window.show()
    shown = [(*node.position, *node.wxyz) for node in window.scene.bodies.values()]
    assert_allclose(shown, pose_rows(robot, q), atol=1e-15)
    assert np.isfinite([slider.min for slider in window.sliders.values()]).all()


def test_weak_forces_have_no_arrow(server):
    scene = Scene(server, [], [], 1.0)
    scene.show(np.zeros((0, 7)), [Force('weak', np.zeros(3), np.full(3, 1e-6))])
    assert scene.arrows == {}


def test_without_viser_there_is_a_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, 'viser', None)
    with pytest.raises(MissingPackageError, match=r"pip install 'kane_dynamics\[view\]'"):
        start_server()
