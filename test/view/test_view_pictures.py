# SPDX-License-Identifier: Apache-2.0
"""Animations, strobe pictures and curves: what is on them, and where."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose
from PIL import Image

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.view.animation import write_animation, write_picture
from kane_dynamics.view.drawing import Drawing, Shape, box, sphere
from kane_dynamics.view.picture import MOST_FACES, Picture, paper_axes, small_triangles
from kane_dynamics.view.plots import STATE_COLOURS, Panel, curves_figure, write_curves
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.window import VIEWS

RED = (0.9, 0.1, 0.1)


@pytest.fixture(scope='module')
def ball():
    """Return a red ball that flies by (1, 0, 2) m/s for half a second."""
    robot = kd.Robot('ball', [kd.Body('ball', '', kd.Joint('base', kd.Free()))])
    recorder = Recorder(robot, Drawing((Shape(0, *sphere(0.1), RED),)))
    for t in np.linspace(0.0, 0.5, 11):
        recorder.add(t, [t, 0.0, 2.0 * t, 1.0, 0.0, 0.0, 0.0], np.zeros(6))
    return recorder.recording()


def like(image, colour, tolerance=40):
    """Return where pixels have a colour, (n, 2) as column and row from below."""
    pixels = np.asarray(image.convert('RGB'), dtype=int)
    near = np.abs(pixels - 255 * np.array(colour)).max(axis=-1) < tolerance
    rows, columns = np.nonzero(near)
    return np.column_stack([columns, pixels.shape[0] - rows])


def reddish(image):
    pixels = np.asarray(image.convert('RGB'), dtype=int)
    rows, columns = np.nonzero(pixels[..., 0] - pixels[..., 1] > 80)
    return np.column_stack([columns, pixels.shape[0] - rows])


def test_axes_of_the_paper_are_at_right_angles():
    for view in VIEWS:
        axes = paper_axes(view)
        assert_allclose(axes @ axes.T, np.eye(3), atol=1e-15)
        assert_allclose(np.linalg.det(axes), 1.0, atol=1e-15)
    point = np.array([1.0, 2.0, 3.0])
    assert_allclose(paper_axes('top') @ point, (1.0, 2.0, 3.0), atol=1e-15)
    assert_allclose(paper_axes('side') @ point, (1.0, 3.0, -2.0), atol=1e-15)
    assert paper_axes('oblique')[1, 2] > 0.9


def test_corners_of_a_cube_in_the_oblique_view():
    # azimuth -60, elevation 25 degrees: right = (sin 60, cos 60, 0), up = (-s c60, s s60, c)
    s, c, half = np.sin(np.radians(25.0)), np.cos(np.radians(25.0)), 0.5
    corners = box((1.0, 1.0, 1.0))[0]
    x, y, z = corners.T
    expected = np.column_stack(
        [np.sqrt(0.75) * x + half * y, -s * half * x + s * np.sqrt(0.75) * y + c * z]
    )
    assert_allclose(corners @ paper_axes('oblique')[:2].T, expected, atol=1e-15)


def test_the_ball_is_where_it_was(ball):
    picture = Picture(ball, 'side', 4.0, 100, range(11))
    for k in (0, 5, 10):
        seen = reddish(picture.image(k)).mean(axis=0)
        x, z = ball.poses[k, 0, [0, 2]]
        expected = picture._axes.transData.transform((x, z))
        assert_allclose(seen, expected, atol=1.5)  # pixels


def test_a_gif_has_all_pictures(ball, tmp_path):
    path = write_animation(ball, tmp_path / 'ball.gif', 'side', rate=10.0, speed=0.5, width=3.0)
    with Image.open(path) as image:
        assert image.n_frames == 11  # 0.5 s at half speed, 10 Hz
        assert image.info['duration'] == 100 and image.info['loop'] == 0
        heights = []
        for k in (0, 5, 10):
            image.seek(k)
            heights.append(reddish(image).mean(axis=0)[1])
            assert np.asarray(image.convert('RGB'))[0, 0].min() > 250  # the paper stays white
    assert heights[2] - heights[1] == pytest.approx(heights[1] - heights[0], abs=2.0)
    assert heights[1] > heights[0] + 50


def test_a_strobe_shows_earlier_robots_paler(ball, tmp_path):
    path = write_picture(ball, tmp_path / 'ball.png', 'side', count=3)
    with Image.open(path) as image:
        pixels = np.asarray(image.convert('RGB'), dtype=int)
        redness = pixels[..., 0] - pixels[..., 1]
        thirds = np.array_split(redness, 3, axis=1)
        assert [part.max() for part in thirds] == sorted(part.max() for part in thirds)
        assert thirds[0].max() > 20


@pytest.mark.parametrize('order', [1, -1])
def test_the_nearer_cube_hides_the_other_in_any_order(order):
    robot = kd.Robot('die', [kd.Body('die', '', kd.Joint('base', kd.Free()))])
    vertices, faces = box((0.4, 0.4, 0.4))
    near = Shape(0, vertices + (0.0, 0.0, 2.0), faces, (0.1, 0.6, 0.1))
    recorder = Recorder(robot, Drawing((Shape(0, *box((1.0, 1.0, 1.0)), RED), near)[::order]))
    recorder.add(0.0, [0, 0, 0, 1, 0, 0, 0], np.zeros(6))
    picture = Picture(recorder.recording(), 'top', 3.0, 100, [0])
    image = np.asarray(picture.image(0), dtype=int)
    places = [(0.0, 0.0), (-0.4, 0.0)]
    middle, beside = picture._axes.transData.transform(places).round().astype(int)
    seen = [image[image.shape[0] - row, column] for column, row in (middle, beside)]
    assert seen[0][1] > 3 * seen[0][0]  # green in the middle
    assert seen[1][0] > 3 * seen[1][1]  # red beside it


@pytest.mark.parametrize('view', VIEWS)
def test_the_silhouette_of_a_cube_has_the_area_of_its_faces_seen(view):
    robot = kd.Robot('die', [kd.Body('die', '', kd.Joint('base', kd.Free()))])
    recorder = Recorder(robot, Drawing((Shape(0, *box((1.0, 1.0, 1.0)), RED),)))
    recorder.add(0.0, [0, 0, 0, 1, 0, 0, 0], np.zeros(6))
    picture = Picture(recorder.recording(), view, 3.0, 100, [0])
    pixels = len(reddish(picture.image(0)))
    metre = picture._axes.transData.transform([(0.0, 0.0), (1.0, 0.0)])
    area = pixels / np.ptp(metre[:, 0]) ** 2
    # each face of area 1 is seen as |n . towards|; the border is 2 pixels of 0.005 m
    assert area == pytest.approx(np.abs(paper_axes(view)[2]).sum(), abs=0.08)


def test_forces_have_the_colour_of_their_state(drive):
    picture = Picture(drive, 'top', 4.0, 100, range(6))
    for k, state in ((1, 'holds'), (2, 'sticks'), (3, 'slips')):
        image = picture.image(k)
        arrow = like(image, to_rgb(STATE_COLOURS[state]), 12)
        legend = arrow[:, 1] < 40
        assert (~legend).sum() > 20, state
    assert len(picture.figure.legends[0].get_patches()) == 3


def test_triangles_are_cut_without_a_gap():
    shape = Shape(0, *box((1.0, 0.2, 0.5)))
    small = small_triangles(shape, 0.15)
    corners = small.vertices[small.faces]
    assert np.linalg.norm(corners - corners[:, [1, 2, 0]], axis=-1).max() <= 0.15
    normals = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert_allclose(np.linalg.norm(normals, axis=1).sum(), 2.0 * (0.2 + 0.5 + 0.1), atol=1e-14)
    assert_allclose(normals.sum(axis=0), 0.0, atol=1e-15)


def test_large_meshes_are_drawn_as_their_hull(rng):
    points = rng.normal(size=(500, 3))
    faces = rng.integers(0, 500, (1000, 3))
    hull = small_triangles(Shape(0, points, faces), 10.0, MOST_FACES)
    assert len(hull.faces) < 200
    assert_allclose(hull.vertices.max(axis=0), points.max(axis=0), atol=1e-15)


def test_a_robot_without_shapes_and_forces_is_drawn(ball):
    bare = replace(ball, shapes=())
    image = Picture(bare, 'oblique', 3.0, 100, [0]).image(0)
    assert len(reddish(image)) == 0


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda r, d: write_animation(r, d / 'a.mp4'), r'need a file that ends in \.gif'),
        (lambda r, d: write_animation(r, d / 'a.gif', 'front'), 'view must be one of'),
        (lambda r, d: write_animation(r, d / 'a.gif', rate=0.0), 'rate'),
        (lambda r, d: write_animation(r, d / 'no' / 'a.gif', rate=2.0), 'cannot be written'),
        (lambda r, d: write_picture(r, d / 'a.gif'), r'need a file that ends in \.png or \.pdf'),
        (lambda r, d: write_picture(r, d / 'a.png', count=0), 'count: need a whole number >= 1'),
        (lambda r, d: write_curves(d / 'a.png', '', [0.0], []), 'panels: need at least one'),
        (
            lambda r, d: write_curves(d / 'a.png', '', [0.0], [Panel('v [m/s]', {'v': [1, 2]})]),
            r"'v': need shape \(1,\), got \(2,\)",
        ),
        (lambda r, d: Panel('speed', {}), 'label: need a unit in brackets'),
        (
            lambda r, d: write_curves(d / 'a.xyz', '', [0.0], [Panel('v [m/s]', {'v': [1]})]),
            'cannot be written',
        ),
    ],
)
def test_mistakes(ball, tmp_path, call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(ball, tmp_path)


def test_legends_lie_beside_the_curves(tmp_path):
    t = np.linspace(0.0, 1.0, 20)
    panels = [Panel('slip [m/s]', {'left': t, 'right': t**2}), Panel('force [N]', {'left': -t})]
    figure = curves_figure(
        'wheels', t, panels, [(0.5, 'sticks'), (0.51, 'crowded'), (0.6, 'slips')]
    )
    figure.draw_without_rendering()
    for axes, panel in zip(figure.axes, panels, strict=True):
        assert axes.get_ylabel() == panel.label
        assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1
    texts = figure.axes[0].texts
    assert [text.get_text() for text in texts] == ['sticks', 'slips']
    boxes = [text.get_window_extent() for text in texts]
    assert not boxes[0].overlaps(boxes[1])
    assert figure.axes[-1].get_xlabel() == 'time [s]'
    strokes = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines[:2]}
    assert len(strokes) == 2
    path = write_curves(tmp_path / 'wheels.png', 'wheels', t, panels)
    assert path.stat().st_size > 1000
