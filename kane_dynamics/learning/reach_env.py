# SPDX-License-Identifier: Apache-2.0
"""The task of `reach_task` as one environment of gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.learning.gymnasium_package import gymnasium
from kane_dynamics.learning.interface import (
    METADATA,
    Infos,
    action_space,
    begun,
    check_options,
    checked_actions,
    checked_render_mode,
    infos_of,
    observation_space,
)
from kane_dynamics.learning.pictures import picture
from kane_dynamics.learning.reach_task import PERIOD, reach_task
from kane_dynamics.learning.reading import Reading, rewards
from kane_dynamics.learning.scene import Scene
from kane_dynamics.robot.checks import as_count


class ReachEnv(gymnasium.Env):
    """
    One mobile manipulator that brings its hand to a pose while it drives.

    Actions and observations as for `ReachVectorEnv`. It has no end in time; ``gymnasium.make``
    adds it.

    Parameters
    ----------
    render_mode : str, optional
        'rgb_array', or None where nothing is drawn.

    Raises
    ------
    InvalidInputError
        If there is no such mode.

    """

    metadata = METADATA
    _reading: Reading

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = checked_render_mode(render_mode)
        self.action_space, self.observation_space = action_space(), observation_space()
        self._scene: Scene | None = None
        self._periods = 0

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], Infos]:
        """
        Return the observation and the info of a new episode.

        Parameters
        ----------
        seed : int, optional
            Of all that is drawn from now on.
        options : mapping, optional
            None are known.

        Raises
        ------
        InvalidInputError
            If there is an option, or the seed is no whole number >= 0.

        """
        check_options(options, ())
        super().reset(seed=None if seed is None else as_count('seed', seed))
        task, self._periods = reach_task(), 0
        self._scene = task.draw(self.np_random)
        self._reading = task.read(self._scene)
        return self._reading.observation[0].copy(), self._info()

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], float, bool, bool, Infos]:
        """
        Return observation, reward, terminated, truncated and info one control period later.

        Parameters
        ----------
        action : array_like, shape (7,)
            See `ReachVectorEnv`; what is beyond -1 and 1 counts as these.

        Raises
        ------
        InvalidInputError
            If there has been no reset, or the action is no seven finite numbers.

        """
        task, before = reach_task(), begun(self._scene)
        target = checked_actions(action, self.action_space.shape)[None, :]
        self._scene, lost = task.after(before, target)
        earlier, self._reading = self._reading, task.read(self._scene)
        reward, ended = rewards(earlier, self._reading, target, lost)
        self._periods += 1
        seen = self._reading.observation[0].copy()
        return seen, float(reward[0]), bool(ended[0]), False, self._info()

    def render(self) -> NDArray[np.uint8] | None:
        """Return the picture of the scene, shape (480, 640, 3); None without a render mode."""
        scene = begun(self._scene)
        return None if self.render_mode is None else picture(scene, 0, PERIOD * self._periods)

    def _info(self) -> Infos:
        every = infos_of(begun(self._scene), self._reading)
        return {name: x[0].copy() if x.ndim > 1 else x[0].item() for name, x in every.items()}
