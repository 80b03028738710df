# SPDX-License-Identifier: Apache-2.0
"""Recordings as arrays: of bags with and without odometry or velocities, of tables."""

import re
import tracemalloc

import numpy as np
import pytest
from conftest import JOINTS, START, STEP, motion
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.bags import recordings
from kane_dynamics.bags.computing import JOINT_STATES, ODOM
from kane_dynamics.bags.files import JOINT_STATE
from kane_dynamics.bags.recordings import file_hash, read_recording
from kane_dynamics.cli.printing import write_csv
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import (
    build_model,
    model_of_file,
    parameters_of_file,
)

TOPICS = {JOINT_STATES: ('/joint_states', JOINT_STATE)}
WHEELS = 'wheel_left_joint', 'wheel_right_joint'


def read(path, urdf, joints=JOINTS):
    """Return a recording of the arm."""
    p = InverseDynamicsParameters(base_type='none')
    return read_recording(path, build_model(p, urdf.read_text()), p, joints, TOPICS)


@pytest.mark.parametrize('with_velocity', [True, False])
def test_a_bag(messages, arm, tmp_path, with_velocity):
    """Of each joint by its name, efforts of one; times are those of the stamps."""
    stamps = START + np.arange(5) * STEP
    for i, stamp in enumerate(stamps.tolist()):
        fields = {'effort': [7.0 + i, np.nan]} | ({} if with_velocity else {'velocity': []})
        late = stamp + 3 * STEP
        q, v, _ = (x[::-1] for x in motion(stamp))
        messages.joints(stamp, late, JOINTS[::-1], **{'position': q, 'velocity': v} | fields)
    found = read(messages.write(tmp_path / 'bag'), arm, JOINTS[1:])
    assert_allclose(found.time, np.arange(5) * 0.01, rtol=0, atol=1e-15)
    assert_allclose(found.rows().q, [motion(stamp)[0] for stamp in stamps], rtol=0, atol=0)
    assert_allclose(found.rows().tau, [[0.0, 7.0 + i] for i in range(5)], rtol=0, atol=0)
    if with_velocity:
        assert found.notes == []
        assert_allclose(found.rows().v, [motion(stamp)[1] for stamp in stamps], rtol=0, atol=0)
    else:
        assert found.rows().v is None
        assert 'velocities are missing in 5 messages' in found.notes[0]


@pytest.mark.parametrize(
    ('change', 'lost', 'problem'),
    [
        (lambda i: {'velocity': []} if i < 3 else {}, 0, 'velocities are missing in 3 messages'),
        (lambda i: {'effort': []} if i % 5 == 0 else {}, 4, 'effort has 0 values for 2 names'),
        (lambda i: {'effort': [1.0, np.nan]} if i == 5 else {}, 1, 'not a finite number'),
        (lambda i: {'position': [np.inf, 1.0]} if i == 5 else {}, 1, 'not a finite number'),
        (lambda i: {'names': JOINTS[:1]} if i < 4 else {}, 4, r"no value for \['elbow'\]"),
        (lambda i: {'names': JOINTS[::-1], 'order': -1} if i > 9 else {}, 0, ''),
    ],
)
def test_messages_that_lack_something(messages, arm, tmp_path, change, lost, problem):
    """Regression: velocities that some messages lack were 0, efforts were those of before."""
    for i in range(20):
        stamp, local = START + i * STEP, change(i)
        names, order = local.pop('names', JOINTS), local.pop('order', 1)
        q, v, _ = motion(stamp)
        fields = {'position': q, 'velocity': v, 'effort': 5.0 + q} | local
        fields = {name: x[: len(names)][::order] for name, x in fields.items()}
        messages.joints(stamp, names=names, **fields)
        if i % 10 == 4:  # of another driver
            messages.joints(stamp, names=['hand'], position=[0.1], velocity=[], effort=[1.0])
    found = read(messages.write(tmp_path / 'bag'), arm)
    first = 0 if 'elbow' not in problem else lost
    first += 'effort has' in problem
    q = [motion(START + (first + round(t / 0.01)) * STEP)[0] for t in found.time]
    assert len(found.time) == 20 - lost
    assert_allclose(found.rows().q, q, atol=1e-12)
    assert_allclose(found.rows().tau, 5.0 + np.array(q), atol=1e-12)
    text = ' '.join(found.notes)
    assert re.search(problem, text), text
    assert f'states of {20 - lost} of 22 messages' in text
    assert (found.rows().v is None) == ('velocities are missing' in text)


