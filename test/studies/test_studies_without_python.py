# SPDX-License-Identifier: Apache-2.0
"""The C++ program of the benchmark computes what Pinocchio computes when Python calls it."""

import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip('pinocchio', reason='the extra "oracle" is not installed')

from studies import robots
from studies.peers.pinocchio_twin import PinocchioTwin
from studies.speed import without_python
from studies.speed.single_calls import compare, rnea
from studies.speed.timing import Effort
from studies.speed.without_python import NoProgramError, Program


def test_without_a_compiler_the_row_says_so(monkeypatch):
    monkeypatch.setattr(without_python, 'COMPILERS', ('no-such-compiler',))
    without_python.compiled.cache_clear()
    case = robots.chain(3)
    opponent = rnea(PinocchioTwin(case.robot), case)
    with pytest.raises(NoProgramError, match='no C\\+\\+ compiler.*no-such-compiler'):
        Program(opponent.work)
    effort = Effort(repeats=1, loops=1, loop_time=1e-5)
    *_, row = compare('work', lambda *x, out=None: opponent.result, (case.q,), opponent, effort)
    assert row.peer == 'C++ without Python: NOT MEASURED'
    assert 'no-such-compiler' in row.note
    assert row.theirs is None


@pytest.mark.thorough  # a minute of the C++ compiler; `make bench` prints the same difference
def test_program_gives_what_the_call_from_python_gives():
    # every kind of joint that the benchmark has: a chain, a base of three, continuous wheels
    if not any(map(shutil.which, without_python.COMPILERS)):
        pytest.skip('no C++ compiler on this machine: the program of the benchmark is NOT tested')
    without_python.compiled.cache_clear()
    for case in (robots.nonholonomic(), robots.chain(3)):
        opponent = rnea(PinocchioTwin(case.robot), case)
        try:
            program = Program(opponent.work)
        except NoProgramError as error:
            assert 'Eigen' in str(error)  # a program that does not compile is no reason
            pytest.skip(f'the program of the benchmark is NOT tested: {error}')
        took = program.start(Effort(repeats=1, loops=2, loop_time=1e-4))()
        program.close()
        # the same sums by other instructions
        scale = np.abs(opponent.result).max()
        assert_allclose(program.result, opponent.result, rtol=0, atol=1e-13 * scale)
        assert 1e-8 < took < 1e-3
