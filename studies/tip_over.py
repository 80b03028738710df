# SPDX-License-Identifier: Apache-2.0
"""
Where a robot tips: margins against MuJoCo.

``python -m studies.tip_over [--poses 20] [--output FOLDER]``: the shipped differential drive is
speeded up more and more, forwards and backwards, with its arm held in random poses.
`critical_acceleration` says when a wheel or the caster lifts; in MuJoCo, on stiff contacts, it is
seen to lift.
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.progress import track

import kane_dynamics as kd
from kane_dynamics.analysis.tip_over import Tipping
from kane_dynamics.typing import Floats
from studies import report
from studies.peers.load_watch import CHATTER, LoadWatch
from studies.peers.standing_twin import StandingTwin
from studies.report import Table
from studies.slope import CASTER, RADIUS, WHEELS

RAMP = 2.0  # after which the robot should tip [s]: slow, but not so long that wheels spin fast
SETTLES = 0.5  # [s]
SOFTNESS = 0.005  # time constant of contacts [s]
JOINTS, STEP = (2e3, 5.0), 5e-4  # gains [N m/rad, N m s/rad], step [s]
GRIP = 20.0  # friction: a wheel that is about to lift still pulls
LATEST = 3.0  # [s]


def shipped() -> kd.Robot:
    """Return the robot on level ground."""
    return kd.load_urdf('robots/nonholonomic.urdf', base='planar')


def weight_of(robot: kd.Robot) -> float:
    """Return the weight of a robot [N]."""
    return 9.81 * sum(body.inertia.mass for body in robot.bodies)


def arm_poses(count: int, seed: int = 0) -> list[Floats]:
    """Return random angles of the arm [rad] with which the robot stands, not about to tip."""
    rng, robot = np.random.default_rng(seed), shipped()
    lower, upper = (np.maximum(robot.lower, -2.0)[5:], np.minimum(robot.upper, 2.0)[5:])
    poses: list[Floats] = []
    while len(poses) < count:
        pose = rng.uniform(lower, upper)
        if all(tipping(pose, sign).factor > 0.3 for sign in (1.0, -1.0)):
            poses.append(pose)
    return poses


def tipping(pose: Floats, sign: float) -> Tipping:
    """Return the acceleration forwards (1) or backwards (-1) that lifts an edge, and that edge."""
    robot = shipped()
    base = kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=list(CASTER.values()))
    q, direction = robot.neutral(), np.zeros(robot.nv)
    q[5:], direction[0] = pose, sign
    known = ['base_x', 'base_yaw', *robot.velocity_names[5:]]
    direction = kd.consistent_velocity(robot, q, direction, base.constraints, known)
    return kd.base_ground_contacts(base).critical_acceleration(q, np.zeros(robot.nv), direction)


def lifts_in_mujoco(pose: Floats, sign: float, rise: float) -> tuple[float, str]:
    """
    Return the acceleration at which a contact lifts in MuJoCo, and which one.

    Parameters
    ----------
    pose : ndarray, shape (5,)
        Of the arm [rad].
    sign : float
        1 forwards, -1 backwards.
    rise : float
        How fast the acceleration grows [m/s^3].

    """
    robot = shipped()
    q = robot.neutral()
    q[5:] = pose
    twin = StandingTwin(robot, WHEELS, CASTER, SOFTNESS, GRIP, JOINTS, STEP)
    twin.place(q)
    watch = LoadWatch(twin, weight_of(robot))
    h, rest = twin.model.opt.timestep, np.zeros(robot.nv)
    ahead = np.r_[sign, 0.0, 0.0, np.full(2, sign / RADIUS), np.zeros(5)]
    still = kd.inverse_dynamics(robot, q, rest, rest)[3:]
    per_rate = kd.inverse_dynamics(robot, q, rest, ahead)[3:] - still  # the arm bends little
    for k in range(round((SETTLES + LATEST) / h)):
        time = max(k * h - SETTLES, 0.0)
        rate = sign * rise * time
        turned, speed = rate * time**2 / 6.0 / RADIUS, 0.5 * rate * time / RADIUS
        effort = still + np.abs(rate) * per_rate
        twin.step(np.r_[turned, turned, pose], np.r_[speed, speed, np.zeros(5)], effort)
        lifted = watch.lifted()
        if time > 0.0 and lifted:
            return rise * (time - 0.5 * CHATTER), lifted  # in the middle of what was averaged
    return np.inf, ''


def tip_over_table(poses: list[Floats]) -> tuple[Table, list[dict[str, object]]]:
    """Return the table and its numbers."""
    table = Table(
        'Acceleration at which the robot begins to tip [m/s^2]',
        ('arm [rad]', 'direction', 'margin is zero at', 'lifts in MuJoCo at', 'difference'),
    )
    results: list[dict[str, object]] = []
    worst = 0.0
    for pose in track(poses, 'poses'):
        for sign, name in ((1.0, 'forwards'), (-1.0, 'backwards')):
            ours = tipping(pose, sign)
            seen, lifted = lifts_in_mujoco(pose, sign, ours.factor / RAMP)
            off = seen / ours.factor - 1.0
            worst = max(worst, abs(off))
            table.add(
                ' '.join(f'{x:.2f}' for x in pose),
                name,
                f'{ours.factor:.4f}',
                f'{seen:.4f} ({lifted})',
                f'{100.0 * off:.2f} %',
            )
            results.append(
                {'pose': pose.tolist(), 'sign': sign, 'ours': ours.factor, 'mujoco': seen}
            )
            if lifted in (ours.edge or ()):
                table.notes.append(f'{name}: {lifted} is on the edge that we expect to stay')
    table.notes.append(f'largest difference {100.0 * worst:.2g} %')
    return table, results


def main() -> None:
    """Run all poses."""
    parser = argparse.ArgumentParser(prog='python -m studies.tip_over', description=__doc__)
    parser.add_argument('--poses', type=int, default=20, help='number of arm poses')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    table, results['tip_over'] = tip_over_table(arm_poses(options.poses))
    report.finish(console, options.output, 'tip_over', results, [table])


if __name__ == '__main__':
    main()
