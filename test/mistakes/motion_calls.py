# SPDX-License-Identifier: Apache-2.0
"""Calls of what follows, observes and holds trajectories; right arguments, wrong ones by kind."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.contacts import CollisionFlags
from kane_dynamics.analysis.momentum_observer import MomentumObserver
from kane_dynamics.control.task_space_tracking import FrameMotion, FrameTracking
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory

CALLS = """
following.FrameTracking actuated stiffness damping posture posture_stiffness known? held
following.effort q v pose twist acceleration terms
observing.MomentumObserver gains
observing.update q v tau step
observing.CollisionFlags thresholds hold
observing.flags efforts step
planned.JointTrajectory times positions velocities? accelerations? efforts?
"""


class MotionWorld:
    """An arm, and what lets it follow, and what observes it."""

    def __init__(self) -> None:
        self.arm = kd.serial_chain(6, 3)
        engine, names = kd.dynamics(self.arm), list(self.arm.velocity_names)
        hand, zeros = self.arm.bodies[-1].name, np.zeros(self.arm.nq)
        law = FrameTracking(engine, hand, names, np.ones(6), np.ones(6), zeros)
        observer, flags = MomentumObserver(engine, 30.0), CollisionFlags(np.ones(2))

        def tracking(**given: Any) -> FrameTracking:
            return FrameTracking(engine, hand, **given)

        def effort(q: Any, v: Any, pose: Any, twist: Any, acceleration: Any, terms: Any) -> Any:
            return law.effort(q, v, FrameMotion(pose, twist, acceleration), terms)

        def points(**given: Any) -> JointTrajectory:
            return JointTrajectory(('a', 'b'), **given)

        self.names = names
        self.following = SimpleNamespace(FrameTracking=tracking, effort=effort)
        self.observing = SimpleNamespace(
            MomentumObserver=lambda gains: MomentumObserver(engine, gains),
            update=observer.update,
            CollisionFlags=CollisionFlags,
            flags=flags.update,
        )
        self.planned = SimpleNamespace(JointTrajectory=points)


@cache
def world() -> MotionWorld:
    """Return the arm."""
    return MotionWorld()


def arguments() -> dict[tuple[str, str], tuple[str, Any]]:
    """Return kind and right value of arguments, by owner or function."""
    w = world()
    n, six = w.arm.nv, np.zeros(6)
    rows = np.array([[0.0, 0.0], [0.1, 0.2]])
    owned: dict[str, dict[str, tuple[str, Any]]] = {
        'following': {
            'actuated': ('names', w.names),
            'known': ('names', w.names),
            'held': ('names', []),
            'terms': ('names', ('gravity',)),
            'stiffness': ('vector', np.ones(6)),
            'damping': ('vector', np.ones(6)),
            'posture': ('vector', np.zeros(n)),
            'posture_stiffness': ('duration', 1.0),
            **{name: ('measured', np.zeros(n)) for name in ('q', 'v')},
            'pose': ('vector', np.array([0.1, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0])),
            'twist': ('vector', six),
            'acceleration': ('vector', six),
        },
        'observing': {
            **{name: ('vector', np.zeros(n)) for name in ('q', 'v', 'tau')},
            'gains': ('gains', np.ones(n)),
            'step': ('step', 0.01),
            'thresholds': ('positive', np.ones(2)),
            'hold': ('duration', 0.0),
            'efforts': ('vector', np.zeros(2)),
        },
        'planned': {
            'times': ('vector', np.array([0.0, 1.0])),
            **{name: ('points of time', rows) for name in ('positions', 'velocities', 'efforts')},
            'accelerations': ('points of time', rows),
        },
    }
    return {(owner, name): x for owner, named in owned.items() for name, x in named.items()}


def wrong(kind: str) -> dict[str, Any] | None:
    """Return what is wrong for a kind of these arguments; None for those of other calls."""
    no_numbers = {'none': None, 'text': 'along', 'complex': np.ones((2, 2)) * 1j, 'robot': kd}
    kinds: dict[str, dict[str, Any]] = {
        'points of time': {**no_numbers, 'ragged': [[1.0], [1.0, 2.0]], 'nan': [[0, np.nan]] * 2}
        | {'one point': np.zeros((1, 2)), 'one joint': np.zeros((2, 1)), 'flat': np.zeros(4)},
        'positive': {**no_numbers, 'negative': [-1.0, 1.0], 'zero': [0.0, 1.0], 'a number': 3.0}
        | {'nan': [np.nan, 1.0]},
        'gains': {**no_numbers, 'negative': [-1.0] * 6, 'one too few': np.ones(5), 'zero': 0.0},
        'measured': {**no_numbers, 'one too few': np.zeros(5), 'one too many': np.zeros(7)}
        | {'three axes': np.zeros((1, 1, 6))},
    }
    return kinds.get(kind)
