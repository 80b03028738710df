# SPDX-License-Identifier: Apache-2.0
"""Calls that identify, retime, sweep and learn; right arguments, wrong ones by kind."""

from __future__ import annotations

import importlib.util
import tempfile
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from support import sweep_functions

import kane_dynamics as kd
from kane_dynamics import sweep
from kane_dynamics.analysis.contacts import contact_wrench
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.analysis.payload import estimate_payload, smoothed
from kane_dynamics.trajectories.paths import RolledPath, SplinePath
from kane_dynamics.trajectories.retiming import retime

CALLS = """
identified.ObservedSpeeds dynamics names?
identified.estimate_payload dynamics frame q v a tau speeds? time
identified.contact_wrench jacobian efforts covariance
identified.smoothed times samples spacing
retiming.SplinePath points s?
retiming.RolledPath dynamics names points start s? cells
retiming.retime dynamics path actuated contacts? kept efforts? velocities? accelerations? \
 smoothing cells
rolling_out.rollout gains? payloads? every? reduce? memory progress?
sweeping.Sweep function cases items seed chunk version?
sweeping.run sweep folder workers deaths scheduler? progress?
sweeping.status sweep folder
sweeping.grid friction
"""
LEARNING = """
learning.ReachEnv render_mode?
learning.ReachVectorEnv num_envs max_episode_steps autoreset_mode render_mode?
learning.checked_actions actions
"""
if importlib.util.find_spec('gymnasium') is not None:  # the extra `learn`
    CALLS += LEARNING.lstrip()


class StudyWorld:
    """A small arm, samples of its motion, a sweep."""

    def __init__(self) -> None:
        self.arm = kd.serial_chain(2, 3)
        self.engine = kd.dynamics(self.arm, frames=[self.arm.bodies[-1].name])
        rng = np.random.default_rng(1)
        self.motion = rng.uniform(-1.0, 1.0, (4, 12, 2))
        self.bounds = dict.fromkeys(self.arm.velocity_names, 50.0)
        self.sweep = sweep.Sweep(sweep_functions.walks, [{'scale': 1.0}])
        self.identified = SimpleNamespace(
            ObservedSpeeds=ObservedSpeeds,
            estimate_payload=estimate_payload,
            contact_wrench=contact_wrench,
            smoothed=smoothed,
        )
        self.retiming = SimpleNamespace(
            SplinePath=SplinePath, RolledPath=RolledPath, retime=retime
        )
        self.rolling_out = SimpleNamespace(rollout=self._rollout)
        self.sweeping = sweep
        if 'learning' in CALLS:
            from kane_dynamics.learning import ReachEnv, ReachVectorEnv, reach_task

            self.learning = SimpleNamespace(
                ReachEnv=ReachEnv,
                ReachVectorEnv=ReachVectorEnv,
                checked_actions=lambda actions: reach_task.checked_actions(actions, (7,)),
            )

    def _rollout(self, **how: Any) -> Any:
        q, v = self.motion[:2]
        return kd.rollout(self.engine, q, v, 0.002, **how)


@cache
def world() -> StudyWorld:
    """Return the arm and the sweep."""
    return StudyWorld()


def arguments() -> dict[tuple[str, str], tuple[str, Any]]:
    """Return kind and right value of arguments, by owner or function."""
    w = world()
    names = list(w.arm.velocity_names)
    q, v, a, tau = w.motion
    times = np.linspace(0.0, 1.0, 41)
    owned: dict[str, dict[str, tuple[str, Any]]] = {
        'identified': {
            'dynamics': ('either engine', w.engine),
            'names': ('names', names),
            'frame': ('name', w.arm.bodies[-1].name),
            **{name: ('samples', x) for name, x in (('q', q), ('v', v), ('a', a), ('tau', tau))},
            'speeds': ('observed', ObservedSpeeds(w.engine)),
            'time': ('times', 0.0),
            'jacobian': ('samples', np.eye(6)[:, :2]),
            'efforts': ('vector', np.ones(2)),
            'covariance': ('variances', np.eye(2)),
            'times': ('moments', times),
            'samples': ('samples', np.sin(times)[:, None]),
            'spacing': ('step', 0.2),
        },
        'retiming': {
            'dynamics': ('either engine', w.engine),
            'path': ('path of joints', SplinePath([[0.0, 0.0], [0.5, 0.3], [1.0, 1.0]])),
            'points': ('samples', np.array([[0.0, 0.0], [0.5, 0.3], [1.0, 1.0]])),
            's': ('moments', np.array([0.0, 1.0, 2.0])),
            'names': ('names', names),
            'start': ('vector', np.zeros(2)),
            'actuated': ('names', names),
            'contacts': ('footing', None),
            'kept': ('kept', SafetyMargins()),
            'efforts': ('bounds', w.bounds),
            'velocities': ('bounds', w.bounds),
            'accelerations': ('bounds', None),
            'smoothing': ('duration', 0.0),
            'cells': ('at least one', 10),
        },
        'rolling_out': {
            'gains': ('gains of a law', None),
            'payloads': ('loads', {}),
            'every': ('at least one', None),
            'reduce': ('reduction', None),
            'memory': ('step', 1e6),
            'progress': ('telling', None),
        },
        'sweeping': {
            'function': ('job', sweep_functions.walks),
            'cases': ('cases', [{'scale': 1.0}]),
            'items': ('at least one', 1),
            'seed': ('count', 0),
            'chunk': ('at least one', 10),
            'version': ('label', '1'),
            'sweep': ('sweep', w.sweep),
            'folder': ('place', tempfile.mkdtemp()),
            'workers': ('count', 0),
            'deaths': ('at least one', 1),
            'scheduler': ('address', None),
            'progress': ('telling', lambda done, total, failed: None),
            'friction': ('values', [0.4, 0.6]),
        },
        'learning': {
            'render_mode': ('choice', 'rgb_array'),
            'autoreset_mode': ('choice', 'NextStep'),
            'num_envs': ('at least one', 2),
            'max_episode_steps': ('at least one', 5),
            'actions': ('vector', np.zeros(7)),
        },
    }
    return {(owner, name): x for owner, named in owned.items() for name, x in named.items()}


