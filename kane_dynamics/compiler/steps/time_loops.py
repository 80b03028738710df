# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of recorded steps: loops over time in one compiled call, of one state or of many.

``NAME`` is `steps` of a program: see there; ``NAME_one_entry(q, v, tau, t, h)`` is for one step a
function of Python as kernels have: it returns a new array (q, v, rank), or asks its Python
function where the step is not sound or ends beyond all bounds. ``NAME_lanes`` is `motions`.
"""

from collections.abc import Collection, Mapping

from kane_dynamics.compiler.graphs.step_graphs import Program
from kane_dynamics.compiler.llvm.entry_code import entry_text
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec, Signature
from kane_dynamics.compiler.llvm.limits import RCOND_LIMIT
from kane_dynamics.compiler.llvm.module import joined, single_parts
from kane_dynamics.compiler.llvm.native import bodies_at_once
from kane_dynamics.compiler.llvm.routine import Array, Routine, Table, empty, kernel
from kane_dynamics.compiler.llvm.sines import sincos_definition
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.compiler.recipe import one_step
from kane_dynamics.compiler.steps.step_code import Callees, side_by_side_text, step_text
from kane_dynamics.simulation.step_checks import LARGEST

NQ = NV = LANES = PARAMETERS = 0
once = kernel


def steps(
    tau: Array,
    th: Array,
    q: Array,
    v: Array,
    ranks: Array,
    parameters: Array,
    count: int,
    effort_row: int,
) -> int:
    """
    Take steps from the state in row 0 of tables, and return how many: less where one is not sound.

    The state after step k and the rank of its rows go to row k + 1. Efforts are those of row k
    when `effort_row` is 1, else of row 0. What is not sound, the caller takes by the reference.
    """
    clock = empty(2)
    clock[1] = th[1]
    for k in range(count):
        clock[0] = th[0] + k * th[1]
        rcond = once(
            q[NQ * k :], v[NV * k :], tau[NV * k * effort_row :], clock,
            q[NQ * (k + 1) :], v[NV * (k + 1) :], ranks[k + 1 :], parameters,
        )  # fmt: skip
        if not rcond >= RCOND_LIMIT:
            return k
    return count


def one(q: Array, v: Array, tau: Array, th: Array, parameters: Array, end: Array) -> float:
    """Set (q, v, rank) after one step; return its health, 0 beyond all bounds."""
    rcond = once(q, v, tau, th, end, end[NQ:], end[NQ + NV :], parameters)
    for k in range(NQ + NV):
        if not abs(end[k]) < LARGEST:
            return 0.0
    return rcond


def gather(lanes: Array, rows: Array, of: Table, stride: int, offset: int, size: int) -> None:
    """Move parts of rows into vectors with one row in each lane."""
    for lane in range(LANES):
        for j in range(size):
            lanes[LANES * j + lane] = rows[of[lane] * stride + offset + j]


def scatter(
    lanes: Array, mask: Array, rows: Array, of: Table, stride: int, offset: int, size: int
) -> None:
    """Move lanes back to where they lie in rows: those whose mask is 1."""
    for lane in range(LANES):
        if mask[lane] > 0.0:
            for j in range(size):
                rows[of[lane] * stride + offset + j] = lanes[LANES * j + lane]


def mark(mask: Array, done: Array, of: Table, count: int) -> None:
    """Set how many steps are done."""
    for lane in range(LANES):
        if mask[lane] > 0.0:
            done[of[lane]] = count


def unsound(rcond: Array, moves: Array, stops: Array) -> int:
    """Set which lanes stop, and return how many."""
    count = 0
    for lane in range(LANES):
        stops[lane] = 0.0
        if moves[lane] > 0.0 and not rcond[lane] >= RCOND_LIMIT:
            moves[lane] = 0.0
            stops[lane] = 1.0
            count = count + 1
    return count


def fill(lanes: Array, value: float) -> None:
    """Set all lanes to a value."""
    for lane in range(LANES):
        lanes[lane] = value


def motions(
    groups: Table,
    first: Table,
    until: Table,
    settings: Table,
    h: Array,
    q_rows: Array,
    v_rows: Array,
    efforts: Array,
    parameters: Array,
    done: Array,
    q_kept: Array,
    v_kept: Array,
    begin: int,
    end: int,
) -> None:
    """
    Move groups `begin` to `end` of states, each from step `first` to step `until`.

    A group has one row of the tables in each lane, named in `groups`. At the end, states and the
    number of steps that are done go back to their rows. A lane whose step is not sound goes back
    at once, with the state before that step, and the others go on. `settings` are steps of a piece
    of efforts, steps from one state that is kept to the next, and how far one row is from the next
    in `efforts`, `parameters`, `q_kept` and `v_kept`.
    """
    state = empty(LANES * (NQ + NV))
    ended = empty(LANES * (NQ + NV))
    tau = empty(LANES * NV)
    clock = empty(LANES * 2)
    rank = empty(LANES)
    values = empty(LANES * PARAMETERS)
    rcond = empty(LANES)
    moves = empty(LANES)
    stops = empty(LANES)
    piece = settings[0]
    fill(clock[LANES:], h[0])
    for g in range(begin, end):
        rows = groups[LANES * g :]
        gather(state, q_rows, rows, NQ, 0, NQ)
        gather(state[LANES * NQ :], v_rows, rows, NV, 0, NV)
        gather(values, parameters, rows, settings[3], 0, PARAMETERS)
        fill(moves, 1.0)
        left = LANES
        new_piece = first[g]
        sample = first[g] // settings[1] + 1
        for k in range(first[g], until[g]):
            if left > 0:
                if k == new_piece:
                    gather(tau, efforts, rows, settings[2], NV * (k // piece), NV)
                    new_piece = (k // piece + 1) * piece
                fill(clock, k * h[0])
                rcond[:] = once(
                    state, state[LANES * NQ :], tau, clock,
                    ended, ended[LANES * NQ :], rank, values,
                )  # fmt: skip
                left = left - unsound(rcond, moves, stops)
                scatter(state, stops, q_rows, rows, NQ, 0, NQ)
                scatter(state[LANES * NQ :], stops, v_rows, rows, NV, 0, NV)
                mark(stops, done, rows, k)
                before = state
                state = ended
                ended = before
                if k + 1 == sample * settings[1]:
                    scatter(state, moves, q_kept, rows, settings[4], NQ * sample, NQ)
                    scatter(state[LANES * NQ :], moves, v_kept, rows, settings[5], NV * sample, NV)
                    sample = sample + 1
        scatter(state, moves, q_rows, rows, NQ, 0, NQ)
        scatter(state[LANES * NQ :], moves, v_rows, rows, NV, 0, NV)
        mark(moves, done, rows, max(first[g], until[g]))


def stepping_text(programs: Mapping[str, Program], callees: Callees, width: int) -> str:
    """Return the LLVM IR of the loops over some programs and of the kernels that they call."""
    parts = [sincos_definition(lanes) for lanes in sorted({1, bodies_at_once(width)})]
    parts += single_parts(callees.values(), width).values()
    for name, program in programs.items():
        nq, nv, *_ = (column.numel() for column in program.inputs)
        parts.append(step_text(name, program, callees, 1, bounded=False))
        constants = {'NQ': nq, 'NV': nv}
        for function, exported in ((steps, name), (one, one_step(name))):
            made = Routine(function, constants, {'once': f'@{name}_once'})
            parts.append((made.text(f'@{exported}', linkage=''), made.declarations))
        entry = Signature(one_step(name), (nq, nv, nv, 2), ((nq + nv + 1,),))
        parts.append((entry_text(entry, clock=True), set()))
    return joined(parts)


def rollout_text(
    programs: Mapping[str, Program],
    callees: Mapping[str, KernelSpec],
    lanes: int,
    parameters: int,
    in_single: Collection[str] = (),
) -> str:
    """Return the LLVM IR of the motions of some steps."""
    parts = [sincos_definition(lanes)]
    if in_single:
        parts.append(sincos_definition(lanes, 'float'))
    parts += [
        side_by_side_text(callee, lanes, in_single=name in in_single)
        for name, callee in callees.items()
    ]
    constants = {'LANES': lanes, 'PARAMETERS': parameters}
    moves = {one.__name__: f'@{one.__name__}' for one in (gather, scatter, mark, fill)}
    moves['unsound'] = 'i64 @unsound'
    for function in (gather, scatter, mark, fill, unsound):
        made = Routine(function, constants, moves)
        parts.append((made.text(f'@{function.__name__}', attributes='noinline '), set()))
    for name, program in programs.items():
        nq, nv, *_ = (column.numel() for column in program.inputs)
        parts.append(step_text(name, program, callees, lanes))
        names = {**moves, 'once': f'{Block(lanes).type} @{name}_once'}
        made = Routine(motions, {**constants, 'NQ': nq, 'NV': nv}, names)
        parts.append((made.text(f'@{name}_lanes', linkage=''), made.declarations))
    return joined(parts)
