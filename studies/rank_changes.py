# SPDX-License-Identifier: Apache-2.0
"""
Both engines and all methods where rows nearly repeat each other.

``python -m studies.rank_changes [--states N]``: random states of mechanisms in which a
coordinate, which is locked, turns rows against each other by 1e-12 to 1e-2 rad. The compiled
solve, and each method on compiled terms, against the reference; ends with 1 where they differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.algorithms.udwadia_kalaba import nearest, selected_rows
from kane_dynamics.exceptions import InconsistentConstraintsError
from kane_dynamics.formulations import METHODS
from kane_dynamics.typing import Floats
from studies import report
from studies.report import Table

STATES = 10_000
TURNS = (-12.0, -2.0)  # decimal exponents of the angles [rad]
# Rows as weak as 1e-3 are taken, and masses are up to 5e6 apart: roundoff comes out as 1e-9.
TARGET = 1e-8


@dataclass(frozen=True)
class Mechanism:
    """
    A robot whose rows nearly repeat each other at some states.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : tuple of Constraint
        Its rows.
    place : callable
        place(q, turn, rng) -> q of a state where rows are turned by `turn` [rad].

    """

    robot: kd.Robot
    constraints: tuple[Any, ...]
    place: Callable[[Floats, float, np.random.Generator], Floats]


def steered_wheels(count: int) -> Mechanism:
    """Return a base on steered wheels that point around one centre; one is off by the turn."""
    corners = [(0.4, 0.3), (0.4, -0.3), (-0.35, 0.25), (-0.3, -0.3)][:count]
    bodies = [
        kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=_box(20.0, (0.05, 0.02, 0.0)))
    ]
    for k, (x, y) in enumerate(corners):
        fork, wheel = f'fork_{k}', f'wheel_{k}'
        bodies += [
            kd.Body(fork, 'base', _hinge(f'steer_{k}', (0, 0, 1)), _at(x, y), _box(0.4)),
            kd.Body(wheel, fork, _hinge(f'roll_{k}', (0, 1, 0)), inertia=_box(0.8)),
        ]
    robot = kd.Robot(f'{count}_steered_wheels', bodies)
    wheels = [kd.constraints.rolling_wheel(robot, f'roll_{k}', 0.1) for k in range(count)]
    held = [kd.constraints.lock(robot, f'steer_{k}') for k in range(count)]

    def place(q: Floats, turn: float, rng: np.random.Generator) -> Floats:
        centre = rng.uniform(-1.0, 1.0), rng.choice((-1.0, 1.0)) * rng.uniform(0.8, 3.0)
        for k, (x, y) in enumerate(corners):
            # a wheel rolls at right angles to the line to the centre of the turn
            q[3 + 2 * k] = np.arctan2(x - centre[0], centre[1] - y)
        q[3] += turn
        return q

    return Mechanism(robot, (*held, *wheels), place)


def tilted_loop() -> Mechanism:
    """Return a parallelogram whose coupler has a hinge across, tilted by the turn."""
    bodies = [
        kd.Body('crank', '', _hinge('crank', (0, 0, 1)), inertia=_rod(0.4)),
        kd.Body('tilt', 'crank', _hinge('tilt', (1, 0, 0)), _at(0.4, 0.0), _box(0.2)),
        kd.Body('coupler', 'tilt', _hinge('coupler', (0, 0, 1)), inertia=_rod(0.7)),
        kd.Body('rocker', '', _hinge('rocker', (0, 0, 1)), _at(0.7, 0.0), _rod(0.4)),
    ]
    ends = {'coupler_end': kd.Frame(2, _at(0.7, 0.0)), 'rocker_end': kd.Frame(3, _at(0.4, 0.0))}
    robot = kd.Robot('tilted_loop', bodies, (0, -9.81, 0), ends)
    loop = kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end', 'ball')

    def place(q: Floats, turn: float, rng: np.random.Generator) -> Floats:
        crank = rng.uniform(0.4, 2.6)
        return np.array([crank, turn, -crank, crank])

    return Mechanism(robot, (loop, kd.constraints.lock(robot, 'tilt')), place)


def turned_rows() -> Mechanism:
    """Return an arm with three rows of very different sizes, of which two differ by the turn."""
    robot = kd.serial_chain(6)
    rng = np.random.default_rng(11)
    first, second, third = rng.normal(size=(3, 6))

    def along(q: Any, t: Any) -> Any:
        return 1e-6 * (first + np.sin(q[5]) * second)

    rows = (
        kd.constraints.pfaffian(robot, lambda q, t: 1e6 * first, label='first'),
        kd.constraints.pfaffian(robot, along, label='nearly first'),
        kd.constraints.pfaffian(robot, lambda q, t: third * np.cos(q[0]), label='third'),
        kd.constraints.lock(robot, robot.joint_names[5]),
    )

    def place(q: Floats, turn: float, rng: np.random.Generator) -> Floats:
        q[5] = turn
        return q

    return Mechanism(robot, rows, place)


def light_gear() -> Mechanism:
    """Return gears over an idler of 1e-6 kg m^2, and a row that repeats the train but a turn."""
    sizes = (5.0, 1e-6, 3.0)
    bodies = [
        kd.Body(f'gear_{k}', '', _hinge(f'gear_{k}', (0, 0, 1)), inertia=_disc(size))
        for k, size in enumerate(sizes)
    ]
    bodies.append(kd.Body('pointer', '', _hinge('pointer', (0, 0, 1)), inertia=_disc(1.0)))
    robot = kd.Robot('light_gear', bodies)
    c = kd.constraints
    rows = (
        c.coupling(robot, 'gear_1', 'gear_0', -2.0),
        c.coupling(robot, 'gear_2', 'gear_1', -0.75),
        c.pfaffian(robot, lambda q, t: [1.5, 0.0, -1.0, np.sin(q[3])], label='over all'),
        c.lock(robot, 'pointer'),
    )

    def place(q: Floats, turn: float, rng: np.random.Generator) -> Floats:
        return np.array([q[0], -2.0 * q[0], 1.5 * q[0], turn])

    return Mechanism(robot, rows, place)


def mechanisms() -> Iterator[Mechanism]:
    """Yield all of them."""
    yield steered_wheels(3)
    yield steered_wheels(4)
    yield tilted_loop()
    yield turned_rows()
    yield light_gear()


@dataclass(frozen=True)
class Gaps:
    """
    Largest differences from the reference, relative to the largest acceleration of a state.

    Parameters
    ----------
    robot : str
        Name.
    states : int
        How many were compared.
    dropped : int
        At how many of them a row was not taken.
    refused : int
        How many more both engines refused, because their rows contradict each other.
    fallbacks : int
        How many the compiled solve left to the reference.
    compiled : float
        Of the compiled solve.
    methods : dict of str to float
        Of each method on compiled terms.

    """

    robot: str
    states: int
    dropped: int
    refused: int
    fallback_count: int
    compiled: float
    methods: dict[str, float]

    @property
    def worst(self) -> float:
        """Return the largest difference."""
        return max(self.compiled, *self.methods.values())


def allowed_speeds(robot: kd.Robot, constraints: Sequence[Any], q: Floats, v: Floats) -> Floats:
    """Return the speeds nearest to v that satisfy the rows."""
    rows = kd.constraints.ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), 0.0)
    selection = selected_rows(kd.mass_matrix(robot, q), rows)
    taken = selection.independent
    return nearest(selection.root, taken.matrix, v, taken.velocity)[0]


def gaps(mechanism: Mechanism, count: int, seed: int = 0, *, cache: bool = True) -> Gaps:
    """Return the differences at `count` states."""
    robot, constraints = mechanism.robot, mechanism.constraints
    fast = kd.compile(robot, constraints, methods=True, cache=cache)
    rng = np.random.default_rng(seed)
    largest = dict.fromkeys(METHODS, 0.0)
    compiled, dropped, refused = 0.0, 0, 0
    for _ in range(count):
        turn = rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(*TURNS)
        q = mechanism.place(rng.uniform(-1.0, 1.0, robot.nq), turn, rng)
        v = allowed_speeds(robot, constraints, q, rng.uniform(-1.0, 1.0, robot.nv))
        tau = rng.uniform(-5.0, 5.0, robot.nv)
        try:
            expected = kd.forward_dynamics(robot, q, v, tau, constraints)
        except InconsistentConstraintsError:  # off its rows, a state may contradict them
            refused += _refused_too(fast, q, v, tau)
            continue
        size = max(1.0, float(np.abs(expected.acceleration).max()))
        dropped += expected.rank < len(expected.labels)
        own = np.abs(fast.acceleration(q, v, tau) - expected.acceleration).max() / size
        compiled = max(compiled, float(own))
        for method in METHODS:
            found = fast.forward_dynamics(q, v, tau, method=method)
            if found.independent_labels != expected.independent_labels:
                rows = f'{found.independent_labels}, not {expected.independent_labels}'
                raise RuntimeError(f'{method} took {rows}: {turn}')
            gap = float(np.abs(found.acceleration - expected.acceleration).max()) / size
            largest[method] = max(largest[method], gap)
    return Gaps(
        robot.name, count - refused, dropped, refused, fast.fallback_count, compiled, largest
    )


def _refused_too(fast: kd.CompiledDynamics, q: Floats, v: Floats, tau: Floats) -> int:
    """Return 1; RuntimeError where compiled code answers a state that the reference refuses."""
    try:
        fast.acceleration(q, v, tau)
    except InconsistentConstraintsError:
        return 1
    raise RuntimeError(f'the reference refuses q = {q}, v = {v}, compiled code does not')


def table(found: Sequence[Gaps]) -> Table:
    """Return the largest differences of each mechanism."""
    headings = (
        'mechanism', 'states', 'row dropped', 'refused', 'to reference', 'compiled', 'methods'
    )  # fmt: skip
    result = Table('Rows that nearly repeat others: difference from the reference', headings)
    for one in found:
        counts = (one.states, one.dropped, one.refused, one.fallback_count)
        gaps = (one.compiled, max(one.methods.values()))
        result.add(one.robot, *map(str, counts), *(f'{gap:.1e}' for gap in gaps))
    return result


def main() -> int:
    """Run the comparison as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--states', type=int, default=STATES, help='of all mechanisms together')
    report.add_output(parser)
    chosen = parser.parse_args()
    console, results = report.begin()
    cases = list(mechanisms())
    found = [gaps(case, chosen.states // len(cases)) for case in cases]
    results['mechanisms'] = [asdict(one) for one in found]
    report.finish(console, chosen.output, 'rank_changes', results, [table(found)])
    return 0 if max(one.worst for one in found) <= TARGET else 1


def _hinge(name: str, axis: tuple[float, float, float]) -> kd.Joint:
    return kd.Joint(name, kd.Revolute(axis))


def _at(x: float, y: float) -> kd.Pose:
    return kd.Pose.from_rotation_and_position((1, 0, 0, 0), (x, y, 0.0))


def _box(mass: float, com: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> kd.Inertia:
    return kd.Inertia(mass, com, 0.01 * mass * np.diag((1.0, 1.3, 1.6)))


def _rod(length: float) -> kd.Inertia:
    across = 2.0 * length**3 / 12.0
    return kd.Inertia(2.0 * length, (length / 2, 0, 0), np.diag((1e-3, across, across)))


def _disc(inertia: float) -> kd.Inertia:
    return kd.Inertia(1.0, (0, 0, 0), inertia * np.diag((0.5, 0.5, 1.0)))


if __name__ == '__main__':
    raise SystemExit(main())