def test_angles_go_on_where_sensors_wrap_them(arm, tmp_path):
    """Regression: wrapped at pi, a filter made noise of the jump; slides do not wrap."""
    file = tmp_path / 'slide.urdf'
    slide = '<joint name="elbow" type="prismatic"><limit lower="-9" upper="9" effort="1" '
    text = arm.read_text().replace(
        '<joint name="elbow" type="continuous">', slide + 'velocity="1"/>'
    )
    file.write_text(text)
    turn = np.linspace(0.0, 12.0, 60)
    columns = {'time': 0.01 * np.arange(60)}
    jumps = np.where(np.arange(60) < 30, 0.0, 8.0)
    wrapped = (turn + np.pi) % (2.0 * np.pi) - np.pi
    for kind in ('position', 'effort'):
        columns |= {f'{kind}:shoulder': wrapped, f'{kind}:elbow': jumps}
    q = read(write_csv(tmp_path / 'a.csv', columns), file).rows().q
    assert_allclose(q, np.column_stack([turn, jumps]), atol=1e-12)


@pytest.mark.parametrize('kind', ['bag', 'table'])
def test_locked_joints_that_are_elsewhere_are_told(messages, arm, tmp_path, kind):
    """Regression: the model held them at 0 whatever was recorded."""
    stamps = START + np.arange(20) * STEP
    if kind == 'bag':
        for stamp in stamps.tolist():
            messages.joints(stamp, effort=[1.0, 2.0])
        path = messages.write(tmp_path / 'bag')
    else:
        rows = np.array([motion(stamp)[0] for stamp in stamps])
        columns = {'time': 0.01 * np.arange(20), 'effort:shoulder': rows[:, 0]}
        columns |= {f'position:{name}': x for name, x in zip(JOINTS, rows.T, strict=True)}
        path = write_csv(tmp_path / 'a.csv', columns)
    p = InverseDynamicsParameters(base_type='none', locked_joints=JOINTS[1:])
    model = build_model(p, arm.read_text())
    (note,) = read_recording(path, model, p, JOINTS[:1], TOPICS).notes[-1:]
    assert "'elbow', which the model locks at 0, is at up to 0.54 rad or m" in note
    still = InverseDynamicsParameters(base_type='none', locked_joints=())
    assert not any(
        'locks' in x
        for x in read_recording(
            path, build_model(still, arm.read_text()), still, JOINTS[:1], TOPICS
        ).notes
    )


def test_what_is_missing_is_named(messages, arm, tmp_path):
    messages.joints(START, effort=[])
    bag = messages.write(tmp_path / 'bag')
    with pytest.raises(InvalidInputError, match='effort has 0 values for 2 names'):
        read(bag, arm)


@pytest.mark.parametrize(('with_velocity', 'block'), [(True, 3), (False, 1 << 17)])
def test_odometry_turns_on(messages, tmp_path, with_velocity, block, monkeypatch):
    """Its yaw goes beyond pi, not back to -pi; also from one block to the next."""
    monkeypatch.setattr(recordings, 'BLOCK', block)
    p = parameters_of_file('nonholonomic', InverseDynamicsParameters)
    model, yaws = model_of_file('nonholonomic'), np.linspace(2.5, 4.5, 20)
    types, names = messages.types, model.joints
    point = types['geometry_msgs/msg/Point']
    vector = types['geometry_msgs/msg/Vector3']
    for i, yaw in enumerate(yaws.tolist()):
        turned = types['geometry_msgs/msg/Quaternion'](0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2))
        pose = types['geometry_msgs/msg/Pose'](point(0.1 * i, 0.0, 0.0), turned)
        twist = types['geometry_msgs/msg/Twist'](vector(0.2, 0.0, 0.0), vector(0.0, 0.0, 0.1))
        odom = types['nav_msgs/msg/Odometry'](
            messages.header(START + i * STEP, 'odom'),
            p.base_frame_id,
            types['geometry_msgs/msg/PoseWithCovariance'](pose, np.zeros(36)),
            types['geometry_msgs/msg/TwistWithCovariance'](twist, np.zeros(36)),
        )
        messages.add('/odom', odom, START + i * STEP)
        still = dict.fromkeys(('position', 'velocity', 'effort'), np.ones(len(names)))
        still |= {} if with_velocity else {'velocity': []}
        messages.joints(START + i * STEP, names=names, **still)
    topics = TOPICS | {ODOM: ('/odom', 'nav_msgs/msg/Odometry')}
    found = read_recording(messages.write(tmp_path / 'bag'), model, p, WHEELS, topics).rows()
    assert_allclose(found.q[:, 2], yaws, atol=1e-12)
    assert_allclose(found.q[:, 0], 0.1 * np.arange(20), atol=1e-12)
    if not with_velocity:
        assert found.v is None
        return
    assert_allclose(found.v[:, :2], 0.2 * np.array([np.cos(yaws), np.sin(yaws)]).T, atol=1e-12)
    wheels = [model.robot.velocity_index(name) for name in WHEELS]
    assert set(np.flatnonzero(found.tau.any(axis=0))) == set(wheels)


