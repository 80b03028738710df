# SPDX-License-Identifier: Apache-2.0
"""Mimic joints: they move with their master, which feels their inertia; held ones do not move."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from same_robot import BASES, matrix, random_state
from urdf_text import LIMIT, joint, link, random_robot, robot

from kane_dynamics.algorithms.mass_matrix import (
    gauss_coriolis_matrix,
    gauss_gravity_force,
    gauss_mass_matrix,
)
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.robot.body import Mimic
from kane_dynamics.robot.urdf import load_urdf

ONE_DOF = ('revolute', 'prismatic', 'continuous', 'revolute', 'prismatic')


def without_mimics(text):
    return re.sub('<mimic [^>]*>', '', text)


@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize('seed', range(3))
def test_mimic_joints_project_the_expanded_robot(base, seed):
    """With q = G q_own + g and constant G: M = G'M_x G, C v = G'C_x G v, g = G'g_x."""
    rng = np.random.default_rng(seed)
    text = random_robot(rng, ONE_DOF, followers=2)
    robot_, expanded = load_urdf(text, base=base), load_urdf(without_mimics(text), base=base)
    assert robot_.nv == expanded.nv - 2
    G = np.zeros((expanded.nv, robot_.nv))
    q, v, a = random_state(robot_, rng)
    q_x = expanded.neutral()
    for k, name in enumerate(robot_.velocity_names):
        G[expanded.velocity_index(name), k] = 1.0
    for name, value in zip(robot_.coordinate_names, q, strict=True):
        q_x[expanded.coordinate_index(name)] = value
    for body in robot_.bodies:
        if body.mimic is not None:
            name = body.joint.name
            G[expanded.velocity_index(name), robot_.velocity_index('joint_1')] = body.mimic.ratio
            master = q[robot_.coordinate_index('joint_1')]
            q_x[expanded.coordinate_index(name)] = body.mimic.ratio * master + body.mimic.offset
    q_x, v_x, a_x = q_x.tolist(), (G @ v).tolist(), (G @ a).tolist()
    for found, expected in (
        (gauss_mass_matrix(robot_, q), G.T @ gauss_mass_matrix(expanded, q_x) @ G),
        (gauss_coriolis_matrix(robot_, q, v), G.T @ gauss_coriolis_matrix(expanded, q_x, v_x) @ G),
        (gauss_gravity_force(robot_, q), G.T @ gauss_gravity_force(expanded, q_x)),
        (newton_euler(robot_, q, v, a), G.T @ newton_euler(expanded, q_x, v_x, a_x)),
    ):
        assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def finger(*mimics, kinds=('revolute', 'revolute', 'revolute')):
    """Return links l0 ... l3 and joints j1 ... j3; mimics are the arguments of <mimic> of each."""
    parts = [link(f'l{k}') for k in range(4)]
    for k, (mimic, kind) in enumerate(zip(mimics, kinds, strict=True), start=1):
        inner = '<origin xyz="0 0.2 0"/>' + LIMIT + (f'<mimic {mimic}/>' if mimic else '')
        parts.append(joint(f'j{k}', f'l{k - 1}', f'l{k}', kind, inner))
    return robot(*parts)


def test_mimic_defaults():
    loaded = load_urdf(finger('', 'joint="j1"', ''))
    assert [body.mimic for body in loaded.bodies] == [None, Mimic('j1', 1.0, 0.0), None]
    assert loaded.velocity_names == ('j1', 'j3')


def test_follower_of_a_follower():
    text = finger(
        '', 'joint="j1" multiplier="3" offset="0.25"', 'joint="j2" multiplier="-2" offset="0.75"'
    )
    loaded = load_urdf(text)
    assert loaded.bodies[2].mimic == Mimic('j2', -2.0, 0.75)
    assert loaded.velocity_names == ('j1',)
    assert (loaded.indices[2].ratio, loaded.indices[2].offset) == (-6.0, 0.25)


def test_follower_before_its_master():
    loaded = load_urdf(finger('joint="j3" multiplier="2"', '', ''))
    assert loaded.velocity_names == ('j2', 'j3')
    assert loaded.indices[0].v == loaded.indices[2].v


CHAIN = finger(
    '', 'joint="j1" multiplier="2" offset="0.1"', 'joint="j2" multiplier="-3" offset="1"'
)


@pytest.mark.parametrize(
    ('text', 'locked', 'positions'),
    [
        (CHAIN, {'j1': 0.4}, {'j1': 0.4, 'j2': 0.9, 'j3': -1.7}),
        (CHAIN, ['j1'], {'j1': 0.0, 'j2': 0.1, 'j3': 0.7}),
        (CHAIN, {'j1': 0.4, 'j2': 0.2}, {'j1': 0.4, 'j2': 0.2, 'j3': 0.4}),
        (CHAIN.replace('revolute', 'fixed', 1), [], {'j2': 0.1, 'j3': 0.7}),
    ],
)
def test_followers_of_a_held_master_are_held(text, locked, positions):
    held = load_urdf(text, locked_joints=locked)
    assert held.nv == 0
    expected = load_urdf(without_mimics(text), locked_joints=positions)
    for name, frame in held.frames.items():
        assert_allclose(matrix(frame.pose), matrix(expected.frames[name].pose), rtol=0, atol=1e-15)


def test_locked_follower_leaves_its_master_free():
    loaded = load_urdf(CHAIN, locked_joints={'j2': 0.3})
    assert loaded.velocity_names == ('j1',)
    assert [body.name for body in loaded.bodies] == ['l1']  # j3 follows j2, which is held


def test_mimic_of_a_fixed_joint_is_ignored():
    text = CHAIN.replace('name="j2" type="revolute"', 'name="j2" type="fixed"')
    for ignored in (text, text.replace('mimic joint="j1"', 'mimic joint="nowhere"')):
        loaded = load_urdf(ignored)
        assert loaded.velocity_names == ('j1',)
        assert [body.name for body in loaded.bodies] == ['l1']
