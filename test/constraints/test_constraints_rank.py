# SPDX-License-Identifier: Apache-2.0
"""One rule of rank: rows that repeat others up to roundoff and six-digit angles are one row."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.constraint_cases import Scaled
from support.machines import differential_drive, planar_body
from support.rows import solved

import kane_dynamics as kd
from kane_dynamics.constraints import ConstraintRows
from kane_dynamics.constraints.row_selection import TAKEN, select_rows
from kane_dynamics.exceptions import InconsistentConstraintsError
from kane_dynamics.formulations import METHODS
from studies.rank_changes import allowed_speeds, mechanisms

TRACK, RADIUS, MASS, WHEEL, SPIN = 0.4, 0.1, 5.0, 0.5, 0.0018
YAW_INERTIA = 0.12
CONTINUOUS = 1e-9  # roundoff over the square of the weakest row that is taken, 1e-3


def two_wheels(left='-1.5707963267948966 0 0', right='-1.5707963267948966 0 0'):
    """Return a robot with two wheels whose joint frames are turned by rpy, and their rows."""

    def wheel(name, y, rpy):
        return f"""
        <link name="{name}"><inertial><mass value="{WHEEL}"/>
          <inertia ixx="0.001" iyy="0.001" izz="{SPIN}" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="{name}" type="continuous"><parent link="base"/><child link="{name}"/>
          <origin xyz="0 {y} {RADIUS}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>"""

    text = f"""<robot name="two_wheels"><link name="base"><inertial><mass value="{MASS}"/>
      <inertia ixx="0.1" iyy="0.1" izz="{YAW_INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial></link>
      {wheel('left', TRACK / 2, left)}{wheel('right', -TRACK / 2, right)}</robot>"""
    robot = kd.load_urdf(text, base='planar')
    rows = tuple(kd.constraints.rolling_wheel(robot, name, RADIUS) for name in ('left', 'right'))
    return robot, rows


def yaw_of_opposite_efforts():
    """Return the yaw acceleration of -1 and 1 N m on the wheels, by the balance about z."""
    # each wheel turns by track/(2 radius) times the yaw: its spin counts with the square of that
    per_yaw = TRACK / (2 * RADIUS)
    about_z = YAW_INERTIA + 2 * (0.001 + WHEEL * (TRACK / 2) ** 2) + 2 * SPIN * per_yaw**2
    return 2 * per_yaw / about_z


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize(
    'right', ['-1.5708 0 0', '-1.57079632 0 0', '-1.5708 0 3.7e-6', '-1.5707963 0 1e-9']
)
def test_wheels_with_six_digit_angles_turn(method, right):
    """Regression: both wheels say that the axle does not slip; 1e-9 of a turn locked the base."""
    robot, rows = two_wheels('-1.5708 0 0', right)
    tau = np.array([0.0, 0.0, 0.0, -1.0, 1.0])
    motion = kd.forward_dynamics(robot, np.zeros(5), np.zeros(5), tau, rows, method)
    assert motion.rank == 3
    # six digits leave 4e-6 of tilt, which enters as it is: no division
    assert motion.acceleration[2] == pytest.approx(yaw_of_opposite_efforts(), rel=2e-5)
    assert len(motion.multipliers) == 4


@pytest.mark.parametrize(('toe', 'turns'), [(0, True), (1e-4, True), (3e-3, True), (2e-2, False)])
def test_toe_that_is_meant_is_enforced(toe, turns):
    robot, rows = two_wheels(right=f'-1.5707963267948966 0 {toe}')
    tau = np.array([0.0, 0.0, 0.0, -1.0, 1.0])
    motion = kd.forward_dynamics(robot, np.zeros(5), np.zeros(5), tau, rows)
    assert motion.rank == (3 if turns else 4)
    if not turns:  # wheels that point at each other stop the base from turning on the spot
        assert abs(motion.acceleration[2]) < 0.5 * yaw_of_opposite_efforts()
    assert motion.velocity_residual == 0.0


@pytest.mark.parametrize('mechanism', list(mechanisms()), ids=lambda m: m.robot.name)
def test_all_methods_take_the_same_rows(mechanism):
    robot, constraints = mechanism.robot, mechanism.constraints
    rng = np.random.default_rng(1)
    for exponent in (-12.0, -9.0, -6.0, -4.0, -3.0, -2.0):
        q = mechanism.place(rng.uniform(-1, 1, robot.nq), 10.0**exponent, rng)
        v = allowed_speeds(robot, constraints, q, rng.uniform(-1, 1, robot.nv))
        tau = rng.uniform(-5, 5, robot.nv)
        motions = [kd.forward_dynamics(robot, q, v, tau, constraints, name) for name in METHODS]
        size = max(1.0, np.abs(motions[0].acceleration).max())
        for motion in motions[1:]:
            assert motion.independent_labels == motions[0].independent_labels
            gap = np.abs(motion.acceleration - motions[0].acceleration).max()
            assert gap < 10 * CONTINUOUS * size  # masses up to 5e6 apart
            assert_allclose(motion.constraint_force, motions[0].constraint_force, atol=1e-6)


