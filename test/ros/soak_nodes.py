# SPDX-License-Identifier: Apache-2.0
"""The nodes of a soak: what each is told, what it says, and how commands are spoiled."""

import math
from dataclasses import dataclass, field
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import TwistStamped, WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

LOOP = 'kane_inverse_dynamics'  # closes the loop with the simulator
SIMULATOR = 'kane_simulator'
NAN, HUGE, HOUR = float('nan'), 1e160, 3600
PARTS = ('positions', 'velocities', 'accelerations')


def stamped(message, t):
    """Return a message with a stamp [s]."""
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(t * 1e9), 10**9)
    return message


def reference(start, t):
    """Return the setpoint of all motors at a time."""
    point = JointTrajectoryPoint()
    point.positions = [x + 0.1 * math.sin(t) for x in start.values()]
    point.velocities = [0.1 * math.cos(t)] * len(start)
    point.accelerations = [-0.1 * math.sin(t)] * len(start)
    return JointTrajectory(joint_names=list(start), points=[point])


def plan(start, t):
    """Return a trajectory of the arm, as a planner sends it."""
    arm = {name: x for name, x in start.items() if 'wheel' not in name}
    points = [
        JointTrajectoryPoint(
            positions=[x + way for x in arm.values()],
            time_from_start=Duration(sec=int(after), nanosec=int(after % 1.0 * 1e9)),
        )
        for way, after in ((0.05, 0.5), (0.0, 1.0))
    ]
    return JointTrajectory(joint_names=list(arm), points=points)


def push(start, t):
    """Return a wrench on the tool."""
    message = stamped(WrenchStamped(), t)
    message.header.frame_id = 'odom'
    message.wrench.force.x = 2.0 * math.sin(t)
    return message


def knock(start, t):
    """Return a wrench that others exert on the tool."""
    message = push(start, t)
    message.header.frame_id = 'tool_link'
    return message


def drive(start, t):
    """Return the command of a base."""
    message = stamped(TwistStamped(), t)
    message.header.frame_id = 'base_footprint'
    message.twist.linear.x = 0.1 * math.sin(t)
    return message


def _twist_numbers(message):
    linear, angular = message.twist.linear, message.twist.angular
    return [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]


def _wrench_numbers(message):
    force, torque = message.wrench.force, message.wrench.torque
    return [force.x, force.y, force.z, torque.x, torque.y, torque.z]


def _point_numbers(message):
    fields = ('accelerations', 'effort')
    return [x for point in message.points for name in fields for x in getattr(point, name)]


@dataclass(frozen=True)
class Peer:
    """
    A node of the soak.

    Attributes
    ----------
    name, module : str
        Of the node, of its source.
    says : tuple
        Type, topic, and what returns the numbers of its messages.
    told : tuple or None
        Type, topic, what makes the message of start positions and time, and its period [s].
    moves : bool
        Whether it says efforts of motors: they answer states that are known, in time.
    params : dict
        Parameters of its own.
    always : bool
        Whether it says something as long as it has states.

    """

    name: str
    module: str
    says: tuple
    told: Any = None
    moves: bool = False
    params: Any = field(default_factory=dict)
    always: bool = True


def _efforts(name):
    return JointState, f'/{name}/effort', lambda message: message.effort


def _refer(name):
    return JointTrajectory, f'/{name}/reference', reference, 0.0


MODES = '[free, free, free, wrench, impedance, impedance]'
THE_LOOP = Peer(LOOP, 'inverse_dynamics_node', _efforts(LOOP), _refer(LOOP), moves=True)
PEERS = (
    Peer(
        'kane_computed_torque',
        'computed_torque_node',
        _efforts('kane_computed_torque'),
        _refer('kane_computed_torque'),
        moves=True,
    ),
    Peer(
        'kane_wrench_control',
        'wrench_control_node',
        _efforts('kane_wrench_control'),
        (WrenchStamped, '/kane_wrench_control/wrench', push, 0.02),
        moves=True,
        params={'modes': MODES},
    ),
    Peer(
        'kane_forward_dynamics',
        'forward_dynamics_node',
        (JointTrajectory, '/kane_forward_dynamics/predicted_accelerations', _point_numbers),
    ),
    Peer(
        'kane_contact_observer',
        'contact_observer_node',
        (WrenchStamped, '/kane_contact_observer/wrench', _wrench_numbers),
    ),
    Peer(
        'kane_governor',
        'governor_node',
        (TwistStamped, '/cmd_vel', _twist_numbers),
        (TwistStamped, '/cmd_vel_in', drive, 0.05),
        params={'base.support_points': '[0.25, 0.0, 0.0, -0.25, 0.0, 0.0]'},
    ),
    Peer(
        'kane_trajectory_feedforward',
        'trajectory_feedforward_node',
        (JointTrajectory, '/arm_controller/joint_trajectory', _point_numbers),
        (JointTrajectory, '/kane_trajectory_feedforward/joint_trajectory', plan, 0.25),
    ),
)


def _first_number(value):
    """Return what puts a number into a command of any type."""

    def change(message):
        if isinstance(message, JointTrajectory):
            point = message.points[0]
            point.positions = [value, *point.positions[1:]]
        elif isinstance(message, WrenchStamped):
            message.wrench.force.x = value
        else:
            message.twist.linear.x = value
        return message

    return change


def _short(message):
    if isinstance(message, JointTrajectory):
        for name in PARTS:
            values = list(getattr(message.points[0], name))
            setattr(message.points[0], name, values[1:] or values)
    return message


def _elsewhere(message):
    if isinstance(message, JointTrajectory):
        message.joint_names = ['nobody', *message.joint_names[1:]]
    message.header.frame_id = 'nowhere'
    return message


def _old(message):
    message.header.stamp.sec = 1
    message.header.stamp.nanosec = 1
    return message


SPOILERS = {
    '': lambda message: message,
    'nan': _first_number(NAN),
    'huge': _first_number(HUGE),
    'short': _short,
    'elsewhere': _elsewhere,
    'old': _old,
    'torn': lambda message: serialize_message(message)[:25],
}
"""What spoils a command, of any type, by what a fault calls it."""
SIMULATOR_TOLD = (WrenchStamped, f'/{SIMULATOR}/external_wrench', knock, 0.1)
