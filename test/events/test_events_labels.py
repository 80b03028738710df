# SPDX-License-Identifier: Apache-2.0
"""Every row that holds has a label of its own, and every force comes out of a simulation."""

import warnings
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import inertia, prismatic
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.constraints.base import unique_labels
from kane_dynamics.exceptions import InvalidInputError, ModelWarning, NameNotFoundError
from kane_dynamics.view.event_recorder import EventRecorder
from kane_dynamics.view.forces import Force
from kane_dynamics.view.recorder import Recorder
from studies.random_robots import random_tree

C = kd.constraints
FEET = {'left': (-0.2, 0.2, 0.0), 'right': (-0.2, -0.2, 0.0), 'front': (0.4, 0.0, 0.0)}
SHIPPED = Path(__file__).resolve().parents[2] / 'robots'


def box():
    """Return a free body of 2 kg."""
    return kd.Robot('box', [kd.Body('box', '', kd.Joint('base', kd.Free()), inertia=BODY)])


BODY = inertia(2.0, (0.0, 0.0, 0.1), (0.1, 0.2, 0.3))


def feet(robot, link='box', places=FEET, **options):
    """Return contacts of points of a link with the ground, with friction where it is given."""
    return {
        name: C.contact(
            C.point_contact(robot, link, place),
            C.point_slip(robot, link, place) if options else None,
            **options,
        )
        for name, place in places.items()
    }


def normal_forces(simulation):
    """Return the forces of the distances of all contacts, by part."""
    forces, labels = simulation.forces, simulation.row_labels
    contacts = {n: one for n, one in simulation.constraints.items() if hasattr(one, 'restitution')}
    return {name: forces.get(labels[name][0], 0.0) for name in contacts}


@pytest.mark.parametrize('options', [{}, {'friction': 0.5}])
def test_three_feet_carry_the_weight(options):
    robot = box()
    simulation = kd.EventSimulation(robot, feet(robot, **options))
    assert len(simulation.forces) == len(simulation.labels) == (9 if options else 3)
    assert_allclose([*normal_forces(simulation).values()], 2.0 * 9.81 / 3.0, rtol=1e-9)
    assert sorted(simulation.row_labels) == sorted(FEET)
    assert simulation.row_labels['left'][0] == 'left/box/contact'


def test_events_have_the_forces_of_all_contacts():
    robot = box()
    parts = feet(robot)
    simulation = kd.EventSimulation(robot, parts)
    event = simulation.remove('front')
    assert set(event.forces) == {'left/box/contact', 'right/box/contact'}
    event = simulation.add('front', parts['front'])
    assert_allclose(sum(event.forces.values()), 2.0 * 9.81, rtol=1e-9)
    event = simulation.add('stop', C.point_contact(robot, 'box', (0.0, 0.0, -0.0)))
    assert_allclose(sum(event.forces.values()), 2.0 * 9.81, rtol=1e-9)
    assert len(event.forces) == 4


def test_labels_do_not_change_while_other_parts_come_and_go():
    robot, later = box(), feet(box())
    for order in [*permutations(later)][::2]:
        simulation = kd.EventSimulation(robot, precompile=list(later.values()))
        for name in order:
            simulation.add(name, later[name])
            known = simulation.row_labels
            assert known[name] == (f'{name}/box/contact',)
    for order in [*permutations(later)][::2]:  # nobody knew them
        simulation, before = kd.EventSimulation(robot), {}
        for name in order:
            simulation.add(name, later[name])
            assert before.items() <= simulation.row_labels.items()
            before = simulation.row_labels
        simulation.remove(order[0])
        simulation.add('again', C.point_contact(robot, 'box'))
        assert {name: before[name] for name in order[1:]}.items() <= simulation.row_labels.items()
        assert len(set(simulation.labels)) == len(simulation.labels) == 3


def test_a_constraint_in_two_parts_has_two_labels():
    robot = kd.Robot('slide', [kd.Body('slide', '', prismatic('x'), inertia=inertia(1.0))])
    lock = C.lock(robot, 'x')
    simulation = kd.EventSimulation(robot, {'one': lock, 'two': lock})
    simulation.step([3.0])
    assert_allclose(sum(simulation.forces.values()), -3.0, rtol=1e-9)
    assert len(simulation.forces) == 2


