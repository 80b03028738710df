# SPDX-License-Identifier: Apache-2.0
"""Order of convergence, energy, side slip and drift of each integrator."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.machines import four_bar_coordinates, inertia, planar_2r, prismatic
from support.mechanisms import bladed_sled, compiled, four_bar_loop
from support.trees import tree_and_state

import kane_dynamics as kd

ORDERS = {'semi_implicit': 2, 'midpoint': 2, 'rk4': 4}
# Steps [s] at which the next term of the error is 3 % or less of the leading one.
COARSE = {'semi_implicit': 0.01, 'midpoint': 0.01, 'rk4': 0.02}
FASTER = {'arm': 0.5, 'four_bar': 0.25}  # light links turn fast


def floating():
    """Return a robot with every kind of quaternion in q and no constraint."""
    robot, q, v, _ = tree_and_state(2, 'floating', kinds=('spherical', 'free'), friction=False)
    return robot, (), q, v


def driven():
    """Return a sled whose shoulder is forced along a law of time."""
    robot, constraints, q, v = bladed_sled()
    law = kd.constraints.pfaffian(
        robot, lambda q, t: np.eye(5)[3], lambda q, t: 1.5 * np.cos(4 * t)
    )
    return robot, (*constraints, law), q, v


def arm():
    """Return a double pendulum."""
    return planar_2r(), (), np.array([0.4, -0.9]), np.array([1.0, -0.5])


SYSTEMS = {
    'arm': arm,
    'sled': bladed_sled,
    'floating': floating,
    'driven': driven,
    'four_bar': four_bar_loop,
}


def end_state(system, integrator, step, count, projection=True, engine=None):
    """Return q and v after `count` steps under constant efforts."""
    robot, constraints, q, v = system
    simulation = kd.Simulation(robot, constraints, step, integrator, projection, engine)
    simulation.reset(q, v)
    simulation.step(np.linspace(0.3, -0.4, robot.nv), count)
    return np.r_[simulation.q, simulation.v]


def measured_order(name, integrator, projection=True, engine=None):
    """Return the order of convergence from steps h, h/2 and h/4."""
    system, step = SYSTEMS[name](), COARSE[integrator] * FASTER.get(name, 1.0)
    ends = [end_state(system, integrator, step / n, 4 * n, projection, engine) for n in (1, 2, 4)]
    coarse, fine = (np.linalg.norm(a - b) for a, b in itertools.pairwise(ends))
    return np.log2(coarse / fine)


@pytest.mark.parametrize('integrator', ORDERS)
@pytest.mark.parametrize('name', SYSTEMS)
def test_order_of_convergence(name, integrator):
    assert measured_order(name, integrator) == pytest.approx(ORDERS[integrator], abs=0.1)


@pytest.mark.parametrize('integrator', ORDERS)
def test_order_of_convergence_of_a_law_of_time_without_projection(integrator):
    # projection would mend speeds that follow b(t) at a wrong time, the end of the step too
    assert measured_order('driven', integrator, projection=False) == pytest.approx(
        ORDERS[integrator], abs=0.1
    )


@pytest.mark.parametrize('projection', [True, False])
@pytest.mark.parametrize('integrator', ORDERS)
@pytest.mark.parametrize('name', ['arm', 'sled', 'four_bar'])
def test_order_of_convergence_of_compiled_steps(name, integrator, projection):
    # of what is projected away, only the part along the constraints counts
    engine = compiled(SYSTEMS[name]).engine(integrator, projection)
    order = measured_order(name, integrator, projection, engine)
    assert order == pytest.approx(ORDERS[integrator], abs=0.1)
    assert compiled(SYSTEMS[name]).fallback_count == 0


@pytest.mark.parametrize('name', ['sled', 'floating'])
def test_all_integrators_go_to_the_same_place(name):
    # 0.1 s; errors of second and fourth order at these steps
    system = SYSTEMS[name]()
    exact = end_state(system, 'rk4', 0.005, 20)
    assert_allclose(end_state(system, 'midpoint', 0.005, 20), exact, rtol=0, atol=1e-4)
    assert_allclose(end_state(system, 'semi_implicit', 0.005, 20), exact, rtol=0, atol=1e-4)


@pytest.mark.parametrize('integrator', ORDERS)
def test_same_inputs_give_the_same_bits(integrator):
    system = bladed_sled()
    first = end_state(system, integrator, 0.01, 5)
    assert_array_equal(end_state(system, integrator, 0.01, 5), first)
    robot, constraints, q, v = system
    simulation = kd.Simulation(robot, constraints, 0.01, integrator)
    simulation.reset(q, v)
    for _ in range(5):
        simulation.step(np.linspace(0.3, -0.4, robot.nv))
    assert_array_equal(np.r_[simulation.q, simulation.v], first)


def energy(robot, q, v):
    """Return T + V."""
    return kd.kinetic_energy(robot, q, v) + kd.potential_energy(robot, q)


@pytest.mark.claim(17)
@pytest.mark.parametrize(
    ('integrator', 'step', 'drift'), [('rk4', 0.0025, 1e-8), ('midpoint', 0.005, 1e-3)]
)
def test_energy_of_an_unforced_nonholonomic_robot(integrator, step, drift):
    # the blade does no work; 1e-8 of T is asked for, midpoint oscillates by its error h^2
    robot, constraints, q, v = bladed_sled()
    simulation = kd.Simulation(robot, constraints, step, integrator)
    simulation.reset(q, v)
    before = energy(robot, simulation.q, simulation.v)
    for _ in range(4):
        simulation.step(np.zeros(robot.nv), 25)
        change = energy(robot, simulation.q, simulation.v) - before
        assert abs(change) < drift * kd.kinetic_energy(robot, q, v)


@pytest.mark.parametrize('integrator', ORDERS)
def test_side_slip_stays_at_roundoff_with_projection(integrator):
    robot, constraints, q, v = bladed_sled()
    simulation = kd.Simulation(robot, constraints, 0.01, integrator)
    simulation.reset(q, v)
    for _ in range(10):
        simulation.step(np.ones(robot.nv))
        yaw = simulation.q[2]
        slip = (-np.sin(yaw), np.cos(yaw), -0.1) @ simulation.v[:3]
        assert abs(slip) < 1e-14 * (1.0 + np.abs(simulation.v).max())


@pytest.mark.parametrize(('integrator', 'order'), [('rk4', 4), ('midpoint', 2)])
def test_side_slip_without_projection_shrinks_with_the_order(integrator, order):
    slips = []
    for n in (1, 2):
        yaw, v = (
            (part := end_state(bladed_sled(), integrator, 0.02 / n, 5 * n, False))[2],
            part[5:],
        )
        slips.append(abs((-np.sin(yaw), np.cos(yaw), -0.1) @ v[:3]))
    assert slips[0] > 1e-12
    assert np.log2(slips[0] / slips[1]) > order - 0.2


@pytest.mark.parametrize(('kind', 'seconds'), [('compiled', 10), ('reference', 2)])
def test_side_slip_and_energy_over_seconds(kind, seconds):
    robot, constraints, q, v = bladed_sled()
    engine = compiled(bladed_sled).engine('rk4') if kind == 'compiled' else None
    simulation = kd.Simulation(robot, constraints, 0.01, 'rk4', engine=engine)
    simulation.reset(q, v)
    start = energy(robot, simulation.q, simulation.v)
    for _ in range(2 * seconds):
        simulation.step(np.zeros(robot.nv), 50)
        yaw = simulation.q[2]
        slip = (-np.sin(yaw), np.cos(yaw), -0.1) @ simulation.v[:3]
        assert abs(slip) < 1e-14 * (1.0 + np.abs(simulation.v).max())
    # the error of rk4, (h w)^5 in each radian, sways by 6e-7 of the kinetic energy
    change = energy(robot, simulation.q, simulation.v) - start
    assert abs(change) < 2e-6 * kd.kinetic_energy(robot, q, v)


@pytest.mark.parametrize('integrator', ORDERS)
def test_loop_stays_closed(integrator):
    robot, loop, q, v = four_bar_loop()
    simulation = kd.Simulation(robot, loop, 0.01, integrator)
    simulation.reset(q, v)
    simulation.step(np.zeros(4), 10)
    assert_allclose(simulation.q, four_bar_coordinates(simulation.q[0]), rtol=0, atol=1e-11)
    free = kd.Simulation(robot, loop, 0.01, integrator, projection=False)
    free.reset(q, v)
    free.step(np.zeros(4), 10)
    drift = np.abs(free.q - four_bar_coordinates(free.q[0])).max()
    assert 1e-13 < drift < 1e-1  # the projection above had something to do


@pytest.mark.parametrize('integrator', ORDERS)
def test_driven_joint_follows_its_law(integrator):
    robot, constraints, q, v = driven()
    simulation = kd.Simulation(robot, constraints, 0.01, integrator)
    simulation.reset(q, v)
    for _ in range(5):
        simulation.step(np.zeros(robot.nv))
        assert simulation.v[3] == pytest.approx(1.5 * np.cos(4 * simulation.time), abs=1e-13)


def test_semi_implicit_speeds_meet_the_law_in_the_middle_of_the_step():
    # without projection: A (v + v+)/2 = b_0(t + h/2), not b_0(t)
    robot, constraints, q, v = driven()
    simulation = kd.Simulation(robot, constraints, 0.01, 'semi_implicit', projection=False)
    simulation.reset(q, v, time=0.3)
    for _ in range(3):
        before = simulation.v[3]
        simulation.step(np.zeros(robot.nv))
        wanted = 1.5 * np.cos(4 * (simulation.time - 0.005))
        assert 0.5 * (before + simulation.v[3]) == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize('integrator', ORDERS)
def test_constant_force_on_a_point(integrator):
    point = kd.Body('point', '', prismatic('slide'), inertia=inertia(2.0))
    simulation = kd.Simulation(kd.Robot('point', [point]), (), 0.25, integrator)
    simulation.reset([1.0], [-0.5])
    simulation.step([3.0], 4)
    assert simulation.v[0] == pytest.approx(-0.5 + 1.5, abs=1e-15)
    assert simulation.q[0] == pytest.approx(1.0 - 0.5 + 0.5 * 1.5, abs=1e-15)
