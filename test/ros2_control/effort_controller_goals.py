# SPDX-License-Identifier: Apache-2.0
"""
Random goals to a joint_trajectory_controller above kane_dynamics/EffortController.

In a shell with ros2_control sourced: `python test/ros2_control/effort_controller_goals.py --goals
100`. Robots, goals, rate and hardware are those of `trajectories.py`, whose columns 'direct' are
the same goals to a trajectory controller that commands the efforts itself.
"""

import os
import sys
from pathlib import Path

import numpy as np
import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'ros')]

from arm_goals import CONTROLLER, Goals, arm_of  # noqa: E402
from trajectories import main  # noqa: E402
from trajectory_bed import DIRECT, TrajectoryBed  # noqa: E402
from workspace import built, sourced  # noqa: E402

from kane_dynamics import cli  # noqa: E402

BELOW = 'kane_effort_controller'


def above_effort_controller(arm, folder):
    """Return the arm whose trajectory controller commands kane_dynamics/EffortController."""
    command = ['build', str(arm.preset), '--output', str(folder / 'robot'), '--name', 'robot']
    assert cli.main(command) == 0
    content = yaml.safe_load(arm.controllers.read_text())
    trajectory = content[CONTROLLER]['ros__parameters']
    gains = trajectory.pop('gains')
    trajectory['command_interfaces'] = ['position', 'velocity', 'acceleration']
    trajectory['command_joints'] = [f'{BELOW}/{joint}' for joint in arm.joints]
    types = content['controller_manager']['ros__parameters']
    types[BELOW] = {'type': 'kane_dynamics/EffortController'}
    content[BELOW] = {
        'ros__parameters': {
            'robot_library': str(folder / 'robot' / 'librobot.so'),
            'joints': list(arm.joints),
            'gains': {j: {'p': gains[j]['p'], 'd': gains[j]['d']} for j in arm.joints},
        }
    }
    controllers = folder / 'above.yaml'
    controllers.write_text(yaml.safe_dump(content))
    return arm._replace(controllers=controllers, below=(BELOW,))


def robot_row(name, folder, count, seed, pace):
    """Print the row of a robot."""
    arm = above_effort_controller(arm_of(name, folder), folder)
    goals = Goals(arm, seed)
    bed = TrajectoryBed(folder, arm, pace)
    try:
        bed.move(arm.pose, DIRECT)  # it has sagged
        places = [goals.draw() for _ in range(count)]
        results = [bed.move(place, DIRECT) for place in places]
        errors = 1e3 * np.array([track.worst for _, _, track in results])
        aligned = 1e3 * np.array([track.aligned for _, _, track in results])
        succeeded = sum(ok for ok, *_ in results)
        failed = {text for ok, text, _ in results if not ok}
        print(f'{name}: {failed or "all succeeded"}', file=sys.stderr)
        row = f'{count} | {succeeded} | {errors.max():.2f} | {np.median(errors):.2f}'
        row += f' | {aligned.max():.2f} | {np.median(aligned):.2f}'
        print(f'| {name} | {row} |', flush=True)
    finally:
        bed.close()


if __name__ == '__main__':
    # robot, goals, succeeded, largest and median tracking error [mrad or mm] as the trajectory
    # controller tells it, and where its clock, a topic here, may be a period off
    main(__doc__, robot_row, lambda: os.environ.update(sourced(built())))
