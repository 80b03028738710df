# SPDX-License-Identifier: Apache-2.0
"""States that are none: NaN in any input, quaternions that are not unit; both engines, batches."""

import numpy as np
import pytest
from kernel_cases import CASES, FUNCTIONS
from numpy.testing import assert_array_equal

import kane_dynamics as kd
from kane_dynamics.compiler import recipe
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.state import UNIT_TOLERANCE

ALL = {**FUNCTIONS, 'frame_poses': 'q', 'acceleration': 'qva'}
ROWS = 9  # two vectors and a rest


@pytest.fixture(scope='module')
def large():
    """Return a robot with a quaternion that is compiled as if it were large."""
    case = CASES['planar_tree']()
    with pytest.MonkeyPatch.context() as patch:  # for this one alone: others compile later
        patch.setattr(recipe, 'MOST_COUPLED_PAIRS', 5)
        return case, kd.compile(case.robot, case.constraints, cache=False)


@pytest.fixture(params=['sled', 'planar_tree', 'floating_tree', 'linkage', 'large'])
def both(request, pair, large):
    """Return a case and its compiled robot; a planar base has coordinates that M does not use."""
    return large if request.param == 'large' else pair(request.param)


def arguments(case, function, rng):
    state = dict(zip('qva', case.state(rng), strict=True))
    return [state[x] for x in ALL[function]]


@pytest.mark.parametrize('function', ALL)
def test_not_a_number_in_any_input_is_not_a_number_in_every_output(function, both, rng):
    """Regression: M of a planar base, say, ignored x, y and yaw, and whatever they were."""
    case, fast = both
    assert not recipe.too_large(case.robot)  # the bound is what it was
    call, before = getattr(fast, function), fast.fallback_count
    inputs = arguments(case, function, rng)
    for i, x in enumerate(inputs):
        for k in range(len(x)):
            bad = [part.copy() for part in inputs]
            bad[i][k] = np.nan
            assert np.isnan(call(*bad)).all(), (i, k)
            rows = [np.tile(part, (ROWS, 1)) for part in inputs]
            rows[i][k % ROWS, k] = np.nan
            assert np.isnan(call(*rows)).reshape(ROWS, -1).all(axis=1).tolist() == [
                row == k % ROWS for row in range(ROWS)
            ], (i, k)
    assert fast.fallback_count == before  # they cost no call of the reference


@pytest.mark.parametrize('function', ALL)
@pytest.mark.parametrize('name', ['planar_tree', 'floating_tree', 'large'])
def test_quaternions_that_are_not_unit_are_refused_by_both_engines(
    name, function, pair, large, rng
):
    """Regression: the compiled robot took a quaternion of norm 2 for one."""
    case, fast = large if name == 'large' else pair(name)
    q, *others = arguments(case, function, rng)
    for joint, place in case.robot.quaternion_slices:
        for factor in (2.0, 0.0, 1.0 + 1.1 * UNIT_TOLERANCE, 1.0 - 1.1 * UNIT_TOLERANCE):
            bad = q.copy()
            bad[place] *= factor
            said = f"q: joint '{joint}' needs a unit quaternion"
            with pytest.raises(InvalidInputError, match=f'^{said}'):
                getattr(fast, function)(bad, *others)
            if function in FUNCTIONS:
                with pytest.raises(InvalidInputError, match=f'^{said}'):
                    getattr(kd, function)(case.robot, bad, *others)
            rows = np.tile(q, (ROWS, 1))
            rows[6] = bad
            with pytest.raises(InvalidInputError, match=f'^state 6 of the batch: {said}'):
                getattr(fast, function)(rows, *others)


@pytest.mark.parametrize('name', ['planar_tree', 'large'])
def test_quaternions_a_little_off_are_taken_by_both_engines(name, pair, large, rng):
    case, fast = large if name == 'large' else pair(name)
    q, v, a = case.state(rng)
    for factor in (1.0 + 0.9 * UNIT_TOLERANCE, 1.0 - 0.9 * UNIT_TOLERANCE):
        near = q.copy()
        for _, place in case.robot.quaternion_slices:
            near[place] *= factor
        found = fast.inverse_dynamics(near, v, a)
        assert_array_equal(np.isfinite(found), True)
        np.testing.assert_allclose(
            found, kd.inverse_dynamics(case.robot, near, v, a), rtol=0, atol=1e-9
        )


def test_keywords_mean_the_same_for_robots_of_every_size(both, rng):
    case, fast = both
    q, v, tau = case.state(rng)
    expected = fast.acceleration(q, v, tau)
    assert_array_equal(fast.acceleration(tau=tau, q=q, v=v), expected)
    with pytest.raises(TypeError, match="unexpected keyword argument 'torque'"):
        fast.acceleration(q, v, torque=tau)
    with pytest.raises(TypeError, match="multiple values for argument 'q'"):
        fast.acceleration(q, v, q=q)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'tau'"):
        fast.acceleration(q, v)