def test_labels_of_a_set_are_its_own():
    assert unique_labels(['a', 'b', 'a', 'a/0']) == ('a/1', 'b', 'a/2', 'a/0')
    assert unique_labels(['a', 'b'], ['b', 'b/0']) == ('a', 'b/1')
    robot = box()
    rows = [C.point_contact(robot, 'box', place) for place in FEET.values()]
    motion = kd.forward_dynamics(robot, robot.neutral(), *np.zeros((2, 6)), rows)
    forces = dict(zip(motion.labels, motion.multipliers, strict=True))
    assert [*forces] == [f'box/contact/{k}' for k in range(3)]
    assert_allclose([*forces.values()], 2.0 * 9.81 / 3.0, rtol=1e-9)
    cone = kd.FrictionCone([], 0.0, 'box/contact')
    with pytest.raises(NameNotFoundError, match='box/contact/0'):
        cone.at(C.ConstraintSet(robot, rows).labels)


def test_impacts_name_every_contact():
    robot = box()
    several = [C.contact(C.point_contact(robot, 'box', place)) for place in FEET.values()]
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -1.0])
    found = kd.impact(robot, robot.neutral(), v, contacts=several)
    assert len(set(found.contacts)) == 3


ON_FEET = ('box', 'nonholonomic', 'holonomic', 'tiago', *range(5))


def on_feet(which):
    """Return a robot at rest on three points of its root, a rolling step long held by motors."""
    if isinstance(which, int):
        robot = random_tree(np.random.default_rng(which), 'floating', friction=False)
        robot = robot.with_gravity((0.0, 0.0, -9.81))
    elif which == 'box':
        robot = box()
    else:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)  # TIAGo's antennas
            path = installed('tiago_no_hand') if which == 'tiago' else SHIPPED / f'{which}.urdf'
            robot = kd.load_urdf(path, base='floating')
    q = robot.neutral()
    x, y, _ = kd.center_of_mass(robot, q)
    corners = (x + 0.6, y), (x - 0.3, y + 0.5), (x - 0.3, y - 0.5)
    places = {f'foot {k}': (*corner, -0.3) for k, corner in enumerate(corners)}
    q[2] = 0.3
    parts = feet(robot, robot.bodies[0].name, places, friction=0.8)
    simulation = kd.EventSimulation(robot, parts, q, step=1e-6)
    tau = kd.gravity_force(robot, q)
    tau[:6] = 0.0
    simulation.step(tau)
    return simulation


@pytest.mark.parametrize('which', ON_FEET)
def test_normal_forces_add_up_to_the_weight(which):
    simulation = on_feet(which)
    weight = 9.81 * sum(body.inertia.mass for body in simulation.robot.bodies)
    pushes = normal_forces(simulation)
    assert_allclose(sum(pushes.values()), weight, rtol=1e-6)
    assert len(pushes) == 3 and len(simulation.forces) == len(simulation.labels)
    recorder = EventRecorder(simulation)
    recorder.run(1e-6, simulation._motion.efforts)
    lifts = recorder.recording().force_vectors[:, :, 2].sum(axis=1)
    assert_allclose(lifts, weight, rtol=1e-6)


def test_wheels_and_casters_carry_the_weight_of_the_shipped_robot():
    robot = kd.load_urdf(SHIPPED / 'nonholonomic.urdf', base='floating')
    sides = [f'wheel_{side}_joint' for side in ('left', 'right')]
    parts = {name: C.rolling_contact(C.rolling_wheel(robot, name), friction=0.6) for name in sides}
    q = robot.neutral()
    rows = C.ConstraintSet(robot, [parts[name].normal for name in sides])
    q[2] -= float(rows.rows(q, np.zeros(robot.nv), 0.0).positions[0])
    for k, x in enumerate((0.25, -0.25)):
        parts[f'caster {k}'] = C.contact(C.point_contact(robot, 'base_footprint', (x, 0.0, -q[2])))
    simulation = kd.EventSimulation(robot, parts, q, step=1e-6)
    tau = kd.gravity_force(robot, q)
    tau[:8] = 0.0
    simulation.step(tau)
    weight = 9.81 * sum(body.inertia.mass for body in robot.bodies)
    assert_allclose(weight, 519.93, rtol=1e-9)
    assert_allclose(sum(normal_forces(simulation).values()), weight, rtol=1e-6)
    assert simulation.row_labels['caster 1'] == ('caster 1/base_footprint/contact',)
    assert sum(state != 'open' for state in simulation.states.values()) >= 3


def test_a_recording_refuses_two_forces_of_one_name():
    force = Force('foot', np.zeros(3), np.ones(3))
    with pytest.raises(InvalidInputError, match='foot'):
        Recorder(box()).add(0.0, box().neutral(), np.zeros(6), [force, force])
