# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of recorded steps: loops over time in one compiled call, of one state or of many.

``NAME`` is `steps` of a program: see there; ``NAME_one_entry(q, v, tau, t, h)`` is for one step a
function of Python as kernels have: it returns a new array (q, v, rank), or asks its Python
function where the step is not sound or ends beyond all bounds. ``NAME_lanes`` is `motions`.
"""

from collections.abc import Collection, Mapping

from kane_dynamics.compiler.llvm.entry import entry_text
from kane_dynamics.compiler.llvm.kernel_spec import RCOND_LIMIT, KernelSpec, Signature
from kane_dynamics.compiler.llvm.loop_code import bodies_at_once
from kane_dynamics.compiler.llvm.module import FunctionText, joined, single_parts
from kane_dynamics.compiler.llvm.routine import Array, Routine, Table, empty, kernel, vector
from kane_dynamics.compiler.llvm.sines import sincos_definition
from kane_dynamics.compiler.programs import Program
from kane_dynamics.compiler.steps.step_code import Callees, side_by_side_text, step_text
from kane_dynamics.simulation.step_checks import LARGEST

NQ = NV = LANES = PARAMETERS = 0
LIMIT = 0.0
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
        if not rcond >= LIMIT:
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


def scatter(lanes: Array, lane: int, row: Array, size: int) -> None:
    """Move one lane of vectors back to where it lies in a row."""
    for j in range(size):
        row[j] = lanes[LANES * j + lane]


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
    q = empty(LANES * NQ)
    v = empty(LANES * NV)
    q_end = empty(LANES * NQ)
    v_end = empty(LANES * NV)
    tau = empty(LANES * NV)
    clock = empty(LANES * 2)
    rank = empty(LANES)
    values = empty(LANES * PARAMETERS)
    rcond = empty(LANES)
    moves = empty(LANES)
    piece = settings[0]
    every = settings[1]
    for lane in range(LANES):
        clock[LANES + lane] = h[0]
    for g in range(begin, end):
        rows = groups[LANES * g :]
        gather(q, q_rows, rows, NQ, 0, NQ)
        gather(v, v_rows, rows, NV, 0, NV)
        gather(values, parameters, rows, settings[3], 0, PARAMETERS)
        for lane in range(LANES):
            moves[lane] = 1.0
        left = LANES
        number = first[g] // piece
        gather(tau, efforts, rows, settings[2], NV * number, NV)
        new_piece = (number + 1) * piece
        sample = first[g] // every + 1
        due = sample * every
        for k in range(first[g], until[g]):
            if left > 0:
                if k == new_piece:
                    gather(tau, efforts, rows, settings[2], NV * (k // piece), NV)
                    new_piece = new_piece + piece
                for lane in range(LANES):
                    clock[lane] = k * h[0]
                rcond[:] = once(q, v, tau, clock, q_end, v_end, rank, values)
                for lane in range(LANES):
                    if moves[lane] > 0.0 and not rcond[lane] >= LIMIT:
                        moves[lane] = 0.0
                        left = left - 1
                        scatter(q, lane, q_rows[NQ * rows[lane] :], NQ)
                        scatter(v, lane, v_rows[NV * rows[lane] :], NV)
                        done[rows[lane]] = k
                q_before = q
                v_before = v
                q = q_end
                v = v_end
                q_end = q_before
                v_end = v_before
                if k + 1 == due:
                    for lane in range(LANES):
                        if moves[lane] > 0.0:
                            at_q = settings[4] * rows[lane] + NQ * sample
                            at_v = settings[5] * rows[lane] + NV * sample
                            scatter(q, lane, q_kept[at_q:], NQ)
                            scatter(v, lane, v_kept[at_v:], NV)
                    sample = sample + 1
                    due = due + every
        for lane in range(LANES):
            if moves[lane] > 0.0:
                scatter(q, lane, q_rows[NQ * rows[lane] :], NQ)
                scatter(v, lane, v_rows[NV * rows[lane] :], NV)
                done[rows[lane]] = max(first[g], until[g])


TABLES = 12  # of `motions`


def stepping_text(programs: Mapping[str, Program], callees: Callees, width: int) -> str:
    """Return the LLVM IR of the loops over some programs and of the kernels that they call."""
    parts = [sincos_definition(lanes) for lanes in sorted({1, bodies_at_once(width)})]
    parts += single_parts(callees.values(), width).values()
    for name, program in programs.items():
        nq, nv, *_ = (column.numel() for column in program.inputs)
        parts.append(step_text(name, program, callees, 1, bounded=False))
        constants = {'NQ': nq, 'NV': nv, 'LIMIT': RCOND_LIMIT, 'LARGEST': LARGEST}
        for function, exported in ((steps, name), (one, one_step(name))):
            made = Routine(function, constants, {'once': f'@{name}_once'})
            parts.append((made.text(f'@{exported}', linkage=''), made.declarations))
        entry = Signature(one_step(name), (nq, nv, nv, 2), ((nq + nv + 1,),))
        parts.append((entry_text(entry, clock=True), set()))
    return joined(parts)


def one_step(name: str) -> str:
    """Return the name of the function of one step."""
    return f'{name}_one'


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
    constants = {'LANES': lanes, 'LIMIT': RCOND_LIMIT, 'PARAMETERS': parameters}
    moves: list[FunctionText] = [
        (
            Routine(function, constants, {}).text(f'@{function.__name__}', attributes='noinline '),
            set(),
        )
        for function in (gather, scatter)
    ]
    parts += moves
    for name, program in programs.items():
        nq, nv, *_ = (column.numel() for column in program.inputs)
        parts.append(step_text(name, program, callees, lanes))
        names = {
            'gather': '@gather',
            'scatter': '@scatter',
            'once': f'{vector(lanes)} @{name}_once',
        }
        made = Routine(motions, {**constants, 'NQ': nq, 'NV': nv}, names)
        parts.append((made.text(f'@{name}_lanes', linkage=''), made.declarations))
    return joined(parts)
