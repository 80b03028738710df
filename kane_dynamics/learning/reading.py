# SPDX-License-Identifier: Apache-2.0
"""Robots that reach for a pose: their states, what is seen of them, and what they get for it."""

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kane_dynamics.typing import Bools, Floats, NDArray

CLOSE, ALIGNED = 0.05, 0.3  # [m], [rad]: the hand is there
BOUND = 4.0  # farthest that the goal may be from the hand [m]
ANGLE = 0.2  # [m/rad], weight of the angle in the distance that is rewarded
EFFORT, BONUS, PENALTY = 0.01, 5.0, 5.0  # of time and speeds, at the goal, beyond all bounds

STATE = np.dtype(
    [
        ('q', float, 10),
        ('v', float, 10),
        ('goal', float, 7),  # position [m] and (w, x, y, z) that the hand shall have
        ('viscous_friction', float, 7),  # of the driven joints [N m s/rad]
        ('dry_friction', float, 7),  # [N m]
        ('payload_mass', float),  # [kg]
        ('payload_place', float, 3),  # of its centre of mass in the axes of the hand [m]
        ('observation', np.float32, 18),  # see `ReachTask.bounds`
        ('distance', float),  # from the hand to the goal [m]
        ('angle', float),  # [rad]
        ('success', bool),
    ]
)
INFOS = 'distance angle success payload_mass viscous_friction dry_friction'.split()
States = np.recarray[Any, Any]


def blank_states(count: int) -> States:
    """Return states of environments, all zero."""
    return np.zeros(count, STATE).view(np.recarray)


def read(states: States, hand: Floats, arm: NDArray[np.int64]) -> None:
    """Write into states what is seen with hands at poses (B, 7), from indices of arm joints."""
    yaw, q, v = states.q[:, 2], states.q, states.v
    goal_pose, hand_pose = (Rotation.from_quat(x[:, [4, 5, 6, 3]]) for x in (states.goal, hand))
    turn = (goal_pose * hand_pose.inv()).as_rotvec()
    way = states.goal[:, :3] - hand[:, :3]
    ahead = np.cos(yaw) * v[:, 0] + np.sin(yaw) * v[:, 1]
    base = np.stack([ahead, v[:, 2]], axis=1)
    to_base = Rotation.from_euler('z', -yaw[:, None])
    parts = to_base.apply(way), to_base.apply(turn), base, q[:, arm], v[:, arm]
    states.observation = np.concatenate(parts, axis=1)
    distance, angle = np.linalg.norm(way, axis=1), np.linalg.norm(turn, axis=1)
    states.distance, states.angle = distance, angle
    states.success = (distance < CLOSE) & (angle < ALIGNED)


def rewards(before: States, after: States, actions: Floats, lost: Bools) -> tuple[Floats, Bools]:
    """Return the rewards of a control period, and which episodes it ends."""
    gone = lost | (after.distance > BOUND)
    cost = EFFORT * (1.0 + np.mean(np.square(actions), axis=1))
    made_good = before.distance - after.distance + ANGLE * (before.angle - after.angle)
    arrived = after.success & ~gone
    return made_good - cost + BONUS * arrived - PENALTY * gone, arrived | gone
