# SPDX-License-Identifier: Apache-2.0
"""
Kernels that solve by loops over dense rows: for robots of any size, and where others are ill.

Each calls other kernels of the robot (M, C v + g, the rows) and `dense_routines.solve`, which
takes the rows that the reference takes. What contradicts has health 0, as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kane_dynamics.algorithms.friction import implicit_drag, joint_friction
from kane_dynamics.algorithms.projection import POSITION_TOLERANCE
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.mass_axes import mass_axes, mass_pairs
from kane_dynamics.compiler.graphs.trace import Tracer, column
from kane_dynamics.compiler.llvm.dense_routines import NUMBERS
from kane_dynamics.compiler.llvm.kernel_spec import RCOND_LIMIT, KernelSpec
from kane_dynamics.compiler.llvm.routine import Constants
from kane_dynamics.compiler.llvm.routine_spec import RoutineSpec
from kane_dynamics.compiler.steps import dense_steps
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.simulation.integrators import KICKS, STICTION_SPEED
from kane_dynamics.simulation.step_checks import MOST_TURNED

OUTSIDE = ('mass_matrix', 'bias_force', 'constraint_rows')
"""Kernels that these call and do not hold."""


def own_mass(tracer: LoopTracer) -> RoutineSpec:
    """Return M of a robot as a loop over bodies."""
    robot = tracer.robot
    pairs, axes = mass_pairs(robot), mass_axes(tracer)
    nv = robot.nv
    flat = [pair for several in pairs for pair in several]
    ends = [0]
    for several in pairs:
        ends.append(ends[-1] + len(several))
    constants: dict[str, Any] = {
        'N': nv,
        'AXES': len(pairs),
        'LIMIT': RCOND_LIMIT,
        'PAIR_FIRST': ends,
        'PAIR': [axis for axis, _, _ in flat],
        'PAIR_PLACE': [row * nv + column for _, row, column in flat],
        'PAIR_MIRROR': [column * nv + row for _, row, column in flat],
    }
    made = RoutineSpec(
        'mass_matrix', (robot.nq,), ((nv, nv),), (dense_steps.mass_matrix,), constants
    )
    return replace(made, parameters=axes.parameters, callees=(axes,))


@dataclass(frozen=True, eq=False)
class DenseKernels:
    """The kernels of one robot that solve by dense rows."""

    tracer: Tracer  # Of robot and rows
    known: Mapping[str, str] = field(default_factory=dict)

    def acceleration(self) -> RoutineSpec:
        """Return accelerations, with time among the inputs."""
        inputs = (*self._sizes('qvv'), 1)
        return self._spec('acceleration', inputs, 'v', dense_steps.ACCELERATION, ['friction'])

    def forward_dynamics(self, timed: bool) -> RoutineSpec:
        """Return accelerations, with time among the inputs where rows hold it."""
        if timed:
            return replace(self.acceleration(), name='forward_dynamics')
        sizes = self._sizes('qvv')
        return self._spec('forward_dynamics', sizes, 'v', dense_steps.TIMELESS, ['friction'])

    def impulse(self) -> RoutineSpec:
        """Return speeds after a step with implicit friction."""
        return self._spec('impulse', (*self._sizes('qvvv'), 2), 'v', dense_steps.IMPULSE, ['drag'])

    def kick(self) -> RoutineSpec:
        """Return speeds after a step across a middle place."""
        return self._spec('kick', (*self._sizes('qvv'), 2), 'v', dense_steps.KICK, ['drag'])

    def jump(self) -> RoutineSpec:
        """Return whether middle speeds follow from the start."""
        inputs = (*self._sizes('qvvv'), 2)
        return self._spec('jump', inputs, '', dense_steps.JUMP, ['friction'])

    def place(self) -> RoutineSpec:
        """Return one Newton step of the coordinates onto the holonomic rows."""
        return self._spec('place', (*self._sizes('q'), 1), 'q', dense_steps.PLACE, ['retract'])

    def project(self) -> RoutineSpec:
        """Return the speeds onto the rows, and the rank."""
        made = self._spec('project', (*self._sizes('qv'), 1), 'v', dense_steps.PROJECT, [])
        return replace(made, output_shapes=(*made.output_shapes, (1,)))

    def _sizes(self, letters: str) -> tuple[int, ...]:
        robot = self.tracer.robot
        return tuple(robot.nq if x == 'q' else robot.nv for x in letters)

    def _spec(
        self,
        name: str,
        inputs: tuple[int, ...],
        output: str,
        routines: tuple[Callable[..., Any], ...],
        graphs: list[str],
    ) -> RoutineSpec:
        names = {x: self.known.get(x, f'@{x}') for x in OUTSIDE}
        nothing: tuple[Any, ...] = (dense_steps.rows,)
        known = names.pop('constraint_rows')
        if self.tracer.constraints:
            names['rows'], nothing = known, ()
        callees = tuple(self._graph(graph) for graph in graphs)
        return RoutineSpec(
            name,
            inputs,
            tuple((size,) for size in self._sizes(output)),
            (*nothing, *routines),
            self._constants,
            len(self.tracer.parameters),
            callees,
            names,
        )

    def _graph(self, name: str) -> KernelSpec:
        tracer, robot = self.tracer, self.tracer.robot
        if name == 'retract':
            q = integrate_coordinates(robot, tracer.q, tracer.v, 1.0)
            return tracer.spec(name, [tracer.q, tracer.v], [column(q)], [(robot.nq,)])
        of = joint_friction(robot, tracer.v)
        if name == 'drag':
            of = implicit_drag(robot, tracer.v, STICTION_SPEED)
        return tracer.spec(name, [tracer.v], [column(of)], [(robot.nv,)])

    @property
    def _constants(self) -> Constants:
        tracer, robot = self.tracer, self.tracer.robot
        rows = tracer.state_rows
        placed = [k for k in rows.elimination_order() if rows.positions[k] is not None]
        begins, ends, first = _segments(robot)
        return {
            **NUMBERS,
            'N': robot.nv,
            'K': len(rows),
            'H': len(placed),
            'KICKS': KICKS,
            'LIMIT': RCOND_LIMIT,
            'TIGHT': POSITION_TOLERANCE,
            'LOOSE': NUMBERS['TAKEN'],
            'MOST_TURN': MOST_TURNED,
            'NO_ENERGY': 1e-18,
            'FIRST': first,
            'BEGIN': begins,
            'END': ends,
            'KINDS': rows.kinds,
            'OWNERS': rows.owners,
            'ORDER': rows.elimination_order(),
            'INTEGRATED': [int(x) for x in rows.integrated],
            'PLACED': placed,
            'PLACED_KINDS': [rows.kinds[k] for k in placed],
            'PLACED_OWNERS': [rows.owners[k] for k in placed],
            'PLACED_ORDER': list(range(len(placed))),
        }


def _segments(robot: Robot) -> tuple[list[int], list[int], list[int]]:
    """Return where the entries of L begin and end, and the first of each row."""
    below: list[set[int]] = [set() for _ in range(robot.nv)]
    for several in mass_pairs(robot):
        for _, row, col in several:
            below[row] |= {col} - {row}
    begins: list[int] = []
    ends: list[int] = []
    for k in reversed(range(robot.nv)):
        for i in below[k]:
            below[i] |= {j for j in below[k] if j < i}
    first = [0]
    for entries in below:
        for j in sorted(entries):
            if len(begins) > first[-1] and ends[-1] == j:
                ends[-1] = j + 1
            else:
                begins.append(j)
                ends.append(j + 1)
        first.append(len(begins))
    return begins, ends, first
