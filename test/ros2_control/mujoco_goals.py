# SPDX-License-Identifier: Apache-2.0
"""
Random goals in mujoco_ros2_control: the shipped robot on wheels that roll exactly.

In a shell with ros2_control and mujoco_ros2_control sourced, whose node MUJOCO_ROS2_CONTROL_NODE
starts: `python test/ros2_control/mujoco_goals.py --goals 20 --mujoco FOLDER`, where FOLDER holds
the MuJoCo of that node as `pip install --target` makes it. A joint_trajectory_controller commands
kane_dynamics/EffortController, and that MuJoCo, in real time; with `--stock` it commands MuJoCo
itself, its efforts filled by kane_trajectory_feedforward, and the wheels are velocity PIDs of the
hardware. Half of the goals are reached while the wheels drive a circle.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'ros')]

from arm_goals import CONTROLLER, Goals, arm_of  # noqa: E402
from bed import described, missing  # noqa: E402
from effort_controller_goals import BELOW, above_effort_controller  # noqa: E402
from ros_bench import ROOT  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from trajectory_bed import DIRECT, NODE, TrajectoryBed, hurry  # noqa: E402
from workspace import built, sourced  # noqa: E402

ROBOT = 'nonholonomic'
WHEELS = 'wheel_left_joint', 'wheel_right_joint'
DRIVER = 'wheel_controller'
SPEEDS = (2.0, 3.0)  # [rad/s]: a circle
DAMPING = 30.0  # [N m s/rad] of the wheels


def in_mujoco(folder, packages, stock):
    """Return the arm in a model of MuJoCo, whose plugin an ament resource names."""
    command = [sys.executable, '-m', 'kane_dynamics', 'build', ROBOT, '--mujoco', '--name', ROBOT]
    path = os.pathsep.join([str(packages), os.environ['PYTHONPATH']])
    environment = {**os.environ, 'PYTHONPATH': path}
    subprocess.run([*command, '--output', str(folder)], env=environment, check=True)
    os.environ['AMENT_PREFIX_PATH'] = f'{folder}:{os.environ["AMENT_PREFIX_PATH"]}'
    os.environ['ROS2_CONTROL_NODE'] = os.environ['MUJOCO_ROS2_CONTROL_NODE']

    arm = arm_of(ROBOT, folder)
    arm = arm if stock else above_effort_controller(arm, folder)
    content = yaml.safe_load(arm.controllers.read_text())
    kind = 'forward_command_controller/ForwardCommandController'
    content['controller_manager']['ros__parameters'][DRIVER] = {'type': kind}
    driven = [wheel if stock else f'{BELOW}/{wheel}' for wheel in WHEELS]
    content[DRIVER] = {'ros__parameters': {'joints': driven, 'interface_name': 'velocity'}}
    if not stock:
        below = content[BELOW]['ros__parameters']
        below['joints'] = [*WHEELS, *arm.joints]
        below['gains'] |= {wheel: {'d': DAMPING} for wheel in WHEELS}
    arm.controllers.write_text(yaml.safe_dump(content))
    efforts = CONTROLLER if stock else 'effort_controller'
    parts = ROBOT, ROOT / 'robots' / f'{ROBOT}.urdf', arm.controllers, arm.preset, efforts
    pids = ROOT / 'config' / 'ros2_control' / f'{ROBOT}_mujoco_pids.yaml'
    model = {'model': str(folder / f'{ROBOT}.xml'), 'pids': str(pids), 'headless': 'true'}
    return arm._replace(description=described(*parts, 'mujoco', **model))


class MujocoBed(TrajectoryBed):
    """An arm in MuJoCo, which moves by goals."""

    def _start(self, pace, node):
        bed, arm = self.bed, self.arm
        self.through = NODE if arm.below == () else DIRECT
        self._clock = []
        bed.node.create_subscription(Clock, '/clock', self._on_clock, 1)
        self._wheels = bed.publisher(Float64MultiArray, f'{DRIVER}/commands')
        self.manager = bed.manager(arm.controllers, use_sim_time=True)
        bed.describe(arm.description)
        bed.spawn(arm.controllers, 'joint_state_broadcaster', *arm.below, CONTROLLER, DRIVER)
        if self.through == NODE:
            own = {'controller': CONTROLLER, 'compiled': 'wait', 'use_sim_time': True}
            bed.start('trajectory_feedforward_node', files=[arm.preset], params=own)
            bed.status_where(f'{NODE}: output', lambda level, text, values: level == b'\x00')
        bed.until(self._clients[self.through].server_is_ready)
        hurry(self.manager.pid)
        self.drive((0.0, 0.0))
        self.wait(1.0)

    def _on_clock(self, message):
        self._clock.append((time.monotonic(), message.clock.sec + 1e-9 * message.clock.nanosec))

    @property
    def real_time_factor(self):
        """Return how fast simulated time went."""
        (start, first), *_, (end, last) = self._clock
        return (last - first) / (end - start)

    def drive(self, speeds):
        """Command the speeds of the wheels."""
        self._wheels.publish(Float64MultiArray(data=list(speeds)))


def rows(bed, goals, count):
    """Yield what moves the wheels, the goals, those that succeeded, and errors [mrad]."""
    for name, speeds in (('stands', (0.0, 0.0)), ('drives', SPEEDS)):
        bed.drive(speeds)
        bed.wait(1.0)  # the wheels are not told to begin gently
        results = [bed.move(goals.draw(), bed.through) for _ in range(count)]
        errors = 1e3 * np.array([track.worst for _, _, track in results])
        reasons = {text for ok, text, _ in results if not ok}
        print(name, reasons or 'all succeeded', file=sys.stderr)
        yield name, count, sum(ok for ok, *_ in results), errors


def main():
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n\n')[0])
    parser.add_argument('--goals', type=int, default=20)
    parser.add_argument('--mujoco', type=Path, required=True)
    parser.add_argument(
        '--stock', action='store_true', help='without kane_dynamics/EffortController'
    )
    chosen = parser.parse_args()
    if lacking := missing():
        sys.exit(lacking)
    if not chosen.stock:
        os.environ.update(sourced(built()))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        arm = in_mujoco(folder, chosen.mujoco, chosen.stock)
        bed, goals = MujocoBed(folder, arm, 1.0), Goals(arm, 1)
        try:
            bed.move(arm.pose, bed.through)  # it has fallen
            bed.home(bed.through)
            for name, count, succeeded, errors in rows(bed, goals, chosen.goals):
                sizes = f'{errors.max():.2f} | {np.median(errors):.2f}'
                print(f'| {name} | {count} | {succeeded} | {sizes} |', flush=True)
            overruns = bed.manager.log.read_text().count('Overrun detected')
            print(f'real-time factor {bed.real_time_factor:.4f}, {overruns} overruns')
        finally:
            bed.close()


if __name__ == '__main__':
    main()
