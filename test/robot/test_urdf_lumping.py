# SPDX-License-Identifier: Apache-2.0
"""Fixed, locked and planar joints: the robot that is left is mechanically the same one."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from same_robot import BASES, assert_same_dynamics, matrix, random_state
from urdf_text import (
    LIMIT,
    arm,
    joint,
    link,
    numbers,
    random_inertial,
    random_origin,
    random_robot,
    robot,
)

from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.robot.urdf import load_urdf

# --- fixed joints


def split_link(rng, name, parts):
    """Return a link in pieces, welded in a random tree; the first keeps its name."""
    names = [name, *(f'{name}_part_{k}' for k in range(1, parts))]
    text = [link(part, random_inertial(rng)) for part in names]
    for k, part in enumerate(names[1:], start=1):
        text.append(
            joint(f'{part}_weld', names[rng.integers(k)], part, 'fixed', random_origin(rng))
        )
    return ''.join(text)


def summed(loaded, name, text):
    """Return mass, first and second moment of a link with its parts about its origin, by hand."""
    total = np.zeros((4, 4))
    for part in re.findall(rf'<link name="({name}(?:_part_\d+)?)">', text):
        body = re.search(rf'<link name="{part}"><inertial>(.*?)</inertial>', text).group(1)
        value = {key: float(v) for key, v in re.findall(r'(value|i\w\w)="([^"]+)"', body)}
        xyz, rpy = (
            np.array(s.split(), dtype=float) for s in re.findall(r'(?:xyz|rpy)="(.*?)"', body)
        )
        tensor = np.array([[value['i' + ''.join(sorted(a + b))] for b in 'xyz'] for a in 'xyz'])
        pseudo = np.zeros((4, 4))  # sum of m p p' of the mass elements, p = (x, y, z, 1)
        pseudo[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
        pseudo[3, 3] = value['value']
        (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
        x = np.eye(4)
        x[:3, :3] = (
            np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
            @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
            @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        )
        x[:3, 3] = xyz
        x = matrix(loaded.frames[part].pose) @ x
        total += x @ pseudo @ x.T
    return total


def test_lumped_body_has_the_moments_of_its_parts(rng):
    text = robot(link('root'), joint('j', 'root', 'b', inner=LIMIT), split_link(rng, 'b', 5))
    loaded = load_urdf(text)
    inertia = loaded.bodies[0].inertia
    expected = summed(loaded, 'b', text)
    com, second = expected[:3, 3] / expected[3, 3], expected[:3, :3]
    central = second - expected[3, 3] * np.outer(com, com)
    assert inertia.mass == pytest.approx(expected[3, 3], rel=1e-14)
    assert_allclose(inertia.com, com, rtol=0, atol=1e-14)
    assert_allclose(inertia.tensor, np.trace(central) * np.eye(3) - central, rtol=0, atol=1e-14)


@pytest.mark.parametrize('base', BASES)
def test_splitting_a_body_changes_nothing(base, rng):
    """The pieces are welded at the link's own mass properties: both are written from one lump."""
    pieces = robot(
        split_link(rng, 'a', 3),
        joint('ab', 'a_part_2', 'b', 'revolute', random_origin(rng) + LIMIT),
        split_link(rng, 'b', 4),
        joint('bc', 'b_part_3', 'c', 'prismatic', random_origin(rng) + LIMIT),
        split_link(rng, 'c', 2),
    )
    split = load_urdf(pieces, base=base)
    whole = load_urdf(whole_links(split), base=base)
    assert len(split.frames) > len(whole.frames)
    assert_same_dynamics(whole, split, rng)


def whole_links(loaded):
    """Return the URDF of a robot with one link for each body (and a massless root if fixed)."""
    parts = [link('root', None)]
    for body in loaded.bodies:
        inertia = body.inertia
        moments = zip(
            ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'),
            inertia.tensor[np.triu_indices(3)].tolist(),
            strict=True,
        )
        attributes = ' '.join(f'{key}="{value!r}"' for key, value in moments)
        inner = f'<origin xyz="{numbers(inertia.com)}"/><mass value="{inertia.mass!r}"/>'
        parts.append(link(body.name, f'{inner}<inertia {attributes}/>'))
        if body.joint.name == 'base':
            parts.pop(0)
            continue
        R = body.placement.rotation_matrix()
        rpy = np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])
        place = f'<origin xyz="{numbers(body.placement.position())}" rpy="{numbers(rpy)}"/>'
        kind = type(body.joint.kind).__name__.lower()
        parent = body.parent or 'root'
        parts.append(joint(body.joint.name, parent, body.name, kind, place + LIMIT))
    return robot(*parts)


