# SPDX-License-Identifier: Apache-2.0
"""Robots of the same content are equal, hash equal, and survive pickling; others are not."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import kane_dynamics as kd

ADDRESS = 'package://kane_dynamics/robots/nonholonomic.urdf'


def robot(**options):
    return kd.load_urdf(ADDRESS, base='planar', **options)


@pytest.mark.parametrize(
    'copied', [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_is_equal_and_hashes_equal(copied):
    one = robot()
    other = copied(one)
    assert other == one
    assert hash(other) == hash(one)
    assert {one: 'found'}[other] == 'found'


def test_equal_files_make_equal_robots():
    assert robot() == robot()
    assert robot() != 'robot'
    tilted = robot(gravity=(1.0, 0.0, -9.0))
    assert tilted == robot().with_gravity((1.0, 0.0, -9.0))
    assert tilted != robot()


@pytest.mark.parametrize(
    'part', ['name', 'gravity', 'mass', 'frame', 'wheel', 'friction', 'limit']
)
def test_one_changed_number_or_name_makes_another_robot(part):
    one = robot()
    key = hash(one)  # cached: must not be handed on
    *others, last = one.bodies
    heavier = replace(
        last, inertia=kd.Inertia(last.inertia.mass + 1e-9, last.inertia.com, np.eye(3))
    )
    changes = {
        'name': {'name': 'another'},
        'frame': {'frames': {**one.frames, 'more': kd.Frame(0, kd.Pose.identity())}},
        'wheel': {'wheels': {}},
        'friction': {'bodies': (*others, replace(last, joint=replace(last.joint, friction=0.25)))},
        'limit': {'bodies': (*others, replace(last, joint=replace(last.joint, upper=9.0)))},
        'mass': {'bodies': (*others, heavier)},
    }
    other = one.with_gravity((0, 0, -9.8)) if part == 'gravity' else replace(one, **changes[part])
    assert other != one
    assert hash(other) != key
    assert one.with_payload('tool_link', 1e-9) != one


def test_the_names_of_the_package_are_its_public_ones():
    hidden = {'Any', 'TYPE_CHECKING', 'aside', 'import_module'}
    assert hidden.isdisjoint(dir(kd))
    assert set(kd.__all__) <= set(dir(kd))
    with pytest.raises(AttributeError, match="did you mean 'inverse_dynamics'") as told:
        _ = kd.inverse_dynamic
    assert len(str(told.value)) < 300
    with pytest.raises(AttributeError, match="no attribute 'qqqqqqq'; there are .* e.g. "):
        _ = kd.qqqqqqq
