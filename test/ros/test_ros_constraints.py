# SPDX-License-Identifier: Apache-2.0
"""Constraints that parameters declare, and a plant that switches them. No ROS needed."""

import numpy as np
import pytest
from drop_robot import BRAKE, HEIGHT, MASS, STEP, G, drop_plant
from numpy.testing import assert_allclose
from ros_models import model_of

import kane_dynamics as kd
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot_config.declared_constraints import declared_constraints, stops
from kane_dynamics.robot_config.parameters.spec import matching_spec, nearest_parameter
from kane_dynamics.robot_config.parameters.tables import ConstraintParameters, SimulatorParameters

FALL = np.sqrt(2.0 * HEIGHT / G)  # [s]
WHEEL = 'wheel_left_joint'


def one(robot, **values):
    return declared_constraints(robot, {'it': ConstraintParameters(**values)})['it']


@pytest.mark.parametrize(
    ('values', 'labels'),
    [
        ({'joint': 'arm_1_joint'}, ('arm_1_joint/lock',)),
        (
            {'type': 'coupling', 'joint': 'arm_1_joint', 'master': 'arm_2_joint', 'ratio': 2.0},
            ('arm_1_joint/coupling',),
        ),
        ({'type': 'no_side_slip', 'offset': 0.1}, ('base/no_side_slip',)),
        ({'type': 'rolling', 'joint': WHEEL}, 2),
        ({'type': 'rolling', 'joint': WHEEL, 'friction_coefficient': 0.5, 'load': 100.0}, 2),
        ({'type': 'roller', 'joint': WHEEL, 'roller_angle': 0.5}, 1),
        (
            {'type': 'joint_stop', 'joint': 'arm_2_joint', 'side': 'lower'},
            ('arm_2_joint/lower',),
        ),
        ({'type': 'point_contact', 'link': 'tool_link'}, ('tool_link/contact',)),
        ({'type': 'point_contact', 'link': 'tool_link', 'friction_coefficient': 0.5}, 3),
        ({'type': 'loop_closure', 'link': 'tool_link', 'other_link': 'base_link'}, 6),
    ],
)
def test_every_type_is_built(values, labels):
    robot = model_of('nonholonomic').robot
    built = one(robot, **values).what
    assert len(built.labels) == labels if isinstance(labels, int) else built.labels == labels
    contact = values.get('friction_coefficient') or values.get('type') in (
        'joint_stop',
        'point_contact',
    )
    assert isinstance(built, Contact) == bool(contact)


@pytest.mark.parametrize(
    ('name', 'values', 'message'),
    [
        ('it', {'joint': 'elbow'}, "constraint 'it' of type lock: no joint named 'elbow'"),
        ('it', {'type': 'rolling', 'joint': WHEEL, 'friction_coefficient': 0.5}, 'needs its load'),
        ('it', {'type': 'rolling', 'joint': WHEEL, 'normal': (0.0, 0.2, 1.0)}, 'planar base'),
        ('it', {'type': 'rolling', 'joint': WHEEL, 'normal': (0.0,) * 3}, 'need a direction'),
        ('it', {'type': 'rolling', 'joint': WHEEL, 'tyre_radius': 1.0}, 'need less than the radi'),
        ('it', {'type': 'joint_stop', 'joint': 'arm_2_joint', 'limit': 1.0}, 'has friction, no l'),
        ('it', {'type': 'point_contact', 'link': 'tool_link', 'normal': (0.0,) * 3}, 'direction'),
        ('a b', {'joint': 'arm_1_joint'}, "'a b' cannot name a service"),
        ('a__b', {'joint': 'arm_1_joint'}, 'cannot name a service'),
        ('base', {'joint': 'arm_1_joint'}, 'cannot name a service'),
    ],
)
def test_wrong_declarations_are_named(name, values, message):
    robot = model_of('nonholonomic').robot
    with pytest.raises(InvalidInputError, match=message):
        declared_constraints(robot, {name: ConstraintParameters(**values)})


PUSHER = """<robot name="pusher"><link name="rail"/>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="fork"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
  <link name="fork"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="wheel" type="continuous"><parent link="fork"/><child link="rim"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
  <link name="rim"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin rpy="1.5707963267948966 0 0"/><geometry>
      <cylinder radius="0.1" length="0.02"/></geometry></collision></link>
</robot>"""


def test_wheels_roll_on_a_wall():
    """A wheel at the end of a fork rolls up the plane x = 0.5, which faces it."""
    robot = kd.load_urdf(PUSHER)
    wall = {'joint': 'wheel', 'normal': (-1.0, 0.0, 0.0), 'offset': -0.5}
    rolling = one(robot, type='rolling', tyre_radius=0.02, **wall).what
    assert (rolling.plane, rolling.tyre_radius) == (kd.Plane((-1.0, 0.0, 0.0), -0.5), 0.02)
    v = np.array([0.3, 0.3 / 0.1])
    set_ = kd.dynamics(robot, (rolling,))
    assert_allclose(set_.constraint_rows(robot.neutral(), v).matrix @ v, 0.0, atol=1e-12)
    assert np.abs(set_.constraint_rows(robot.neutral(), v).matrix @ (v * (1, -1))).max() > 0.5
    # a roller at right angles to the way up lets it slip there, one along it does not
    free, held = (
        kd.dynamics(robot, (one(robot, type='roller', roller_angle=angle, **wall).what,))
        for angle in (np.pi / 2, 0.0)
    )
    slip = np.array([0.3, 0.0])
    moved = []
    for each in (free, held):
        rows = each.constraint_rows(robot.neutral(), slip)
        (k,) = [k for k, label in enumerate(rows.labels) if label.endswith('/roller')]
        moved.append(abs((rows.matrix @ slip)[k]))
    assert moved == pytest.approx([0.0, 0.3], abs=1e-12)