def test_links_fixed_to_the_world_add_no_inertia(rng):
    bare = arm(LIMIT)
    heavy = link('wall', random_inertial(rng)) + joint('w', 'a', 'wall', 'fixed', '')
    text = bare.replace('</robot>', heavy + '</robot>')
    assert load_urdf(text).frames['wall'].body == -1
    assert_same_dynamics(load_urdf(bare), load_urdf(text), rng)


# --- locked joints

KINDS = ('revolute', 'prismatic', 'floating', 'continuous', 'planar', 'revolute', 'prismatic')


@pytest.mark.parametrize('base', BASES)
def test_locked_joints_carry_what_they_would_at_rest(base, rng):
    """The locked robot's tau is that of the free one with the locked joints held by force."""
    text = random_robot(rng, KINDS)
    free = load_urdf(text, base=base)
    locked = {'joint_1': 0.7, 'joint_2': -0.3, 'joint_4': 9.0, 'joint_5': (0.1, -0.2, 2.5)}
    held = load_urdf(text, base=base, locked_joints=locked)
    kept = [name for name in free.velocity_names if name in held.velocity_names]
    assert held.nv == len(kept) == free.nv - 3 - 3
    q, v, a = random_state(held, rng)
    q_free, v_free, a_free = free.neutral(), np.zeros(free.nv), np.zeros(free.nv)
    for name, value in locked.items():
        index = free.indices[free.body_of_joint(name)]
        q_free[index.q] = value
    q_free[[free.coordinate_index(name) for name in held.coordinate_names]] = q
    to_free = [free.velocity_index(name) for name in held.velocity_names]
    v_free[to_free], a_free[to_free] = v, a
    tau = newton_euler(free, q_free.tolist(), v_free.tolist(), a_free.tolist())[to_free]
    assert_allclose(newton_euler(held, q, v, a), tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_names_lock_at_the_neutral_position(rng):
    text = random_robot(rng, KINDS)
    names = ['joint_1', 'joint_3', 'joint_5']
    by_name = load_urdf(text, locked_joints=names)
    by_value = load_urdf(
        text, locked_joints={'joint_1': 0, 'joint_3': (0, 0, 0, 1, 0, 0, 0), 'joint_5': (0, 0, 0)}
    )
    assert_same_dynamics(by_name, by_value, rng)
    one_shot = load_urdf(text, locked_joints=(name for name in names))
    assert_same_dynamics(by_name, one_shot, rng)


def test_neutral_position_outside_the_limits():
    far = '<limit lower="1" upper="2" velocity="3" effort="4"/>'
    held = load_urdf(arm(far, '<axis xyz="0 0 1"/>'), locked_joints=['ab'])
    assert held.nv == 0
    assert_allclose(held.frames['b'].pose.rotation_matrix(), np.eye(3), atol=1e-16)


# --- planar joints


@pytest.mark.parametrize('axis', [(0, 0, 1), (0, 0, -1), (1, 0, 0), (2, -1, 0.5)])
def test_planar_joint_is_two_slides_and_a_turn(axis, rng):
    """Whatever its axis: the slides are along x, y turned the shortest way with z to the axis."""
    n = np.array(axis) / np.linalg.norm(axis)
    if n[2] == -1.0:
        x, y = np.array([1.0, 0, 0]), np.array([0, -1.0, 0])
    else:
        h = (np.array([0, 0, 1.0]) + n) / np.linalg.norm(np.array([0, 0, 1.0]) + n)
        turn = 2.0 * np.outer(h, h) - np.eye(3)  # half a turn about the bisector ...
        x, y = -turn[:, 0], -turn[:, 1]  # ... after half a turn about z
    place, inertials = random_origin(rng), [random_inertial(rng) for _ in range(3)]
    tail = joint('bc', 'b', 'c', 'revolute', random_origin(rng) + LIMIT)
    ends = [link('a', inertials[0]), link('b', inertials[1]), link('c', inertials[2]), tail]
    across = f'<axis xyz="{numbers(n)}"/>'
    one = load_urdf(robot(*ends, joint('p', 'a', 'b', 'planar', place + across)), base='floating')
    three = load_urdf(
        robot(
            *ends, link('m1', None), link('m2', None),
            joint('p_x', 'a', 'm1', 'prismatic', place + f'<axis xyz="{numbers(x)}"/>' + LIMIT),
            joint('p_y', 'm1', 'm2', 'prismatic', f'<axis xyz="{numbers(y)}"/>' + LIMIT),
            joint('p_yaw', 'm2', 'b', 'continuous', across),
        ),
        base='floating',
    )  # fmt: skip
    assert_same_dynamics(one, three, rng)