@pytest.mark.parametrize('method', METHODS)
def test_multipliers_of_repeated_rows_are_the_same_in_all_methods(method):
    robot = differential_drive(arm=True)
    drive = kd.constraints.differential_drive(robot, 'left', 'right', 0.0975)
    rows = (Scaled(drive, -3.0), drive, Scaled(drive, 1e-4))
    rng = np.random.default_rng(4)
    q, tau = rng.uniform(-1, 1, robot.nq), rng.uniform(-2, 2, robot.nv)
    v = allowed_speeds(robot, rows, q, rng.uniform(-1, 1, robot.nv))
    once = kd.forward_dynamics(robot, q, v, tau, (drive,))
    motion = kd.forward_dynamics(robot, q, v, tau, rows, method)
    assert_allclose(motion.constraint_force, once.constraint_force, rtol=0, atol=1e-9)
    # of rows of unit size each carries a third, whatever the factor in front of it
    thirds = np.concatenate([once.multipliers / factor / 3 for factor in (-3.0, 1.0, 1e-4)])
    assert_allclose(motion.multipliers, thirds, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize('factor', [1e-130, 1e-13, 1e-9, 1.0, 1e9, 1e13, 1e130])
def test_the_size_of_a_row_does_not_matter(factor):
    A = np.array([[1.0, 1.0, 0.0], [0.0, factor, -factor]])
    mass, force, zero = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0]), np.zeros(2)
    motion = solved(mass, force, A, zero, zero)
    assert motion.rank == 2
    whole = solved(mass, force, A / [[1], [factor]], zero, zero)
    assert_allclose(motion.acceleration, whole.acceleration, rtol=1e-13)
    assert motion.multipliers[1] * factor == pytest.approx(whole.multipliers[1], rel=1e-12)


@pytest.mark.parametrize('strength', [0.0, 1e-12, 0.9 * TAKEN, 1.1 * TAKEN, 0.05, 0.5])
def test_strength_is_the_distance_from_the_rows_taken(strength):
    along = np.sqrt(1.0 - strength**2)
    rows = ConstraintRows.of([[1.0, 0.0], [along, strength]], [0, 0], [0, 0])
    found = select_rows(rows, np.eye(2))
    assert_allclose(found.strength, [1.0, strength], rtol=1e-9, atol=1e-15)
    assert len(found.independent_indices) == (2 if strength >= TAKEN else 1)
    assert found.labels == rows.labels[: len(found.independent_indices)]


def test_either_metric_may_take_a_row():
    """A row through a light gear is weak in the metric of M^-1, one in micrometres in SI."""
    light = np.diag([1.0, 1e-8, 1.0])
    geared = ConstraintRows.of([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], [0, 0], [0, 0])
    assert len(select_rows(geared, np.linalg.cholesky(light)).independent_indices) == 2
    nearly = ConstraintRows.of([[1.0, 0.0, 0.0], [1.0, 1e-6, 0.0]], [0, 0], [0, 0])
    assert len(select_rows(nearly, np.eye(3)).independent_indices) == 1
    assert len(select_rows(nearly, np.diag([1.0, 1e-5, 1.0])).independent_indices) == 2


def test_strong_rows_are_taken_before_weak_ones():
    # in the order given, the second row would be taken with strength 0.02, and the third lost
    A = [[1.0, 0.0, 0.0], [1.0, 0.02, 0.0], [0.0, 1.0, 0.0]]
    found = select_rows(ConstraintRows.of(A, [0] * 3, [0] * 3), np.eye(3))
    assert found.independent_indices.tolist() == [0, 2]


@pytest.mark.parametrize(
    ('violated', 'strength', 'taken'),
    [
        ((0.0, 0.0), 2e-3, True),
        ((-1e-3, 0.0), 2e-3, True),  # off by less than the rows differ
        ((4e-3, 0.0), 2e-3, False),  # by more: the difference may be made by it
        ((-4e-3, 0.0), 2e-3, False),
        ((0.0, 0.5), 2e-3, True),  # its own violation is what it is there to mend
        ((0.5, 0.0), 2e-2, True),  # no violation makes that much
    ],
)
def test_off_the_constraints_weak_rows_must_be_stronger_than_the_drift(violated, strength, taken):
    scale = 7.0  # of the first row and its violation, which says nothing
    A = [[scale, 0.0], [np.sqrt(1.0 - strength**2), strength]]
    rows = ConstraintRows.of(A, [0, 0], [0, 0])
    rows = dataclasses.replace(rows, positions=(scale * violated[0], violated[1]))
    found = select_rows(rows, np.eye(2))
    assert found.independent_indices.tolist() == ([0, 1] if taken else [0])
    assert found.strength[1] == pytest.approx(strength)
    # a Newton step asks for all
    assert select_rows(rows, np.eye(2), by_drift=False).independent_indices.tolist() == [0, 1]


