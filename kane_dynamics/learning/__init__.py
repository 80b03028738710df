# SPDX-License-Identifier: Apache-2.0
"""
Environments of gymnasium for learning (extra ``learn``): a mobile robot whose hand reaches a pose.

Importing this registers ``KaneReach-v0``, for ``gymnasium.make`` and, with as many environments as
one likes, all moved by one rollout, ``gymnasium.make_vec``. Both also take the name
``kane_dynamics.learning:KaneReach-v0``, which imports this.
"""

from kane_dynamics.learning.environments import EPISODE, ReachEnv, ReachVectorEnv, gymnasium

__all__ = ['ENVIRONMENT', 'ReachEnv', 'ReachVectorEnv', 'register']

ENVIRONMENT = 'KaneReach-v0'


def register() -> None:
    """
    Make ``KaneReach-v0`` known to gymnasium; twice is as good as once.

    Examples
    --------
    >>> from kane_dynamics.learning import register
    >>> register()
    >>> import gymnasium
    >>> 'KaneReach-v0' in gymnasium.registry
    True

    """
    if ENVIRONMENT not in gymnasium.envs.registry:
        single, vector = (f'{x.__module__}:{x.__name__}' for x in (ReachEnv, ReachVectorEnv))
        names = {'entry_point': single, 'vector_entry_point': vector}
        gymnasium.envs.register(ENVIRONMENT, **names, max_episode_steps=EPISODE)


register()
