# SPDX-License-Identifier: Apache-2.0
"""URDF to joint torques against Pinocchio's own reader and its rnea, crba and gravity."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from urdf_text import random_robot

from kane_dynamics.algorithms.mass_matrix import gauss_gravity_force, gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.exceptions import InvalidInputError, ModelWarning, UrdfError
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.urdf import load_urdf

pin = pytest.importorskip('pinocchio', reason='the extra "oracle" is not installed')
from studies.peers.pinocchio_twin import PinocchioTwin, urdf_model  # noqa: E402

pytestmark = pytest.mark.oracle
BASES = ('fixed', 'planar', 'floating')
CMEEL = Path(pin.__file__).resolve().parents[4]
ROBOTS = CMEEL / 'share' / 'example-robot-data' / 'robots'
needs_robots = pytest.mark.skipif(
    not ROBOTS.is_dir(), reason='example-robot-data is not installed'
)
TOLERANCE = 1e-12  # relative to the largest entry; measured: below 3e-14

REFUSED = {
    # joint 'Left_index_q2' mimics 'index_q1', but the joint is named 'Left_index_q1'
    'alex_psyonic_hands.urdf': UrdfError,
    # links with a large negative principal moment, e.g. 'body': -0.021 kg m^2
    'romeo_laas_small.urdf': InvalidInputError,
    # a file without links
    'ur3.urdf': UrdfError,
}
MAIN = {
    'panda': 'panda_description/urdf/panda.urdf',
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'tiago_no_hand': 'tiago_description/robots/tiago_no_hand.urdf',
    'tiago': 'tiago_description/robots/tiago.urdf',
}


def load(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return load_urdf(source, **options)


def random_state(robot, rng):
    tangent, v, a = (rng.uniform(-1.0, 1.0, robot.nv) for _ in range(3))
    return integrate_coordinates(robot, robot.neutral(), tangent.tolist(), 1.0), v, a


def assert_close(found, expected):
    size = np.abs(expected).max(initial=0.0)
    assert_allclose(found, expected, rtol=0, atol=TOLERANCE * size)


def assert_same(robot, oracle, rng, matrix=True):
    """Compare masses, link poses, inverse dynamics, mass matrix and gravity at a random state."""
    assert robot.nv == oracle.V.shape[1] == np.linalg.matrix_rank(oracle.V)
    assert sum(b.inertia.mass for b in robot.bodies) == pytest.approx(oracle.mass(), rel=1e-12)
    q, v, a = random_state(robot, rng)
    assert oracle.frame_error(q) < 1e-13
    tau = newton_euler(robot, q.tolist(), v.tolist(), a.tolist())
    assert_close(tau, oracle.inverse_dynamics(q, v, a))
    assert_close(gauss_gravity_force(robot, q), oracle.gravity_force(q))
    if matrix:
        assert_close(gauss_mass_matrix(robot, q), oracle.mass_matrix(q))


@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize('seed', range(5))
def test_random_urdf(seed, base):
    """Every origin turned, every inertial turned, every axis skew, links and joints shuffled."""
    rng = np.random.default_rng(seed)
    one_dof = ['revolute', 'prismatic', 'continuous', 'fixed', 'revolute', 'prismatic', 'fixed']
    kinds = ['revolute', *rng.permutation([*one_dof, 'floating']), 'prismatic', 'revolute']
    text = random_robot(rng, kinds, followers=2)
    robot = load_urdf(text, base=base)
    for _ in range(3):
        assert_same(robot, PinocchioTwin(robot, urdf_model(text, base)), rng)


@needs_robots
@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize('name', MAIN)
def test_main_robot(name, base, rng):
    path = ROBOTS / MAIN[name]
    robot = load(path, base=base)
    oracle = PinocchioTwin(robot, urdf_model(path, base))
    for _ in range(5):
        assert_same(robot, oracle, rng)


@needs_robots
@pytest.mark.parametrize('base', BASES)
def test_locked_joints_are_pinocchios_reduced_model(base, rng):
    path = ROBOTS / MAIN['tiago_no_hand']
    positions = {
        'torso_lift_joint': 0.2,
        'arm_2_joint': -0.7,
        'head_1_joint': 0.4,
        'arm_1_joint': 0,
    }
    full = urdf_model(path, base)
    x = pin.neutral(full)
    for name, position in positions.items():
        x[full.joints[full.getJointId(name)].idx_q] = position
    reduced = pin.buildReducedModel(full, [full.getJointId(name) for name in positions], x)
    robot = load(path, base=base, locked_joints=positions)
    assert_same(robot, PinocchioTwin(robot, reduced), rng)


@needs_robots
@pytest.mark.parametrize('base', BASES)
def test_mimic_joints_are_pinocchios(base, rng):
    """Pinocchio's own mimic joints: the same nv and the same torques."""
    path = ROBOTS / MAIN['panda']
    robot = load(path, base=base)
    model = pin.buildModelFromUrdf(str(path), True) if base == 'fixed' else None
    oracle = PinocchioTwin(robot, urdf_model(path, base))
    if model is not None:
        assert model.nv == robot.nv
        q, v, a = random_state(robot, rng)
        expected = pin.rnea(model, model.createData(), q, v, a)
        assert_close(newton_euler(robot, q.tolist(), v.tolist(), a.tolist()), expected)
    assert_same(robot, oracle, rng)
    assert robot.bodies[robot.body_of_joint('panda_finger_joint2')].mimic is not None


@needs_robots
def test_wheels_of_tiago():
    robot = load(ROBOTS / MAIN['tiago_no_hand'], base='planar')
    for side in ('left', 'right'):
        assert robot.wheels[f'wheel_{side}_joint'].radius == 0.0985


@needs_robots
def test_antennas_of_tiago_are_named():
    with pytest.warns(ModelWarning) as caught:
        load_urdf(ROBOTS / MAIN['tiago_no_hand'])
    for warning, side in zip(caught, ('left', 'right'), strict=True):
        assert f"link 'base_antenna_{side}_link': principal moments -3.5" in str(warning.message)


def all_files():
    return sorted(ROBOTS.rglob('*.urdf')) if ROBOTS.is_dir() else []


@needs_robots
@pytest.mark.parametrize('path', all_files(), ids=lambda path: path.stem)
def test_survey(path, rng):
    """Every robot of example-robot-data on every base, or a clear error."""
    if path.name in REFUSED:
        with pytest.raises(REFUSED[path.name]):
            load(path, base='floating')
        return
    for base in BASES:
        robot = load(path, base=base)
        twin = PinocchioTwin(robot, urdf_model(path, base))
        assert_same(robot, twin, rng, matrix=base == 'floating')
