# SPDX-License-Identifier: Apache-2.0
"""
Random goals to a real joint_trajectory_controller, through kane_trajectory_feedforward and not.

In a shell with ros2_control sourced: `python test/ros2_control/trajectories.py --goals 100`. Each
move takes a second. Hardware and controllers run at 500 Hz of simulated time, which passes at a
part of the pace of the clock: a small machine has to serve five processes in each period.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'ros')]

from arm_goals import Goals, arm_of  # noqa: E402
from bed import missing  # noqa: E402
from trajectory_bed import DIRECT, NODE, TrajectoryBed  # noqa: E402

ROBOTS = ('nonholonomic', 'tiago', 'ur5')
GONE = 3.0  # [s] without joint_states: longer than a goal waits for them


def moved(bed, places, through):
    """Return how many moves succeeded, the tracking errors [mrad or mm], and what failed."""
    bed.home()
    results = [bed.move(place, through) for place in places]
    errors = 1e3 * np.array([track.worst for _, _, track in results])
    failed = sorted({text for ok, text, _ in results if not ok})
    return len(places) - sum(not ok for ok, *_ in results), errors, failed


def events(bed, goals):
    """Yield what happens in a move, how that ends, and what was commanded meanwhile."""
    first = goals.draw()
    bed.reach(first)
    there, back = goals.draw(), first
    halfway = 0.5 * (there + back)
    for name, act in (
        ('cancelled', lambda: bed.cancel(there)),
        ('preempted', lambda: bed.preempt(there, halfway)),
        ('pushed', lambda: bed.push(there)),
        ('without joint_states', lambda: bed.lose_states(there, GONE)),
    ):
        bed.reach(back)  # it may have been pushed away
        yield name, *bed.track(act)


def jump_and_gravity(arm, goals, track):
    """Return the largest jump of an effort and the largest effort of gravity: [N m], [N]."""
    held = np.abs([goals.gravity(place) for place in track.place[::20]]).max(axis=0)
    jumps = track.jump()
    return [
        (jumps[chosen].max(), held[chosen].max())
        for chosen in (~arm.linear, arm.linear)
        if chosen.any()
    ]


def robot_rows(name, folder, count, seed, pace):
    """Print the rows of a robot."""
    arm = arm_of(name, folder)
    goals = Goals(arm, seed)
    bed = TrajectoryBed(folder, arm, pace)
    try:
        places = [goals.draw() for _ in range(count)]
        row = f'| {name} | {count} |'
        for through in (NODE, DIRECT):
            succeeded, errors, failed = moved(bed, places, through)
            row += f' {succeeded} | {errors.max():.1f} | {np.median(errors):.1f} |'
            print(f'{name} {through}: {failed or "all succeeded"}', file=sys.stderr)
        print(row, flush=True)
        goals.place = np.array(arm.pose)
        bed.home()
        for event, ended, track in events(bed, goals):
            sizes = ', '.join(
                f'{jump:.1f} of {held:.1f}' for jump, held in jump_and_gravity(arm, goals, track)
            )
            print(f'| {name} | {event} | {ended} | {sizes} |', flush=True)
    finally:
        bed.close()


def main(text, rows, prepare=None):
    """Print the rows of each robot that the command line, told in `text`, asks for."""
    parser = argparse.ArgumentParser(description=text.split('\n\n')[0])
    parser.add_argument('--goals', type=int, default=100)
    parser.add_argument('--robots', nargs='+', default=ROBOTS, choices=ROBOTS)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--pace', type=float, default=0.5, help='simulated seconds a second')
    chosen = parser.parse_args()
    if lacking := missing():
        sys.exit(lacking)
    if prepare is not None:
        prepare()
    for name in chosen.robots:
        with tempfile.TemporaryDirectory() as folder:
            rows(name, Path(folder), chosen.goals, chosen.seed, chosen.pace)


if __name__ == '__main__':
    main(__doc__, robot_rows)
