# SPDX-License-Identifier: Apache-2.0
"""Shaded pictures: where corners fall, what hides what, light and shadow in closed form."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.view import rays
from kane_dynamics.view.animation import write_picture
from kane_dynamics.view.camera import VIEWS, Camera
from kane_dynamics.view.drawing import Drawing
from kane_dynamics.view.painted import LIGHT, painted
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.shapes import Shape, box

RED, GREEN = (0.8, 0.1, 0.1), (0.1, 0.6, 0.1)
LOW, HIGH = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
SIZE = (80, 80)


@pytest.fixture
def _embree():
    pytest.importorskip('embreex', reason='the extra "pictures" is not installed')


def cube(centre=(0.0, 0.0, 0.0), side=1.0, colour=RED):
    """Return a cube that stands in the world."""
    vertices, faces = box((side, side, side))
    return Shape(-1, vertices + np.array(centre), faces, colour)


def picture(shapes, view='top', passes=4):
    surface = painted(shapes, np.zeros((1, 0, 7)))
    return rays.render(surface, Camera.named(view), LOW, HIGH, SIZE, passes).astype(int)


def test_points_are_lifted_from_the_paper_where_they_came_from(rng):
    points = rng.normal(size=(20, 3))
    for view in VIEWS:
        camera = Camera.named(view)
        flat, depth = camera.flat(points), camera.depth(points)
        back = np.array([camera.lifted(*both) for both in zip(flat, depth, strict=True)])
        assert_allclose(back, points, atol=1e-14)


def test_corners_of_a_cube_in_the_oblique_camera():
    # azimuth -60, elevation 25 degrees: right = (sin 60, cos 60, 0), up = (-s c60, s s60, c)
    s, c, half = np.sin(np.radians(25.0)), np.cos(np.radians(25.0)), 0.5
    corners = cube().vertices
    x, y, z = corners.T
    expected = np.column_stack(
        [np.sqrt(0.75) * x + half * y, -s * half * x + s * np.sqrt(0.75) * y + c * z]
    )
    assert_allclose(Camera.named('oblique').flat(corners), expected, atol=1e-15)


@pytest.mark.usefixtures('_embree')
@pytest.mark.parametrize('view', VIEWS)
def test_the_silhouette_of_a_cube_has_the_area_of_its_faces_seen(view):
    towards = Camera.named(view).towards
    image = picture([cube(centre=(0.0, 0.0, -2.0))] if view == 'top' else [cube()], view, 9)
    reddish = image[..., 0] > 3 * image[..., 1]  # its shadow is black
    area = (reddish * image[..., 3] / 255.0).sum() * 4.0 / (SIZE[0] * SIZE[1])
    # each face of area 1 is seen as |n . towards|; the border is one pixel of 0.025 m
    assert area == pytest.approx(np.abs(towards).sum(), abs=4.0 * 0.025)


@pytest.mark.usefixtures('_embree')
def test_the_upper_face_has_the_light_of_sun_and_sky():
    red, green, blue, opacity = picture([cube()], passes=64)[40, 40]
    light = rays.AMBIENT + rays.SUN * LIGHT[2] + rays.SKY
    assert opacity == 255
    # the disc of the sun and 64 points of the sky: the mean is met to a hundredth
    assert_allclose([red, green, blue], 255.0 * light * np.array(RED), atol=3.0)
    assert light < 1.0  # or the check would see nothing


@pytest.mark.usefixtures('_embree')
def test_the_nearer_cube_hides_the_other_in_any_order():
    above, below = cube((0.0, 0.0, 2.0), 0.4, GREEN), cube()
    for shapes in ([above, below], [below, above]):
        image = picture(shapes)
        assert image[40, 40, 1] > 3 * image[40, 40, 0]  # green in the middle
        assert image[40, 25, 0] > 3 * image[40, 25, 1]  # red beside it


@pytest.mark.usefixtures('_embree')
def test_the_shadow_falls_away_from_the_sun():
    height = 1.0
    image = picture([cube((0.0, 0.0, height), 0.2)], passes=1)
    dark = (image[..., 3] > 40) & (image[..., 0] == 0)
    rows, columns = np.nonzero(dark)
    found = np.array([columns.mean() + 0.5, SIZE[1] - rows.mean() - 0.5]) / 40.0 - 1.0
    sun = next(iter(rays._passes(1))).sun
    assert_allclose(found, -height * sun[:2] / sun[2], atol=0.08)  # the cube hides some of it


@pytest.mark.usefixtures('_embree')
def test_from_the_side_there_is_no_ground_to_shade():
    image = picture([cube(side=0.4)], 'side')
    seen = image[..., 3] > 0
    assert 0 < seen.sum() < 300  # 16 x 16 pixels
    assert image[seen, 0].min() > 50  # red, no shadow


@pytest.mark.usefixtures('_embree')
def test_an_empty_scene_is_clear():
    assert not picture([])[..., 3].any()
    assert not picture([], 'oblique')[..., 3].any()
    flat = Shape(-1, np.zeros((3, 3)), np.array([[0, 1, 2]]))  # has no extent
    assert not picture([flat])[..., 3].any()


@pytest.mark.usefixtures('_embree')
def test_both_sides_of_a_surface_are_lit():
    corners, upward = np.array([[-1.0, -1, 1], [1, -1, 1], [0, 1, 1]]), np.array([[0, 1, 2]])
    images = [picture([Shape(-1, corners, faces, RED)]) for faces in (upward, upward[:, ::-1])]
    assert_array_equal(*images)
    assert images[0][40, 40, 0] > 150


@pytest.mark.usefixtures('_embree')
def test_the_same_scene_gives_the_same_picture():
    shapes = [cube(), cube((0.5, 0.5, 0.5), 0.3, GREEN)]
    first = picture(shapes, 'oblique')
    picture([cube(side=0.1)])
    assert_array_equal(picture(shapes, 'oblique'), first)


@pytest.mark.usefixtures('_embree')
def test_a_standing_robot_has_its_colour_in_its_picture(tmp_path):
    robot = kd.Robot('die', [kd.Body('die', '', kd.Joint('base', kd.Free()))])
    recorder = Recorder(robot, Drawing((Shape(0, *box((0.4, 0.4, 0.4)), RED),)))
    recorder.add(0.0, [0, 0, 0.2, 1, 0, 0, 0], np.zeros(6))
    for ending in ('png', 'pdf'):
        path = write_picture(recorder.recording(), tmp_path / f'die.{ending}', count=1, width=1.0)
    with Image.open(tmp_path / 'die.png') as image:
        assert image.width == 200 and round(image.info['dpi'][0]) == 200
        pixels = np.asarray(image.convert('RGB'), dtype=int)
    assert pixels[0, 0].min() > 250  # the paper is white
    assert (pixels[..., 0] > 4 * pixels[..., 1]).mean() > 0.1
    assert path.read_bytes()[:5] == b'%PDF-'


def test_without_embreex_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, 'embreex.rtcore_scene', None)
    with pytest.raises(MissingPackageError, match=r"embreex.*'kane_dynamics\[pictures\]'"):
        picture([cube()])


@pytest.mark.parametrize(('size', 'passes'), [((0, 4), 1), ((4, 4), 0)])
def test_pictures_without_pixels_or_passes_are_refused(size, passes):
    with pytest.raises(InvalidInputError, match='pixels and passes: need at least 1'):
        rays.render(painted([], np.zeros((1, 0, 7))), Camera.named('top'), LOW, HIGH, size, passes)
