# SPDX-License-Identifier: Apache-2.0
"""Points of joint trajectories: what is refused."""

import numpy as np
import pytest

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory

TIMES, ROWS = [0.0, 0.5, 2.0], np.arange(6.0).reshape(3, 2)


def test_points_are_copies_that_do_not_change():
    rows = ROWS.copy()
    points = JointTrajectory(('a', 'b'), TIMES, rows, efforts=rows)
    rows[:] = 7.0
    np.testing.assert_array_equal(points.positions, ROWS)
    with pytest.raises(ValueError, match='read-only'):
        points.efforts[0, 0] = 1.0
    np.testing.assert_allclose(points.at(1.25)[0], 0.5 * (ROWS[1] + ROWS[2]))


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'names': ('a', 'a')}, 'need each once'),
        ({'names': ()}, 'at least one'),
        ({'names': ('a',)}, r'positions: need shape \(3, 1\), got \(3, 2\)'),
        ({'times': [0.0, 0.5, 0.5]}, r'must be finite and increase, got 0.5 after 0.5 at \[2\]'),
        ({'times': [-0.1, 0.5, 1.0]}, 'must not be before 0'),
        ({'positions': ROWS * np.nan}, 'positions: need finite numbers'),
        ({'velocities': ROWS[:2]}, r'velocities: need shape \(3, 2\)'),
        ({'accelerations': ROWS}, 'needs velocities too'),
        ({'efforts': ROWS[:, :1]}, r'efforts: need shape \(3, 2\), got \(3, 1\)'),
        ({'efforts': ROWS + np.inf}, 'efforts: need finite numbers'),
    ],
)
def test_what_is_no_trajectory_is_refused(change, message):
    given = {'names': ('a', 'b'), 'times': TIMES, 'positions': ROWS, **change}
    with pytest.raises(InvalidInputError, match=message):
        JointTrajectory(**given)
