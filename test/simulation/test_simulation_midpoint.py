# SPDX-License-Identifier: Apache-2.0
"""The implicit midpoint rule: solved, reversible, and loud where it cannot be."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.machines import Z, at, inertia, planar_2r, revolute
from support.mechanisms import bladed_sled, compiled, four_bar_loop, parallelogram

import kane_dynamics as kd
from kane_dynamics.exceptions import StepError
from kane_dynamics.robot.state import GravityAndPayloads
from kane_dynamics.simulation.integrators import INTEGRATORS, solve_fixed_point
from kane_dynamics.simulation.step_checks import excess_gap

STEP = 1e-3
ENGINES = ('reference', 'compiled')


def arm():
    """Return the shipped arm without friction, its joints at up to 50 rad/s."""
    path = __file__.partition('/test/')[0] + '/robots/nonholonomic.urdf'
    damped = kd.load_urdf(path, base='fixed')
    bodies = [
        kd.Body(
            body.name,
            body.parent,
            kd.Joint(body.joint.name, body.joint.kind, body.joint.armature),
            body.placement,
            body.inertia,
            body.mimic,
        )
        for body in damped.bodies
    ]
    robot = kd.Robot('free', bodies, damped.gravity, damped.frames)
    rng = np.random.default_rng(1)
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-1, 1, robot.nv), 1.0)
    return robot, (), q, 50.0 * rng.uniform(-1, 1, robot.nv)


SYSTEMS = {'arm': arm, 'sled': bladed_sled, 'linkage': four_bar_loop}


def engine_of(name, kind, projection):
    """Return the engine of a system's midpoint steps."""
    robot, constraints, _, _ = SYSTEMS[name]()
    if kind == 'compiled':
        return compiled(SYSTEMS[name]).engine('midpoint', projection)
    return kd.simulation.reference.ReferenceEngine(
        GravityAndPayloads(robot), constraints, 'midpoint', projection
    )


@pytest.mark.parametrize('kind', ENGINES)
@pytest.mark.parametrize('name', SYSTEMS)
def test_there_and_back(name, kind):
    """Regression: eight iterations, converged or not, left 1e-4 of the arm's 50 rad/s. Constraint
    rows hold at the middle of a step, the same there and back; without projection, which is of the
    end of a step alone, the step is reversible with them too."""
    robot, _, q, v = SYSTEMS[name]()
    engine, count, tau = engine_of(name, kind, False), 50, np.linspace(0.3, -0.4, robot.nv)
    ahead = engine.advance(q, v, tau, 0.0, 1e-3, count)
    q_back, v_back = engine.advance(*ahead, tau, count * 1e-3, -1e-3, count)
    assert np.abs(ahead[0] - q).max() > 0.05
    # each step is solved to 1e-12; a motion of 50 rad/s carries errors on a thousandfold
    tolerance = {'arm': 5e-9}.get(name, 1e-11)
    assert_allclose(np.r_[q_back, v_back], np.r_[q, v], rtol=0, atol=tolerance)


@pytest.mark.parametrize('kind', ENGINES)
def test_projection_is_reversible_to_the_error_of_a_step(kind):
    # documented: the ends of steps move by their error, of order h^3 each, h^2 in all
    robot, _, q, v = four_bar_loop()
    engine, gaps = engine_of('linkage', kind, True), []
    for step, count in ((4e-3, 20), (2e-3, 40)):
        ahead = engine.advance(q, v, np.zeros(4), 0.0, step, count)
        back = engine.advance(*ahead, np.zeros(4), 0.0, -step, count)
        gaps.append(np.abs(np.r_[back] - np.r_[q, v]).max())
    assert gaps[0] < 1e-3
    assert np.log2(gaps[0] / gaps[1]) > 1.7


@pytest.mark.parametrize('kind', ENGINES)
def test_constraint_forces_do_no_work(kind):
    # T changes by the work of efforts and weight alone: v_m (M (v+ - v) + h (C v_m + g) - h tau)
    robot, _, q, v = bladed_sled()
    engine, tau, h = engine_of('sled', kind, False), np.linspace(0.3, -0.4, robot.nv), 0.02
    q_end, v_end = engine.advance(q, v, tau, 0.0, h, 1)
    middle = 0.5 * (v + v_end)
    q_middle = kd.integrate(robot, q, middle, 0.5 * h)
    pull = kd.inverse_dynamics(robot, q_middle, middle, (v_end - v) / h) - tau
    assert np.abs(pull).max() > 0.1  # the blade pulls
    assert abs(pull @ middle) < 1e-11
    yaw = q_middle[2]
    assert abs((-np.sin(yaw), np.cos(yaw), -0.1) @ middle[:3]) < 1e-12


