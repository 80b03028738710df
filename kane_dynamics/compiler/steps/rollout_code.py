# SPDX-License-Identifier: Apache-2.0
"""
LLVM code of many motions: a loop over time for states in vector lanes.

``NAME_lanes(groups, from, until, settings, h, q, v, efforts, parameters, done, q_kept, v_kept,
begin, end)`` moves groups `begin` to `end`. A group has one row of the tables in each lane, named
in `groups`; all of its states are after step `from` and go to step `until`. While they move they
lie in a small array on the stack, side by side, as do their efforts, gravity, payloads and gains.
At the end, states and the number of steps that are done go back to their rows. A lane whose step
is not sound goes back at once, with the state before that step, and the others go on.

`settings` are steps of a piece of efforts, steps from one state that is kept to the next, and how
far one row is from the next in `efforts`, `parameters`, `q_kept` and `v_kept`.

No pointer is stored to twice: the text for older LLVM casts each under a name made from its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kane_dynamics.compiler.llvm.kernel_spec import RCOND_LIMIT, KernelSpec
from kane_dynamics.compiler.llvm.sines import sincos_definition
from kane_dynamics.compiler.llvm.straight_line import Block
from kane_dynamics.compiler.programs import Program
from kane_dynamics.compiler.steps.step_code import aligned, side_by_side_text, step_text

TABLES = (
    'groups',
    'from',
    'until',
    'settings',
    'h.p',
    'q_rows',
    'v_rows',
    'efforts',
    'parameters',
    'done',
    'q_kept',
    'v_kept',
)
_SETTINGS = ('piece', 'every', 'efforts.row', 'parameters.row', 'q_kept.row', 'v_kept.row')


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
    parts += [step_text(name, program, callees, lanes) for name, program in programs.items()]
    truth = f'<{lanes} x i1>'
    declarations = {f'declare i1 @llvm.vector.reduce.or.v{lanes}i1({truth})'}
    declarations = declarations.union(*(more for _, more in parts))
    texts = [text for text, _ in parts]
    texts += [_moved('gather', lanes), _moved('scatter', lanes)]
    for name, program in programs.items():
        nq, nv, *_ = (column.numel() for column in program.inputs)
        texts.append(_motions(name, nq, nv, parameters, lanes))
    return '\n'.join([*sorted(declarations), *texts])


def _moved(name: str, lanes: int) -> str:
    """Return the function that moves parts of rows into lanes, or back where a lane is chosen."""
    back = name == 'scatter'
    row, lane = ('to', 'from') if back else ('from', 'to')
    check = """
  %chosen.p = getelementptr double, ptr %chosen, i64 %l
  %is = load double, ptr %chosen.p
  %wanted = fcmp ogt double %is, 0.0
  br i1 %wanted, label %check, label %next"""
    indices = {row: '%place', lane: '%side'}
    body = f"""
entry:
  br label %lane
lane:
  %l = phi i64 [ 0, %entry ], [ %l.next, %next ]
  %row.p = getelementptr i64, ptr %rows, i64 %l
  %row = load i64, ptr %row.p
  %first = mul i64 %row, %stride
  %begin = add i64 %first, %offset{
        check
        if back
        else '''
  br label %check'''
    }
check:
  %j = phi i64 [ 0, %lane ], [ %j.next, %move ]
  %more = icmp slt i64 %j, %size
  br i1 %more, label %move, label %next
move:
  %place = add i64 %begin, %j
  %vector = mul i64 %j, {lanes}
  %side = add i64 %vector, %l
  %source = getelementptr double, ptr %from, i64 {indices['from']}
  %target = getelementptr double, ptr %to, i64 {indices['to']}
  %x = load double, ptr %source
  store double %x, ptr %target
  %j.next = add i64 %j, 1
  br label %check
next:
  %l.next = add i64 %l, 1
  %again = icmp slt i64 %l.next, {lanes}
  br i1 %again, label %lane, label %done