def wrong(kind: str) -> dict[str, Any] | None:
    """Return what is wrong for a kind of these arguments; None for those of other calls."""
    w = world()
    no_numbers = {'none': None, 'text': 'along', 'complex': np.ones((2, 2)) * 1j, 'robot': w.arm}
    other = {'none': None, 'text': 'standard', 'number': 3, 'robot': w.arm}
    hand = w.arm.bodies[-1].name
    joint = w.arm.velocity_names[0]
    kinds: dict[str, dict[str, Any]] = {
        'samples': {**no_numbers, 'a number': 1.0, 'nan': np.full((12, 2), np.nan)}
        | {'flat': np.ones(12), 'a row more': np.ones((42, 2)), 'empty': np.zeros((0, 2))}
        | {'a column more': np.ones((12, 3)), 'ragged': [[1.0], [1.0, 2.0]]},
        'variances': {**no_numbers, 'nan': np.full((2, 2), np.nan), 'negative': -np.eye(2)}
        | {'flat': np.ones(2), 'of three': np.eye(3), 'zero': np.zeros((2, 2))},
        'moments': {**no_numbers, 'a number': 1.0, 'nan': np.full(41, np.nan)}
        | {'falling': np.linspace(1.0, 0.0, 41), 'twice': np.zeros(41), 'empty': []}
        | {'endless': np.r_[np.linspace(0.0, 1.0, 40), np.inf], 'few': [0.0, 1.0]},
        'observed': {**other, 'names': ['joint_1'], 'engine': w.engine},
        'path of joints': {**other, 'points': np.zeros((3, 2)), 'of one': SplinePath([[0], [1]])},
        'footing': {**other, 'engine': w.engine},
        'kept': {**other, 'share': 0.5},
        'bounds': {
            'none': None,
            'list': [50.0, 50.0],
            'number': 50.0,
            'unknown joint': {'wheel_letf': 1.0},
            'text of one': {joint: 'large'},
            'none of one': {joint: None},
            'three of one': {joint: (1.0, 2.0, 3.0)},
            'zero': {joint: 0.0},
            'nan': {joint: np.nan},
            'not around zero': {joint: (1.0, 2.0)},
        },
        'at least one': {'none': None, 'text': 'many', 'zero': 0, 'negative': -1}
        | {'fraction': 1.5, 'truth value': True, 'nan': np.nan, 'several': [1, 2]},
        'gains of a law': {**no_numbers, 'numbers': [1.0], 'nan': np.nan},
        'loads': {
            'list': [1.0],
            'number': 1.0,
            'unknown frame': {'tol': {'mass': 1.0}},
            'a number for one': {hand: 1.0},
            'no mass': {hand: {'inertia': np.eye(3)}},
            'unknown entry': {hand: {'mass': 1.0, 'com': np.zeros(3)}},
            'text': {hand: {'mass': 'heavy'}},
            'nan': {hand: {'mass': np.nan}},
            'negative': {hand: {'mass': -1.0}},
            'of others': {hand: {'mass': np.ones(5)}},
            'two numbers': {hand: {'mass': 1.0, 'center_of_mass': (0.0, 0.1)}},
        },
        'reduction': {
            'number': 3.0,
            'text': 'mean',
            'too few arguments': lambda q: 0.0,
            'gives nothing': lambda times, q, v: None,
            'gives text': lambda times, q, v: 'all',
            'gives one': lambda times, q, v: 1.0,
            'gives too many': lambda times, q, v: np.ones(13),
        },
        'telling': {'number': 3.0, 'text': 'bar', 'too few arguments': lambda: None},
        'job': {
            **other,
            'written here': lambda job: {},
            'no function': 'support.sweep_functions',
            'unknown': 'support.sweep_functions:walk',
            'unknown module': 'no_such_module:walk',
        },
        'cases': {**other, 'one alone': {'scale': 1.0}, 'empty': [], 'a none among them': [None]}
        | {'twice': [{'scale': 1.0}] * 2, 'no name': [{3: 1.0}], 'objects': [{'a': object()}]},
        'sweep': {**other, 'function': sweep_functions.walks, 'cases': [{'scale': 1.0}]},
        'place': {'none': None, 'number': 3, 'list': ['.'], 'a device': '/dev/null'},
        'address': {'number': 8786, 'list': ['tcp://localhost:8786']},
        'values': {'none': None, 'number': 0.4, 'text': 'smooth'},
    }
    return kinds.get(kind)
