# SPDX-License-Identifier: Apache-2.0
"""What holds for any motion with events: energy falls, contacts push, open ones do nothing."""

import numpy as np
import pytest
from support.landing import box, nearly_flat, rough
from support.machines import inertia
from support.planar_bodies import rod
from support.striking import arm

import kane_dynamics as kd
from kane_dynamics import constraints as c

G = 9.81


def tumbling(e, friction):
    """Return a block of 0.4 m x 1 m over a plane, with four rough corners."""
    size = np.array([0.2, 0.5])
    tensor = (0, 0, size @ size / 3)
    body = kd.Body(
        'block', '', kd.Joint('base', kd.Planar()), inertia=inertia(1, (0, 0, 0), tensor)
    )
    robot = kd.Robot('block', [body], (0, -G, 0))
    up, along = (0, 1, 0), (1, 0, 0)
    parts = {}
    for name, x, y in (('a', -1, -1), ('b', 1, -1), ('c', 1, 1), ('d', -1, 1)):
        corner = (*(size * (x, y)), 0)
        parts[name] = c.contact(
            c.point_contact(robot, 'block', corner, up),
            c.point_slip(robot, 'block', corner, up, along),
            friction=friction,
            static_friction=1.2 * friction,
            restitution=e,
        )
    return robot, parts


def check_contacts(simulation):
    """Check gaps, signs of forces and cones of friction of all contacts."""
    labels, forces = simulation.labels, simulation.motion.multipliers
    assert len(labels) == len(forces)
    done = 0
    for name, contact in simulation.constraints.items():
        if not isinstance(contact, c.Contact):
            done += len(contact.labels)
            continue
        state = simulation.states[name]
        rows = c.ConstraintSet(simulation.robot, [contact.normal])
        gap = rows.rows(simulation.q, simulation.v, simulation.time).positions[0]
        assert gap > -1e-9
        if state == 'open':
            continue  # no row, no force
        assert abs(gap) < 1e-9
        push = forces[done]
        assert push >= -1e-9
        done += 1
        if state == 'sticks':
            count = len(contact.tangent.labels)
            held = np.linalg.norm(forces[done : done + count])
            assert held <= contact.static_friction * push + 1e-9
            done += count
    assert done == len(labels)


@pytest.mark.claim(37, 38)
@pytest.mark.parametrize(('seed', 'law'), [(0, 'newton'), (1, 'poisson'), (2, 'energetic')])
def test_a_block_that_tumbles(seed, law):
    rng = np.random.default_rng(seed)
    robot, parts = tumbling(rng.uniform(0.0, 0.8), rng.uniform(0.1, 0.8))
    q = [0.0, rng.uniform(0.6, 0.9), rng.uniform(-1.0, 1.0)]
    v = rng.normal(size=3) * (1.0, 1.0, 3.0)
    simulation = kd.EventSimulation(robot, parts, q, v, step=0.02, law=law)

    def energy():
        now = simulation.q, simulation.v
        return kd.kinetic_energy(robot, *now) + kd.potential_energy(robot, now[0])

    before = energy()
    for _ in range(25):
        simulation.step(np.zeros(3))
        # rk4 and projection in a step of 20 ms: h^5 (10/s)^5 and less, of some J
        assert energy() <= before + 1e-5
        before = energy()
        check_contacts(simulation)
    struck = [event for event in simulation.events if event.kind == 'impact']
    assert struck
    # the speeds jump by what the contacts give, and lose energy
    assert all(event.energy_loss >= -1e-12 for event in simulation.events)


@pytest.mark.claim(37)
@pytest.mark.parametrize('seed', range(2))
def test_stops_brakes_and_grips_at_random(seed):
    rng = np.random.default_rng(seed)
    robot = arm(lower=-0.6, upper=0.9)
    parts = {
        side: c.contact(c.joint_limit(robot, 'q2', side), restitution=rng.uniform(0.2, 1.0))
        for side in ('lower', 'upper')
    }
    simulation = kd.EventSimulation(robot, parts, [0.1, 0.2], [1.0, 5.0], step=0.01)
    brakes = {joint: c.lock(robot, joint) for joint in ('q1', 'q2')}
    before = kd.kinetic_energy(robot, simulation.q, simulation.v)
    for k in range(60):
        name = rng.choice(list(brakes))
        if name in simulation.constraints:
            simulation.remove(name)
        elif k % 8 == 7:
            simulation.add(name, brakes[name], limit=50.0)
        push = rng.normal(size=2) * 3.0 * (k % 4 == 0)
        if push.any():
            simulation.step(push)
            before = np.inf
        simulation.step([0.0, 0.0])
        after = kd.kinetic_energy(robot, simulation.q, simulation.v)
        assert after <= before + 1e-6  # rk4
        before = after
        check_contacts(simulation)
    assert {'impact', 'added', 'removed'} <= {event.kind for event in simulation.events}


@pytest.mark.parametrize('seed', range(4))
def test_a_box_with_eight_rough_corners_lands_nearly_flat(seed):
    """Rows repeat each other but for 1e-9; what all corners want to stick with, they cannot."""
    rng = np.random.default_rng(seed)
    robot, points = box(rng, 8)
    parts = {
        f'corner {k}': rough(robot, *point, friction=2.0, restitution=0.3)
        for k, point in enumerate(points)
    }
    height = -points[0][1][2]
    v = [*rng.normal(size=3) * 0.1, 0.3, 0.2, -1.0]
    simulation = kd.EventSimulation(robot, parts, nearly_flat(rng, 1e-9, height), v, step=0.005)
    before = kd.kinetic_energy(robot, simulation.q, simulation.v)
    simulation.step(np.zeros(6), 2)
    after = kd.kinetic_energy(robot, simulation.q, simulation.v)
    assert after < before
    check_contacts(simulation)


def test_newtons_law_without_friction_creates_no_energy_and_refuses_nothing():
    """A rod on two ends, of which one opens while the other strikes, e = 1."""
    robot, q, _ = rod(0.5, 1.0, 0.0)
    ends = {str(x): c.point_contact(robot, 'body', (x, 0.0, 0.0)) for x in (-0.5, 0.5)}
    gap = c.ConstraintSet(robot, list(ends.values())).rows(q, np.zeros(3), 0.0).matrix
    v = np.linalg.lstsq(gap, [0.2, -1.0], rcond=None)[0]
    parts = {name: c.contact(end, restitution=1.0) for name, end in ends.items()}
    before = kd.kinetic_energy(robot, q, v)
    simulation = kd.EventSimulation(robot, parts, q, v, step=1e-3, law='newton')
    assert (gap @ simulation.v > -1e-9).all()
    after = kd.kinetic_energy(robot, q, simulation.v)
    assert after == pytest.approx(before, rel=1e-7)
    simulation.step(np.zeros(3))
