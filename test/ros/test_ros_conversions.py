# SPDX-License-Identifier: Apache-2.0
"""Messages to arrays: names, fields, quaternion order, frames. No ROS needed."""

from array import array
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import odometry, time_message

from kane_dynamics.messages.conversions import (
    NameMap,
    PlanarFrame,
    field_values,
    fill_odometry,
    nanoseconds,
    read_odometry,
    set_doubles,
    set_stamp,
    set_yaw,
    yaw_from_msg,
)
from kane_dynamics.messages.inputs import RejectedInput

WANTED = ('a', 'b', 'c')


def pick(names, values, method='all_present'):
    found = NameMap('test', WANTED)
    source, target = getattr(found, method)(names)
    result = np.full(3, np.nan)
    result[target] = field_values('test', 'position', array('d', values), names, source)
    return result


@pytest.mark.parametrize('order', [('a', 'b', 'c'), ('c', 'a', 'b'), ('x', 'b', 'y', 'c', 'a')])
def test_values_follow_names_in_any_order(order):
    values = {'a': 1.0, 'b': 2.0, 'c': 3.0}
    got = pick(list(order), [values.get(name, 99.0) for name in order])
    assert_allclose(got, [1.0, 2.0, 3.0])


def test_map_is_renewed_when_the_names_change():
    found = NameMap('test', WANTED)
    for names in (['a', 'b', 'c'], ['c', 'b', 'a'], ['a', 'b', 'c']):
        source, target = found.all_present(names)
        assert [names[i] for i in source] == [WANTED[j] for j in target]


@pytest.mark.parametrize(
    ('names', 'values', 'kind', 'word'),
    [
        (['a', 'b'], [1.0, 2.0], 'missing', "'c'"),
        ([], [], 'missing', "'a'"),
        (['a', 'b', 'b', 'c'], [1.0, 2.0, 3.0, 4.0], 'duplicate', "'b'"),
        (['a', 'b', 'c'], [1.0, 2.0], 'short', '2 values for 3 names'),
        (['a', 'b', 'c'], [], 'short', '0 values'),
        (['a', 'b', 'c'], [1.0, np.nan, 2.0], 'nan', "'b'"),
        (['a', 'b', 'c'], [1.0, 0.0, -np.inf], 'nan', "'c'"),
    ],
)
def test_bad_message_is_rejected_with_its_reason(names, values, kind, word):
    with pytest.raises(RejectedInput, match=word) as caught:
        pick(names, values)
    assert caught.value.kind == kind


def test_duplicate_names_are_rejected_again_after_a_good_message():
    found = NameMap('test', WANTED)
    found.all_present(['a', 'b', 'c'])
    for _ in range(2):
        with pytest.raises(RejectedInput, match='twice'):
            found.all_present(['a', 'b', 'c', 'c'])


def test_nan_of_a_joint_that_is_not_wanted_does_not_matter():
    assert_allclose(pick(['x', 'a', 'b', 'c'], [np.nan, 1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])


def test_partial_message_where_parts_are_allowed():
    assert_allclose(pick(['c', 'a'], [3.0, 1.0], 'none_unknown'), [1.0, np.nan, 3.0])
    for names in (['a', 'z'], []):
        with pytest.raises(RejectedInput) as caught:
            pick(names, [1.0] * len(names), 'none_unknown')
        assert caught.value.kind == 'unknown'


def test_values_are_copies_and_messages_are_written_in_place():
    data = array('d', [1.0, 2.0, 3.0])
    got = field_values('test', 'f', data, list(WANTED), np.arange(3))
    data[0] = 9.0
    assert got[0] == 1.0
    set_doubles(data, np.array([4.0, 5.0, 6.0]))
    assert data.tolist() == [4.0, 5.0, 6.0]


def test_stamp_round_trip():
    stamp = time_message()
    set_stamp(stamp, 12_345_678_901_234_567)
    assert (stamp.sec, stamp.nanosec) == (12_345_678, 901_234_567)
    assert nanoseconds(stamp) == 12_345_678_901_234_567


def test_quaternion_order_with_four_different_numbers():
    # roll 0.3, pitch -0.2, yaw 1.1, composed as Rz Ry Rx, by hand from half angles
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(x / 2), np.sin(x / 2)) for x in (0.3, -0.2, 1.1))
    q = SimpleNamespace(
        w=cy * cp * cr + sy * sp * sr,
        x=cy * cp * sr - sy * sp * cr,
        y=cy * sp * cr + sy * cp * sr,
        z=sy * cp * cr - cy * sp * sr,
    )
    assert len({round(v, 6) for v in vars(q).values()}) == 4
    assert_allclose(yaw_from_msg('odom', q), 1.1, atol=1e-15)


