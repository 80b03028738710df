# SPDX-License-Identifier: Apache-2.0
"""The parameter tables of all nodes; names and defaults follow ros2_controllers."""

from kane_dynamics.robot_config.parameters.computed_torque import (
    JOINT_TABLE,
    ComputedTorqueParameters,
)
from kane_dynamics.robot_config.parameters.constraints import CONSTRAINT_SPECS
from kane_dynamics.robot_config.parameters.contact_observer import (
    OBSERVER_TABLE,
    ContactObserverParameters,
)
from kane_dynamics.robot_config.parameters.forward_dynamics import ForwardDynamicsParameters
from kane_dynamics.robot_config.parameters.governor import GovernorParameters
from kane_dynamics.robot_config.parameters.inverse_dynamics import (
    GAIN_D,
    GAIN_P,
    InverseDynamicsParameters,
)
from kane_dynamics.robot_config.parameters.load import PAYLOAD_SPECS
from kane_dynamics.robot_config.parameters.simulator import (
    INITIAL_POSITION,
    CouplerParameters,
    SimulatorParameters,
)
from kane_dynamics.robot_config.parameters.spec import Spec, specs
from kane_dynamics.robot_config.parameters.trajectory_feedforward import (
    TrajectoryFeedforwardParameters,
)
from kane_dynamics.robot_config.parameters.wrench_control import WrenchControlParameters

TABLES: dict[str, tuple[Spec, ...]] = {
    'kane_inverse_dynamics': (
        *specs(InverseDynamicsParameters),
        GAIN_P,
        GAIN_D,
        *PAYLOAD_SPECS,
    ),
    'kane_computed_torque': (
        *specs(ComputedTorqueParameters),
        *JOINT_TABLE,
        *PAYLOAD_SPECS,
    ),
    'kane_forward_dynamics': (*specs(ForwardDynamicsParameters), *PAYLOAD_SPECS),
    'kane_wrench_control': (*specs(WrenchControlParameters), *PAYLOAD_SPECS),
    'kane_contact_observer': (
        *specs(ContactObserverParameters),
        *OBSERVER_TABLE,
        *PAYLOAD_SPECS,
    ),
    'kane_governor': specs(GovernorParameters),
    'kane_trajectory_feedforward': (
        *specs(TrajectoryFeedforwardParameters),
        *PAYLOAD_SPECS,
    ),
    'kane_simulator': (
        *specs(SimulatorParameters),
        *specs(CouplerParameters),
        INITIAL_POSITION,
        *PAYLOAD_SPECS,
        *CONSTRAINT_SPECS,
    ),
}
"""Node name to all its parameters; `tables` of the documentation and of the static tests."""

ALL_SPECS: tuple[Spec, ...] = tuple(
    {spec.name: spec for table in TABLES.values() for spec in table}.values()
)
