# SPDX-License-Identifier: Apache-2.0
"""``python -m studies.speed``, cost against joints: each function is made, and agrees."""

import pytest

pytest.importorskip('pinocchio', reason='PEERS ARE NOT COMPARED: pip install pin')

from studies.speed import scaling
from studies.speed.timing import Effort


def test_each_function_of_a_short_chain(monkeypatch):
    monkeypatch.setattr(scaling, 'QUICK_JOINTS', (3,))
    told = []
    rows = list(scaling.scaling(True, Effort(1, 1, 1e-4), told.append))
    assert [row['function'] for row in rows] == list(scaling._INPUTS)
    assert len(told) == len(rows)
    for row in rows:
        assert row['operations'] > 50
        assert row['agreement'] < 1e-12
