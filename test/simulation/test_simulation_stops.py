# SPDX-License-Identifier: Apache-2.0
"""Joint stops: laws of an inelastic impact, whatever pushes, with every integrator."""

import copy
import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, inertia, revolute

import kane_dynamics as kd
from kane_dynamics.robot.state import GravityAndPayloads
from kane_dynamics.simulation.drives_and_stops import StoppedEngine
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.simulation.reference import ReferenceEngine

ARM = """<robot name="arm"><link name="base_link"/>
  {links}
</robot>"""
LINK = """<link name="l{i}"><inertial><origin xyz="0.1 0.02 {z}"/><mass value="{m}"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="0.002"/></inertial></link>
  <joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>
    <origin xyz="0 0 0.3" rpy="0.2 0 0.1"/><axis xyz="0 1 {a}"/>
    <limit lower="{lower}" upper="{upper}" effort="10" velocity="100"/></joint>"""
# 1000 N m turn a link of 0.1 kg m^2 by 5e-3 rad in the first step of 1 ms
STEP = 0.001


def arm(count=3, kinds=('revolute',) * 3, lower=-0.6, upper=0.5, gravity=(0.0, 0.0, -9.81)):
    links = [
        LINK.format(
            i=i,
            z=0.1 + 0.05 * i,
            m=1.0 + i,
            kind=kinds[i],
            parent=f'l{i - 1}' if i else 'base_link',
            a=0.3 * i,
            lower=lower,
            upper=upper,
        )
        for i in range(count)
    ]
    return kd.load_urdf(ARM.format(links='\n'.join(links)), gravity=gravity)


class Still:
    """An engine whose steps change nothing, to see the corrections alone."""

    def __init__(self, robot, constraints=()):
        self._inner = ReferenceEngine(
            GravityAndPayloads(robot), constraints, 'semi_implicit', True
        )
        self.accelerations, self.robot = self._inner.accelerations, robot

    def advance(self, q, v, tau, t, h, n, log=None):
        return q, v


def corrected(robot, q, v, constraints=()):
    return StoppedEngine(Still(robot, constraints), robot).advance(q, v, 0.0 * v, 0.0, STEP, 1)


@pytest.mark.parametrize('integrator', sorted(INTEGRATORS))
def test_a_joint_that_is_pushed_without_end_rests_at_its_limit(integrator):
    robot = arm()
    stopped = StoppedEngine(
        ReferenceEngine(GravityAndPayloads(robot), (), integrator, True), robot
    )
    simulation = kd.Simulation(robot, (), STEP, integrator, engine=stopped)
    simulation.reset([0.49, -0.59, 0.49])
    simulation.step([1000.0, -1000.0, 1000.0], 80)
    # 1e-12: roundoff of the joints at rest, whatever the others do in the step
    assert_allclose(simulation.q, [0.5, -0.6, 0.5], rtol=0, atol=1e-12)
    assert np.abs(simulation.v).max() < 1e-9
    assert stopped.hits > 20
    simulation.step([-1000.0, 0.0, 0.0], 5)
    assert simulation.q[0] < 0.499  # and it leaves freely


def test_steps_of_the_inner_engine_follow_each_other(monkeypatch):
    robot, times, corrections = arm(), [], []
    still = Still(robot)
    still.advance = lambda q, v, tau, t, h, n, log=None: (times.append((t, h, n)), (q, v))[1]
    stopped = StoppedEngine(still, robot)
    monkeypatch.setattr(stopped, '_stopped', lambda q, v, t: (corrections.append(t), (q, v))[1])
    stopped.advance(np.full(3, 0.5), np.ones(3), np.zeros(3), 2.0, 0.25, 3)
    assert times == [(2.0, 0.25, 1), (2.25, 0.25, 1), (2.5, 0.25, 1)]
    assert corrections == [2.25, 2.5, 2.75]


@pytest.mark.parametrize(('lower', 'upper'), [(-0.3, np.inf), (-np.inf, 0.3)])
def test_a_stop_on_one_side(lower, upper):
    joint = dataclasses.replace(revolute('turn', Y), lower=lower, upper=upper)
    robot = kd.Robot('one side', [kd.Body('bar', '', joint, inertia=inertia(1.0, (0.1, 0, 0)))])
    side = 1.0 if np.isfinite(upper) else -1.0
    q, v = corrected(robot, np.array([0.4 * side]), np.array([2.0 * side]))
    assert_allclose([q[0], v[0]], [0.3 * side, 0.0], rtol=0, atol=1e-12)
    q, v = corrected(robot, np.array([-0.4 * side]), np.array([2.0 * side]))
    assert_allclose([q[0], v[0]], [-0.4 * side, 2.0 * side])


def test_one_joint_at_its_stop_is_the_inelastic_impact_of_the_textbook():
    robot = arm()
    q, v = np.array([0.5, 0.1, -0.2]), np.array([3.0, -1.0, 2.0])
    q_end, v_end = corrected(robot, q, v)
    m, j = kd.mass_matrix(robot, q), np.array([1.0, 0.0, 0.0])
    w = np.linalg.solve(m, j)
    assert_allclose(v_end, v - w * 3.0 / w[0], rtol=0, atol=1e-12)
    assert_allclose(q_end, q, rtol=0, atol=0)


