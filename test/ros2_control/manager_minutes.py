# SPDX-License-Identifier: Apache-2.0
"""
Minutes of a real controller manager at 1 kHz, with mock hardware and with kane_simulator.

In a shell with ros2_control sourced: `python test/ros2_control/manager_minutes.py --minutes 10`.
kane_dynamics/EffortController is chained below a joint_trajectory_controller that holds the arm;
its observer works, too. Times are of its updates alone, by the clock and of the processor.
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import yaml
from rich.progress import track

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'ros')]

from arm_goals import CONTROLLER, arm_of  # noqa: E402
from bed import Bed, missing  # noqa: E402
from controller_manager_msgs.srv import SwitchController  # noqa: E402
from effort_controller_goals import BELOW, above_effort_controller  # noqa: E402
from workspace import built, sourced  # noqa: E402

ROBOTS = 'nonholonomic', 'tiago'
RATE = 1000  # [Hz]
TOPIC = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
MOCK = 'mock_components/GenericSystem'
SPAN = re.compile(r'updates (\d+), (\w+) time \[us\]: p50 (\S+) p99 (\S+) p99\.9 (\S+) max (\S+)')


def timed(arm, folder):
    """Return the arm above a controller that takes its times, at 1 kHz."""
    arm = above_effort_controller(arm, folder)
    content = yaml.safe_load(arm.controllers.read_text())
    manager = content['controller_manager']['ros__parameters']
    manager['update_rate'] = RATE
    manager[BELOW] = {'type': 'kane_dynamics_harness/TimedEffortController'}
    content[BELOW]['ros__parameters']['observer_gain'] = 50.0
    arm.controllers.write_text(yaml.safe_dump(content))
    return arm


def watched(bed, arm, hardware, minutes):
    """Let a manager work for some minutes; return what it logged."""
    text = arm.description
    if hardware == 'mock':
        text = text.replace(TOPIC, MOCK)
    else:
        bed.simulator(arm.preset, arm.joints, compiled='wait', brakes=True)
        bed.status_where('kane_simulator: model', lambda level, text, values: 'robot' in values)
    manager = bed.manager(arm.controllers)
    bed.describe(text)
    bed.spawn(arm.controllers, 'joint_state_broadcaster', BELOW, CONTROLLER)
    for _ in track(range(round(60.0 * minutes)), f'{arm.name}, {hardware}'):
        bed.spin(1.0)
    done = bed.call(
        SwitchController,
        'controller_manager/switch_controller',
        deactivate_controllers=['joint_state_broadcaster', CONTROLLER, BELOW],
        strictness=SwitchController.Request.STRICT,
    )
    log = manager.log.read_text()
    assert done.ok, log
    return log


def row(name, hardware, log):
    """Return the row of a robot on a hardware."""
    spans = {kind: (count, *sizes) for count, kind, *sizes in SPAN.findall(log)}
    errors, overruns = (len(re.findall(word, log)) for word in (r'\[ERROR\]', 'Overrun detected'))
    count, p50, p99, _, most = spans['wall']
    times = f'{p50} | {p99} | {most} | {spans["processor"][4]}'
    return f'| {name} | {hardware} | {count} | {times} | {errors} | {overruns} |'


def main():
    """Print the rows of each robot."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n\n')[0])
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--robots', nargs='+', default=ROBOTS, choices=ROBOTS)
    parser.add_argument('--hardware', nargs='+', default=('mock', 'topic'))
    chosen = parser.parse_args()
    if lacking := missing():
        sys.exit(lacking)
    os.environ.update(sourced(built()))
    print('| robot | hardware | updates | p50 | p99 | max | max of processor | ERROR | overruns |')
    print(f'|{"---|" * 9}')
    for name in chosen.robots:
        for hardware in chosen.hardware:
            with tempfile.TemporaryDirectory() as folder:
                bed = Bed(Path(folder))
                try:
                    arm = timed(arm_of(name, Path(folder)), Path(folder))
                    log = watched(bed, arm, hardware, chosen.minutes)
                finally:
                    bed.close()
            print(row(name, hardware, log), flush=True)


if __name__ == '__main__':
    main()
