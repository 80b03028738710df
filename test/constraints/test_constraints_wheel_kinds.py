# SPDX-License-Identifier: Apache-2.0
"""Rows of every wheel kind on any plane against the velocity of the material contact point."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.constraint_cases import CASES, SLOPE, Case, rows_at, wheeled

import kane_dynamics as kd
from kane_dynamics.constraints.wheels import KnifeEdge
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError
from kane_dynamics.view.forces import constraint_forces

DIFFERENCES = 1e-11  # first derivatives of order 8, see support.calculus
KINDS = [
    name
    for name, case in CASES.items()
    if hasattr(case.constraint, 'plane') and name != 'point_contact'
]


def plane_axes(normal, heading):
    """Return t, the part of a heading in a plane, and left of it, both of unit length."""
    t = heading - normal * (normal @ heading)
    t /= np.linalg.norm(t)
    return t, np.cross(normal, t)


def touching(case, q):
    """
    Return the body, the contact point in its axes, and a direction for each row, by search.

    The lowest point of a torus: the angle around its axis and the angle around its tube are those
    at which the height over the plane has its minimum.
    """
    row, k = case.constraint, np.array(case.constraint.plane.normal)
    frame = row.frames[0] if isinstance(row, KnifeEdge) else row.wheel
    pose = kd.forward_kinematics(case.robot, q).pose(case.robot.bodies[frame.body].name)
    R_W = pose.rotation_matrix()
    centre, turn = frame.pose.position(), frame.pose.rotation_matrix()
    if isinstance(row, KnifeEdge):
        return frame.body, centre, [plane_axes(k, R_W @ turn @ row.heading)[1]]
    if row.axis is None:
        x, y = row.plane.directions()
        return (
            frame.body,
            centre - row.radius * R_W.T @ k,
            [{'x': x, 'y': y}.get(n, k) for n in row.directions],
        )
    n = R_W @ turn @ row.axis
    u = np.cross(n, (0.3, 0.5, 0.8))
    u /= np.linalg.norm(u)
    w = np.cross(n, u)
    around = np.arctan2(-w @ k, -u @ k)
    e = u * np.cos(around) + w * np.sin(around)
    tube = np.arctan2(-n @ k, -e @ k)
    rho, R = row.tyre_radius, row.radius - row.tyre_radius
    arm = (R + rho * np.cos(tube)) * e + rho * np.sin(tube) * n
    t, left = plane_axes(k, np.cross(n, k))
    named = {'longitudinal': t, 'lateral': left, 'vertical': k}
    named['roller'] = t * np.cos(row.roller_angle) + left * np.sin(row.roller_angle)
    return frame.body, centre + R_W.T @ arm, [named[name] for name in row.directions]


@pytest.mark.parametrize('name', KINDS)
def test_rows_are_the_velocity_of_the_material_point(name):
    case = CASES[name]
    body, point, directions = touching(case, case.q)
    path, link = along(case.robot, case.q, case.v), case.robot.bodies[body].name

    def position(s):
        pose = kd.forward_kinematics(case.robot, path(s)).pose(link)
        return pose.position() + pose.rotation_matrix() @ point

    rows = rows_at(case)
    velocity = derivative(position)
    assert relative(rows.matrix @ case.v, np.array(directions) @ velocity) < DIFFERENCES
    if rows.positions[-1] is not None:
        height = np.dot(case.constraint.plane.normal, position(0.0))
        expected = height - case.constraint.plane.offset
        assert rows.positions[-1] == pytest.approx(expected, abs=1e-14)


def contact_of(case):
    """Return where a wheel touches and its directions, in the world, by search."""
    body, point, directions = touching(case, case.q)
    pose = kd.forward_kinematics(case.robot, case.q).pose(case.robot.bodies[body].name)
    return pose.position() + pose.rotation_matrix() @ point, directions


@pytest.mark.parametrize('name', [name for name in KINDS if 'edge' not in name])
def test_contact_point_is_the_lowest_point(name):
    case = CASES[name]
    point, directions = contact_of(case)
    found = case.constraint.touch(case.robot, case.q.tolist())
    assert_allclose(found.point, point, rtol=0, atol=1e-14)
    assert_allclose(found.directions, directions, rtol=0, atol=1e-14)
    assert_allclose(found.axes[2], case.constraint.plane.normal, rtol=0, atol=0)
    assert np.linalg.det(found.axes) == pytest.approx(1.0, abs=1e-14)
    if 'longitudinal' in case.constraint.directions:
        assert_allclose(found.axes[:2], directions[:2], rtol=0, atol=1e-14)


@pytest.mark.parametrize('name', [n for n in KINDS if CASES[n].robot.base == 'floating'])
def test_forces_are_drawn_at_the_contact_point(name):
    # in the plane only a part of a force is known, see constraint_forces
    case = CASES[name]
    point, directions = contact_of(case)
    values = np.arange(1.0, len(directions) + 1.0)
    forces = constraint_forces(case.robot, (case.constraint,), case.q, values)
    for value, force, direction in zip(values, forces, directions, strict=True):
        assert_allclose(force.point, point, rtol=0, atol=1e-14)
        assert_allclose(force.vector, value * direction, rtol=0, atol=1e-12)


@pytest.mark.parametrize('name', ['round_tyre', 'roller_on_slope', 'ball_on_slope'])
def test_a_contact_has_the_rows_of_its_wheel(name):
    # plane, tyre and rollers are kept where the rows are parted into distance and slip
    case = CASES[name]
    contact = kd.constraints.rolling_contact(case.constraint, friction=0.5)
    whole = rows_at(case)
    parts = [
        rows_at(dataclasses.replace(case, constraint=part)).matrix
        for part in (contact.tangent, contact.normal)
    ]
    assert_allclose(np.vstack(parts), whole.matrix, rtol=0, atol=0)


def test_a_roller_at_zero_is_the_track_and_at_ninety_degrees_the_side():
    case = CASES['floating_wheel']
    plain = rows_at(case)
    for angle, k in ((0.0, 0), (np.pi / 2, 1)):
        row = kd.constraints.roller_wheel(case.robot, 'wheel', angle, 0.12)
        found = rows_at(dataclasses.replace(case, constraint=row))
        assert_allclose(found.matrix, plain.matrix[[k, 2]], rtol=0, atol=1e-15)
        assert relative(found.acceleration, plain.acceleration[[k, 2]]) < 1e-14
        assert [label.split('/')[1] for label in row.labels] == ['roller', 'vertical']


def test_a_knife_edge_on_the_base_is_no_side_slip():
    robot, q, v = (getattr(CASES['no_side_slip'], name) for name in ('robot', 'q', 'v'))
    edge = kd.constraints.knife_edge(robot, 'base', (-0.37, 0.2, 0.4))
    found = rows_at(Case(robot, edge, q, v))
    known = rows_at(Case(robot, kd.constraints.no_side_slip(robot, -0.37), q, v))
    assert_allclose(found.matrix, known.matrix, rtol=0, atol=1e-15)
    assert relative(found.acceleration, known.acceleration) < 1e-14


def test_a_knife_edge_in_the_axes_of_a_named_frame():
    case = CASES['edge_on_slope']
    robot, edge = case.robot, case.constraint
    pose = kd.Pose.from_rotation_and_position((0.8, 0.4, -0.4, 0.2), (0.3, -0.2, 0.5))
    named = dataclasses.replace(robot, frames={'skate': kd.Frame(edge.frames[0].body, pose)})
    to_skate = pose.conjugate()
    point = (to_skate * edge.frames[0].pose).position()
    heading = to_skate.rotation_matrix() @ edge.heading
    again = kd.constraints.knife_edge(named, 'skate', point, heading, plane=SLOPE)
    found, known = rows_at(dataclasses.replace(case, robot=named, constraint=again)), rows_at(case)
    assert_allclose(found.matrix, known.matrix, rtol=0, atol=1e-14)
    assert relative(found.acceleration, known.acceleration) < 1e-13


def test_a_knife_edge_is_the_side_of_a_wheel_of_any_radius():
    # upright: a wheel turns about the line to its contact, so its radius does not matter
    robot, q, v = (getattr(CASES['caster_wheel'], name) for name in ('robot', 'q', 'v'))
    wheel = rows_at(CASES['caster_wheel'])
    frame = robot.bodies[2].placement
    heading = -frame.rotation_matrix()[:, 0]  # about -y it rolls along -x
    edge = kd.constraints.knife_edge(robot, 'fork', frame.position(), heading)
    found = rows_at(Case(robot, edge, q, v))
    assert_allclose(found.matrix[0], wheel.matrix[1], rtol=0, atol=1e-15)
    assert relative(found.acceleration[0], wheel.acceleration[1]) < 1e-14


def test_errors_of_kinds():
    c, flying = kd.constraints, wheeled('floating')
    for tyre, message in (
        (-0.01, '>= 0'),
        (0.12, 'less than the radius 0.12'),
        (1, 'rolling_ball'),
    ):
        with pytest.raises(InvalidInputError, match=rf'tyre_radius \[m\].*{message}'):
            c.rolling_wheel(flying, 'wheel', 0.12, tyre_radius=tyre)
    with pytest.raises(InvalidInputError, match=r'angle \[rad\].*finite'):
        c.roller_wheel(flying, 'wheel', np.inf, 0.12)
    with pytest.raises(ConstraintError, match='radius > 0'):
        c.roller_wheel(flying, 'wheel', 0.5)
    with pytest.raises(NameNotFoundError, match='no frame named'):
        c.knife_edge(flying, 'skate')
    with pytest.raises(InvalidInputError, match='point'):
        c.knife_edge(flying, 'fork', (0, 0))
    with pytest.raises(InvalidInputError, match='heading'):
        c.knife_edge(flying, 'fork', heading=(0, 0, 0))
    world = kd.Robot('post', flying.bodies, frames={'post': kd.Frame(-1, kd.Pose.identity())})
    with pytest.raises(ConstraintError, match="'post' is part of the world"):
        c.knife_edge(world, 'post')


def test_an_edge_that_stands_upright_has_no_left():
    flying = wheeled('floating')
    edge = kd.constraints.knife_edge(flying, 'base', heading=(0, 0, 1))
    with pytest.raises(ConstraintError, match='base/lateral.*stands upright'):
        rows_at(Case(flying, edge, flying.neutral(), np.zeros(flying.nv)))
