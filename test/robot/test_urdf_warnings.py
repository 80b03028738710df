# SPDX-License-Identifier: Apache-2.0
"""What is unusual but harmless in a URDF: one warning for each link or joint, with the numbers."""

import warnings

import numpy as np
import pytest
from urdf_text import BALL, LIMIT, arm, joint, link, robot

from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.exceptions import ModelWarning
from kane_dynamics.robot.urdf import load_urdf

POINT = '<mass value="2"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
OFF_AXIS = '<origin xyz="0 1 0"/>'


def load(text, **options):
    """Return the robot and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        loaded = load_urdf(text, **options)
    assert {w.category for w in caught} <= {ModelWarning}
    assert {w.filename for w in caught} <= {__file__}  # they point at the caller
    return loaded, [str(w.message) for w in caught]


def only_warning(text, **options):
    loaded, texts = load(text, **options)
    assert len(texts) == 1, texts
    return loaded, texts[0]


def test_a_clean_file_gives_no_warning():
    assert load(arm(LIMIT))[1] == []


# --- limits


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_no_limit(kind):
    loaded, text = only_warning(arm(kind=kind))
    assert "joint 'ab'" in text
    assert kind in text
    assert 'no <limit>' in text
    bounds = (-loaded.lower, loaded.upper, loaded.velocity_limit, loaded.effort_limit)
    np.testing.assert_array_equal(bounds, np.inf)


@pytest.mark.parametrize(
    ('limit', 'words', 'bounds'),
    [
        ('lower="-1" upper="2" velocity="3" effort="0"', ['effort limit 0'], (-1, 2, 3, np.inf)),
        ('lower="-1" upper="2" velocity="3"', ['no effort limit'], (-1, 2, 3, np.inf)),
        ('lower="-1" upper="2" velocity="3" effort="-7"', ['effort limit -7'], (-1, 2, 3, np.inf)),
        ('lower="-1" upper="2" effort="4"', ['no velocity limit'], (-1, 2, np.inf, 4)),
        (
            'lower="-1" upper="2" velocity="0" effort="0"',
            ['velocity limit 0', 'effort limit 0'],
            (-1, 2, np.inf, np.inf),
        ),
        (
            'lower="1" upper="-2" velocity="3" effort="4"',
            ['lower limit 1 above upper limit -2'],
            (-np.inf, np.inf, 3, 4),
        ),
        ('lower="1" velocity="3" effort="4"', ['1 above', 'limit 0'], (-np.inf, np.inf, 3, 4)),
        ('velocity="3" effort="4"', ['no lower and upper limit'], (-np.inf, np.inf, 3, 4)),
    ],
)
def test_unknown_limits(limit, words, bounds):
    loaded, text = only_warning(arm(f'<limit {limit}/>'))
    for word in ["joint 'ab'", 'taken as unknown', *words]:
        assert word in text
    found = (loaded.lower, loaded.upper, loaded.velocity_limit, loaded.effort_limit)
    np.testing.assert_array_equal(np.ravel(found), bounds)


def test_one_bound_left_out_is_zero():
    loaded, texts = load(arm('<limit upper="2" velocity="3" effort="4"/>'))
    assert texts == []
    assert (loaded.lower, loaded.upper) == (0.0, 2.0)


def test_continuous_joint_needs_no_limit_and_has_no_range():
    assert load(arm(kind='continuous'))[1] == []
    loaded, texts = load(arm(LIMIT, kind='continuous'))
    assert texts == []
    assert (loaded.lower, loaded.upper, loaded.velocity_limit) == (-np.inf, np.inf, 3.0)
    _, text = only_warning(arm('<limit velocity="3" effort="0"/>', kind='continuous'))
    assert "joint 'ab': effort limit 0;" in text


def test_joints_that_do_not_move_by_themselves_need_no_limit():
    three = [link(name) for name in 'abc']
    follower = joint('bc', 'b', 'c', inner='<mimic joint="ab"/>')
    text = robot(*three, joint('ab', 'a', 'b', inner=LIMIT), follower)
    assert load(text)[1] == []
    assert load(arm(), locked_joints=['ab'])[1] == []
    assert load(arm(kind='planar'))[1] == load(arm(kind='floating'))[1] == []


# --- inertia


def test_broken_triangle_rule():
    flat = BALL.replace('izz="0.1"', 'izz="0.25"')
    for text in (arm(LIMIT, last_link=flat), robot(link('b', flat))):  # a root in the world, too
        _, warning = only_warning(text)
        for word in ("link 'b'", '0.1, 0.1, 0.25', 'triangle rule'):
            assert word in warning
    assert load(arm(LIMIT, last_link=flat.replace('0.25', '0.2')))[1] == []  # a flat disc


def test_negative_principal_moment_of_a_part_is_harmless():
    """TIAGo's antennas: 1e-6 kg with a negative principal moment, fixed to the base."""
    antenna = (
        '<mass value="1e-6"/><inertia ixx="2.371e-8" ixy="6.119e-8" ixz="1.179e-8" '
        'iyy="2.833e-8" iyz="7.74e-9" izz="3.849e-8"/>'
    )
    text = robot(link('a'), link('antenna', antenna), joint('j', 'a', 'antenna', 'fixed', ''))
    loaded, warning = only_warning(text, base='floating')
    assert "link 'antenna': principal moments -3.53486e-08, " in warning
    assert loaded.bodies[0].inertia.mass == 2.000001


