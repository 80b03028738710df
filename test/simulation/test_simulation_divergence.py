# SPDX-License-Identifier: Apache-2.0
"""Stiff damping cannot make an implicit step diverge, and what diverges says so."""

import numpy as np
import pytest
from support.machines import differential_drive, inertia, planar_2r, revolute
from support.seeds import seeds

import kane_dynamics as kd
from kane_dynamics.exceptions import DivergedError, SingularMassMatrixError
from kane_dynamics.simulation.step_checks import STABLE, fastest_decay

SEEDS = seeds(3, 6)


def arm_of_sixteen(seed, damping=0.0):
    """Return a chain of 16 hinges and slides, masses 0.05 to 2 kg, and a state."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(16):
        mass, size = rng.uniform(0.05, 2.0), rng.uniform(0.02, 0.2)
        axis = rng.normal(size=3)
        kind = kd.Revolute(axis) if rng.uniform() < 0.8 else kd.Prismatic(axis)
        joint = kd.Joint(f'j{k}', kind, damping=damping * rng.uniform(0.5, 2.0))
        tensor = mass * size**2 * np.diag(rng.uniform(0.5, 1.0, 3))
        load = kd.Inertia(mass, tuple(rng.uniform(-size, size, 3)), tensor)
        place = kd.Pose.from_rotation_and_position((1, 0, 0, 0), tuple(rng.uniform(-0.2, 0.2, 3)))
        bodies.append(kd.Body(f'b{k}', f'b{k - 1}' if k else '', joint, place, load))
    return kd.Robot('chain', bodies), *rng.uniform(-1, 1, (2, 16))


def energy(robot, q, v):
    """Return T + V."""
    return kd.kinetic_energy(robot, q, v) + kd.potential_energy(robot, q)


@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint'])
@pytest.mark.parametrize('seed', SEEDS)
def test_stiff_damping_takes_energy_in_every_step(seed, integrator):
    # decays within 3e-5 to 2e-4 s at steps of 1e-3 s
    robot, q, v = arm_of_sixteen(seed, damping=50.0)
    run = kd.simulate(robot, q, v, 0.005, integrator=integrator)
    energies = [energy(robot, *state) for state in zip(run.q, run.v, strict=True)]
    assert (np.diff(energies) < 0.0).all()
    # explicit steps of this length are refused before they are taken
    with pytest.raises(DivergedError, match="too stiff for 'rk4'.* 'semi_implicit' or 'midpoint'"):
        kd.simulate(robot, q, v, 0.005, integrator='rk4')


def damper(t, q, v):
    """Return efforts that brake, but too hard for steps over which they are held."""
    return [-100.0 * speed for speed in v]


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
@pytest.mark.parametrize('seed', SEEDS)
def test_a_motion_that_diverges_says_so(seed, integrator):
    """Regression: six of six said that a link that moves has no inertia."""
    robot, q, v = arm_of_sixteen(seed)
    with pytest.raises(DivergedError, match=r'diverged by t = 0\.0'):
        kd.simulate(robot, q, v, 0.1, effort=damper, integrator=integrator)


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
def test_a_compiled_motion_that_diverges_says_so(integrator):
    robot = planar_2r()
    compiled = kd.compile(robot, effort=damper, cache=False)
    q, v = np.array([0.3, -0.4]), np.array([0.5, 0.6])
    engine = kd.compile(robot).engine(integrator)
    with pytest.raises(DivergedError, match=r'diverged by t = '):
        compiled.simulate(q, v, 10.0, step=0.05, integrator=integrator)
    with pytest.raises(DivergedError, match=r'diverged by t = '):
        kd.simulate(robot, q, v, 10.0, effort=damper, step=0.05, engine=engine)


def test_a_robot_without_inertia_is_not_called_diverged():
    bodies = [
        kd.Body('a', '', revolute('a'), inertia=inertia(1.0, (0.1, 0, 0))),
        kd.Body('b', 'a', revolute('b'), inertia=inertia(1.0)),
    ]
    robot = kd.Robot('nothing', bodies)
    for integrator in ('semi_implicit', 'rk4', 'midpoint'):
        with pytest.raises(SingularMassMatrixError, match='no inertia'):
            kd.simulate(robot, np.zeros(2), np.zeros(2), 0.01, integrator=integrator)


@pytest.mark.parametrize('compiled', [False, True])
def test_the_bound_of_explicit_steps_is_sharp(compiled):
    # v' = -v/T: the polynomial of order 4 is 1 at h/T = 2.7853, so steps below shrink v
    mass = kd.Inertia(0.5, (0.0, 0.0, 0.0), 0.01 * np.eye(3))
    joint = kd.Joint('slide', kd.Prismatic(), damping=50.0)
    robot = kd.Robot('slide', [kd.Body('slide', '', joint, inertia=mass)], (0, 0, 0))
    M = kd.mass_matrix(robot, np.zeros(1))
    rate, name = fastest_decay(robot, kd.constraints.ConstraintSet(robot, ()), np.zeros(1), 0.0, M)
    assert rate == pytest.approx(100.0, rel=1e-12)
    assert name == 'slide'
    fast = kd.compile(robot, cache=False) if compiled else None

    def run(step):
        if compiled:
            return fast.simulate([0.0], [1.0], 200 * step, step=step)
        return kd.simulate(robot, [0.0], [1.0], 200 * step, step=step)

    sound = run(0.99 * STABLE['rk4'] / rate)
    assert (np.abs(np.diff(np.abs(sound.v[:, 0]))) > 0.0).all()
    assert np.abs(sound.v[-1, 0]) < 0.1
    with pytest.raises(DivergedError, match=r"damping of 'slide' .* steps below 0\.028 s"):
        run(1.01 * STABLE['rk4'] / rate)


def test_constraints_count_in_the_rate_of_decay():
    # a wheel of 0.004 kg m^2 that must drive a base of 15 kg decays 20 times slower than alone
    robot = differential_drive()
    bodies = [
        kd.Body(
            b.name,
            b.parent,
            kd.Joint(b.joint.name, b.joint.kind, damping=0.4 * (b.name != 'base')),
            b.placement,
            b.inertia,
        )
        for b in robot.bodies
    ]
    damped = kd.Robot('drive', bodies)
    rows = (kd.constraints.differential_drive(damped, 'left', 'right', 0.0975),)
    none, some = (kd.constraints.ConstraintSet(damped, given) for given in ((), rows))
    M = kd.mass_matrix(damped, np.zeros(5))
    free, _ = fastest_decay(damped, none, np.zeros(5), 0.0, M)
    bound, name = fastest_decay(damped, some, np.zeros(5), 0.0, M)
    assert free > 5.0 * bound
    assert name in ('left', 'right')
    # the rate against the motion itself: straight on or on the spot, whichever is faster
    rates = []
    for base, wheels in (((0.0975, 0, 0), (1, 1)), ((0, 0, 0.0975 / 0.22), (-1, 1))):
        v = np.array([*base, *wheels])
        rates.append(
            (0.4 * np.square(v[3:]).sum()) / (2 * kd.kinetic_energy(damped, np.zeros(5), v))
        )
    assert bound == pytest.approx(max(rates), rel=0.05)
    step = 1.5 / bound  # refused by the free wheel's rate, sound with the rows
    assert step * free > STABLE['rk4']
    kd.simulate(damped, np.zeros(5), np.zeros(5), 5 * step, constraints=rows, step=step)


def test_coordinates_without_bound_diverge():
    robot, q, v = arm_of_sixteen(0)
    q[2] = 1e13
    with pytest.raises(DivergedError):
        kd.simulate(robot, q, v, 0.01)
