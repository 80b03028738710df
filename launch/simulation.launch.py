# SPDX-License-Identifier: Apache-2.0
"""Closed loop without hardware: kane_simulator and kane_inverse_dynamics."""

from launch.actions import OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import EqualsSubstitution, LaunchConfiguration, NotEqualsSubstitution
from launch_ros.parameter_descriptions import ParameterValue

from kane_dynamics.ros.launching import (
    PRESETS,
    SWITCH,
    argument,
    config_file,
    dynamics_node,
    robot_parameters,
    value,
)
from launch import LaunchDescription

TERMS = ('inertia', 'coriolis', 'gravity', 'friction')


def launch_setup(context):
    """Return the nodes; they share preset, parameters and, where asked for, a URDF file."""
    shared = robot_parameters(context, {'compiled': LaunchConfiguration('compiled')})
    controller = LaunchConfiguration('controller')
    feedforward = ParameterValue(EqualsSubstitution(controller, 'effort'), value_type=bool)
    clock = {'use_sim_time': value('publish_clock', bool)}
    simulator = {
        'rtf': value('rtf', float),
        'step_size': value('step_size', float),
        'lockstep': value('lockstep', bool),
        'publish_clock': value('publish_clock', bool),
    }
    return [
        dynamics_node(
            'kane_simulator',
            [*shared, simulator],
            remappings=[('~/effort_command', 'kane_inverse_dynamics/effort')],
        ),
        dynamics_node(
            'kane_inverse_dynamics',
            [*shared, {**clock, **{f'terms.{term}': feedforward for term in TERMS}}],
            condition=IfCondition(NotEqualsSubstitution(controller, 'none')),
        ),
        dynamics_node(
            'kane_forward_dynamics',
            [*shared, clock],
            condition=IfCondition(LaunchConfiguration('forward_dynamics')),
        ),
    ]


def generate_launch_description():
    """Return the launch arguments and the nodes."""
    return LaunchDescription(
        [
            argument('namespace'),
            argument('frame_prefix'),
            argument(
                'robot',
                default_value='nonholonomic',
                choices=['', *PRESETS],
                description='Preset config/<robot>.yaml, or config/robots/<robot>.yaml with a '
                'urdf_file or the topic robot_description; empty: none, params_file says it all.',
            ),
            argument('urdf_file'),
            argument(
                'params_file',
                default_value=config_file('simulation.yaml'),
                description='Parameters of all nodes; they win over those of the preset.',
            ),
            argument(
                'controller',
                default_value='effort',
                choices=['none', 'effort', 'pd'],
                description='none: the simulator alone; effort: feed-forward and PD of '
                'kane_inverse_dynamics; pd: the same gains without feed-forward.',
            ),
            argument(
                'forward_dynamics',
                default_value='false',
                choices=SWITCH,
                description='Also start kane_forward_dynamics.',
            ),
            argument(
                'compiled',
                default_value='wait',
                choices=['auto', 'wait', 'never'],
                description='Dynamics as machine code: wait for it (the log tells how far it is), '
                'auto: begin with the slower reference algorithms, never.',
            ),
            argument(
                'rtf',
                default_value='1.0',
                description='Simulated seconds per second; 0: as fast as possible.',
            ),
            argument('step_size', default_value='0.001', description='Integration step in s.'),
            argument(
                'lockstep',
                default_value='false',
                choices=SWITCH,
                description='Let the simulator wait for the efforts of each state.',
            ),
            argument(
                'publish_clock',
                default_value='true',
                choices=SWITCH,
                description='Publish /clock; the other nodes then use simulated time.',
            ),
            argument('log_level'),
            OpaqueFunction(function=launch_setup),
        ]
    )
