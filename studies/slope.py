# SPDX-License-Identifier: Apache-2.0
"""
Wheels on a slope of 15 degrees: standing, driving and turning.

``python -m studies.slope [--output FOLDER]``: efforts of the shipped differential drive, held
still, driven up and turned on the spot, by constrained inverse dynamics, by statics (a pen and the
centre of mass), and in MuJoCo, where the robot stands on soft contacts that are made stiffer.
What MuJoCo shows is compared at the heading and the joint angles that it shows.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.typing import Floats
from studies import report
from studies.peers.standing_twin import StandingTwin
from studies.report import Table

SLOPE = np.deg2rad(15.0)
WHEELS = ('wheel_left_joint', 'wheel_right_joint')
CASTER = {'support 0': (0.22, 0.0, 0.0)}
RADIUS, HALF_TRACK = 0.1, 0.21  # [m]
ARM = (0.4, 0.5, 0.6, 0.3, 0.4)  # [rad]
SOFTNESS = (0.02, 0.01, 0.005, 0.002)  # time constants [s]
STARTS, AVERAGED = 1.0, 0.1  # [s]
GRIP = 20.0  # across the slope the upper wheel, which carries little, would slip at mu = 1


class Seen(NamedTuple):
    """Efforts of both wheels [N m], load of the caster [N], and coordinates, of one moment."""

    numbers: Floats
    q: Floats


@dataclass(frozen=True)
class Case:
    """A motion of the base: a heading [rad] from uphill, and rates that begin at time zero."""

    name: str
    heading: float
    acceleration: float = 0.0  # [m/s^2]
    yaw_rate: float = 0.0  # [rad/s]

    @property
    def lasts(self) -> float:
        """Return when efforts are taken [s]: at rest, up to speed, after a sixth of a turn."""
        return np.pi / 3.0 / self.yaw_rate + 0.5 * STARTS if self.yaw_rate else 2.0


CASES = (
    Case('standing, uphill', 0.0),
    Case('standing, 35 deg left of uphill', np.deg2rad(35.0)),
    Case('standing, across', np.deg2rad(90.0)),
    Case('driving up, 0.5 m/s^2', 0.0, acceleration=0.5),
    Case('driving, 35 deg left of uphill, 0.5 m/s^2', np.deg2rad(35.0), acceleration=0.5),
    Case('turning on the spot, 0.3 rad/s, at 60 deg', 0.0, yaw_rate=0.3),
)


def robot_on_slope() -> kd.Robot:
    """Return the shipped robot where x of the world is uphill."""
    gravity = 9.81 * np.array([-np.sin(SLOPE), 0.0, -np.cos(SLOPE)])
    return kd.load_urdf('robots/nonholonomic.urdf', base='planar', gravity=gravity)


def reference(case: Case, time: float) -> tuple[Floats, Floats, Floats]:
    """Return angles, speeds and accelerations of both wheels; they begin smoothly."""
    rate = np.array([-1.0, 1.0]) * case.yaw_rate * HALF_TRACK / RADIUS
    growth = case.acceleration / RADIUS
    s = min(time / STARTS, 1.0)
    # the integral of s^2 (3 - 2 s): a rate, or an acceleration, that comes up smoothly
    share, rise = s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / STARTS
    past = max(time - STARTS, 0.0)
    reached = STARTS * (s**3 - 0.5 * s**4) + past
    twice = STARTS**2 * (0.25 * s**4 - 0.1 * s**5) + 0.5 * STARTS * past + 0.5 * past**2
    angle = rate * reached + growth * twice
    return angle, rate * share + growth * reached, rate * rise + growth * share


def placed(case: Case, robot: kd.Robot) -> Floats:
    """Return q of the planar base at the end of a case."""
    q = robot.neutral()
    turned = np.diff(reference(case, case.lasts)[0])[0] * RADIUS / (2.0 * HALF_TRACK)
    q[2], q[5:] = case.heading + turned, ARM
    return q


def motion(case: Case, robot: kd.Robot, q: Floats) -> tuple[Floats, Floats]:
    """Return v and a of the planar base there at the end of a case, as wheels roll."""
    rest = np.zeros(robot.nv)
    rows = base_of(robot).constraints
    known = [*WHEELS, *robot.velocity_names[5:]]
    v, a = rest.copy(), rest.copy()
    v[3:5], a[3:5] = reference(case, case.lasts)[1:]
    v = kd.consistent_velocity(robot, q, v, rows, known)
    return v, kd.consistent_acceleration(robot, q, v, a, rows, known)


def base_of(robot: kd.Robot) -> kd.bases.WheeledBase:
    """Return the base with its caster."""
    supports = list(CASTER.values())
    return kd.bases.differential(robot, WHEELS[:1], WHEELS[1:], supports=supports)


def by_inverse_dynamics(case: Case, place: Floats | None = None) -> Floats:
    """Return efforts of both wheels [N m] and the load of the caster [N], there or elsewhere."""
    robot = robot_on_slope()
    base = base_of(robot)
    q = placed(case, robot) if place is None else place
    v, a = motion(case, robot, q)
    found = picture_of(
        kd.base_ground_contacts(base), q, v, a, [*WHEELS, *robot.velocity_names[5:]]
    )
    return np.r_[found.effort.effort[3:5], found.contacts['support 0'].normal]


def by_statics(case: Case) -> Floats:
    """
    Return the same from the mass and where it is: the robot is one body that turns about the axle.

    Two equations, along the track and about the axle's middle, give the efforts, r (f/2 -+ m/2c),
    with what spins and rubs in the wheels; moments about the axle give the load of the caster.
    """
    robot = robot_on_slope()
    q = placed(case, robot)
    mass = sum(body.inertia.mass for body in robot.bodies)
    c, s = np.cos(q[2]), np.sin(q[2])
    to_base = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    com = to_base @ np.asarray(kd.center_of_mass(robot, q))
    _, speeds, rates = reference(case, case.lasts)
    turning = case.yaw_rate**2 * np.array([com[0], com[1], 0.0])
    rate = np.array([case.acceleration, 0.0, 0.0]) - turning
    force = mass * (rate - to_base @ robot.gravity)
    moment = np.cross(com, force)
    traction = 0.5 * (force[0] + np.array([-1.0, 1.0]) * moment[2] / HALF_TRACK)
    wheel = robot.bodies[1]
    spin = wheel.inertia.tensor[1, 1] * rates
    drag = wheel.joint.damping * speeds
    # wheels that speed up turn against the body, which the caster feels
    load = -(moment[1] + spin.sum()) / CASTER['support 0'][0]
    return np.r_[RADIUS * traction + spin + drag, load]


def in_mujoco(case: Case, softness: float, friction: float = GRIP) -> Seen:
    """Return the same in MuJoCo, averaged over a tenth of a second around the end."""
    robot = robot_on_slope()
    twin = StandingTwin(robot, WHEELS, CASTER, softness, friction)
    start = robot.neutral()
    start[2], start[5:] = case.heading, ARM
    twin.place(start)
    taken, places = [], []
    h = twin.model.opt.timestep
    position, velocity = np.r_[0.0, 0.0, ARM], np.zeros(7)
    effort = kd.gravity_force(robot, start)[3:]  # the arm bends little
    for k in range(round((case.lasts + 0.5 * AVERAGED) / h)):
        position[:2], velocity[:2], _ = reference(case, k * h)
        twin.step(position, velocity, effort)
        if abs(k * h - case.lasts) <= 0.5 * AVERAGED:
            taken.append([*twin.effort[:2], twin.loads()['support 0']])
            places.append(twin.coordinates)
    return Seen(np.mean(taken, axis=0), np.mean(places, axis=0))


def off_mujoco(case: Case, seen: Seen) -> float:
    """Return how far ours are from what MuJoCo shows, at its heading and angles."""
    return difference(seen.numbers, by_inverse_dynamics(case, seen.q))


def slope_table() -> tuple[Table, dict[str, dict[str, list[float]]]]:
    """Return the table, and its numbers."""
    softer = [f'MuJoCo, {1e3 * t:g} ms' for t in SOFTNESS]
    table = Table(
        'Efforts of both wheels [N m], load of the caster [N]; slope of 15 degrees',
        ('motion', 'statics', 'kane_dynamics', *softer),
        notes=[
            'MuJoCo: by the time constant of its contacts.',
            'In brackets the largest difference from ours [%]: of the larger effort, or of the '
            'weight; that of MuJoCo at its own heading and joint angles.',
            'Statics of one body that turns knows no products of inertia.',
        ],
    )
    results: dict[str, dict[str, list[float]]] = {}
    for case in CASES:
        ours = by_inverse_dynamics(case)
        found = {'statics': by_statics(case), 'kane_dynamics': ours}
        apart = [difference(x, ours) for x in found.values()]
        for name, softness in zip(softer, SOFTNESS, strict=True):
            seen = in_mujoco(case, softness)
            found[name] = seen.numbers
            apart.append(off_mujoco(case, seen))
        table.add(case.name, *map(_cell, found.values(), apart))
        results[case.name] = {
            name: [*x, off] for (name, x), off in zip(found.items(), apart, strict=True)
        }
    return table, results


def _cell(numbers: Floats, apart: float) -> str:
    parts = ' '.join(f'{x:.3f}' for x in numbers[:2]) + f' {numbers[2]:.1f}'
    return f'{parts} ({100.0 * apart:.2g})'


def difference(numbers: Floats, ours: Floats) -> float:
    """Return the largest difference, of the larger effort or of the weight."""
    robot = robot_on_slope()
    weight = 9.81 * sum(body.inertia.mass for body in robot.bodies)
    sizes = np.r_[np.full(2, np.abs(ours[:2]).max()), weight]
    return float((np.abs(numbers - ours) / sizes).max())


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(prog='python -m studies.slope', description=__doc__)
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    table, results['slope'] = slope_table()
    report.finish(console, options.output, 'slope', results, [table])


if __name__ == '__main__':
    main()
