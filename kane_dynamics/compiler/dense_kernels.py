# SPDX-License-Identifier: Apache-2.0
"""
Kernels that solve by loops over dense rows: for robots of any size, and where others are ill.

Each calls other kernels of the robot (M, C v + g, the rows) and `dense_routines.solve`, which
takes the rows that the reference takes. What contradicts has health 0, as ever.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import where
from kane_dynamics.algebra.traced_scalar import column, symbols
from kane_dynamics.algorithms.newton_euler import implicit_drag, joint_friction
from kane_dynamics.compiler.graphs.bodies import LoopTracer
from kane_dynamics.compiler.graphs.mass_axes import mass_axes
from kane_dynamics.compiler.graphs.step_graphs import crossing
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.graphs.traced_state import spec
from kane_dynamics.compiler.graphs.tree_tables import axis_table, mass_pairs, segment_table
from kane_dynamics.compiler.llvm import axes_ldl
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec, LoopSpec, RoutineSpec, Spec
from kane_dynamics.compiler.recipe import OUTSIDE, solved_by_loops
from kane_dynamics.compiler.steps import dense_steps
from kane_dynamics.compiler.steps.step_program import Recorder, as_scalar
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.simulation.integrators import KICKS, STICTION_SPEED
from kane_dynamics.simulation.step_checks import excess_of
from kane_dynamics.typing import NDArray

_BY_AXES = {
    name: getattr(axes_ldl, name) for name in ('factorize', 'half', 'back', 'size_in_mass')
}


def own_mass(tracer: LoopTracer) -> RoutineSpec:
    """Return M of a robot as a loop over bodies."""
    robot = tracer.robot
    pairs, axes = mass_pairs(robot), mass_axes(tracer)
    nv = robot.nv
    flat = [pair for several in pairs for pair in several]
    constants: dict[str, Any] = {
        'N': nv,
        'AXES': len(pairs),
        'PAIR_FIRST': [0, *accumulate(map(len, pairs))],
        'PAIR': [axis for axis, _, _ in flat],
        'PAIR_PLACE': [row * nv + column for _, row, column in flat],
        'PAIR_MIRROR': [column * nv + row for _, row, column in flat],
    }
    made = RoutineSpec('mass_matrix', (robot.nq,), ((nv, nv),), dense_steps.mass_matrix, constants)
    return replace(made, parameters=axes.parameters, callees=(axes,))


class _Kind(NamedTuple):
    """A kernel that solves by dense rows: inputs, outputs, routine and graphs that it calls."""

    inputs: str  # A letter each: q, v for all of length nv, t, h for time and step
    outputs: str
    routine: Callable[..., Any]
    graphs: tuple[str, ...] = ()


_KINDS = {
    'acceleration': _Kind('qvvt', 'v', dense_steps.acceleration, ('friction',)),
    'forward_dynamics': _Kind('qvv', 'v', dense_steps.timeless, ('friction',)),
    'impulse': _Kind('qvvvh', 'v', dense_steps.impulse, ('drag',)),
    'kick': _Kind('qvvh', 'v', dense_steps.kick, ('drag',)),
    'jump': _Kind('qvvvh', '', dense_steps.jump, ('friction',)),
    'place': _Kind('qt', 'q', dense_steps.place, ('retract',)),
    'project': _Kind('qvt', 'vt', dense_steps.project),  # speeds and the rank
}
STEPS_BY_DENSE_ROWS = tuple(name for name in _KINDS if name != 'forward_dynamics')


@dataclass(frozen=True, eq=False)
class DenseKernels:
    """The kernels of one robot that solve by dense rows."""

    tracer: Tracer  # Of robot and rows
    known: Mapping[str, str] = field(default_factory=dict)
    loops: LoopTracer | None = None  # Of a robot whose kernels are loops over bodies

    def forward_dynamics(self) -> RoutineSpec:
        """Return accelerations, with time among the inputs where rows hold it."""
        timed = len(self.tracer.inputs_of_forward_dynamics()) > 3
        kind = 'acceleration' if timed else 'forward_dynamics'
        return replace(self.kernel(kind), name='forward_dynamics')

    def kernel(self, name: str) -> RoutineSpec:
        """Return the kernel of a name."""
        kind, robot = _KINDS[name], self.tracer.robot
        mass, bias, rows = (self.known.get(x, f'@{x}') for x in OUTSIDE)
        names = {'bias_force': bias, 'inertia': mass, 'rows': rows}
        callees: list[KernelSpec | LoopSpec] = [self._graph(x) for x in kind.graphs]
        factors, table = dict[str, Callable[..., Any]](), segment_table(robot)
        if not self.tracer.constraints:
            del names['rows']
        if self.loops is not None and solved_by_loops(robot, ()):
            del names['inertia']
            callees.append(replace(mass_axes(self.loops), name='inertia'))
            factors, table = _BY_AXES, axis_table(robot)
        return RoutineSpec(
            name,
            self._sizes(kind.inputs),
            tuple((size,) for size in self._sizes(kind.outputs)),
            kind.routine,
            self._constants | table,
            len(self.tracer.parameters),
            tuple(callees),
            names,
            factors,
        )

    def _sizes(self, letters: str) -> tuple[int, ...]:
        sizes = {'q': self.tracer.robot.nq, 'v': self.tracer.robot.nv, 't': 1, 'h': 2}
        return tuple(sizes[x] for x in letters)

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
    def _constants(self) -> dict[str, Any]:
        robot, rows = self.tracer.robot, self.tracer.state_rows
        placed = [k for k in rows.elimination_order() if rows.positions[k] is not None]
        return {
            'N': robot.nv,
            'K': len(rows),
            'H': len(placed),
            'KINDS': rows.kinds,
            'OWNERS': rows.owners,
            'ORDER': rows.elimination_order(),
            'INTEGRATED': [int(x) for x in rows.integrated],
            'PLACED': placed,
            'PLACED_KINDS': [rows.kinds[k] for k in placed],
            'PLACED_OWNERS': [rows.owners[k] for k in placed],
            'PLACED_ORDER': list(range(len(placed))),
        }


@dataclass
class LoopRecorder(Recorder):
    """A recorder of calls where other robots have one graph of all bodies."""

    free: bool = True

    def kick(self, q: Any, v: Any, tau: Any, t: Any, h: Any) -> NDArray:
        """Record calls of the velocity step, each with the forces at a better middle speed."""
        if not self.free:
            return super().kick(q, v, tau, t, h)
        middle, tau = v, self.force(q, v, tau, t)
        for _ in range(KICKS):
            inputs = (q, v, middle, tau, [as_scalar(t), as_scalar(h)])
            (end,) = self.call('kick', inputs, (self.robot.nv,))
            middle = 0.5 * (v + end)
        return end

    def check_energy(
        self, start: tuple[Any, Any], middle: tuple[Any, Any], end: tuple[Any, Any], h: Any
    ) -> None:
        """Record a check of the energy of a midpoint step; see `step_checks.excess_gap`."""
        rates = (end[1] - start[1]) / h
        (effort,) = self.call('moving_effort', (*middle, rates), (self.robot.nv,))
        work = [sum((h * middle[1] * effort).tolist(), 0.0)]
        energies = [
            self.call(name, state[:inputs], (1,))[0]
            for name, inputs in (('kinetic_energy', 2), ('potential_energy', 1))
            for state in (start, end)
        ]
        self.call('balance', (*energies, work), ())


def loop_callees(tracer: Tracer, loops: LoopTracer, used: Collection[str]) -> dict[str, Spec]:
    """Return the kernels of some names that steps call."""
    dense = DenseKernels(tracer, loops=loops)
    made: dict[str, Callable[[], Spec]] = {
        name: partial(dense.kernel, name) for name in STEPS_BY_DENSE_ROWS
    }
    if solved_by_loops(tracer.robot, tracer.constraints):
        solvers = loops.acceleration, loops.impulse, loops.kick
        made |= {solver.__name__: solver for solver in solvers}
    others = loops.moving_effort, loops.kinetic_energy, loops.potential_energy
    made |= {graph.__name__: graph for graph in (*others, balance)}
    made['crossing'] = partial(crossing, tracer)
    return {name: graph() for name, graph in made.items() if name in used}


def balance() -> KernelSpec:
    """Trace whether energies at the start and the end, and the work between, belong together."""
    values = [symbols(name, 1) for name in ('T0_', 'T1_', 'V0_', 'V1_', 'W')]
    (T0,), (T1,), (V0,), (V1,), (work,) = values
    _, excess = excess_of((T0, T1), (V0, V1), work)
    return spec('balance', values, [], [], where(ca.SX(excess) > 0.0, 0.0, 1.0))