def test_slider_against_a_stop_stays_and_gives_up_its_energy():
    robot = arm(1, ('prismatic',), gravity=(0.0, 0.0, 0.0))
    stopped = StoppedEngine(
        ReferenceEngine(GravityAndPayloads(robot), (), 'semi_implicit', True), robot
    )
    simulation = kd.Simulation(robot, (), STEP, 'semi_implicit', engine=stopped)
    simulation.reset([0.499], [2.0])
    simulation.step([0.0], 1)
    assert simulation.q[0] == 0.5
    assert simulation.v[0] == pytest.approx(0.0, abs=1e-15)
    assert stopped.hits == 1
    simulation.step([0.0], 5)
    assert stopped.hits == 1  # at rest on the limit is no hit


def test_corrections_are_a_projection_onto_the_cone(rng):
    robot = arm()
    for _ in range(50):
        q = rng.choice([-0.6, 0.5, 0.0], 3)
        v = rng.uniform(-5.0, 5.0, 3)
        _, after = corrected(robot, q, v)
        m = kd.mass_matrix(robot, q)
        sign = np.where(q == 0.5, -1.0, np.where(q == -0.6, 1.0, 0.0))
        impulse = m @ (after - v)
        # 1e-9: W from differences of accelerations; impulses are of order 1
        assert (sign * after >= -1e-9).all()
        assert_allclose(impulse[sign == 0.0], 0.0, atol=1e-9)
        assert (sign * impulse >= -1e-9).all()
        assert abs(impulse @ after) < 1e-8  # complementary
        assert after @ m @ after <= v @ m @ v + 1e-9


def test_coordinates_come_back_by_the_smallest_change(rng):
    robot = arm()
    q = np.array([0.51, 0.2, -0.63])
    back, _ = corrected(robot, q, np.zeros(3))
    assert (back[0], back[2]) == (0.5, -0.6)
    m = kd.mass_matrix(robot, q)
    moved = m @ (back - q)
    assert abs(moved[1]) < 1e-9  # no force on the free joint


def test_rows_hold_through_an_impact(rng):
    robot = arm()
    tied = [kd.constraints.coupling(robot, 'j1', 'j0', 0.5)]
    v = np.array([2.0, 1.0, -3.0])  # satisfies the coupling
    q = np.array([0.5, 0.25, -0.6])
    _, after = corrected(robot, q, v, tied)
    assert_allclose(after[:2], 0.0, atol=1e-9)  # the row stops the second joint too
    assert after[2] > -1e-9  # the blow may throw the third off its stop
    _, away = corrected(robot, q, -v, tied)
    assert_allclose(away, -v, rtol=0, atol=0)


def test_what_does_not_reach_a_stop_is_not_touched():
    robot = arm()
    plain = ReferenceEngine(GravityAndPayloads(robot), (), 'semi_implicit', True)
    stopped = StoppedEngine(plain, robot)
    state = (np.array([0.1, 0.2, -0.3]), np.array([0.5, -0.5, 1.0]), np.zeros(3), 0.0, STEP)
    for a, b in zip(plain.advance(*state, 20), stopped.advance(*state, 20), strict=True):
        assert_allclose(a, b, rtol=0, atol=1e-14)
    assert stopped.hits == 0


@pytest.mark.parametrize('rows', [False, True])
def test_compiled_steps_stop_where_those_of_the_reference_do(rows, rng):
    robot = arm()
    tied = [kd.constraints.coupling(robot, 'j1', 'j0', 0.5)] if rows else []
    fast = kd.compile(robot, tied, cache=False)
    engines = [kd.dynamics(robot, tied).engine(), fast.engine()]
    q, v = np.array([0.49, 0.245, -0.59]), np.array([2.0, 1.0, -3.0])
    push = rng.uniform(50.0, 100.0, 3) * [1.0, 0.0, -1.0]
    slow, quick = [StoppedEngine(engine, robot) for engine in engines]
    ends = [engine.advance(q, v, push, 0.0, STEP, 30) for engine in (slow, quick)]
    assert slow.hits == quick.hits > 10
    # 1e-8: 30 steps of 1 ms multiply roundoff of accelerations of some 1000 rad/s^2
    for a, b in zip(*ends, strict=True):
        assert_allclose(a, b, rtol=0, atol=1e-8)


def test_a_joint_held_by_a_row_needs_no_stop():
    robot = arm()
    held = [kd.constraints.lock(robot, 'j0')]
    q, v = np.array([0.0, 0.5, 0.0]), np.array([0.0, 2.0, 0.0])
    _, after = corrected(robot, q, v, held)
    assert after[1] == pytest.approx(0.0, abs=1e-9)
    assert after[0] == pytest.approx(0.0, abs=1e-12)


def test_a_copy_stops_at_the_same_place():
    robot = arm()
    stopped = copy.copy(
        StoppedEngine(ReferenceEngine(GravityAndPayloads(robot), (), 'semi_implicit', True), robot)
    )
    q, v = stopped.advance(np.array([0.5, 0.0, 0.0]), np.ones(3), np.zeros(3), 0.0, STEP, 1)
    assert q[0] == 0.5
    assert v[0] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(AttributeError, match='nothing'):
        _ = stopped.nothing


@pytest.mark.parametrize('limits', [(0.0, 0.0), (1.0, -1.0)])
def test_a_range_that_is_none_is_no_stop(limits):
    robot = arm(lower=limits[0], upper=limits[1])
    stopped = StoppedEngine(
        ReferenceEngine(GravityAndPayloads(robot), (), 'semi_implicit', True), robot
    )
    simulation = kd.Simulation(robot, (), STEP, 'semi_implicit', engine=stopped)
    simulation.step([1.0, 0.0, 0.0], 20)
    assert stopped.hits == 0
    assert simulation.q[0] != 0.0