def test_a_table_is_the_same(arm, tmp_path):
    columns = {'time': 0.1 * np.arange(4.0)}
    for kind, at in (('effort', 0.0), ('position', 10.0), ('velocity', 20.0)):
        for k, name in enumerate(JOINTS[::-1]):
            columns[f'{kind}:{name}'] = at + 0.1 * k + np.arange(4.0)
    found = read(write_csv(tmp_path / 'a.csv', columns), arm)
    for values, at in ((found.rows().tau, 0.0), (found.rows().q, 10.0), (found.rows().v, 20.0)):
        assert_allclose(values - at - np.arange(4.0)[:, None], [[0.1, 0.0]] * 4, atol=1e-12)
    assert kd.load_urdf(arm).coordinate_names == JOINTS


def test_rows_come_from_the_disk_in_time(arm, tmp_path, monkeypatch):
    """Stamps that go back and repeat, in blocks of seven, beside sorted arrays."""
    monkeypatch.setattr(recordings, 'BLOCK', 7)
    rng = np.random.default_rng(3)
    time = 0.01 * rng.permutation(np.r_[0:40, 5, 6])
    q, tau = 0.3 * rng.normal(size=(2, len(time), 2))
    q[21] = q[20]  # across two blocks
    columns = {'time': time}
    for kind, x in (('position', q), ('effort', tau)):
        columns |= {f'{kind}:{name}': x[:, k] for k, name in enumerate(JOINTS)}
    file = write_csv(tmp_path / 'a.csv', columns)
    file.write_text(file.read_text() + '\n\n')
    found = read(file, arm)
    _, order = np.unique(time, return_index=True)
    assert_allclose(found.time, 0.01 * np.arange(40), atol=1e-12)
    assert found.clock.repeated == 1 / len(time)
    assert found.clock.disordered > 0.3
    for part in (slice(None), slice(13, 31)):
        rows = found.rows(part)
        assert rows.v is None
        assert_allclose(rows.q, q[order][part], rtol=1e-9)
        assert_allclose(rows.tau, tau[order][part], rtol=1e-9)
    assert_allclose(np.vstack([x.q for x in found.blocks()]), q[order], rtol=1e-9)
    later = found.part(0.5, 1.0)
    assert_allclose(later.rows(slice(2, 5)).q, q[order][22:25], rtol=1e-9)
    assert_allclose(later.time, found.time[20:])
    assert_allclose(found.extremes.tau.min(axis=0), tau.min(axis=0), rtol=1e-9)
    assert_allclose(found.extremes.tau.max(axis=0), tau.max(axis=0), rtol=1e-9)


