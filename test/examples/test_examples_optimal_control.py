# SPDX-License-Identifier: Apache-2.0
"""The plan to the shelf: dynamics by another method, limits, the end; the script as it runs."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / 'examples' / 'optimal_control'
INTERVALS = 8


@pytest.fixture(scope='module')
def modules():
    """Return the example's modules, from its folder."""
    sys.path.insert(0, str(FOLDER))
    try:
        import drive_to_a_shelf
        import shelf
    finally:
        sys.path.remove(str(FOLDER))
    return drive_to_a_shelf, shelf


@pytest.fixture(scope='module')
def found(modules):
    return modules[0].plan(INTERVALS)


def test_accelerations_are_those_of_gauss_with_multipliers(modules, found):
    assert modules[0].disagreement(found) < 1e-9  # roundoff of efforts of 60 N m


def test_friction_of_the_wrong_sign_is_found(modules, found, monkeypatch):
    monkeypatch.setattr(modules[1], 'DRY', -modules[1].DRY)
    assert modules[0].disagreement(found) > 1.0


def test_speeds_are_cubics_with_these_rates(found):
    """Order 4: what Hermite and Simpson demand, written as integrals of a parabola."""
    h, (before, middle, after) = found.times[2], (found.du[k::2] for k in range(3))
    before, after = before[: len(middle)], after[: len(middle)]
    half, whole = found.u[1::2] - found.u[:-1:2], found.u[2::2] - found.u[:-1:2]
    np.testing.assert_allclose(half, h * (5 * before + 8 * middle - after) / 24, atol=1e-7)
    np.testing.assert_allclose(whole, h * (before + 4 * middle + after) / 6, atol=1e-7)


def test_limits_are_kept(modules, found):
    _, shelf = modules
    speed, effort = shelf.limits()
    assert (np.abs(found.u) <= speed * (1 + 1e-6)).all()
    assert (np.abs(found.effort) <= effort * (1 + 1e-6)).all()
    assert np.abs(found.effort / effort).max() > 0.9  # a limit that binds
    robot = shelf.loaded_robot()
    assert (found.q >= robot.lower - 1e-6).all() and (found.q <= robot.upper + 1e-6).all()
    # edges are rounded in the plan: up to ROUND / 2 less
    assert shelf.least_clearance(found.q) >= modules[0].NEAR - shelf.ROUND / 2 - 1e-6


def test_a_robot_in_the_board_has_no_clearance(modules, found):
    _, shelf = modules
    deep = found.q.copy()
    deep[:, 0] += 0.5
    assert shelf.least_clearance(deep) < -0.05


def test_start_and_end(modules, found):
    _, shelf = modules
    np.testing.assert_allclose(found.q[0], shelf.START, atol=1e-7)
    np.testing.assert_allclose(found.u[[0, -1]], 0.0, atol=1e-7)
    hand, load = shelf.middles_of(found.q[-1:])[[shelf.HAND, shelf.OBJECT], 0]
    np.testing.assert_allclose(load, shelf.PLACE, atol=1e-6)
    assert load[2] == pytest.approx(hand[2], abs=1e-6)  # level


def test_wheels_of_another_size_are_refused(modules, monkeypatch):
    monkeypatch.setattr(modules[1], 'RADIUS', 0.11)
    with pytest.raises(ValueError, match='RADIUS and TRACK are not those'):
        modules[1].speeds(modules[1].loaded_robot())


@pytest.mark.thorough  # machine code of the robot: 10 s, and an animation
def test_script(modules, found, monkeypatch, tmp_path, capsys):
    drive, _ = modules
    monkeypatch.setattr(drive, 'plan', lambda intervals: found)
    drive.main(['--output', str(tmp_path / 'new'), '--intervals', str(INTERVALS)])
    printed = capsys.readouterr().out
    assert 'iterations of IPOPT' in printed and 'ms processor' in printed
    (off,) = re.findall(r'object off by ([\d.]+) mm at the end', printed)
    assert float(off) < 10.0  # drives with gains, dry friction as it is
    for ending in ('.npz', '.gif', '_strobe.png', '.png'):
        assert (tmp_path / 'new' / f'drive_to_a_shelf{ending}').stat().st_size > 5000


@pytest.fixture(scope='module')
def action(modules):
    pytest.importorskip(
        'crocoddyl', reason='crocoddyl is not installed: with_crocoddyl.py says how'
    )
    sys.path.insert(0, str(FOLDER))
    try:
        import with_crocoddyl
    finally:
        sys.path.remove(str(FOLDER))
    return with_crocoddyl


def test_derivatives_of_the_step_of_crocoddyl_are_its_differences(action, modules):
    graph, shelf = action.step_graph(0.05), modules[1]
    x = np.r_[shelf.START, 0.1 * np.arange(1.0, 8.0)]
    effort = 0.1 * shelf.limits()[1]
    _, by_x, by_effort = (np.array(value) for value in graph(x, effort))
    h = 1e-6  # balances curvature and roundoff of the Newton solve, 1e-9

    def difference(k, exact, point):
        move = np.zeros(len(point))
        move[k] = h
        sides = (
            [graph(x + s * move, effort) if exact is by_x else graph(x, effort + s * move)]
            for s in (1, -1)
        )
        ahead, behind = (np.array(side[0][0]).ravel() for side in sides)
        np.testing.assert_allclose(exact[:, k], (ahead - behind) / (2 * h), atol=2e-3)

    for k in range(len(x)):
        difference(k, by_x, x)
    for k in range(7):
        difference(k, by_effort, effort)


def test_crocoddyl_reaches_the_place_within_the_limits(action, modules):
    shelf = modules[1]
    solver, _ = action.solve(25, 60)
    q = np.array(solver.xs)[:, : len(shelf.START)]
    assert np.linalg.norm(shelf.objects(q[-1:])[0] - shelf.PLACE) < 0.01
    assert (np.abs(np.array(solver.us)) <= shelf.limits()[1] + 1e-9).all()
