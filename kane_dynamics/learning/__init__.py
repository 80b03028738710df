# SPDX-License-Identifier: Apache-2.0
"""
Environments of gymnasium for learning (extra ``learn``): a mobile robot whose hand reaches a pose.

Importing this registers ``KaneReach-v0``, for ``gymnasium.make`` and, with as many environments as
one likes, all moved by one rollout, ``gymnasium.make_vec``. Both also take the name
``kane_dynamics.learning:KaneReach-v0``, which imports this.
"""

from kane_dynamics.learning.reach_env import ENVIRONMENT, ReachEnv, register
from kane_dynamics.learning.reach_vector_env import ReachVectorEnv

__all__ = ['ENVIRONMENT', 'ReachEnv', 'ReachVectorEnv', 'register']

register()