def test_rows_do_not_stay_in_memory(tmp_path, monkeypatch):
    """Regression: stamps that were a view kept each block; a row here has 200 bytes."""
    monkeypatch.setattr(recordings, 'BLOCK', 500)
    names = [f'joint_{k}' for k in range(8)]
    links = (f'<link name="link_{k}"/>' for k in range(9))
    joints = (
        f'<joint name="{name}" type="continuous"><parent link="link_{k}"/>'
        f'<child link="link_{k + 1}"/></joint>'
        for k, name in enumerate(names)
    )
    urdf = tmp_path / 'chain.urdf'
    urdf.write_text(f'<robot name="chain">{"".join([*links, *joints])}</robot>')

    def peak(count):
        x = np.arange(1.0, 1.0 + count)
        columns = (f'{kind}:{y}' for kind in ('position', 'velocity', 'effort') for y in names)
        file = write_csv(tmp_path / 'a.csv', {'time': 0.1 * x, **dict.fromkeys(columns, x)})
        tracemalloc.start()
        assert read(file, urdf, tuple(names)).rows(slice(7, 8)).tau[0, 7] == 8.0
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(8000) - peak(2000) < 80.0 * 6000


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('time,position:a\n0.0,1.0\n', "no column 'position:"),
        ('{head}\n0.0,1.0,2.0,3.0\n', '4 columns, 5 headings'),
        ('{head}\n0.0,1.0,2.0,3.0,x\n', 'cannot be read'),
        ('{head}\n', 'has no rows'),
    ],
)
def test_tables_that_cannot_be_read(text, message, arm, tmp_path):
    head = ','.join(['time', *(f'{kind}:{x}' for kind in ('position', 'effort') for x in JOINTS)])
    file = tmp_path / 'a.csv'
    file.write_text(text.format(head=head))
    with pytest.raises(InvalidInputError, match=message):
        read(file, arm)


def test_hashes_tell_recordings_apart(tmp_path):
    one = tmp_path / 'one'
    one.write_bytes(b'1')
    folder = tmp_path / 'bag'
    folder.mkdir()
    (folder / 'a').write_bytes(b'1')
    assert file_hash(one) == file_hash(folder)
    (folder / 'b').write_bytes(b'2')
    assert file_hash(one) != file_hash(folder)


TABLE = {
    'time': [0.0, 0.1, 0.2],
    **{f'position:{name}': [0.0, 0.1, 0.3] for name in JOINTS},
    **{f'velocity:{name}': [1.0, 1.5, 2.0] for name in JOINTS},
    **{f'effort:{name}': [0.0, 5.0, 6.0] for name in JOINTS},
}


def table_of(path, columns, head=None):
    """Write a table in CSV with a heading, that of its columns where left out."""
    rows = '\n'.join(','.join(map(str, row)) for row in zip(*columns.values(), strict=True))
    path.write_text(f'{",".join(columns) if head is None else head}\n{rows}', encoding='utf-8')
    return path


def test_headings_that_do_not_fit_are_named(arm, tmp_path):
    """Regression: without rows an IndexError; columns beside their headings were read."""
    file, head = tmp_path / 'table.csv', ','.join(TABLE)
    empty = {name: [] for name in TABLE}
    for columns, heading, problem in (
        (empty, head, 'no rows'),
        ({'': []}, '', 'no column'),
        (TABLE, head.removeprefix('time,'), "no column 'time'"),
        (TABLE, f'{head},more', '7 columns, 8 headings'),
        (TABLE, head.replace(f'effort:{JOINTS[1]}', f'effort:{JOINTS[0]}'), 'these repeat'),
    ):
        with pytest.raises(InvalidInputError, match=f"table '.*table.csv'.*{problem}"):
            read(table_of(file, columns, heading), arm)


@pytest.mark.parametrize('name', ['time', f'position:{JOINTS[1]}', f'velocity:{JOINTS[0]}'])
def test_numbers_that_are_none_are_named_by_file_and_column(arm, tmp_path, name):
    """Regression: the error had neither the file nor the column."""
    columns = TABLE | {name: [0.0, np.nan, 1.0]}
    with pytest.raises(InvalidInputError, match=rf"table\.csv': '{name}': need finite numbers"):
        read(table_of(tmp_path / 'table.csv', columns), arm)


def test_a_table_of_a_spreadsheet(arm, tmp_path):
    """Regression: the mark of UTF-8 in front of the first heading was part of it."""
    found = read(table_of(tmp_path / 'table.csv', TABLE, '\ufeff' + ','.join(TABLE)), arm)
    assert_allclose(found.time, TABLE['time'], rtol=0, atol=0)


def test_velocities_that_are_all_zero_were_not_recorded(arm, tmp_path):
    """Regression: of a table they were a motion without speeds; of a bag they are none."""
    zero = {name: [0.0, 0.0, 0.0] for name in TABLE if name.startswith('velocity:')}
    assert read(table_of(tmp_path / 'table.csv', TABLE | zero), arm).rows().v is None