def test_roundoff_in_a_tensor_is_zero():
    """ICub's hips and head: moments of 1e-20 and 1e-35 kg m^2, some of them negative."""
    noise = POINT.replace('ixx="0"', 'ixx="-5.4e-20"').replace('ixz="0"', 'ixz="2.4e-35"')
    loaded, texts = load(arm(LIMIT, last_link=OFF_AXIS + noise))
    assert texts == []
    np.testing.assert_array_equal(loaded.bodies[0].inertia.tensor, 0.0)


@pytest.mark.parametrize(
    ('inner', 'missing'),
    [
        (BALL.replace('ixy="0"', '').replace('iyz="0"', ''), 'ixy, iyz'),
        (OFF_AXIS + '<mass value="2"/>', '<inertia>'),
    ],
)
def test_incomplete_inertia_is_zero(inner, missing):
    loaded, text = only_warning(arm(LIMIT, last_link=inner))
    assert f"link 'b': <inertial> has no {missing};" in text
    assert loaded.bodies[0].inertia.tensor[0, 1] == 0.0


# --- singular mass matrix


def massless(kind, **options):
    text = robot(link('a'), link('b', None), joint('ab', 'a', 'b', kind))
    return only_warning(text, **options)


@pytest.mark.parametrize('kind', ['revolute', 'continuous', 'prismatic', 'planar', 'floating'])
def test_moving_link_without_inertial(kind):
    loaded, text = massless(kind)
    assert "['b']" in text
    assert 'the mass matrix is singular' in text
    assert str(list(loaded.velocity_names)) in text
    assert not gauss_mass_matrix(loaded, loaded.neutral()).any()


def test_only_the_massless_link_is_named():
    loaded, text = massless('revolute', base='floating')
    assert "links ['b']: no inertia resists ['ab']," in text
    M = gauss_mass_matrix(loaded, loaded.neutral())
    assert np.linalg.matrix_rank(M) == 6


def test_massless_link_between_massive_ones_is_harmless():
    text = robot(
        link('a'), link('b', None), link('c'), joint('ab', 'a', 'b'),
        joint('bc', 'b', 'c', inner='<origin xyz="0 1 0"/><axis xyz="0 1 0"/>' + LIMIT),
    )  # fmt: skip
    assert load(text)[1] == []


def test_two_joints_on_one_axis_without_mass_between_them():
    text = robot(
        link('a'), link('b', None), link('c'), joint('ab', 'a', 'b'), joint('bc', 'b', 'c')
    )
    _, warning = only_warning(text)
    assert "links ['b', 'c']: no inertia resists ['ab', 'bc']," in warning


def test_slide_of_a_massless_root_on_a_planar_base():
    """Cartpole of pybullet: base and slide move the same things."""
    text = robot(link('rail', None), link('cart'), joint('slide', 'rail', 'cart', 'prismatic'))
    assert load(text)[1] == []
    _, warning = only_warning(text, base='planar')
    assert "links ['rail', 'cart']: no inertia resists ['base_x', 'base_y', 'slide']," in warning


def test_follower_gives_its_master_inertia():
    parts = [link('a'), link('b', None), link('c'), joint('ab', 'a', 'b')]
    follow = LIMIT + '<mimic joint="ab" multiplier="{}"/>'
    assert load(robot(*parts, joint('ac', 'a', 'c', inner=follow.format(2))))[1] == []
    _, warning = only_warning(robot(*parts, joint('ac', 'a', 'c', inner=follow.format(0))))
    assert "'ab'" in warning


def test_follower_that_undoes_its_master():
    back = LIMIT + '<mimic joint="ab" multiplier="{}"/>'
    parts = [link('a'), link('b', None), link('c'), joint('ab', 'a', 'b')]
    assert load(robot(*parts, joint('bc', 'b', 'c', inner=back.format(-0.5))))[1] == []
    _, warning = only_warning(robot(*parts, joint('bc', 'b', 'c', inner=back.format(-1))))
    assert "no inertia resists ['ab']," in warning


def test_very_light_links_are_not_massless():
    speck = '<origin xyz="0 0.001 0"/>' + POINT.replace('value="2"', 'value="1e-10"')
    assert load(arm(LIMIT, last_link=speck), base='floating')[1] == []


def test_point_mass_on_the_axis():
    _, warning = only_warning(arm(LIMIT, last_link=POINT))
    assert "links ['b']: no inertia resists ['ab']," in warning
    assert load(arm(LIMIT, last_link=OFF_AXIS + POINT))[1] == []


def test_point_mass_on_the_axis_at_neutral_only():
    text = robot(
        link('a'), link('b', None), link('c', '<origin xyz="1 0 0"/>' + POINT),
        joint('ab', 'a', 'b'), joint('bc', 'b', 'c', inner='<axis xyz="0 0 1"/>' + LIMIT),
    )  # fmt: skip
    _, warning = only_warning(text)
    assert "['ab'] at the neutral position, so the mass matrix is singular" in warning


def test_mass_without_tensor_can_slide_and_tensor_without_mass_can_turn():
    assert load(arm(LIMIT, kind='prismatic', last_link=POINT))[1] == []
    spin = BALL.replace('value="2"', 'value="0"')
    assert load(arm(LIMIT, last_link=spin))[1] == []
    _, warning = only_warning(arm(LIMIT, kind='prismatic', last_link=spin))
    assert 'singular' in warning


def test_warnings_can_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with pytest.raises(ModelWarning, match='no <limit>'):
            load_urdf(arm())
