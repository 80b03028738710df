# SPDX-License-Identifier: Apache-2.0
"""The name under which gymnasium makes the environment."""

from __future__ import annotations

from kane_dynamics.learning.gymnasium_package import gymnasium

ENVIRONMENT = 'KaneReach-v0'
EPISODE = 200  # control periods, 10 s
_ROOM = 'kane_dynamics.learning'


def register() -> None:
    """Make ``KaneReach-v0`` known to gymnasium; twice is as good as once."""
    envs = gymnasium.envs
    if ENVIRONMENT not in envs.registry:
        envs.register(
            ENVIRONMENT,
            entry_point=f'{_ROOM}.reach_env:ReachEnv',
            vector_entry_point=f'{_ROOM}.reach_vector_env:ReachVectorEnv',
            max_episode_steps=EPISODE,
        )
