# SPDX-License-Identifier: Apache-2.0
"""
The task of `reach_task` as many environments of gymnasium, which one rollout moves.

Row i of a vector environment that was reset with seed s is the single environment that was reset
with seed s + i, as with gymnasium's own vector environments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.learning.gymnasium_package import gymnasium
from kane_dynamics.learning.interface import (
    METADATA,
    Flags,
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
from kane_dynamics.learning.registration import EPISODE
from kane_dynamics.learning.scene import Scene, joined, replaced, rows
from kane_dynamics.robot.checks import as_choice, as_count, describe
from kane_dynamics.typing import Floats

MODES = gymnasium.vector.AutoresetMode


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

    _reading: Reading
    _periods: NDArray[np.int64]
    _over: Flags

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int = EPISODE,
        autoreset_mode: Any = MODES.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        self.num_envs = as_count('num_envs', num_envs, 1)
        self._longest = as_count('max_episode_steps', max_episode_steps, 1)
        mode = getattr(autoreset_mode, 'value', autoreset_mode)
        self._mode = MODES(as_choice('autoreset_mode', mode, [mode.value for mode in MODES]))
        self.render_mode = checked_render_mode(render_mode)
        self.metadata = {**METADATA, 'autoreset_mode': self._mode}
        self.single_action_space = action_space()
        self.single_observation_space = observation_space()
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, self.num_envs)
        self.observation_space = batch(self.single_observation_space, self.num_envs)
        self._generators: list[Generator] = []
        self._seeds: tuple[int, ...] = ()
        self._scene: Scene | None = None

    @property
    def np_random(self) -> tuple[Generator, ...]:
        """Return the random generator of each environment."""
        return tuple(self._generators)

    @property
    def np_random_seed(self) -> tuple[int, ...]:
        """Return the seed of each environment."""
        return self._seeds

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], Infos]:
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
        selection = self._chosen(options)
        self._seed(seed, selection)
        if self._scene is None or selection.all():
            self._begin_all()
        else:
            self._begin(selection)
        return self._reading.observation.copy(), self._infos(selection)

    def step(self, actions: ArrayLike) -> tuple[NDArray[np.float32], Floats, Flags, Flags, Infos]:
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
        scene, task = begun(self._scene), reach_task()
        target = checked_actions(actions, self.action_space.shape)
        fresh = self._over & (self._mode == MODES.NEXT_STEP)
        if self._mode == MODES.DISABLED and self._over.any():
            over = np.flatnonzero(self._over).tolist()
            raise InvalidInputError(f'autoreset is disabled: reset the environments {over} first')
        on, reward, ended = ~fresh, np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        if on.any():
            moved, lost = task.after(rows(scene, on), target[on])
            read, before = task.read(moved), rows(self._reading, on)
            reward[on], ended[on] = rewards(before, read, target[on], lost)
            self._scene = replaced(scene, on, moved)
            self._reading = replaced(self._reading, on, read)
            self._periods[on] += 1
        if fresh.any():
            self._begin(fresh)
        cut = self._periods >= self._longest
        self._over = ended | cut
        final = self._reset_in_the_same_step()
        infos = {**final, **self._infos(np.ones(self.num_envs, dtype=bool))}
        return self._reading.observation.copy(), reward, ended, cut, infos

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture of each environment; None without a render mode."""
        scene = begun(self._scene)
        if self.render_mode is None:
            return None
        return tuple(picture(scene, i, PERIOD * n) for i, n in enumerate(self._periods.tolist()))

    def _chosen(self, options: Mapping[str, Any] | None) -> Flags:
        """Return which environments are reset."""
        check_options(options, ('reset_mask',))
        selection = np.ones(self.num_envs, dtype=bool)
        if options and 'reset_mask' in options:
            selection = np.array(options['reset_mask'])
            if (
                selection.dtype != bool
                or selection.shape != (self.num_envs,)
                or not selection.any()
            ):
                raise InvalidInputError(
                    f'reset_mask: need {self.num_envs} bools, one of them true, got '
                    f'{describe(selection)}'
                )
        if self._scene is None and not selection.all():
            raise InvalidInputError('reset_mask: reset all environments first')
        return selection

    def _seed(self, seed: int | Sequence[int | None] | None, selection: Flags) -> None:
        """Make new random generators of chosen environments that get a seed or have none."""
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, Iterable):
            seeds = [None if one is None else as_count('seed', one) for one in seed]
        elif seed is not None:
            seeds = [as_count('seed', seed) + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise InvalidInputError(
                f'seed: need {self.num_envs} of them, one for each environment, got {len(seeds)}'
            )
        made = list(zip(self._generators, self._seeds, strict=True))
        fresh = gymnasium.utils.seeding.np_random
        if not made:
            made = [fresh(s) for s in seeds]
        for i in np.flatnonzero(selection):
            if seeds[i] is not None:
                made[i] = fresh(seeds[i])
        self._generators = [generator for generator, _ in made]
        self._seeds = tuple(number for _, number in made)

    def _begin_all(self) -> None:
        """Begin an episode in every environment."""
        task = reach_task()
        self._scene = joined([task.draw(generator) for generator in self._generators])
        self._reading = task.read(self._scene)
        self._periods = np.zeros(self.num_envs, dtype=int)
        self._over = np.zeros(self.num_envs, dtype=bool)

    def _begin(self, selection: Flags) -> None:
        """Begin an episode in some environments."""
        task, who = reach_task(), np.flatnonzero(selection)
        drawn = joined([task.draw(self._generators[i]) for i in who])
        self._scene = replaced(begun(self._scene), selection, drawn)
        self._reading = replaced(self._reading, selection, task.read(drawn))
        self._periods[selection], self._over[selection] = 0, False

    def _infos(self, known: Flags) -> Infos:
        """Return infos of environments, zero elsewhere, each with its mask."""
        infos: Infos = {}
        for name, values in infos_of(begun(self._scene), self._reading).items():
            there = known.reshape(-1, *[1] * (values.ndim - 1))
            infos[name] = np.where(there, values, np.zeros((), values.dtype))
            infos[f'_{name}'] = known.copy()
        return infos

    def _reset_in_the_same_step(self) -> Infos:
        """Begin anew where an episode is over, if in this mode; return how those ended."""
        over = self._over.copy()
        if self._mode != MODES.SAME_STEP or not over.any():
            return {}
        seen = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(over):
            seen[i] = self._reading.observation[i].copy()
        final = {'final_obs': seen, 'final_info': self._infos(over)}
        self._begin(over)
        return {**final, '_final_obs': over.copy(), '_final_info': over.copy()}
