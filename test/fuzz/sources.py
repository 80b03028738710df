# SPDX-License-Identifier: Apache-2.0
"""Texts that are right, to be changed: robots, parameter files, trajectories."""

from __future__ import annotations

from pathlib import Path

from changes import Source

ROOT = Path(__file__).resolve().parents[2]
LINK = (
    '<link name="{0}"><inertial><origin xyz="0 0 0.1" rpy="0 0 0.5"/><mass value="1"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
    '<collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.1" length="0.05"/>'
    '</geometry></collision></link>'
)
JOINT = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>'
    '<origin xyz="0.1 0 0" rpy="0 0.3 0"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.1" friction="0"/>'
    '{4}</joint>'
)
MIMIC = '<mimic joint="a" multiplier="-2" offset="0.1"/>'


def small_urdf(*joints: tuple[str, ...]) -> str:
    """Return a robot of a few links; joints are (name, type, parent, child, mimic)."""
    links = ['base_link', *(joint[3] for joint in joints)]
    parts = [*(LINK.format(link) for link in links), *(JOINT.format(*joint) for joint in joints)]
    return '<robot name="small">' + '\n'.join(parts) + '</robot>\n'


HINGE = small_urdf(('a', 'revolute', 'base_link', 'one', ''))
GRIPPER = small_urdf(
    ('a', 'prismatic', 'base_link', 'one', ''), ('b', 'continuous', 'base_link', 'two', MIMIC)
)
PLANE = small_urdf(
    ('a', 'planar', 'base_link', 'one', ''), ('b', 'fixed', 'one', 'two', '<mimic joint="a"/>')
)
BALLOON = small_urdf(('a', 'floating', 'base_link', 'one', ''))

ROBOTS = [Source(text) for text in (HINGE, GRIPPER, PLANE, BALLOON)]
FILES = [
    Source(path.read_text())
    for path in (
        *sorted(ROOT.glob('robots/*.urdf')),
        *(ROOT / 'test' / 'data' / f'{name}.urdf' for name in ('gripper_arm', 'bad_number')),
    )
]
PARAMETERS = [
    Source(path.read_text())
    for path in (*sorted(ROOT.glob('config/*.yaml')), *sorted(ROOT.glob('config/robots/*.yaml')))
]
SHORT_PARAMETERS = [
    Source(text)
    for text in (
        '/**:\n  ros__parameters:\n    base_type: none\n    gravity: [0.0, 0.0, -9.81]\n',
        '/**:\n  ros__parameters:\n    base: {wheel_radius: 0.1, left_wheel_names: [left]}\n',
        'node:\n  ros__parameters:\n    joints: [a]\n    gains: {a: {p: 6.0, d: 1.5}}\n',
        'node: &x\n  ros__parameters: &y\n    timeout: {odom: 0.1}\nother: *x\n',
    )
]
JSON_PATHS = [
    Source(
        '{"joint_trajectory": {"joint_names": ["a", "b"], "points": [{"positions": [0.0, 1.0], '
        '"velocities": [0.0, 0.5], "accelerations": [0.0, 0.1], "effort": [], '
        '"time_from_start": {"sec": 0, "nanosec": 0}}, {"positions": [1.0, 2.0], "velocities": '
        '[0.0, 0.0], "accelerations": [], "time_from_start": {"sec": 1, "nanosec": 500000000}}]}, '
        '"multi_dof_joint_trajectory": {"joint_names": ["world"], "points": [{"transforms": '
        '[{"translation": {"x": 0, "y": 1, "z": 0}, "rotation": {"x": 0, "y": 0, "z": 0, "w": 1}}]'
        ', "velocities": [{"linear": {"x": 1, "y": 0}, "angular": {"z": 0.5}}], '
        '"time_from_start": {"sec": 0, "nanosec": 1}}]}}'
    ),
    Source(
        '{"joint_names": ["base/x", "base/y", "base/theta", "a"], "points": [{"positions": '
        '[0, 0, 0, 0], "time_from_start": {"sec": 0}}, {"positions": [1, 1, 1, 1], '
        '"time_from_start": {"sec": 1}}]}'
    ),
]
YAML_PATHS = [
    Source(
        'joint_names: [a]\npoints:\n- positions: [0.0]\n  time_from_start: {sec: 0, nanosec: 0}\n'
        '- positions: [1.0]\n  effort: []\n  time_from_start: {sec: 1, nanosec: 0}\n---\n'
    )
]
CSV_PATHS = [
    Source('time,a/position,a/velocity,b/position,b/velocity\n0,0,0,0,0\n1,1,0.5,2,0\n2,2,0,1,0\n')
]
