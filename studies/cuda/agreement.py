# SPDX-License-Identifier: Apache-2.0
"""Kernels of GPUs, on a card or played by the processor, against the processor's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kane_dynamics.compiler.cuda.robot import CudaDynamics
from kane_dynamics.typing import Floats
from studies import robots
from studies.cuda.kernels import NAMES, ROBOTS, driven, recipe_of
from studies.report import Table

BOUNDS = {'float64': 1e-12, 'float32': 1e-5}
AT_ONCE = 20_000


def rows(name: str, states: int, device: Any) -> Iterator[dict[str, Any]]:
    """Yield the errors of each kernel of a robot on a device."""
    case = ROBOTS[name]()
    for precision in BOUNDS:
        gpu = CudaDynamics(recipe_of(case, precision), device)
        cpu, rng = gpu.on_cpu, np.random.default_rng(7)
        gaps: dict[str, list[Floats]] = {}
        for _ in range(-(-states // AT_ONCE)):
            q, v, a, tau = _drawn(case, cpu, rng, min(AT_ONCE, states), precision)
            pairs = {
                'inverse_dynamics': (
                    gpu.inverse_dynamics(q, v, a),
                    cpu.inverse_dynamics(q, v, a),
                ),
                'forward_dynamics': (gpu.acceleration(q, v, tau), cpu.acceleration(q, v, tau)),
            }
            for kernel, (found, expected) in pairs.items():
                gaps.setdefault(kernel, []).append(_gap(device.to_host(found), expected))
            if case.constraints:
                # on the rows in double: rounded ones are not, which the processor would refuse
                on_rows, known = cpu.consistent_acceleration(q, v, a), driven(case)
                found, expected = (
                    one.constrained_inverse_dynamics(q, v, on_rows, known).effort
                    for one in (gpu, cpu)
                )
                gap = _gap(device.to_host(found), expected)
                gaps.setdefault('constrained_effort', []).append(gap)
        for kernel, parts in gaps.items():
            gap = np.concatenate(parts)
            yield {
                'robot': name,
                'kernel': kernel,
                'precision': precision,
                'states': len(gap),
                'median': float(np.median(gap)),
                'largest': float(gap.max()),
                'redone': gpu.fallback_count,
            }


def _drawn(
    case: robots.Case, cpu: Any, rng: np.random.Generator, count: int, precision: str
) -> tuple[Floats, ...]:
    """Return random states on the rows, rounded to the precision, as numbers of double."""
    nv = case.robot.nv
    q = case.q + rng.uniform(-1.0, 1.0, (count, case.robot.nq))
    v, a = rng.uniform(-1.0, 1.0, (2, count, nv))
    if case.constraints:
        v = cpu.consistent_velocity(q, v)
        a = cpu.consistent_acceleration(q, v, a)
    tau = 10.0 * rng.uniform(-1.0, 1.0, (count, nv))
    return tuple(x.astype(precision).astype(float) for x in (q, v, a, tau))


def _gap(found: Floats, expected: Floats) -> Floats:
    """Return the error of each state, relative to the norm of what is expected there."""
    size = np.linalg.norm(expected, axis=1)
    gap: Floats = np.linalg.norm(found - expected, axis=1) / size
    return gap


def table(found: list[dict[str, Any]]) -> Table:
    """Return the errors."""
    columns = (
        'robot, kernel',
        'precision',
        'states',
        'median',
        'largest',
        'bound',
        'met',
        'redone',
    )
    made = Table('LLVM IR of GPUs against the kernels of the processor', columns)
    for row in found:
        made.add(
            f'{row["robot"]}: {NAMES[row["kernel"]]}',
            row['precision'],
            f'{row["states"]:,}',
            f'{row["median"]:.1e}',
            f'{row["largest"]:.1e}',
            f'{BOUNDS[row["precision"]]:.0e}',
            'NO' if row in missed([row]) else 'yes',
            str(row['redone']),
        )
    made.notes.append('errors of a state relative to the norm of its result')
    made.notes.append('redone: states that the processor redid, of all kernels of the robot')
    return made


def missed(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the kernels that are further off than they may be."""
    return [row for row in found if not row['largest'] <= BOUNDS[row['precision']]]