def test_stops_are_the_finite_ends_of_ranges():
    robot = drop_plant({}).model.robot
    assert set(stops(robot)) == {'lift/lower', 'lift/upper'}  # spin is continuous


def test_parameters_of_a_constraint_are_known_by_any_name():
    table = SimulatorParameters.specs
    spec = matching_spec('constraints.caster.friction_coefficient', table)
    assert spec is not None and spec.mark == '<constraint>'
    assert matching_spec('constraints.friction_coefficient', table) is None
    assert (
        nearest_parameter('constraints.caster.restituton', table)
        == 'constraints.caster.restitution'
    )
    assert matching_spec('constraints.names', table).kind == 'string_array'


def test_the_mass_bounces_when_it_should():
    plant = drop_plant()
    assert plant.words()[-2:] == ['floor: open', 'brake: off']
    assert plant.new_events() == ()
    plant.advance(40)
    (event,) = plant.new_events()
    assert_allclose(event.time, FALL, atol=1e-9)
    assert event.kind == 'impact' and event.names == ('floor',)
    assert_allclose(event.energy_loss, 0.75 * MASS * G * HEIGHT, rtol=1e-9)
    assert_allclose(event.v[0], 0.5 * G * FALL, rtol=1e-9)
    assert plant.new_events() == ()


def test_a_brake_is_switched_on_and_off():
    plant = drop_plant({'brake': {**BRAKE, 'limit': 0.0}})
    spin = plant.model.v_index(('spin',))
    plant.command(spin, np.array([2.0]))
    plant.advance(5)
    before = plant.simulation.v[1]
    assert before > 0.0
    assert 'brake holds' in str(plant.switch('brake', True))
    assert plant.switch('brake', True) is None and plant.active == {'brake'}
    assert plant.simulation.v[1] == 0.0
    plant.advance(5)
    assert plant.simulation.v[1] == 0.0
    readings = plant.readings()
    assert readings.labels == ('spin/lock',)
    assert_allclose(readings.multipliers, [-2.0], atol=1e-12)
    assert_allclose(readings.velocity_violation, [0.0], atol=1e-15)
    plant.switch('brake', False)
    plant.advance(5)
    assert plant.simulation.v[1] > 0.0
    assert [event.kind for event in plant.new_events()] == ['added', 'removed']
    with pytest.raises(NameNotFoundError, match="no constraint named 'hook'"):
        plant.switch('hook', True)


def test_reset_and_set_state_keep_what_they_should():
    plant = drop_plant()
    plant.switch('brake', True)
    plant.set_state(np.array([0.3, 0.1]), np.array([0.0, 5.0]))
    assert plant.active == {'floor', 'brake'}
    assert plant.simulation.v[1] == 0.0  # the brake holds
    assert plant.new_events() == ()
    with pytest.raises(kd.exceptions.ConstraintError, match='below zero'):
        plant.set_state(np.array([-0.3, 0.1]), np.zeros(2))
    assert plant.simulation.q[0] == 0.3 and plant.active == {'floor', 'brake'}
    plant.reset()
    assert plant.active == {'floor'} and plant.time == 0
    assert plant.simulation.q[0] == HEIGHT


def test_stops_of_the_urdf_hold():
    plant = drop_plant({'brake': BRAKE})
    lift = plant.model.v_index(('lift',))
    plant.command(lift, np.array([60.0]))
    plant.advance(40)
    assert_allclose(plant.simulation.q[0], 0.9, atol=1e-12)
    assert plant.simulation.states['lift/upper'] != 'open'
    assert_allclose(plant.simulation.forces['lift/upper'], 60.0 - MASS * G, atol=1e-9)
    hits = sum('lift/upper' in event.names for event in plant.new_events())
    assert plant.stop_hits == hits > 0
    assert plant.new_events() == () and plant.stop_hits == hits


def test_a_plant_that_runs_for_days_keeps_no_events():
    plant = drop_plant()
    for _ in range(10):
        plant.switch('brake', True)
        plant.switch('brake', False)
        plant.advance(10)
        assert len(plant.new_events()) >= 2
        assert plant.simulation.events == ()
    plant.switch('brake', True)
    plant.set_state(np.array([0.3, 0.1]), np.zeros(2))
    assert plant.simulation.events == ()
    plant.reset()
    assert plant.simulation.events == ()


def test_machine_code_takes_over_at_the_same_state():
    slow, fast = drop_plant(), drop_plant(compiled='wait')
    for plant in (slow, fast):
        plant.advance(40)
        plant.switch('brake', True)
        plant.advance(20)
    assert fast.trouble == ''
    assert_allclose(fast.simulation.q, slow.simulation.q, atol=1e-10)
    assert_allclose(fast.simulation.v, slow.simulation.v, atol=1e-9)
    assert [e.kind for e in fast.new_events()] == [e.kind for e in slow.new_events()]
    beside = drop_plant(compiled='auto')
    beside.switch('brake', True)
    beside.advance(3)
    if beside._faster is not None:
        beside._faster.result(60.0)
    beside.advance(1)
    assert beside._faster is None
    assert beside.active == {'floor', 'brake'} and beside.steps == 4
    assert_allclose(beside.simulation.time, 4 * STEP, atol=1e-15)
