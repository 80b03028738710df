# SPDX-License-Identifier: Apache-2.0
"""
What single precision costs: float32 batches against the same states in double.

``python -m studies.precision`` takes 10^6 random states of each robot, rounded to float32 before,
and compares norms of vectors: of the error over the result, state by state.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from studies import report, robots
from studies.report import Table

STATES, CHUNK = 1_000_000, 50_000
TARGET = 1e-5  # of inverse dynamics
_EFFORT = 10.0  # [N m] or [N], largest of a joint

Call = Callable[[Any, Any, Any], Floats]


@dataclass(frozen=True)
class Errors:
    """
    Errors of one function of one robot.

    Parameters
    ----------
    robot, function : str
        Which.
    states : int
        How many were compared.
    median, rare, worst : float
        Of the relative errors: median, what one of a thousand exceeds, largest.
    promoted : float
        Part of the states that were computed in double.

    """

    robot: str
    function: str
    states: int
    median: float
    rare: float
    worst: float
    double_precision_count: float


def norm_errors(found: NDArray[np.float32], exact: Floats) -> Floats:
    """Return the norm of each row's error over the norm of the row."""
    errors: Floats = np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact, axis=1)
    return errors


def functions(case: robots.Case, fast: kd.CompiledDynamics) -> Iterator[tuple[str, Call]]:
    """Yield functions of (q, v, a): inverse dynamics, and motion under the robot's rows."""
    names = case.robot.velocity_names
    yield 'inverse dynamics', fast.inverse_dynamics
    kind = 'constrained ' if case.constraints else ''
    yield f'{kind}forward dynamics', lambda q, v, a: fast.acceleration(q, v, _EFFORT * a)
    if case.constraints:
        # wheels drive the base; without them two directions of it are pushed
        base = {name for name in names if name.startswith('base')}
        if len(fast.labels) < len(base):
            base = {'base_y'}
        own = [name for name in names if name not in base]
        yield (
            'constrained inverse dynamics',
            lambda q, v, a: fast.constrained_inverse_dynamics(q, v, a, own, known=own).effort,
        )


def measured(case: robots.Case, states: int) -> list[Errors]:
    """Return the errors of all functions of a robot."""
    fast = kd.compile(case.robot, case.constraints, precision='float32')
    rng = np.random.default_rng(11)
    parts: dict[str, list[Floats]] = {}
    double_precision_count: dict[str, int] = {}
    for begin in track(range(0, states, CHUNK), description=case.robot.name):
        count = min(CHUNK, states - begin)
        q, v, a = rng.uniform(-1.0, 1.0, (3, count, case.robot.nv))
        q *= np.pi
        if case.constraints:
            v = fast.consistent_velocity(q, v)
        single = [x.astype(np.float32) for x in (q, v, a)]
        double = [x.astype(np.float64) for x in single]
        for name, call in functions(case, fast):
            before = fast.double_precision_count
            found = call(*single)
            double_precision_count[name] = (
                double_precision_count.get(name, 0) + fast.double_precision_count - before
            )
            parts.setdefault(name, []).append(norm_errors(found, call(*double)))
    speeds = f'{case.robot.name}, {case.robot.nv} speeds'
    results = []
    for name, errors in parts.items():
        every = np.concatenate(errors)
        middle, rare = np.quantile(every, [0.5, 0.999]).tolist()
        share = double_precision_count[name] / states
        results.append(Errors(speeds, name, states, middle, rare, float(every.max()), share))
    return results


def main() -> int:
    """Measure all robots that are installed; return 1 where inverse dynamics misses its target."""
    parser = argparse.ArgumentParser(prog='python -m studies.precision', description=__doc__)
    parser.add_argument('--states', type=int, default=STATES, help='of each robot')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    table = Table(
        'float32 against float64, relative error',
        ('robot', 'function', 'median', '1 of 1000', 'largest', 'in double'),
    )
    found: list[Errors] = []
    for make in (lambda: robots.chain(9), lambda: robots.nonholonomic(wheels=False), robots.tiago):
        try:
            found += measured(make(), options.states)
        except robots.MissingRobotError as error:
            table.notes.append(f'left out - {error}')
    for one in found:
        numbers = [f'{x:.1e}' for x in (one.median, one.rare, one.worst)]
        table.add(one.robot, one.function, *numbers, f'{one.double_precision_count:.2%}')
    results['errors'] = [asdict(one) for one in found]
    report.finish(console, options.output, 'precision', results, [table])
    return int(any(one.function == 'inverse dynamics' and one.worst > TARGET for one in found))


if __name__ == '__main__':
    raise SystemExit(main())
