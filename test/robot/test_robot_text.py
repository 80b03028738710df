# SPDX-License-Identifier: Apache-2.0
"""A robot in a console: one line, or a table of its bodies."""

import kane_dynamics as kd


def test_one_line_and_a_table():
    """Regression: print(robot) was 13,000 characters of nested dataclasses."""
    robot = kd.serial_chain(50)
    assert repr(robot) == "Robot('chain_50', fixed base, 50 bodies, nq=50, nv=50)"
    first, *lines = str(robot).splitlines()
    assert first == repr(robot)
    assert len(lines) == 51
    assert lines[0].split() == ['body', 'on', 'joint', 'kind', 'mass', '[kg]']
    assert lines[1].split()[:5] == ['link_1', 'the', 'world', 'joint_1', 'revolute']
    assert lines[50].split()[:4] == ['link_50', 'link_49', 'joint_50', 'revolute']
    assert max(map(len, lines)) < 100