done:
  ret void
"""
    more = ', ptr %chosen' if back else ''
    passed = 'ptr %to, ptr %from, ptr %rows, i64 %stride, i64 %offset, i64 %size' + more
    return f'define internal void @{name}({passed}) noinline {{{body}}}\n'


def _motions(name: str, nq: int, nv: int, parameters: int, lanes: int) -> str:
    block = Block(lanes)
    kind, truth, one = block.type, block.truth, block.constant(1.0)
    any_lane = f'call i1 @llvm.vector.reduce.or.v{lanes}i1({truth}'
    sizes = {'q.a': nq, 'q.b': nq, 'v.a': nv, 'v.b': nv, 'tau': nv, 'clock': 2, 'rank': 1}
    sizes |= {'own': max(1, parameters), 'active': 1, 'leaving': 1, 'step.number': 1}
    arrays = '\n'.join(
        f'  %{array} = alloca [{size} x {kind}], align 64' for array, size in sizes.items()
    )
    settings = '\n'.join(
        f'  %{setting}.p = getelementptr i64, ptr %settings, i64 {k}\n'
        f'  %{setting} = load i64, ptr %{setting}.p'
        for k, setting in enumerate(_SETTINGS)
    )

    def splat(value: str, where: str, k: int = 0) -> str:
        tag = f'{where}.{value[1:]}'
        return f"""
  %{tag}.one = insertelement {kind} poison, double {value}, i32 0
  %{tag}.all = shufflevector {kind} %{tag}.one, {kind} poison, <{lanes} x i32> zeroinitializer
  %{tag}.p = getelementptr double, ptr %{where}, i64 {lanes * k}
  store {kind} %{tag}.all, ptr %{tag}.p, align {aligned(lanes)}"""

    def back(mask: str) -> str:
        return f"""
  call void @scatter(ptr %q_rows, ptr %q, ptr %rows, i64 {nq}, i64 0, i64 {nq}, ptr %{mask})
  call void @scatter(ptr %v_rows, ptr %v, ptr %rows, i64 {nv}, i64 0, i64 {nv}, ptr %{mask})
  call void @scatter(ptr %done, ptr %step.number, ptr %rows, i64 1, i64 0, i64 1, ptr %{mask})"""

    body = f"""
entry:
{arrays}
{settings}
  %h = load double, ptr %h.p{splat('%h', 'clock', 1)}
  br label %group.check
group.check:
  %g = phi i64 [ %begin, %entry ], [ %g.next, %group.end ]
  %left = icmp slt i64 %g, %end
  br i1 %left, label %group, label %exit
group:
  %rows.at = mul i64 %g, {lanes}
  %rows = getelementptr i64, ptr %groups, i64 %rows.at
  call void @gather(ptr %q.a, ptr %q_rows, ptr %rows, i64 {nq}, i64 0, i64 {nq})
  call void @gather(ptr %v.a, ptr %v_rows, ptr %rows, i64 {nv}, i64 0, i64 {nv})
  call void @gather(ptr %own, ptr %parameters, ptr %rows, i64 %parameters.row, i64 0, \
i64 {parameters})
  store {kind} {one}, ptr %active, align {aligned(lanes)}
  %from.p = getelementptr i64, ptr %from, i64 %g
  %k.first = load i64, ptr %from.p
  %until.p = getelementptr i64, ptr %until, i64 %g
  %k.last = load i64, ptr %until.p
  %piece.first = sdiv i64 %k.first, %piece
  %piece.number = add i64 %piece.first, 1
  %piece.start = mul i64 %piece.number, %piece
  %tau.first = mul i64 %piece.first, {nv}
  call void @gather(ptr %tau, ptr %efforts, ptr %rows, i64 %efforts.row, i64 %tau.first, i64 {nv})
  %kept.first = sdiv i64 %k.first, %every
  %kept.number = add i64 %kept.first, 1
  %kept.start = mul i64 %kept.number, %every
  br label %step.check