def test_rows_of_one_kind_are_measured_against_the_largest():
    """A loop's row that is roundoff beside the others is no row; alone it would be."""
    A = [[1.0, 0.0, 0.0], [0.0, 1e-5, 0.0]]
    own = ConstraintRows.of(A, [0, 0], [0, 0])
    assert select_rows(own, np.eye(3)).independent_indices.tolist() == [0, 1]
    kind = ConstraintRows(*(getattr(own, name) for name in own.__slots__[:-2]), (0, 0), (0, 0))
    assert select_rows(kind, np.eye(3)).independent_indices.tolist() == [0]


def test_never_more_rows_than_speeds():
    rng = np.random.default_rng(0)
    rows = ConstraintRows.of(rng.normal(size=(7, 3)), np.zeros(7), np.zeros(7))
    assert len(select_rows(rows, np.eye(3)).independent_indices) == 3
    assert len(select_rows(rows).independent_indices) == 3


def test_no_rows_and_rows_that_vanish():
    none = ConstraintRows.of(np.zeros((0, 3)), [], [])
    assert len(select_rows(none, np.eye(3)).independent_indices) == 0
    zero = ConstraintRows.of(np.zeros((2, 3)), [0, 0], [0, 0])
    found = select_rows(zero, np.eye(3))
    assert len(found.independent_indices) == 0
    assert_allclose(found.shared(np.zeros(0)), [0.0, 0.0])


@pytest.mark.parametrize('level', ['speed', 'acceleration'])
@pytest.mark.parametrize('method', METHODS)
def test_contradictions_are_named_by_their_row(method, level):
    robot, zero = planar_body(2.0, 0.3, 0.0), np.zeros(3)
    A = lambda q, t: np.array([[1.0, 0.0, 0.0], [2.0, 1e-7, 0.0]])  # noqa: E731
    b = {'speed': lambda q, t: [0.0, 1.0], 'acceleration': lambda q, t: [0.0, t]}[level]
    rows = (kd.constraints.pfaffian(robot, A, b, 'twice'),)
    with pytest.raises(InconsistentConstraintsError, match=f"no {level}.*'twice/1' contradicts"):
        kd.forward_dynamics(robot, zero, zero, zero, rows, method)


def test_speeds_that_violate_the_rows_are_reported():
    robot = differential_drive()
    rows = (kd.constraints.differential_drive(robot, 'left', 'right', 0.0975),)
    v = np.array([0.0, 0.3, 0.0, 0.0, 0.0])  # sideways
    motion = kd.forward_dynamics(robot, np.zeros(5), v, np.zeros(5), rows)
    assert motion.velocity_residual == pytest.approx(0.3)
    needed = kd.constrained_inverse_dynamics(
        robot, np.zeros(5), v, motion.acceleration, rows, robot.velocity_names[3:]
    )
    assert needed.velocity_residual == pytest.approx(0.3)


def test_efforts_of_wheels_with_six_digit_angles():
    """Constrained inverse dynamics divides nothing by a tilt of 4e-6 either."""
    robot, rows = two_wheels('-1.5708 0 0', '-1.5708 0 3.7e-6')
    exact = two_wheels()
    v, wanted, motors = np.zeros(5), [0, 0, 0, 1.0, 2.0], ['left', 'right']
    found = []
    for bot, given in ((robot, rows), exact):
        a = kd.consistent_acceleration(bot, v, v, wanted, given, motors)
        found.append(kd.constrained_inverse_dynamics(bot, v, v, a, given, motors))
    assert_allclose(found[0].effort, found[1].effort, rtol=1e-4)
    assert_allclose(found[0].multipliers, found[1].multipliers, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ('toe', 'remark'), [(0.0, None), (1e-3, 'is not enforced'), (1e-2, 'may lock'), (0.2, None)]
)
def test_rows_that_nearly_repeat_are_remarked_upon(toe, remark):
    robot, rows = two_wheels(right=f'-1.5707963267948966 0 {toe}')
    found = kd.independent_rows(robot, robot.neutral(), rows)
    assert isinstance(found, kd.RowSelection)
    assert found.labels == kd.forward_dynamics(robot, *np.zeros((3, 5)), rows).independent_labels
    if remark is None:
        assert found.notes == ()
    else:
        (sentence,) = found.notes
        assert remark in sentence
        assert "'right/" in sentence
