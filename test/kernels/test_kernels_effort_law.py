# SPDX-License-Identifier: Apache-2.0
"""A closed loop in one compiled call: efforts of a law that is traced into the steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError


def law(t, q, v):
    """Return proportional-derivative efforts with a drive; numbers or traced."""
    return [-20.0 * q[k] - 2.0 * v[k] + 3.0 * np.sin(2.0 * t + k) for k in range(2)]


def test_the_loop_is_that_of_the_reference():
    robot = kd.serial_chain(2)
    fast = kd.compile(robot, effort=law)
    assert fast.source == 'compiled' and 'not usable' in fast.remark  # a function is not hashed
    q, v = np.array([0.3, -0.2]), np.array([0.1, 0.4])
    extra = np.array([0.5, -0.25])  # what a step is given adds to the law
    found = fast.simulate(q, v, 0.1, effort=extra, step=0.01)
    wanted = kd.simulate(
        robot, q, v, 0.1, step=0.01, effort=lambda t, q, v: np.add(law(t, q, v), extra)
    )
    assert_allclose(found.q, wanted.q, rtol=0, atol=1e-12)
    assert_allclose(found.v, wanted.v, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ('wrong', 'message'),
    [
        (lambda t, q, v: [float(x) for x in q], 'cannot be traced'),
        (lambda t, q, v: [q[0]], 'must give 2 efforts'),
        (lambda t, q, v: 'no', 'cannot be traced'),
    ],
)
def test_laws_that_cannot_be_traced(wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        kd.compile(kd.serial_chain(2), effort=wrong)