step.check:
  %k = phi i64 [ %k.first, %group ], [ %k.next, %step.end ]
  %q = phi ptr [ %q.a, %group ], [ %q.to, %step.end ]
  %q.to = phi ptr [ %q.b, %group ], [ %q, %step.end ]
  %v = phi ptr [ %v.a, %group ], [ %v.to, %step.end ]
  %v.to = phi ptr [ %v.b, %group ], [ %v, %step.end ]
  %piece.next = phi i64 [ %piece.start, %group ], [ %piece.then, %step.end ]
  %kept.next = phi i64 [ %kept.start, %group ], [ %kept.then, %step.end ]
  %k.f = sitofp i64 %k to double{splat('%k.f', 'step.number')}
  %more = icmp slt i64 %k, %k.last
  br i1 %more, label %effort.check, label %finish
effort.check:
  %new = icmp eq i64 %k, %piece.next
  br i1 %new, label %effort, label %step
effort:
  %piece.k = sdiv i64 %k, %piece
  %tau.at = mul i64 %piece.k, {nv}
  call void @gather(ptr %tau, ptr %efforts, ptr %rows, i64 %efforts.row, i64 %tau.at, i64 {nv})
  %piece.after = add i64 %piece.next, %piece
  br label %step
step:
  %piece.then = phi i64 [ %piece.next, %effort.check ], [ %piece.after, %effort ]
  %t = fmul double %k.f, %h{splat('%t', 'clock')}
  %health = call {kind} @{name}_once(ptr %q, ptr %v, ptr %tau, ptr %clock, ptr %q.to, ptr %v.to, \
ptr %rank, ptr %own)
  %ill = fcmp ult {kind} %health, {block.constant(RCOND_LIMIT)}
  %was = load {kind}, ptr %active, align {aligned(lanes)}
  %on = fcmp ogt {kind} %was, {block.constant(0.0)}
  %leaves = and {truth} %on, %ill
  %any = {any_lane} %leaves)
  br i1 %any, label %leave, label %sound
leave:
  %left.now = uitofp {truth} %leaves to {kind}
  store {kind} %left.now, ptr %leaving, align {aligned(lanes)}{back('leaving')}
  %still = fsub {kind} %was, %left.now
  %active.then = getelementptr double, ptr %active, i64 0
  store {kind} %still, ptr %active.then, align {aligned(lanes)}
  %stays = fcmp ogt {kind} %still, {block.constant(0.0)}
  %some = {any_lane} %stays)
  br i1 %some, label %sound, label %group.end
sound:
  %k.next = add i64 %k, 1
  %due = icmp eq i64 %k.next, %kept.next
  br i1 %due, label %keep, label %step.end
keep:
  %sample = sdiv i64 %k.next, %every
  %q.at = mul i64 %sample, {nq}
  %v.at = mul i64 %sample, {nv}
  call void @scatter(ptr %q_kept, ptr %q.to, ptr %rows, i64 %q_kept.row, \
i64 %q.at, i64 {nq}, ptr %active)
  call void @scatter(ptr %v_kept, ptr %v.to, ptr %rows, i64 %v_kept.row, \
i64 %v.at, i64 {nv}, ptr %active)
  %kept.after = add i64 %kept.next, %every
  br label %step.end
step.end:
  %kept.then = phi i64 [ %kept.next, %sound ], [ %kept.after, %keep ]
  br label %step.check
finish:{back('active')}
  br label %group.end
group.end:
  %g.next = add i64 %g, 1
  br label %group.check
exit:
  ret void
"""
    pointers = ', '.join(f'ptr %{table}' for table in TABLES)
    how = f'"prefer-vector-width"="{64 * lanes}" '
    return f'define void @{name}_lanes({pointers}, i64 %begin, i64 %end) {how}{{{body}}}\n'
