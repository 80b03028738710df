# SPDX-License-Identifier: Apache-2.0
"""Shapes of a URDF stand where its links are; what cannot be drawn is replaced and told."""

import importlib.util
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.exceptions import MissingPackageError, NameNotFoundError, UrdfError
from kane_dynamics.view.drawing import PLAIN, read_mesh, simple_drawing, urdf_drawing
from kane_dynamics.view.recorder import pose_rows
from kane_dynamics.view.window import placed

MOMENTS = 'ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"'
MASS = f'<inertial><mass value="2"/><inertia {MOMENTS}/></inertial>'
ORIGIN = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'


def urdf(visual, link=''):
    """Return an arm with a tool fixed at an angle to its link; `visual` draws the tool."""
    return f"""<robot name="arm"><material name="red"><color rgba="1 0 0 1"/></material>
    <link name="world"/><link name="arm">{MASS}{link}</link><link name="tool">{visual}</link>
    <joint name="hinge" type="revolute"><parent link="world"/><child link="arm"/>
      <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="weld" type="fixed"><parent link="arm"/><child link="tool"/>{ORIGIN}</joint>
    </robot>"""


def visual(geometry, material='', tag='visual'):
    return f'<{tag}>{ORIGIN}<geometry>{geometry}</geometry>{material}</{tag}>'


def drawn(text, folder=None):
    """Return the robot and its drawing."""
    if folder is not None:
        source = folder / 'arm.urdf'
        source.write_text(text)
        text = source
    robot = kd.load_urdf(text)
    return robot, urdf_drawing(robot, text)


def in_shape_frame(robot, shape, q):
    """Return the vertices in the frame of the <visual>, from the pose of the link alone."""
    link = kd.forward_kinematics(robot, q).pose('tool')
    pose = link * robot.frame('tool').pose  # the weld has the same origin as the <visual>
    world = placed(shape, pose_rows(robot, np.array(q)))
    return (world - pose.position()) @ pose.rotation_matrix()


@pytest.mark.parametrize(
    ('geometry', 'size'),
    [
        ('<box size="0.2 0.3 0.4"/>', (0.2, 0.3, 0.4)),
        ('<cylinder radius="0.2" length="0.7"/>', (0.4, 0.4, 0.7)),
        ('<sphere radius="0.25"/>', (0.5, 0.5, 0.5)),
    ],
)
@pytest.mark.parametrize('q', [0.0, 0.7])
def test_simple_shapes_stand_where_the_link_is(geometry, size, q):
    robot, drawing = drawn(urdf(visual(geometry, '<material name="red"/>')))
    (shape,) = drawing.shapes
    assert shape.colour == (1.0, 0.0, 0.0)
    own = in_shape_frame(robot, shape, [q])
    assert_allclose(own.max(axis=0) - own.min(axis=0), size, atol=1e-15)
    assert_allclose(own.max(axis=0) + own.min(axis=0), 0.0, atol=1e-15)


def test_collision_is_drawn_where_nothing_is_visual():
    box = '<box size="0.2 0.3 0.4"/>'
    ball = '<sphere radius="0.25"/>'
    _, drawing = drawn(urdf(visual(box, tag='collision')))
    assert len(drawing.shapes) == 1
    _, drawing = drawn(urdf(visual(ball) + visual(box, tag='collision')))
    assert len(drawing.shapes[0].vertices) > 8
    assert drawing.shapes[0].colour == PLAIN


def test_colours_of_their_own():
    own = '<material name="blue"><color rgba="0 0 1 0.5"/></material>'
    _, drawing = drawn(urdf(visual('<sphere radius="0.25"/>', own)))
    assert drawing.shapes[0].colour == (0.0, 0.0, 1.0)


TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def write_stl(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ['solid s']
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        corners = '\n'.join('vertex {} {} {}'.format(*TETRAHEDRON[k]) for k in face)
        lines.append(f'facet normal 0 0 0\nouter loop\n{corners}\nendloop\nendfacet')
    path.write_text('\n'.join([*lines, 'endsolid s']))


@pytest.mark.parametrize(
    ('address', 'place'),
    [
        ('meshes/part.stl', 'robot/urdf/meshes/part.stl'),
        ('package://robot/meshes/part.stl', 'robot/meshes/part.stl'),
        ('file://{folder}/part.stl', 'part.stl'),
        ('{folder}/part.stl', 'part.stl'),
    ],
)
def test_meshes_are_found(tmp_path, address, place):
    pytest.importorskip('trimesh', reason='the extra "view" is not installed')
    write_stl(tmp_path / place)
    folder = tmp_path / 'robot' / 'urdf'
    folder.mkdir(parents=True, exist_ok=True)
    file = address.format(folder=tmp_path)
    mesh = f'<mesh filename="{file}" scale="0.1 0.2 0.3"/>'
    robot, drawing = drawn(urdf(visual(mesh)), folder)
    assert drawing.notes == ()
    own = in_shape_frame(robot, drawing.shapes[0], [0.3])
    expected = TETRAHEDRON * (0.1, 0.2, 0.3)
    for corner in expected:  # a reader may reorder them
        assert np.abs(own - corner).max(axis=1).min() < 1e-7


@pytest.mark.parametrize(
    ('geometry', 'message'),
    [
        ('<mesh filename="package://nobody/a.stl"/>', "mesh 'package://nobody/a.stl' not found"),
        ('<mesh filename="a.stl"/>', "mesh 'a.stl' is not a file"),
        ('<capsule radius="1" length="2"/>', 'no box, cylinder, sphere or mesh is not drawn'),
    ],
)
def test_what_cannot_be_drawn_is_told_and_replaced(geometry, message):
    robot, drawing = drawn(urdf(visual(geometry)))
    assert [message in remark for remark in drawing.notes] == [True]
    assert "link 'tool': " in drawing.notes[0]
    assert len(drawing.shapes) == 1  # the box of its body


def test_files_that_are_no_meshes(tmp_path):
    pytest.importorskip('trimesh', reason='the extra "view" is not installed')
    (tmp_path / 'a.obj').write_text('v nonsense')
    _, drawing = drawn(urdf(visual('<mesh filename="a.obj"/>')), tmp_path)
    assert 'cannot be read' in drawing.notes[0]
    if importlib.util.find_spec('collada') is None:
        (tmp_path / 'a.dae').write_text('<COLLADA/>')
        _, drawing = drawn(urdf(visual('<mesh filename="a.dae"/>')), tmp_path)
        assert 'pip install pycollada' in drawing.notes[0]


def test_without_trimesh_there_are_boxes(tmp_path, monkeypatch):
    write_stl(tmp_path / 'a.stl')
    monkeypatch.setitem(sys.modules, 'trimesh', None)
    with pytest.raises(MissingPackageError, match='reading meshes needs trimesh'):
        read_mesh(tmp_path / 'a.stl')
    _, drawing = drawn(urdf(visual('<mesh filename="a.stl"/>')), tmp_path)
    assert "pip install 'kane_dynamics[view]'" in drawing.notes[0]


def test_broken_shapes_are_errors():
    with pytest.raises(UrdfError, match=r"'tool', <visual>.* need 3 numbers"):
        drawn(urdf(visual('<box size="1 2"/>')))
    robot = kd.load_urdf(urdf(''))
    other = urdf(visual('<sphere radius="1"/>')).replace('"tool"', '"hand"')
    with pytest.raises(NameNotFoundError, match="no frame named 'hand'"):
        urdf_drawing(robot, other)


def test_boxes_have_the_inertia_of_their_bodies(rng):
    size, mass = np.array([0.3, 0.5, 0.8]), 4.0
    squares = size**2
    moments = mass / 12.0 * (squares.sum() - squares)
    wxyz = rng.normal(size=4)
    pose = kd.Pose.from_rotation_and_position(wxyz / np.linalg.norm(wxyz), (0.1, 0.2, 0.3))
    R = pose.rotation_matrix()
    inertia = kd.Inertia(mass, pose.position(), R @ np.diag(moments) @ R.T)
    bodies = [
        kd.Body('box', '', kd.Joint('box', kd.Free()), inertia=inertia),
        kd.Body('point', 'box', kd.Joint('slide', kd.Prismatic((1, 0, 0))), pose),
        kd.Body(
            'particle',
            'box',
            kd.Joint('other', kd.Prismatic((1, 0, 0))),
            inertia=kd.Inertia(1.0, np.zeros(3), np.zeros((3, 3))),
        ),
    ]
    shapes = simple_drawing(kd.Robot('boxes', bodies)).shapes
    assert [shape.body for shape in shapes] == [0, 2, 0]  # box, particle, bar to the slide
    own = (shapes[0].vertices - pose.position()) @ R
    assert_allclose(np.abs(own), 0.5 * size * np.ones((8, 1)), atol=1e-14)
    assert_allclose(np.ptp(shapes[1].vertices, axis=0), 0.02, atol=1e-15)
