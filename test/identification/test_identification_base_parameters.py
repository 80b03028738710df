# SPDX-License-Identifier: Apache-2.0
"""Base parameters: known ranks and names (Panda, UR10), sums that predict, motions that hide."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.identified import samples_of

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.base_parameters import (
    ALONE,
    IN_SUMS,
    UNSEEN,
    base_parameters,
)
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.friction import LINK_SIDE, MOTOR_SIDE
from kane_dynamics.robot.inertial_parameters import inertial_parameters
from studies import robots
from studies.identification.arms import FINGERS

NEVER = 'm1 mx1 my1 mz1 Jxx1 Jxy1 Jxz1 Jyy1 Jyz1 m2 mz2'
PANDA_ALONE = (
    'mx2 Jxy2 Jxz2 Jyz2 Jxz3 Jyz3 Jxz4 Jyz4 mx5 Jxy5 Jxz5 Jyz5 Jxz6 Jyz6 '
    'mx7 my7 Jxy7 Jxz7 Jyz7 Jzz7'
)


def equations(dynamics, terms=()):
    """Return the equations of all joints with the same terms of friction."""
    speeds = ObservedSpeeds(dynamics)
    return Equations(dynamics, speeds, dict.fromkeys(speeds.names, terms))


def base_of(dynamics, q, v, a, terms=()):
    """Return the base parameters of states, and the rows."""
    system = equations(dynamics, terms)
    (rows,) = system.chunks([samples_of(np.arange(len(q)), q, v, a, 0.0 * v)])
    rows = rows[..., :-1].reshape(-1, len(system.names))
    return base_parameters(rows, system.names, system.preferences), rows


def random_states(rng, joints, count=200):
    return rng.uniform(-2.0, 2.0, (3, count, joints))


def test_panda(panda, rng):
    base, _ = base_of(panda, *random_states(rng, 7))
    assert (base.rank, 70 - len(base.with_status(UNSEEN))) == (43, 59)
    assert base.with_status(UNSEEN) == tuple(NEVER.split())
    assert base.with_status(ALONE) == tuple(PANDA_ALONE.split())
    assert {
        'my2 - 0.316 (m3 + ... + m7) - mz3',
        'mx3 + 0.0825 (m4 + ... + m7)',
        'mx4 - 0.0825 (m5 + m6 + m7)',
        'my4 + 0.384 (m5 + m6 + m7) + mz5',
        'my5 - mz6',
        'mx6 + 0.088 m7',
        'my6 - mz7',
        'Jxx7 - Jyy7',
    } <= set(base.sums)


def test_ur10(ur10, rng):
    base, _ = base_of(ur10, *random_states(rng, 6))
    assert (base.rank, 60 - len(base.with_status(UNSEEN))) == (36, 51)
    assert 'mz2 + 0.612 (m3 + ... + m6)' in base.sums  # its axis is y


@pytest.mark.parametrize(
    ('terms', 'rank', 'unknowns'), [(LINK_SIDE, 64, 91), (MOTOR_SIDE, 69, 98)]
)
def test_friction_adds_what_it_can(terms, rank, unknowns, panda, rng):
    base, rows = base_of(panda, *random_states(rng, 7), terms)
    assert (base.rank, rows.shape[1]) == (rank, unknowns)


def test_sums_predict_what_parameters_do(panda, rng):
    base, rows = base_of(panda, *random_states(rng, 7))
    phi = inertial_parameters(panda.robot)
    predicted = rows[:, base.leading] @ (base.matrix @ phi)
    assert_allclose(predicted, rows @ phi, rtol=0, atol=1e-11)
    assert_allclose(base.matrix[:, base.leading], np.eye(base.rank), rtol=0, atol=1e-12)


def test_status_does_not_depend_on_which_columns_lead(panda, rng):
    base, rows = base_of(panda, *random_states(rng, 7))
    other = base_parameters(rows, base.names, rng.permutation(70))
    assert (other.status, other.rank) == (base.status, base.rank)
    assert other.sums != base.sums


def held(rng, moving, count=300):
    """Return states of seven joints of which some move; the others are held at 0.3 rad."""
    q, v, a = random_states(rng, 7, count)
    still = np.setdiff1d(np.arange(7), moving)
    q[:, still], v[:, still], a[:, still] = 0.3, 0.0, 0.0
    return q, v, a


def test_poses_at_rest_show_gravity_alone(panda, rng):
    q, v, a = random_states(rng, 7)
    base, _ = base_of(panda, q, 0.0 * v, 0.0 * a)
    assert (base.rank, 70 - len(base.with_status(UNSEEN))) == (12, 22)
    assert base.with_status(ALONE) == ('mx2', 'mx5', 'mx7', 'my7')


@pytest.mark.parametrize(
    ('moving', 'rank', 'alone'),
    [([6], 10, ('mx7', 'my7', 'Jxz7', 'Jyz7', 'Jzz7')), ([0], 19, ())],
)
def test_one_joint_shows_little(moving, rank, alone, panda, rng):
    base, _ = base_of(panda, *held(rng, moving))
    assert (base.rank, base.with_status(ALONE)) == (rank, alone)


def test_joint_1_held_hides_what_turns_with_it(panda, rng):
    base, _ = base_of(panda, *held(rng, range(1, 7)))
    assert base.rank == 40
    more = {'Jzz1', 'Jxx2', 'Jxy2', 'Jyy2'}
    assert set(base.with_status(UNSEEN)) == {*NEVER.split(), *more}


def test_nearly_equal_columns_are_one_sum(rng):
    rows = rng.normal(size=(50, 3))
    rows[:, 2] = rows[:, 0] + 1e-5 * rows[:, 2]
    base = base_parameters(rows, ['m1', 'm2', 'm3'], [0, 0, 0])
    assert (base.rank, base.sums, base.condition < 3.0) == (2, ('m1 + m3', 'm2'), True)
    assert base.status == (IN_SUMS, ALONE, IN_SUMS)


@pytest.mark.filterwarnings('ignore::kane_dynamics.exceptions.ModelWarning')
def test_angles_that_a_urdf_rounds_show_nothing(rng):
    """Regression: of angles of 1.5708 the condition was 2e6, and nothing was published."""
    text = robots.arm('panda').path.read_text(encoding='utf-8')
    states, bases = random_states(rng, 7), []
    for angle in ('1.57079632679489662', '1.5708'):
        rounded = re.sub(r'1\.570796\d*', angle, text)
        robot = kd.load_urdf(rounded, locked_joints=FINGERS)
        bases.append(base_of(kd.dynamics(robot), *states, MOTOR_SIDE)[0])
    exact, base = bases
    assert (base.rank, base.status) == (exact.rank, exact.status)
    assert base.condition < 1.001 * exact.condition


def test_equal_columns_are_seen_in_a_sum(rng):
    rows = rng.normal(size=(50, 2)) @ [[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    base = base_parameters(rows, ['m1', 'm2', 'm3', 'm4'], [0] * 4)
    assert base.sums == ('m1 + 2 m3', 'm2')
    assert base.status == (IN_SUMS, ALONE, IN_SUMS, UNSEEN)


def test_equal_factors_of_a_kind_are_in_brackets_long_ones_shortened(rng):
    factors = np.array([[1.0, 2.0, 2.0, 2.0, 2.0, 0.0], [0.0, 0.5, 0.5, 0.0, 0.0, 1.0]])
    names = ['mx1', 'm2', 'm3', 'm4', 'm5', 'my1']
    base = base_parameters(rng.normal(size=(50, 2)) @ factors, names, [0, 1, 1, 1, 1, 0])
    assert base.sums == ('mx1 + 2 (m2 + ... + m5)', 'my1 + 0.5 (m2 + m3)')


def test_no_motion_at_all_is_an_error():
    with pytest.raises(InvalidInputError, match='the motion shows nothing'):
        base_parameters(np.zeros((4, 2)), ['m1', 'm2'], [0, 0])
