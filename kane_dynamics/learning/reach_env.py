# SPDX-License-Identifier: Apache-2.0
"""A vector of one `ReachVectorEnv` as a single environment, and the name of both in gymnasium."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.learning.reach_vector_env import (
    EPISODE,
    METADATA,
    MODES,
    Infos,
    Options,
    ReachVectorEnv,
    checked_actions,
    gymnasium,
)

ENVIRONMENT = 'KaneReach-v0'


def register() -> None:
    """Make ``KaneReach-v0`` known to gymnasium; twice is as good as once."""
    if ENVIRONMENT not in gymnasium.envs.registry:
        single, vector = (f'{x.__module__}:{x.__name__}' for x in (ReachEnv, ReachVectorEnv))
        names = {'entry_point': single, 'vector_entry_point': vector}
        gymnasium.envs.register(ENVIRONMENT, **names, max_episode_steps=EPISODE)


class ReachEnv(gymnasium.Env):
    """
    One mobile manipulator that brings its hand to a pose while it drives.

    Actions and observations as for `ReachVectorEnv`, of which it is one row. It has no end in
    time; ``gymnasium.make`` adds it.

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

    def __init__(self, render_mode: str | None = None) -> None:
        self._row = ReachVectorEnv(1, sys.maxsize, MODES.DISABLED, render_mode)
        self.render_mode = render_mode
        self.action_space = self._row.single_action_space
        self.observation_space = self._row.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: Options = None
    ) -> tuple[NDArray[np.float32], Infos]:
        """
        Return the observation and the info of a new episode.

        Parameters
        ----------
        seed : int, optional
            Of all that is drawn from now on.
        options : mapping, optional
            As those of a vector of one.

        Raises
        ------
        InvalidInputError
            If there is another option, or the seed is no whole number >= 0.

        """
        observations, infos = self._row.reset(seed=seed, options=options)
        (self._np_random,), (self._np_random_seed,) = self._row.np_random, self._row.np_random_seed
        return observations[0], _of_one(infos)

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
        actions = checked_actions(action, self.action_space.shape)[None]
        observations, reward, ended, _, infos = self._row.step(actions)
        self._row.over[:] = False  # whoever steps on steps on
        return observations[0], reward.item(), ended.item(), False, _of_one(infos)

    def render(self) -> NDArray[np.uint8] | None:
        """Return the picture of the scene, shape (480, 640, 3); None without a render mode."""
        pictures = self._row.render()
        return None if pictures is None else pictures[0]


def _of_one(infos: Infos) -> Infos:
    """Return the infos of a vector of one without its masks."""
    rows = {name: x[0] for name, x in infos.items() if not name.startswith('_')}
    return {name: x.copy() if x.ndim else x.item() for name, x in rows.items()}