@pytest.mark.parametrize('kind', ENGINES)
def test_a_step_whose_equation_is_not_solved_is_refused(kind):
    # 600 rad/s at 10 ms: a turn in each step
    robot, _, q, _ = arm()
    engine = engine_of('arm', kind, True)
    with pytest.raises(StepError, match=r'not solved: its speeds .*ask for halvings'):
        engine.advance(q, np.full(robot.nv, 600.0), np.zeros(robot.nv), 0.0, 0.01, 1)


@pytest.mark.parametrize('kind', ENGINES)
def test_a_step_that_creates_energy_is_halved_where_asked(kind):
    # a folded arm opens: 420 J and, after one step of 0.1 s, 850 J
    robot, q, v, tau = planar_2r(), np.array([0.3, 2.0]), np.array([8.0, -10.0]), np.zeros(2)
    fast = kd.compile(robot)

    def run(step, halvings):
        engine = fast.engine('midpoint', True, halvings) if kind == 'compiled' else None
        simulation = kd.Simulation(robot, (), step, 'midpoint', True, engine, halvings)
        simulation.reset(q, v)
        simulation.step(tau, round(0.1 / step))
        return np.r_[simulation.q, simulation.v]

    with pytest.raises(StepError, match=r'energy changes by 4\d\d J that no force brought'):
        run(0.1, 0)
    assert_allclose(run(0.1, 1), run(0.05, 0), rtol=1e-9)
    assert_allclose(run(0.1, 5), run(0.05, 0), rtol=1e-9)  # no more than is needed
    if kind == 'compiled':
        again = fast.simulate(q, v, 0.1, step=0.1, integrator='midpoint', halvings=1)
        assert_array_equal(np.r_[again.q[-1], again.v[-1]], run(0.1, 1))
        with pytest.raises(StepError, match='that no force brought'):
            fast.simulate(q, v, 0.1, step=0.1, integrator='midpoint')
        taken = fast.fallback_count
        fast.simulate(q, v, 0.1, step=0.01, integrator='midpoint')
        assert fast.fallback_count == taken  # sound steps are those of the machine code


@pytest.mark.parametrize(
    ('halvings', 'sound_until', 'tried'),
    [
        (2, 0.0, [(0.0, 0.5), (0.0, 0.25), (0.25, 0.25), (0.5, 0.5), (0.5, 0.25), (0.75, 0.25)]),
        (1, 0.0, [(0.0, 0.5)]),
        (1, 0.5, [(0.0, 0.5), (0.5, 0.5)]),
        (0, 0.0, []),
    ],
)
def test_halves_of_a_step_follow_each_other(monkeypatch, halvings, sound_until, tried):
    # steps longer than 0.3 s fail, but for those that end early
    calls = []

    def step(dynamics, q, v, tau, t, h):
        calls.append((t, h))
        if h > 0.3 and t + h > sound_until:
            raise StepError('too long')
        return q, v

    robot, q, v = planar_2r(), np.zeros(2), np.ones(2)
    monkeypatch.setitem(INTEGRATORS, 'midpoint', step)
    steps = kd.simulation.reference.ReferenceEngine(
        GravityAndPayloads(robot), (), 'midpoint', False, halvings=halvings
    )
    if halvings == 2:
        steps.advance(q, v, v, 0.0, 1.0, 1)
    else:
        with pytest.raises(StepError, match='too long'):
            steps.advance(q, v, v, 0.0, 1.0, 1)
    assert calls == [(0.0, 1.0), *tried]


def test_the_gap_of_the_energy_is_of_third_order():
    # with efforts and armature; half the step leaves an eighth
    robot, q, v, tau = arm()[0], arm()[2], 0.1 * arm()[3], 20.0 * np.cos(np.arange(7.0))
    joints = [dataclasses.replace(body.joint, armature=0.5) for body in robot.bodies]
    pairs = zip(robot.bodies, joints, strict=True)
    bodies = [dataclasses.replace(body, joint=joint) for body, joint in pairs]
    robot = kd.Robot('geared', bodies, robot.gravity)
    engine = kd.simulation.reference.ReferenceEngine(
        GravityAndPayloads(robot), (), 'midpoint', False
    )

    def gap(h):
        q_end, v_end = engine.advance(q, v, tau, 0.0, h, 1)
        middle = 0.5 * (v + v_end)
        states = [(q, v), (kd.integrate(robot, q, middle, 0.5 * h), middle), (q_end, v_end)]
        return excess_gap(robot, *[(x.tolist(), y.tolist()) for x, y in states], h)

    (long, sound), (short, _) = gap(2e-3), gap(1e-3)
    assert long / short == pytest.approx(8.0, rel=0.1)
    assert sound < 0.0


