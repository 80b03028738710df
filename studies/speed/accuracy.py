# SPDX-License-Identifier: Apache-2.0
"""Compiled functions against the reference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from studies import robots
from studies.speed.rows import ERROR, Row
from studies.speed.single_calls import difference

FUNCTIONS = {
    'inverse_dynamics': 3,
    'acceleration': 3,
    'bias_force': 2,
    'gravity_force': 1,
    'mass_matrix': 1,
    'coriolis_matrix': 2,
    'kinetic_energy': 2,
    'potential_energy': 1,
}
BOUND = 1e-10


def accuracy_rows(quick: bool) -> Iterator[Row]:
    """Yield the largest error of each function over all robots and random states."""
    states = 5 if quick else 25
    worst = dict.fromkeys([*FUNCTIONS, 'frame_poses'], (0.0, ''))
    for case in _cases(quick):
        fast = kd.compile(case.robot, case.constraints)
        for name, error in _errors(case, fast, states):
            if not error <= worst[name][0]:  # NaN too
                worst[name] = (error, case.robot.name)
    for name, (error, robot) in worst.items():
        note = f'worst robot: {robot}' if robot else ''
        yield Row(f'compiled against reference, {name}', ERROR, error, bound=BOUND, note=note)


def _cases(quick: bool) -> Iterator[robots.Case]:
    yield robots.nonholonomic()
    yield robots.nonholonomic(wheels=False)
    yield robots.chain(9)
    if not quick:
        yield robots.holonomic()
        yield robots.tiago()
        yield robots.arm('panda')
        yield robots.arm('ur5')


def _errors(
    case: robots.Case, fast: kd.CompiledDynamics, states: int
) -> Iterator[tuple[str, float]]:
    """Yield each function's error at each state, one by one and as rows of a batch."""
    samples = [robots.case(case.robot, case.constraints, seed=100 + k) for k in range(states)]
    for name, takes in FUNCTIONS.items():
        compiled, arrays = getattr(fast, name), []
        for sample in samples:
            third = sample.tau if name == 'acceleration' else sample.a
            arrays.append((sample.q, sample.v, third)[:takes])
        batch = compiled(*[np.array(column) for column in zip(*arrays, strict=True)])
        for inputs, row in zip(arrays, batch, strict=True):
            expected = np.asarray(_reference(case, name, inputs))
            yield name, difference(np.asarray(compiled(*inputs)), expected)
            yield name, difference(np.asarray(row), expected)
    for sample in samples:
        kinematics = kd.forward_kinematics(case.robot, sample.q)
        poses = [kinematics.pose(name) for name in fast.frames]
        expected = np.array([[*x.position(), *x.rotation.components] for x in poses])
        yield 'frame_poses', difference(fast.frame_poses(sample.q), expected)


def _reference(case: robots.Case, name: str, inputs: tuple[Floats, ...]) -> Floats:
    if name == 'acceleration':
        return kd.forward_dynamics(case.robot, *inputs, case.constraints).acceleration
    result: Floats = getattr(kd, name)(case.robot, *inputs)
    return result
