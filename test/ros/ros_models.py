# SPDX-License-Identifier: Apache-2.0
"""Models and messages for the tests of the ROS folder that need no ROS."""

from array import array
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import yaml

from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.robot_config.parameters.spec import plain
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import build_model, read_description

ROOT = Path(__file__).resolve().parents[2]
PENDULUM_URDF = """<robot name="pendulum">
  <link name="base_link"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base_link"/><child link="rod"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""


def flat(tree, prefix=''):
    """Return a nested mapping with dotted names."""
    result = {}
    for key, value in tree.items():
        name = f'{prefix}{key}'
        result.update(flat(value, f'{name}.') if isinstance(value, dict) else {name: value})
    return result


def preset(robot):
    """Return the parameters of config/<robot>.yaml by full name."""
    text = (ROOT / 'config' / f'{robot}.yaml').read_text()
    return flat(yaml.safe_load(text)['/**']['ros__parameters'])


def parameters(table=InverseDynamicsParameters, **values):
    """Return a table with its defaults, changed by field name."""
    return table(**values)


def from_preset(robot, table=InverseDynamicsParameters, **values):
    """Return a table with the values of a preset."""
    chosen = preset(robot)
    names = {spec.name: spec.field for spec in table.specs}
    known = {names[k]: plain(v) for k, v in chosen.items() if k in names}
    return parameters(table, **{**known, **values})


def model_of(robot, **values):
    """Return the model of a preset."""
    p = from_preset(robot, **values)
    return build_model(p, read_description(p))


def time_message(ns=0):
    """Return what looks like a builtin_interfaces Time."""
    return SimpleNamespace(sec=ns // 10**9, nanosec=ns % 10**9)


def joint_state(names, stamp=0, **values):
    """Return what looks like a sensor_msgs JointState."""
    arrays = {f: array('d', values.get(f, ())) for f in ('position', 'velocity', 'effort')}
    header = SimpleNamespace(stamp=time_message(stamp), frame_id='')
    return SimpleNamespace(header=header, name=list(names), **arrays)


def xyz(x=0.0, y=0.0, z=0.0):
    """Return what looks like a geometry_msgs Vector3 or Point."""
    return SimpleNamespace(x=x, y=y, z=z)


def odometry(
    child='base_footprint', stamp=0, pose=(0.0, 0.0), wxyz=(1.0, 0.0, 0.0, 0.0), twist=()
):
    """Return what looks like a nav_msgs Odometry; twist is (v_x, v_y, yaw rate)."""
    v_x, v_y, rate = twist or (0.0, 0.0, 0.0)
    orientation = SimpleNamespace(**dict(zip('wxyz', wxyz, strict=True)))
    return SimpleNamespace(
        header=SimpleNamespace(stamp=time_message(stamp), frame_id='odom'),
        child_frame_id=child,
        pose=SimpleNamespace(pose=SimpleNamespace(position=xyz(*pose), orientation=orientation)),
        twist=SimpleNamespace(
            twist=SimpleNamespace(linear=xyz(v_x, v_y), angular=xyz(0.0, 0.0, rate))
        ),
    )


def point(positions=(), velocities=(), accelerations=(), time=0.0):
    """Return what looks like a JointTrajectoryPoint."""
    return SimpleNamespace(
        positions=array('d', positions),
        velocities=array('d', velocities),
        accelerations=array('d', accelerations),
        time_from_start=time_message(round(time * 1e9)),
    )


def trajectory(names, positions=(), velocities=(), accelerations=(), stamp=0):
    """Return what looks like a JointTrajectory with one point, a setpoint."""
    return path(names, [point(positions, velocities, accelerations)], stamp)


def path(names, points, stamp=0):
    """Return what looks like a JointTrajectory of several points."""
    header = SimpleNamespace(stamp=time_message(stamp))
    return SimpleNamespace(header=header, joint_names=list(names), points=list(points))


class FakeClock:
    """Node time and wall time that a test sets, in ns."""

    def __init__(self):
        self.node, self.wall = 10**12, 0

    def forward(self, seconds):
        """Let both clocks run."""
        self.node += round(seconds * 1e9)
        self.wall += round(seconds * 1e9)


def wanted_motion(law, q, v, reference):
    """Return q, v, a of the whole robot for a reference, consistent with the constraints."""
    q, v, a = q.copy(), v.copy(), np.zeros(len(v))
    q[reference.q_index], v[reference.v_index] = reference.position, reference.velocity
    a[reference.v_index] = reference.acceleration
    q, v = law.with_consistent_steering(q, v)
    result = law._balanced(q, v, a, reference.motor, TERMS)
    return q, result.velocity, result.acceleration