@pytest.mark.parametrize('yaw', [0.0, 1.0, -3.0, np.pi - 1e-9])
def test_yaw_round_trip(yaw):
    q = SimpleNamespace(w=9.0, x=9.0, y=9.0, z=9.0)
    set_yaw(q, yaw)
    assert_allclose(yaw_from_msg('odom', q), yaw, atol=1e-15)


@pytest.mark.parametrize(
    ('wxyz', 'kind'), [((0.0, 0.0, 0.0, 0.0), 'frame'), ((np.nan, 0.0, 0.0, 1.0), 'nan')]
)
def test_orientation_that_is_none_is_rejected(wxyz, kind):
    with pytest.raises(RejectedInput) as caught:
        read_odometry(odometry(wxyz=wxyz), 'base_footprint')
    assert caught.value.kind == kind


def test_odometry_of_another_frame_is_rejected():
    with pytest.raises(RejectedInput, match="'laser', need 'base_footprint'"):
        read_odometry(odometry(child='laser'), 'base_footprint')


def test_odometry_with_nan_twist_is_rejected():
    with pytest.raises(RejectedInput) as caught:
        read_odometry(odometry(twist=(0.0, np.nan, 0.0)), 'base_footprint')
    assert caught.value.kind == 'nan'


def test_odometry_message_round_trip():
    message = odometry()
    fill_odometry(message, np.array([1.0, -2.0, 2.5]), np.array([0.3, -0.1, 0.7]))
    pose, twist = read_odometry(message, 'base_footprint')
    assert_allclose(pose, [1.0, -2.0, 2.5], atol=1e-15)
    assert_allclose(twist, [0.3, -0.1, 0.7])


def test_odometry_twist_is_in_the_child_frame():
    quarter = np.sqrt(0.5)
    pose, twist = read_odometry(
        odometry(wxyz=(quarter, 0.0, 0.0, quarter), twist=(1.0, 0.0, 0.0)), 'base_footprint'
    )
    q, v = PlanarFrame().root_state(pose, twist)
    assert_allclose(q, [0.0, 0.0, np.pi / 2], atol=1e-15)
    assert_allclose(v, [0.0, 1.0, 0.0], atol=1e-15)  # forward is +y of the odometry frame


FRAME = PlanarFrame(0.3, -0.2, 0.4)


def test_child_frame_round_trip(rng):
    q, v = rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3)
    back_q, back_v = FRAME.root_state(*FRAME.child_state(q, v))
    assert_allclose(back_q, q, atol=1e-15)
    assert_allclose(back_v, v, atol=1e-15)


def test_child_twist_and_acceleration_are_derivatives_of_its_pose(rng):
    q0, v0, a0 = rng.uniform(-1.0, 1.0, (3, 3))

    def pose(t):
        return FRAME.child_state(q0 + v0 * t + 0.5 * a0 * t**2, v0 + a0 * t)[0]

    h = 1e-4
    velocity_O = (pose(h) - pose(-h)) / (2 * h)
    acceleration_O = (pose(h) - 2 * pose(0.0) + pose(-h)) / h**2
    pose_C, twist_C = FRAME.child_state(q0, v0)
    c, s = np.cos(pose_C[2]), np.sin(pose_C[2])
    to_C = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    # central differences: truncation h^2, roundoff 1e-16 / h^2
    assert_allclose(to_C @ velocity_O, twist_C, atol=1e-8)
    assert_allclose(to_C @ acceleration_O, FRAME.child_acceleration(q0, v0, a0), atol=1e-6)
