# SPDX-License-Identifier: Apache-2.0
"""A mass that falls along a rail, with a wheel on it: closed forms for constraints and events."""

import numpy as np
from ros_models import parameters

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.plant.event_plant import EventPlant
from kane_dynamics.robot_config.declared_constraints import declared_constraints
from kane_dynamics.robot_config.parameters.tables import ConstraintParameters, SimulatorParameters
from kane_dynamics.robot_config.robot_source import build_model

MASS, G, HEIGHT, STEP = 2.0, 9.81, 0.5, 0.01
INERTIA = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
LIMIT = '<limit lower="-5" upper="0.9" effort="100" velocity="100"/>'
URDF = f"""<robot name="drop">
  <link name="rail"/>
  <link name="mass"><inertial><mass value="1.5"/>{INERTIA}</inertial></link>
  <link name="wheel"><inertial><mass value="0.5"/>{INERTIA}</inertial></link>
  <joint name="lift" type="prismatic"><parent link="rail"/><child link="mass"/>
    <axis xyz="0 0 1"/>{LIMIT}</joint>
  <joint name="spin" type="continuous"><parent link="mass"/><child link="wheel"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""
FLOOR = {'type': 'point_contact', 'link': 'mass', 'offset': 0.0, 'restitution': 0.5}
BRAKE = {'type': 'lock', 'joint': 'spin', 'active': False, 'limit': 3.0}
CONSTRAINTS = {'floor': FLOOR, 'brake': BRAKE}


def drop_plant(constraints=None, compiled='never', **changes):
    """Return a plant of this robot, its mass 0.5 m above the floor."""
    p = parameters(
        SimulatorParameters, base_type='none', compiled=compiled, step_size=STEP, **changes
    )
    model = build_model(p, URDF)
    chosen = CONSTRAINTS if constraints is None else constraints
    table = {name: ConstraintParameters(**own) for name, own in chosen.items()}
    declared = declared_constraints(model.robot, table)
    return EventPlant(Dynamics(model), p, np.array([HEIGHT, 0.0]), declared)
