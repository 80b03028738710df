# SPDX-License-Identifier: Apache-2.0
"""Surfaces are closed, look outwards and have the size that was asked for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.view.drawing import AROUND, Shape, box, cylinder, sphere, stick
from kane_dynamics.view.window import extent, placed


def volume(triangles):
    """Return the volume by the divergence theorem; negative where triangles look inwards."""
    vertices, faces = triangles
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0)


def area_vector(triangles):
    """Return the sum of the normals: zero of a closed surface."""
    vertices, faces = triangles
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a).sum(axis=0)


POLYGON = 0.5 * AROUND * np.sin(2.0 * np.pi / AROUND)  # area of the polygon in the unit circle


@pytest.mark.parametrize(
    ('triangles', 'expected', 'tolerance'),
    [
        (box((0.2, 0.3, 0.5)), 0.03, 1e-15),
        (cylinder(0.3, 0.7), POLYGON * 0.09 * 0.7, 1e-15),
        (sphere(0.4), 4.0 / 3.0 * np.pi * 0.4**3, 0.01),  # 24 corners around
        (stick((1.0, 2.0, 3.0), (1.0, 2.0, 5.0), 0.1), 0.04 * 2.0, 1e-14),
        (stick((1.0, 2.0, 3.0), (0.0, -2.0, 3.5), 0.1), 0.04 * np.sqrt(17.25), 1e-14),
    ],
)
def test_volume_of_a_closed_surface(triangles, expected, tolerance):
    assert_allclose(volume(triangles), expected, rtol=0, atol=tolerance)
    assert_allclose(area_vector(triangles), 0.0, atol=1e-15)


def test_a_stick_ends_at_its_ends():
    start, end = np.array([1.0, 2.0, 3.0]), np.array([0.0, -2.0, 3.5])
    vertices, _ = stick(start, end, 0.1)
    along = (end - start) / np.linalg.norm(end - start)
    reach = (vertices - start) @ along
    assert_allclose(reach[[0, -1]], [0.0, np.sqrt(17.25)], atol=1e-14)
    across = vertices - start - reach[:, None] * along
    assert_allclose(np.linalg.norm(across, axis=1), 0.1 * np.sqrt(2.0), atol=1e-15)


def test_shapes_move_with_poses(rng):
    wxyz = rng.normal(size=4)
    pose = kd.Pose.from_rotation_and_position(wxyz / np.linalg.norm(wxyz), (1.0, 2.0, 3.0))
    shape = Shape(0, *box((0.2, 0.3, 0.5)))
    r = pose.rotation
    row = np.array([[1.0, 2.0, 3.0, r.w, r.x, r.y, r.z]])
    there = shape.vertices @ pose.rotation_matrix().T + (1.0, 2.0, 3.0)
    assert_allclose(placed(shape, row), there, atol=1e-15)
    assert_allclose(shape.moved(pose, 4).vertices, there, atol=1e-15)
    assert shape.moved(pose, 4).body == 4
    middle, size = extent([shape], row[None])
    assert_allclose(middle, (1.0, 2.0, 3.0), atol=1e-15)
    assert size == (there.max(axis=0) - there.min(axis=0)).max()
    assert extent([], np.zeros((1, 0, 7)))[1] == 1.0


@pytest.mark.parametrize(
    ('vertices', 'faces', 'message'),
    [
        (np.zeros((3, 2)), np.zeros((1, 3), int), r'need shape \(n, 3\), got float64 of \(3, 2\)'),
        (np.full((3, 3), np.nan), np.zeros((1, 3), int), 'finite'),
        (
            np.zeros((3, 3)),
            np.zeros((1, 4), int),
            r'faces: need shape \(n, 3\), got int64 of \(1, 4\)',
        ),
        (np.zeros((3, 3)), np.full((1, 3), 3), 'need numbers of the 3 vertices, got 3 to 3'),
    ],
)
def test_wrong_surfaces(vertices, faces, message):
    with pytest.raises(InvalidInputError, match=message):
        Shape(0, vertices, faces)
