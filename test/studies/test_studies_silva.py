# SPDX-License-Identifier: Apache-2.0
"""The pieces of ``python -m studies.silva`` on short motions and small chains."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

mujoco = pytest.importorskip('mujoco', reason='the extra "oracle" is not installed')

import kane_dynamics as kd  # noqa: E402
from studies.silva import __main__ as program  # noqa: E402
from studies.silva import (  # noqa: E402
    cases,
    comparison,
    contact,
    counting,
    evaluation,
    paper,
    recording,
)

pytestmark = pytest.mark.oracle
SAMPLES = 60


def no_tick(what, part):
    """Show nothing."""


@pytest.fixture(scope='module')
def rolling():
    """Return the evaluation of the nonholonomic robot on a short motion."""
    return evaluation.evaluate(cases.nonholonomic(), SAMPLES, no_tick)


@pytest.mark.claim(18)
@pytest.mark.parametrize(
    'make', [lambda: cases.serial(4), cases.holonomic], ids=['serial', 'holonomic']
)
def test_free_robots_agree_with_mujoco_to_roundoff(make):
    case = make()
    taken = recording.record(case, 30)
    assert np.abs(taken.v[-1]).min() > 1e-4  # everything moves
    some = np.arange(0, 30, 3)
    for method in comparison.METHODS:
        ours = comparison.accelerations(case, taken, method, some)
        # condition of M, up to 1e4, times roundoff of efforts up to 100 N m
        assert_allclose(ours, taken.acceleration[some], rtol=0, atol=1e-9)


def test_efforts_are_seeded_smooth_and_start_at_zero():
    q, efforts = cases.random_motion(cases.holonomic())
    again, same = cases.random_motion(cases.holonomic())
    other, different = cases.random_motion(cases.holonomic(seed=1))
    assert (q == again).all() and not (q == other).any()
    assert (efforts(0.7) == same(0.7)).all() and not (efforts(0.7) == different(0.7)).any()
    assert not efforts(0.0).any()
    # the ramp is flat to second order at both ends
    assert np.abs(efforts(1e-3)).max() < 1e-4
    jump = efforts(cases.RAMP + 1e-6) - efforts(cases.RAMP - 1e-6)
    assert np.abs(jump).max() < 1e-2


def test_recorded_efforts_are_gravity_sines_and_drag():
    case = cases.holonomic()
    taken = recording.record(case, 20)
    _, efforts = cases.random_motion(case)
    for k in (0, 7, 19):
        gravity = kd.gravity_force(case.robot, taken.q[k])
        expected = gravity + efforts(taken.time[k]) - case.drag * taken.v[k]
        # roundoff of efforts up to 100 N m, and of MuJoCo's sum of time steps
        assert_allclose(taken.tau[k], expected, rtol=0, atol=1e-9)
    assert np.abs(case.drag * taken.v[19]).max() > 1e-2


def test_mujoco_keeps_no_callback():
    recording.record(cases.serial(2), 3)
    assert mujoco.get_mjcb_control() is None


def test_samples_are_of_one_state():
    """Positions, speeds, efforts and accelerations of a sample belong together."""
    case = cases.serial(3)
    taken = recording.record(case, 40)
    k = 25
    back = kd.inverse_dynamics(case.robot, taken.q[k], taken.v[k], taken.acceleration[k])
    assert_allclose(back, taken.tau[k], rtol=0, atol=1e-10)
    dt = recording.SAMPLE
    middle = (taken.q[k + 1] - taken.q[k - 1]) / (2.0 * dt)
    # dt^2/6 of a third derivative below 200 rad/s^3
    assert_allclose(middle, taken.v[k], rtol=0, atol=4e-3)


@pytest.mark.thorough
@pytest.mark.claim(18)
def test_rolling_agrees_with_mujoco(rolling):
    for method in (*comparison.METHODS, comparison.COMPILED):
        found = rolling.of(method)
        assert found.passed and found.row.minimum > 0.99999
        # what is left is the rate of the slip, d/dt (b/beta); b changes by 10 m/s^3 at most
        assert found.error.max() < 10.0 / contact.rate_of_decay(contact.TIME_CONSTANT)
    # the constraint matters: without it the acceleration is another one
    case, taken = rolling.case, rolling.recording
    free = kd.forward_dynamics(case.robot, taken.q[-1], taken.v[-1], taken.tau[-1]).acceleration
    assert np.abs(free - taken.acceleration[-1]).max() > 0.1


@pytest.mark.thorough  # `make validate` prints its figures
def test_slip_is_what_soft_friction_must_have(rolling):
    taken = rolling.recording
    slip = contact.side_slip(taken.q, taken.v)
    expected = contact.expected_slip(taken.q, taken.v, contact.TIME_CONSTANT)
    assert np.abs(slip).max() > 1e-5
    # the slip follows within 1/beta = 0.25 ms, and changes by less than 5e-4 m/s^2
    assert_allclose(slip, expected, rtol=0, atol=2.5e-7)


def test_softer_contacts_slip_more_and_agree_less(rolling):
    rows = list(evaluation.softness(rolling, no_tick))
    slips = np.array([row.slip for row in rows])
    lost = np.array([1.0 - row.least for row in rows])
    # the slip is proportional to T, 1 - CMC to its square
    assert_allclose(slips[:-1] / slips[1:], 2.0, rtol=0.05)
    assert_allclose(lost[:-1] / lost[1:], 4.0, rtol=0.3)


@pytest.mark.claim(19)
def test_filter_and_difference_lose_what_the_simulator_reports(rolling):
    rows = {name: rolling.of('gauss', name).row.minimum for name in comparison.REFERENCES}
    assert rows['reported'] > rows['differenced'] > rows['both ways'] > rows['paper']
    # differences of second order at 10 ms: (2 pi f dt)^2 / 3 = 1 % at 3 Hz
    assert rows['differenced'] > 0.9999


def test_missed_coordinates_are_named():
    t = np.linspace(0.0, 1.0, 50)[:, None]
    good, bad = np.sin(6.0 * t), np.cos(6.0 * t)
    both = np.hstack([good, good])
    found = comparison.agreement('gauss', 'reported', both, np.hstack([good, bad]))
    assert found.passed is False
    assert found.missed(['first', 'second']) == ['second']
    opposed = comparison.agreement('gauss', 'reported', both, np.hstack([good, -good]))
    assert opposed.passed is False and np.isnan(opposed.row.minimum)
    assert opposed.missed(['first', 'second']) == ['second']


@pytest.mark.claim(20)
def test_paper_formulas_have_the_paper_values():
    assert paper.formula(paper.PRODUCTS['dqNE'], 50) == 44_052
    assert paper.formula(paper.SUMS['dqNE'], 50) == 36_160
    assert paper.formula(paper.PRODUCTS['dqGP'], 50) == 1_485_050
    assert paper.formula(paper.SUMS['dqGP'], 50) == 1_496_800
    assert paper.formula(paper.PRODUCTS['classic NE'], 50) == 7_452
    assert paper.formula(paper.SUMS['classic EL'], 50) == 15_799


@pytest.mark.claim(20)
def test_counted_graphs_give_the_accelerations():
    counts = {name: counting.count(name, (1, 2, 3, 4, 5)) for name in ('dqNE', 'dqGP')}
    n = 5
    robot = kd.serial_chain(n)
    q, v, tau = np.random.default_rng(3).uniform(-0.5, 0.5, (3, n))
    run = counting.Evaluator(counts['dqNE'].largest)
    closed_form = counting.Evaluator(counts['dqGP'].largest)
    expected = kd.forward_dynamics(robot, q, v, tau).acceleration
    scale = np.abs(expected).max()
    for found in (
        counting.by_runs(lambda *x: run(*x)[0], q, v, tau),
        counting.by_closed_form(closed_form, q, v, tau),
    ):
        # condition of M times roundoff
        assert_allclose(found, expected, rtol=0, atol=1e-10 * scale)


@pytest.mark.thorough
@pytest.mark.claim(19)
def test_program_writes_everything(tmp_path):
    assert program.main(['--quick', '--only', 'holonomic', '--output', str(tmp_path)]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    plots = ('waveforms-holonomic', 'correlations')
    pictures = {f'{name}.{ending}' for name in plots for ending in ('png', 'pdf')}
    assert names == {'silva.json', 'silva.md', 'report.md'} | pictures
    results = json.loads((tmp_path / 'silva.json').read_text())
    assert results['passed'] is True
    (robot,) = results['robots']
    assert len(robot['coordinates']) == 9
    assert '0.9934 / 0.9973 / 0.0026 / 0.9999' in (tmp_path / 'silva.md').read_text()
