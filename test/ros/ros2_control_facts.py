# SPDX-License-Identifier: Apache-2.0
"""
Names of other packages, as their sources have them; where and in which version is said with each.

ros2_controllers: master 94e74de3 (2026-08-18, 6.9.0); all are in jazzy 4.42.1 too. ros2_control:
jazzy 9ffbf97f (4.46.0). topic_based_hardware_interfaces d115f23 (1.1.0). gz_ros2_control: rolling
e19b0ef (2.0.1), jazzy fa9ced4 (1.2.7), humble 4cb90a2 (ign_ros2_control 0.7.9). ros_gz: ros2
a4d00a9 (2.1.1), jazzy 739cb42 (1.0.5), humble 5cc92f8 (0.244.16). gz-sim: gz-sim8 b81e26d,
ign-gazebo6 aab5556.
"""

CONTROLLERS = {
    # joint_trajectory_controller/src/joint_trajectory_controller_parameters.yaml
    'joint_trajectory_controller/JointTrajectoryController': {
        'joints',
        'command_joints',
        'command_interfaces',
        'state_interfaces',
        'allow_partial_joints_goal',
        'interpolate_from_desired_state',
        'set_last_command_interface_value_as_state_on_activation',
        'action_monitor_rate',
        'interpolation_method',
        'allow_nonzero_velocity_at_trajectory_end',
        'cmd_timeout',
        'gains.<joint>.p',
        'gains.<joint>.i',
        'gains.<joint>.d',
        'gains.<joint>.ff_velocity_scale',
        'gains.<joint>.u_clamp_max',
        'gains.<joint>.u_clamp_min',
        'constraints.stopped_velocity_tolerance',
        'constraints.goal_time',
        'constraints.decelerate_on_cancel',
        'constraints.<joint>.trajectory',
        'constraints.<joint>.goal',
        'constraints.<joint>.max_deceleration_on_cancel',
    },
    # forward_command_controller/src/forward_command_controller_parameters.yaml
    'forward_command_controller/ForwardCommandController': {'joints', 'interface_name'},
    # joint_state_broadcaster/src/joint_state_broadcaster_parameters.yaml
    'joint_state_broadcaster/JointStateBroadcaster': {
        'use_local_topics',
        'joints',
        'extra_joints',
        'interfaces',
        'use_urdf_to_filter',
        'frame_id',
    },
    # diff_drive_controller/src/diff_drive_controller_parameter.yaml
    'diff_drive_controller/DiffDriveController': {
        'left_wheel_names',
        'right_wheel_names',
        'wheel_separation',
        'wheel_radius',
        'odom_frame_id',
        'base_frame_id',
        'pose_covariance_diagonal',
        'twist_covariance_diagonal',
        'open_loop',
        'position_feedback',
        'enable_odom_tf',
        'cmd_vel_timeout',
    },
}
"""Type of a controller to its parameters, as far as they are of use here."""

COMMAND_INTERFACES = (['effort'], ['position', 'effort'])
"""Those of the trajectory controller that take the effort of a trajectory point."""

HARDWARE = {
    # joint_state_topic_hardware_interface_plugin_description.xml and src/...interface.cpp
    'topic': 'joint_state_topic_hardware_interface/JointStateTopicSystem',
    # gz_ros2_control/gz_hardware_plugins.xml; ign_ros2_control/ign_hardware_plugins.xml
    'gz': 'gz_ros2_control/GazeboSimSystem',
    'ign': 'ign_ros2_control/IgnitionSystem',
    # mujoco_ros2_control bda2b67: mujoco_system_interface_plugin.xml
    'mujoco': 'mujoco_ros2_control/MujocoSystemInterface',
}
TOPIC_PARAMETERS = {
    'joint_commands_topic',
    'joint_states_topic',
    'trigger_joint_command_threshold',
}

# mujoco_ros2_control/docs/hardware_interface.rst
MUJOCO_PARAMETERS = {'mujoco_model', 'pids_config_file', 'headless'}

SYSTEMS = {
    # gz_ros2_control/doc/index.rst, ign_ros2_control/doc/index.rst
    ('gz_ros2_control-system', 'gz_ros2_control::GazeboSimROS2ControlPlugin'): {'parameters'},
    ('ign_ros2_control-system', 'ign_ros2_control::IgnitionROS2ControlPlugin'): {'parameters'},
    # gz-sim src/systems/*; SystemLoader.cc of Fortress puts ignition-gazebo for gz-sim
    ('gz-sim-apply-joint-force-system', 'gz::sim::systems::ApplyJointForce'): {'joint_name'},
    ('gz-sim-joint-state-publisher-system', 'gz::sim::systems::JointStatePublisher'): set(),
    ('gz-sim-odometry-publisher-system', 'gz::sim::systems::OdometryPublisher'): {
        'odom_frame',
        'robot_base_frame',
        'odom_publish_frequency',
    },
}
"""File and class of a system of Gazebo to the elements that it may have here."""

BRIDGED = {
    # ros_gz_bridge/README.md
    ('rosgraph_msgs/msg/Clock', 'gz.msgs.Clock'),
    ('sensor_msgs/msg/JointState', 'gz.msgs.Model'),
    ('nav_msgs/msg/Odometry', 'gz.msgs.Odometry'),
    ('tf2_msgs/msg/TFMessage', 'gz.msgs.Pose_V'),
    ('std_msgs/msg/Float64', 'gz.msgs.Double'),
}
# ros_gz_bridge/src/bridge_config.cpp
BRIDGE_KEYS = {
    'topic_name',
    'ros_topic_name',
    'gz_topic_name',
    'ros_type_name',
    'gz_type_name',
    'direction',
    'publisher_queue',
    'subscriber_queue',
    'lazy',
}

EXECUTABLES = {
    ('kane_dynamics', 'kane_wait_for_states'),
    ('controller_manager', 'ros2_control_node'),
    ('controller_manager', 'spawner'),
    ('robot_state_publisher', 'robot_state_publisher'),
    ('mujoco_ros2_control', 'ros2_control_node'),
    ('ros_gz_sim', 'create'),
    ('ros_gz_bridge', 'parameter_bridge'),
}
# ros_gz_sim/launch/gz_sim.launch.py.in
GZ_SIM_ARGUMENTS = {'gz_args', 'on_exit_shutdown'}
