# SPDX-License-Identifier: Apache-2.0
"""
The task of `reach_task` as environments of gymnasium, which one rollout moves.

Row i of a vector reset with seed s is the single environment reset with s + i, as gymnasium's own.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.learning.reach_task import PERIOD, checked_actions, picture, reach_task
from kane_dynamics.learning.reading import INFOS, blank_states, rewards
from kane_dynamics.robot.checks import as_choice, as_count, as_mapping, describe
from kane_dynamics.typing import ArrayLike, Bools, Floats, NDArray

try:
    import gymnasium
except ImportError as missing:
    raise MissingPackageError(
        'kane_dynamics.learning', 'gymnasium', "pip install 'kane_dynamics[learn]'"
    ) from missing

EPISODE = 200  # control periods, 10 s
MODES = gymnasium.vector.AutoresetMode
PICTURE = 'rgb_array'
Seen = NDArray[np.float32]
Infos = dict[str, Any]
Options = Mapping[str, Any] | None
Seeds = int | Sequence[int | None] | None


class ReachVectorEnv(gymnasium.vector.VectorEnv):
    """
    Mobile manipulators that bring their hands to poses while they drive, all in one rollout.

    An action is, for each of both wheels and the five joints of the arm, the speed that its drive
    shall have, from -1 to 1 of its limit. An observation is described in `ReachTask.bounds`; what
    is beyond its bounds counts as these. Payload and friction are not observed: each episode draws
    them. Infos: distance [m] and angle [rad] from the hand to the goal, success, and what the
    episode drew: payload_mass [kg], viscous_friction [N m s/rad] and dry_friction [N m].

    Parameters
    ----------
    num_envs : int
        How many, at least 1.
    max_episode_steps : int
        Control periods after which an episode is truncated, at least 1.
    autoreset_mode : AutoresetMode or str
        Of gymnasium: 'NextStep', 'SameStep' or 'Disabled'.
    render_mode : str, optional
        'rgb_array', or None where nothing is drawn.

    Raises
    ------
    InvalidInputError
        If a number is none or there is no such mode.

    """

    metadata: Infos = {'render_modes': [PICTURE], 'render_fps': round(1.0 / PERIOD)}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int = EPISODE,
        autoreset_mode: Any = MODES.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        self.num_envs = count = as_count('num_envs', num_envs, 1)
        self._longest = as_count('max_episode_steps', max_episode_steps, 1)
        mode = getattr(autoreset_mode, 'value', autoreset_mode)
        self._mode = MODES(as_choice('autoreset_mode', mode, [mode.value for mode in MODES]))
        self.render_mode = render_mode
        if render_mode is not None:
            as_choice('render_mode', render_mode, [PICTURE])
        self.metadata = {**self.metadata, 'autoreset_mode': self._mode}
        box, bounds = gymnasium.spaces.Box, reach_task().bounds
        self.single_action_space = box(-1.0, 1.0, (len(reach_task().drives),), np.float32)
        self.single_observation_space = box(-bounds, bounds, dtype=np.float32)
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, count)
        self.observation_space = batch(self.single_observation_space, count)
        self._np_random, self._np_random_seed = (), ()
        self._states, self._periods = blank_states(count), np.zeros(count, dtype=int)
        self.over: Bools = np.zeros(count, dtype=bool)

    def reset(self, *, seed: Seeds = None, options: Options = None) -> tuple[Seen, Infos]:
        """
        Return observations and infos of new episodes.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Of the first environment, the next have the next ones; or of each.
        options : mapping, optional
            'reset_mask', ndarray of bool, shape (num_envs,): which environments; all where left
            out.

        Raises
        ------
        InvalidInputError
            If seeds or the mask are not one for each environment, none is chosen, others have not
            begun, or there is another option.

        """
        mask = self._mask(options)
        self._seed(seed, mask)
        self._begin(mask)
        return self._states.observation.copy(), self._infos(mask)

    def step(self, actions: ArrayLike) -> tuple[Seen, Floats, Bools, Bools, Infos]:
        """
        Return observations, rewards, terminated, truncated and infos one control period later.

        Parameters
        ----------
        actions : array_like, shape (num_envs, 7)
            What is beyond -1 and 1 counts as these.

        Raises
        ------
        InvalidInputError
            If there has been no reset, the actions are no finite numbers of that shape, or, with
            autoreset disabled, an episode is over.

        """
        self._check_begun()
        targets = checked_actions(actions, self.action_space.shape)
        fresh = self.over & (self._mode == MODES.NEXT_STEP)
        if self._mode == MODES.DISABLED and self.over.any():
            over = np.flatnonzero(self.over).tolist()
            raise InvalidInputError(f'autoreset is disabled: reset the environments {over} first')
        on, reward, ended = ~fresh, np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        if on.any():
            before = self._states[on]
            after, lost = reach_task().after(before, targets[on])
            reward[on], ended[on] = rewards(before, after, targets[on], lost)
            self._states[on] = after
            self._periods[on] += 1
        self._begin(fresh)
        cut = self._periods >= self._longest
        self.over = ended | cut
        infos = self._reset_in_the_same_step(self.over.copy())
        infos |= self._infos(np.ones(self.num_envs, dtype=bool))
        return self._states.observation.copy(), reward, ended, cut, infos

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture of each environment; None without a render mode."""
        self._check_begun()
        if self.render_mode is None:
            return None
        times = (PERIOD * self._periods).tolist()
        return tuple(picture(*row) for row in zip(self._states, times, strict=True))

    def _check_begun(self) -> None:
        if not self._np_random:
            raise InvalidInputError('no episode has begun: call reset first')

    def _mask(self, options: Options) -> Bools:
        """Return which environments are reset."""
        named = as_mapping('options', {} if options is None else options)
        for name in named:
            as_choice('option of reset', name, ('reset_mask',))
        mask = np.array(named.get('reset_mask', np.ones(self.num_envs, dtype=bool)))
        if mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            need = f'{self.num_envs} bools, one of them true'
            raise InvalidInputError(f'reset_mask: need {need}, got {describe(mask)}')
        if not self._np_random and not mask.all():
            raise InvalidInputError('reset_mask: reset all environments first')
        return mask

    def _seed(self, seed: Seeds, mask: Bools) -> None:
        """Make new random generators of masked environments that get a seed or have none."""
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, Iterable):
            seeds = [None if one is None else as_count('seed', one) for one in seed]
        elif seed is not None:
            seeds = [as_count('seed', seed) + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            need = f'{self.num_envs} of them, one for each environment'
            raise InvalidInputError(f'seed: need {need}, got {len(seeds)}')
        fresh = gymnasium.utils.seeding.np_random
        made: list[Any] = [*zip(self._np_random, self._np_random_seed, strict=True)]
        made = made or [fresh(one) for one in seeds]
        for i in np.flatnonzero(mask):
            made[i] = made[i] if seeds[i] is None else fresh(seeds[i])
        self._np_random, self._np_random_seed = zip(*made, strict=True)

    def _begin(self, mask: Bools) -> None:
        """Begin an episode in some environments."""
        for i in np.flatnonzero(mask):
            self._states[i] = reach_task().draw(self._np_random[i])[0]
        self._periods[mask], self.over[mask] = 0, False

    def _infos(self, mask: Bools) -> Infos:
        """Return infos of environments, zero elsewhere, each with its mask."""
        infos: Infos = {f'_{name}': mask.copy() for name in INFOS}
        for name in INFOS:
            infos[name] = np.zeros_like(self._states[name])
            infos[name][mask] = self._states[name][mask]
        return infos

    def _reset_in_the_same_step(self, over: Bools) -> Infos:
        """Begin anew where an episode is over, if in this mode; return how those ended."""
        if self._mode != MODES.SAME_STEP or not over.any():
            return {}
        seen = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(over):
            seen[i] = self._states.observation[i].copy()
        final = {'final_obs': seen, 'final_info': self._infos(over)}
        self._begin(over)
        return {**final, '_final_obs': over, '_final_info': over.copy()}


class ReachEnv(gymnasium.Env):
    """
    One mobile manipulator that brings its hand to a pose while it drives.

    Actions and observations are those of `ReachVectorEnv`; ``gymnasium.make`` adds an end in time.

    Parameters
    ----------
    render_mode : str, optional
        'rgb_array', or None where nothing is drawn.

    Raises
    ------
    InvalidInputError
        If there is no such mode.

    """

    metadata = ReachVectorEnv.metadata

    def __init__(self, render_mode: str | None = None) -> None:
        self._row = ReachVectorEnv(1, sys.maxsize, MODES.DISABLED, render_mode)
        self.render_mode = render_mode
        self.action_space = self._row.single_action_space
        self.observation_space = self._row.single_observation_space

    def reset(self, *, seed: int | None = None, options: Options = None) -> tuple[Seen, Infos]:
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

    def step(self, action: ArrayLike) -> tuple[Seen, float, bool, bool, Infos]:
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
