# SPDX-License-Identifier: Apache-2.0
"""The table of registers and spills on the page is that of the results that are kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support import cuda

import kane_dynamics as kd
from kane_dynamics.compiler.build import tracer_of
from kane_dynamics.compiler.cuda.device import PtxCompiler
from kane_dynamics.compiler.cuda.kernel_ir import kernel_ir
from kane_dynamics.compiler.graphs.trace import Tracer
from studies import robots
from studies.cuda import kernels, spills


def usage(registers, spilled=0):
    return {
        'registers': registers,
        'stack': 2 * spilled,
        'spill_stores': spilled,
        'spill_loads': spilled,
        'code': 9600,
    }


def results(*spilled):
    cards = {f'sm_{k}': usage(80 + k, out) for k, out in enumerate(spilled)}
    row = {'robot': 'a', 'speeds': 9, 'rows': 2, 'kernel': 'forward_dynamics', 'operations': 1234}
    found, missing = [{**row, 'cards': cards}], {'preset b': 'no file'}
    return {'compiler': 'llvm 22.1.0, ptxas 13.0', 'rows': found, 'missing': missing}


def test_the_page_has_the_table_of_the_results_that_are_kept():
    page = spills.PAGE.read_text()
    assert spills.updated(page, spills.read()) == page, 'python -m studies.cuda --spills --keep'


def test_nothing_that_is_kept_spills_and_every_robot_is_there():
    kept = spills.read()
    assert spills.spilling(kept) == []
    assert {row['robot'] for row in kept['rows']} | {*kept['missing']} == {*spills.subjects()}
    assert {'tiago', 'nonholonomic', 'holonomic'} <= {row['robot'] for row in kept['rows']}


def test_a_kernel_compiled_now_is_that_of_the_results():
    cuda.assembler()
    name, kept = 'nonholonomic, wheels locked', spills.read()
    found = next(spills.rows(name))
    (expected,) = (
        row for row in kept['rows'] if (row['robot'], row['kernel']) == (name, 'inverse_dynamics')
    )
    assert spills.spilling({'rows': [found]}) == []
    assert found['operations'] == expected['operations']
    llvm = PtxCompiler().identity.partition(' ')[2]
    if f'{llvm}, ptxas {cuda.assembler()}' == kept['compiler']:
        assert found == expected


def test_numbers_of_cards_are_one_where_they_agree():
    made = spills.table(results(0, 0, 4))
    head, operations, registers, stack, out, back, code = made.rows[0]
    assert head == 'a, 9, 2: forward dynamics'
    assert (operations, registers, code) == ('1,234', '80 / 81 / 82', '10')
    assert (stack, out, back) == ('0 / 0 / 8', '0 / 0 / 4', '0 / 0 / 4')
    assert made.notes == [
        'llvm 22.1.0, ptxas 13.0: 1 of 3 kernels spill',
        'not compiled, for their URDF is not at hand: b',
    ]
    assert spills.spilling(results(0, 0)) == []


def test_a_page_keeps_what_is_not_the_table():
    page = 'before\n<!-- spills -->\nold\n<!-- end -->\nafter\n'
    new = spills.updated(page, results(0))
    assert new.startswith('before\n<!-- spills -->\n')
    assert new.endswith('\n<!-- end -->\nafter\n')
    assert 'old' not in new
    assert '| a, 9, 2: forward dynamics | 1,234 |' in new


def test_robots_without_a_urdf_are_named(monkeypatch):
    def missing():
        raise robots.MissingRobotError('no such robot')

    monkeypatch.setattr(spills, 'subjects', lambda: {'none': missing})
    cuda.assembler()
    found = spills.measured(['none'])
    assert (found['rows'], found['missing']) == ([], {'none': 'no such robot'})


def test_a_preset_that_takes_its_urdf_from_the_robot_says_so():
    with pytest.raises(robots.MissingRobotError, match='urdf_file'):
        spills.subjects()['preset fetch']()


@pytest.mark.thorough
def test_a_graph_that_is_split_has_the_numbers_of_the_reference(rng):
    case = kernels.ROBOTS['swerve']()
    made_of = kernels.recipe_of(case)
    ir = kernel_ir(Tracer.forward_dynamics(tracer_of(made_of)), 'double')
    assert '%kept = alloca [' in ir
    gpu = cuda.robot(case.robot, case.constraints)
    q, v, a = (np.repeat(x[None], 5, axis=0) for x in (case.q, case.v, case.a))
    for x in (q, v, a):
        x[:, -6:] += rng.uniform(-1.0, 1.0, (5, 6))  # the arm, which no row knows
    tau, driven = rng.uniform(-9.0, 9.0, v.shape), kernels.driven(case)
    reference = kd.dynamics(case.robot, case.constraints)
    found = gpu.acceleration(q, v, tau), gpu.constrained_inverse_dynamics(q, v, a, driven).effort
    expected = (
        [reference.acceleration(*x) for x in zip(q, v, tau, strict=True)],
        [
            reference.constrained_inverse_dynamics(*x, driven).effort
            for x in zip(q, v, a, strict=True)
        ],
    )
    assert gpu.fallback_count == 0
    for numbers, known in zip(found, expected, strict=True):
        scale = np.abs(known).max()
        assert_allclose(numbers, known, rtol=0, atol=1e-13 * scale)  # roundoff of 7,000 operations
