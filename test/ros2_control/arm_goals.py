# SPDX-License-Identifier: Apache-2.0
"""Arms under a trajectory controller, and random goals that their motors can reach in time."""

from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import yaml
from bed import described
from ros_bench import ROOT

import kane_dynamics as kd
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import RobotModel, model_of_file

RATE = 500  # [Hz] of manager, simulator and controllers
DURATION = 1.0  # [s] of a move
CONTROLLER = 'arm_controller'
PART = 0.8  # of the limits of speeds and efforts
MARGIN = 0.05  # part of the range of a joint at each end that goals leave
SHAPE = np.linspace(0.0, 1.0, 21)  # where on a move its efforts are looked at
SHORTER = 0.7  # factor on a move that asks too much

UR5 = {  # a chain on the ground
    'urdf_file': 'package://example-robot-data/robots/ur_description/urdf/ur5_robot.urdf',
    'base_type': 'none',
    'initial_positions': {
        'shoulder_lift_joint': -1.2,
        'elbow_joint': 1.4,
        'wrist_1_joint': -0.8,
        'wrist_2_joint': 0.5,
    },
}
UR5_GAINS = {
    'shoulder_pan_joint': {'p': 200.0, 'd': 20.0},
    'shoulder_lift_joint': {'p': 400.0, 'd': 40.0},
    'elbow_joint': {'p': 200.0, 'd': 15.0},
    'wrist_1_joint': {'p': 20.0, 'd': 0.8},
    'wrist_2_joint': {'p': 20.0, 'd': 0.8},
    'wrist_3_joint': {'p': 1.0, 'd': 0.02},
}


class Arm(NamedTuple):
    """A robot, its files, and the joints of its trajectory controller."""

    name: str
    preset: Path
    controllers: Path
    description: str
    joints: tuple[str, ...]
    model: RobotModel
    pose: tuple[float, ...]
    linear: np.ndarray  # which joints slide: their efforts are in N, not N m
    tip: str
    below: tuple[str, ...] = ()  # controllers that the trajectory controller commands


def arm_of(name, folder):
    """Return a shipped robot with its controllers at the rate of the tests, or the chain."""
    controllers = folder / 'controllers.yaml'
    if name == 'ur5':
        preset = folder / 'ur5.yaml'
        preset.write_text(yaml.safe_dump({'/**': {'ros__parameters': UR5}}))
        content = _controllers_of_chain(UR5_GAINS)
    else:
        preset = ROOT / 'config' / f'{name}.yaml'
        shipped = ROOT / 'config' / 'ros2_control' / f'{name}_controllers.yaml'
        content = yaml.safe_load(shipped.read_text())
    content['controller_manager']['ros__parameters']['update_rate'] = RATE
    controllers.write_text(yaml.safe_dump(content))
    given = yaml.safe_load(preset.read_text())['/**']['ros__parameters']
    joints = tuple(content[CONTROLLER]['ros__parameters']['joints'])
    text = described(name, given['urdf_file'], controllers, preset, CONTROLLER)
    sliding = [
        joint.get('name')
        for joint in ElementTree.fromstring(text).findall('joint')
        if joint.get('type') == 'prismatic'
    ]
    return Arm(
        name,
        preset,
        controllers,
        text,
        joints,
        model_of_file(preset, table=TrajectoryFeedforwardParameters),
        tuple(float(given['initial_positions'].get(joint, 0.0)) for joint in joints),
        np.array([joint in sliding for joint in joints]),
        given.get('frame', 'tool0'),
    )


def _controllers_of_chain(gains):
    joints = list(gains)
    constraints = {name: {'trajectory': 0.1, 'goal': 0.02} for name in joints}
    arm = {
        'command_interfaces': ['effort'],
        'state_interfaces': ['position', 'velocity'],
        'joints': joints,
        'gains': gains,
        'constraints': {'goal_time': 1.0, 'stopped_velocity_tolerance': 0.05, **constraints},
    }
    types = {
        'joint_state_broadcaster': 'joint_state_broadcaster/JointStateBroadcaster',
        'effort_controller': 'forward_command_controller/ForwardCommandController',
        CONTROLLER: 'joint_trajectory_controller/JointTrajectoryController',
    }
    given = {
        'controller_manager': {name: {'type': kind} for name, kind in types.items()},
        'effort_controller': {'interface_name': 'effort', 'joints': list(joints)},
        CONTROLLER: arm,
    }
    return {name: {'ros__parameters': values} for name, values in given.items()}


class Goals:
    """Draws goals, each within limits and reachable from the one before."""

    def __init__(self, arm, seed):
        robot, v = arm.model.robot, arm.model.v_index(arm.joints)
        self._dynamics, self._q, self._v = kd.dynamics(robot), arm.model.q_index(arm.joints), v
        self._random = np.random.default_rng(seed)
        self._speed = PART * robot.velocity_limit[v]
        self._effort = PART * robot.effort_limit[v]
        lower, upper = robot.lower[self._q], robot.upper[self._q]
        room = np.where(np.isfinite(upper - lower), MARGIN * (upper - lower), 0.0)
        self._lower = np.maximum(lower + room, -np.pi)
        self._upper = np.minimum(upper - room, np.pi)
        self._rest, self._nv = robot.neutral(), robot.nv
        self.place = np.array(arm.pose)

    def gravity(self, position):
        """Return the efforts that hold the arm."""
        q = self._rest.copy()
        q[self._q] = position
        return np.asarray(self._dynamics.gravity_force(q))[self._v]

    def draw(self):
        """Return the next goal."""
        while True:
            wanted = self._random.uniform(self._lower, self._upper) - self.place
            most = self._speed * DURATION / 1.5  # the fastest of a cubic from rest to rest
            way = np.clip(wanted, -most, most)
            while np.abs(way).max() > 0.02:
                if self._within_efforts(way):
                    self.place = self.place + way
                    return self.place
                way = SHORTER * way

    def _within_efforts(self, way):
        q, v, a = self._rest.copy(), np.zeros(self._nv), np.zeros(self._nv)
        for s in SHAPE:
            q[self._q] = self.place + way * s * s * (3.0 - 2.0 * s)
            v[self._v] = way * 6.0 * s * (1.0 - s) / DURATION
            a[self._v] = way * (6.0 - 12.0 * s) / DURATION**2
            effort = np.asarray(self._dynamics.inverse_dynamics(q, v, a))[self._v]
            if (np.abs(effort) > self._effort).any():
                return False
        return True