def test_a_mechanism_stays_on_its_branch():
    """Regression: through its flat position a parallelogram gained 1170 J in one step, in silence,
    or went on with crossed cranks. A step whose middle lies flat may have no solution, or one on
    the other branch: that is said, and shorter steps pass. 5 ms is a turn by 0.05 to 0.1 rad."""
    _, _, q, v = parallelogram()
    fast = compiled(parallelogram)
    step = {'step': 5e-3, 'integrator': 'midpoint'}
    with pytest.raises(StepError, match='speeds jump|not solved'):
        fast.simulate(q, v, 60.0, **step)
    motion = fast.simulate(q, v, 6.0, halvings=6, **step)
    flat = np.flatnonzero(np.diff(np.floor(motion.q[:, 0] / np.pi)))
    assert len(flat) > 5
    assert_allclose(motion.q[:, 0], motion.q[:, 2], rtol=0, atol=1e-9)
    energy = fast.kinetic_energy(motion.q, motion.v) + fast.potential_energy(motion.q)
    assert np.abs(energy - energy[0]).max() < 2e-3  # [J], of 20; order 2, and it does not grow


def test_a_jump_to_the_other_branch_is_refused():
    # 0.02 rad before it lies flat; speeds of crossed cranks half a step later
    robot, rows, _, _ = parallelogram()
    near = np.pi - 0.02
    q, v = np.array([near, -near, near]), np.array([10.0, -10.0, 10.0])
    dynamics = kd.simulation.reference.ReferenceEngine(
        GravityAndPayloads(robot), rows, 'midpoint', True
    )
    dynamics.check_jump((q, v), v, np.zeros(3), 0.0, 5e-3)
    with pytest.raises(StepError, match=r'at t = 0 s the speeds jump: another branch'):
        dynamics.check_jump((q, v), np.array([10.0, -25.0, -25.0]), np.zeros(3), 0.0, 5e-3)


def test_a_brake_may_stop_the_speeds_at_once():
    # a nonholonomic row that comes on within the step is an impact, not a jump
    robot, rows, q, v = parallelogram()
    brake = kd.constraints.pfaffian(
        robot, lambda q, t: [0.5 * (1.0 + np.tanh(1e5 * (t - 0.006))), 0.0, 0.0], label='brake'
    )
    motion = kd.simulate(
        robot, q, v, 0.02, constraints=(*rows, brake), step=4e-3, integrator='midpoint'
    )
    (event,) = motion.rank_events
    assert (event.before, event.after) == (2, 3)
    assert event.energy == pytest.approx(kd.kinetic_energy(robot, q, v), rel=0.1)
    assert_allclose(motion.v[-1], 0.0, atol=1e-12)


def test_fixed_points():
    # a contraction by 0.9 and a rotation by 90 degrees with growth, which alone diverges
    A = np.array([[0.0, -1.5], [1.5, 0.0]])
    for matrix in (0.9 * np.eye(2), A, np.diag([0.5, -3.0])):
        found = solve_fixed_point(lambda x, m=matrix: m @ x + 1.0, np.zeros(2))
        assert_allclose(found, np.linalg.solve(np.eye(2) - matrix, np.ones(2)), rtol=1e-9)
    with pytest.raises(StepError, match='still change by .* after 100 iterations'):
        solve_fixed_point(lambda x: x + 1.0, np.zeros(2))
    with pytest.raises(StepError, match='not solved'):
        solve_fixed_point(lambda x: -np.sign(x) + (x == 0.0), np.array([0.3, 0.2]))


def test_coulomb_friction_of_a_light_link_sent_steps_to_the_reference():
    """Regression: plain iterations are too slow where h F/|v| is many times the inertia."""
    links = [
        kd.Body('arm', '', revolute('arm', Z), inertia=inertia(1.0, (0.2, 0, 0), (0.01,) * 3)),
        kd.Body(
            'finger',
            'arm',
            revolute('finger', Z, damping=0.05, friction=0.5),
            at(0.4, 0, 0),
            inertia(1e-3, (0.0, 0, 0), (1e-5,) * 3),
        ),
    ]
    robot = kd.Robot('hand', links)
    fast = kd.compile(robot, cache=False)
    engine, slow = fast.engine('midpoint'), kd.Simulation(robot, (), STEP, 'midpoint')
    q = v = np.zeros(2)
    slow.reset(q, v)
    rng = np.random.default_rng(0)
    for k in range(100):
        tau = np.array([0.1, rng.uniform(0.55, 0.9)])
        q, v = engine.advance(q, v, tau, k * STEP, STEP, 1)
        slow.step(tau)
    assert fast.fallback_count == 0
    assert_allclose(np.r_[q, v], np.r_[slow.q, slow.v], rtol=1e-8)
