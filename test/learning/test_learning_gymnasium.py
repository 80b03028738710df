# SPDX-License-Identifier: Apache-2.0
"""The environments are what gymnasium takes for environments, one by one and many at once."""

import importlib
import sys
import warnings

import numpy as np
import pytest

from kane_dynamics import exceptions

gymnasium = pytest.importorskip('gymnasium', reason='the extra "learn" is not installed')

from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402

from kane_dynamics import learning  # noqa: E402
from kane_dynamics.learning.environments import ReachEnv, ReachVectorEnv  # noqa: E402

MODES = ('NextStep', 'SameStep')


def actions_of(env, count, seed=1):
    env.action_space.seed(seed)
    return [env.action_space.sample() for _ in range(count)]


def many(mode='NextStep', number=3, steps=4):
    return gymnasium.make_vec(
        learning.ENVIRONMENT, number, autoreset_mode=mode, max_episode_steps=steps
    )


def test_gymnasium_finds_nothing_to_say():
    """Spaces, seeds, options, steps, fresh data, and the pictures of each render mode."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        check_env(gymnasium.make(learning.ENVIRONMENT).unwrapped)


def test_the_name_is_known_once():
    learning.register()
    env = gymnasium.make('kane_dynamics.learning:KaneReach-v0')
    assert env.spec.max_episode_steps == 200 and isinstance(env.unwrapped, ReachEnv)


@pytest.mark.parametrize('mode', MODES)
def test_many_are_as_gymnasium_would_run_single_ones(mode):
    """Bit for bit: observations, rewards, ends, and infos with their masks, over resets."""
    ours, theirs = (
        many(mode),
        gymnasium.make_vec(
            learning.ENVIRONMENT,
            3,
            vectorization_mode='sync',
            vector_kwargs={'autoreset_mode': mode},
            max_episode_steps=4,
        ),
    )
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata == theirs.metadata
    assert data_equivalence(ours.reset(seed=5), theirs.reset(seed=5), exact=True)
    assert ours.unwrapped.np_random_seed == theirs.unwrapped.np_random_seed == (5, 6, 7)
    ends = 0
    for wanted in actions_of(ours, 11):
        mine, other = ours.step(wanted), theirs.step(wanted)
        ends += mine[3].sum()
        assert data_equivalence(mine, other, exact=True)
        assert mine[0] in ours.observation_space
    assert ends == {'NextStep': 6, 'SameStep': 6}[mode]


def test_a_seed_says_all():
    env, runs = many(), []
    for _ in range(2):
        runs.append([env.reset(seed=3)] + [env.step(a) for a in actions_of(env, 6)])
    assert data_equivalence(*runs, exact=True)
    others = env.reset(seed=[3, 11, 5])[0]
    same = (others == runs[0][0][0]).all(axis=1)
    assert same.tolist() == [True, False, True]


def test_without_a_seed_episodes_go_on_differently():
    env = many()
    first, _ = env.reset()
    again, _ = env.reset()
    assert len({row.tobytes() for row in np.concatenate([first, again])}) == 6


def test_disabled_autoreset_leaves_ended_episodes_to_the_user():
    env = many('Disabled', steps=2)
    start, _ = env.reset(seed=1)
    for wanted in actions_of(env, 2):
        seen, _, _, cut, _ = env.step(wanted)
    assert cut.all()
    with pytest.raises(exceptions.InvalidInputError, match=r'reset the environments \[0, 1, 2\]'):
        env.step(np.zeros(env.action_space.shape))
    mask = np.array([True, False, True])
    begun, infos = env.reset(seed=1, options={'reset_mask': mask})
    assert (begun == np.where(mask[:, None], start, seen)).all()
    assert (infos['_distance'] == mask).all() and infos['distance'][1] == 0.0
    env.reset(options={'reset_mask': ~mask})
    assert not env.step(np.zeros(env.action_space.shape))[3].any()


def test_pictures_have_one_size():
    env = ReachVectorEnv(2, render_mode='rgb_array')
    env.reset(seed=1)
    for frame in env.render():
        assert frame.shape == (480, 640, 3) and frame.dtype == np.uint8 and frame.std() > 10.0
    silent = ReachVectorEnv(1)
    silent.reset()
    assert silent.render() is None


def _after_reset(env):
    env.reset(seed=0)
    return env


MISTAKES = {
    'no episode has begun': lambda: ReachEnv().step(np.zeros(7)),
    'call reset first': lambda: ReachVectorEnv(2).step(np.zeros((2, 7))),
    r'need shape \(7,\), got \(8,\)': lambda: _after_reset(ReachEnv()).step(np.zeros(8)),
    'finite numbers': lambda: _after_reset(ReachEnv()).step(np.full(7, np.nan)),
    "need real numbers, got str 'left'": lambda: _after_reset(ReachEnv()).step('left'),
    "render_mode.*'human'": lambda: ReachEnv(render_mode='human'),
    "autoreset_mode.*'Never'": lambda: ReachVectorEnv(2, autoreset_mode='Never'),
    'num_envs: need a whole number >= 1': lambda: ReachVectorEnv(0),
    'max_episode_steps: need a whole number': lambda: ReachVectorEnv(1, max_episode_steps=2.5),
    'seed: need 2': lambda: ReachVectorEnv(2).reset(seed=[1]),
    "seed: need a whole number >= 0, got str 'a'": lambda: ReachVectorEnv(2).reset(seed='ab'),
    'seed: need a whole number >= 0, got int -1': lambda: ReachEnv().reset(seed=-1),
    'options: need a mapping': lambda: ReachEnv().reset(options=3),
    'action: need real numbers, got truth values': lambda: _after_reset(ReachEnv()).step(
        np.ones(7, dtype=bool)
    ),
    "option of reset.*'wind'": lambda: ReachEnv().reset(options={'wind': 3.0}),
    'reset all environments first': lambda: ReachVectorEnv(2).reset(
        options={'reset_mask': np.array([True, False])}
    ),
    'need 2 bools': lambda: _after_reset(ReachVectorEnv(2)).reset(
        options={'reset_mask': np.array([False, False])}
    ),
}


@pytest.mark.parametrize('message', MISTAKES)
def test_mistakes_are_named(message):
    with pytest.raises(exceptions.InvalidInputError, match=message):
        MISTAKES[message]()


def test_a_missing_gymnasium_is_named(monkeypatch):
    place = 'kane_dynamics.learning.environments'
    monkeypatch.setitem(sys.modules, 'gymnasium', None)
    monkeypatch.delitem(sys.modules, place)
    with pytest.raises(
        exceptions.MissingPackageError, match=r"pip install 'kane_dynamics\[learn\]'"
    ):
        importlib.import_module(place)
