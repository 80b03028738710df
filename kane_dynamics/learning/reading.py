# SPDX-License-Identifier: Apache-2.0
"""What is seen of robots that reach for a pose, and what they are rewarded for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kane_dynamics.learning.scene import Scene
from kane_dynamics.typing import Floats

CLOSE, ALIGNED = 0.05, 0.3  # [m], [rad]: the hand is there
BOUND = 4.0  # farthest that the goal may be from the hand [m]
ANGLE = 0.2  # [m/rad], weight of the angle in the distance that is rewarded
EFFORT, BONUS, PENALTY = 0.01, 5.0, 5.0  # of time and speeds, at the goal, beyond all bounds


class Reading(NamedTuple):
    """
    What is seen of scenes.

    Parameters
    ----------
    observation : ndarray of float32, shape (B, 18)
        See `ReachTask.bounds`.
    distance, angle : ndarray, shape (B,)
        From the hand to the goal [m], [rad].

    """

    observation: NDArray[np.float32]
    distance: Floats
    angle: Floats

    @property
    def there(self) -> NDArray[np.bool_]:
        """Return where the hand has the pose of the goal."""
        return (self.distance < CLOSE) & (self.angle < ALIGNED)

    @property
    def left(self) -> Floats:
        """Return what is left of the way [m], the angle counted as a length."""
        return self.distance + ANGLE * self.angle


def reading(scene: Scene, hand: Floats, arm: NDArray[np.int64]) -> Reading:
    """
    Return what is seen of scenes.

    Parameters
    ----------
    scene : Scene
        The robots, (x, y, yaw) the first of their coordinates.
    hand : ndarray, shape (B, 7)
        Position [m] and (w, x, y, z) of the hands.
    arm : ndarray of int, shape (n,)
        Places of the joints of the arm in q and in v.

    """
    yaw = scene.q[:, 2]
    goal_pose, hand_pose = (Rotation.from_quat(x[:, [4, 5, 6, 3]]) for x in (scene.goal, hand))
    turn = (goal_pose * hand_pose.inv()).as_rotvec()
    way = scene.goal[:, :3] - hand[:, :3]
    ahead = np.cos(yaw) * scene.v[:, 0] + np.sin(yaw) * scene.v[:, 1]
    parts = (
        _in_base(yaw, way),
        _in_base(yaw, turn),
        np.stack([ahead, scene.v[:, 2]], axis=1),
        scene.q[:, arm],
        scene.v[:, arm],
    )
    seen = np.concatenate(parts, axis=1).astype(np.float32)
    return Reading(seen, np.linalg.norm(way, axis=1), np.linalg.norm(turn, axis=1))


def rewards(
    before: Reading, after: Reading, actions: Floats, lost: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """
    Return the rewards of a control period, and which episodes it ends.

    The way that was made good (it adds up to the same by whatever detour), less what speeds cost,
    and a bonus at the goal or a penalty for a robot that left all bounds.

    Parameters
    ----------
    before, after : Reading
        At its two ends.
    actions : ndarray, shape (B, 7)
        From -1 to 1.
    lost : ndarray of bool, shape (B,)
        From `ReachTask.after`.

    """
    gone = lost | (after.distance > BOUND)
    cost = EFFORT * (1.0 + np.mean(np.square(actions), axis=1))
    made_good = before.left - after.left - cost
    arrived = after.there & ~gone
    return made_good + BONUS * arrived - PENALTY * gone, arrived | gone


def _in_base(yaw: Floats, vectors: Floats) -> Floats:
    """Return vectors (B, 3) of the world in the axes of bases that point to a yaw, (B,)."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y, z = vectors.T
    return np.stack([c * x + s * y, c * y - s * x, z], axis=1)
