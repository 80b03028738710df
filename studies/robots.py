# SPDX-License-Identifier: Apache-2.0
"""Robots of the benchmarks, each with a state that satisfies its constraints."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.robot.resources import share_directory
from kane_dynamics.typing import Floats

WHEELS = ('wheel_left_joint', 'wheel_right_joint')
_ARMS = {
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'xarm7': 'xarm_description/urdf/xarm7.urdf',
    'panda': 'panda_description/urdf/panda.urdf',
}
_TIAGO_DUAL = 'tiago_description/robots/tiago_dual.urdf'
_TIAGO = 'tiago_description/robots/tiago_no_hand.urdf'


class MissingRobotError(FileNotFoundError):
    """The package that holds a robot's URDF is not installed."""


@dataclass(frozen=True, eq=False)
class Case:
    """
    A robot with its constraints, and one state.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : tuple
        Its constraints.
    q, v, a, tau : ndarray
        Coordinates, speeds, accelerations and efforts; A(q) v = 0.
    path : Path, optional
        URDF it was read from.

    """

    robot: kd.Robot
    constraints: tuple[Any, ...]
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    path: Path | None = None


def case(
    robot: kd.Robot, constraints: Sequence[Any] = (), path: Path | None = None, seed: int = 7
) -> Case:
    """Return a robot at a random state on its constraints."""
    rng = np.random.default_rng(seed)
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-0.5, 0.5, robot.nv), 1.0)
    v, a, tau = rng.uniform(-1.0, 1.0, (3, robot.nv))
    if constraints:
        q, v = kd.simulation.project(robot, constraints, q, v, 0.0)
    q, v = np.array(q), np.array(v)
    return Case(robot, tuple(constraints), q, v, a.copy(), 10.0 * tau, path)


def chain(n: int) -> Case:
    """Return a serial arm of n revolute joints."""
    return case(kd.serial_chain(n))


def mobile_arm() -> Case:
    """Return a platform on the plane with an arm of 6 joints, 9 speeds, and no side slip."""
    platform = kd.Body(
        'platform',
        '',
        kd.Joint('base', kd.Planar()),
        inertia=kd.Inertia(30.0, [0.05, 0.0, 0.15], np.diag([0.8, 1.1, 1.5])),
    )
    links = list(kd.serial_chain(6).bodies)
    links[0] = replace(links[0], parent='platform')
    robot = kd.Robot('mobile_arm', [platform, *links])
    return case(robot, (kd.constraints.no_side_slip(robot, 0.1),))


def swerve_base() -> kd.bases.WheeledBase:
    """Return a base on four steered wheels with an arm of 6 joints; 17 speeds."""
    hull = kd.Inertia(30.0, [0.05, -0.02, 0.2], np.diag([1.2, 1.5, 1.9]))
    fork = kd.Inertia(0.5, [0.0, 0.0, 0.0], np.diag([0.001, 0.001, 0.002]))
    rim = kd.Inertia(0.8, [0.0, 0.0, 0.0], np.diag([0.003, 0.005, 0.003]))
    bodies = [kd.Body('hull', '', kd.Joint('base', kd.Planar()), inertia=hull)]
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        steer, wheel = kd.Revolute((0.0, 0.0, 1.0)), kd.Revolute((0.0, 1.0, 0.0))
        place, side = _at(x, y, 0.06), _at(0.0, 0.025, 0.0)
        bodies += [
            kd.Body(f'fork_{k}', 'hull', kd.Joint(f'steer_{k}', steer), place, fork),
            kd.Body(f'rim_{k}', f'fork_{k}', kd.Joint(f'wheel_{k}', wheel), side, rim),
        ]
    links = list(kd.serial_chain(6).bodies)
    links[0] = replace(links[0], parent='hull', placement=_at(0.1, 0.0, 0.3))
    return on_steered_wheels(kd.Robot('swerve_arm', [*bodies, *links]))


def on_steered_wheels(robot: kd.Robot) -> kd.bases.WheeledBase:
    """Return the base of a robot with the joints of `swerve_base`."""
    return kd.bases.swerve(robot, {f'steer_{k}': f'wheel_{k}' for k in range(4)}, radius=0.06)


def mecanum_base() -> kd.bases.WheeledBase:
    """Return a base on four mecanum wheels, as it is sold for arms; 7 speeds."""
    hull = kd.Inertia(150.0, [0.02, 0.0, 0.2], np.diag([5.0, 9.0, 12.0]))
    rim = kd.Inertia(2.0, [0.0, 0.0, 0.0], np.diag([0.01, 0.012, 0.01]))
    bodies = [kd.Body('hull', '', kd.Joint('base', kd.Planar()), inertia=hull)]
    corners = (0.32, 0.28), (0.32, -0.28), (-0.32, 0.28), (-0.32, -0.28)
    names = [f'wheel_{k}' for k in range(4)]
    for name, place in zip(names, corners, strict=True):
        joint = kd.Joint(name, kd.Revolute((0.0, 1.0, 0.0)))
        bodies.append(kd.Body(f'{name}_rim', 'hull', joint, _at(*place, 0.0759), rim))
    return on_mecanum_wheels(kd.Robot('mecanum', bodies))


def on_mecanum_wheels(robot: kd.Robot) -> kd.bases.WheeledBase:
    """Return the base of a robot with the joints of `mecanum_base`."""
    angles = (-np.pi / 4, np.pi / 4, np.pi / 4, -np.pi / 4)
    return kd.bases.mecanum(robot, [f'wheel_{k}' for k in range(4)], angles, radius=0.0759)


def in_a_curve(base: kd.bases.WheeledBase) -> Case:
    """Return a base that drives and turns, its arm anyhow."""
    robot, rng = base.robot, np.random.default_rng(7)
    twist, twist_rate = (0.8, 0.3, 0.6), (0.5, -0.2, 0.4)
    tangent, v, a = rng.uniform(-0.5, 0.5, (3, robot.nv))
    tangent[:3] = 0.0
    angles = base.steering_angles(twist, None, twist_rate)
    q = base.at_angles(angles.angles, kd.integrate(robot, robot.neutral(), tangent, 1.0))
    v[:3] = twist
    for name, rate in base.wheel_rates(twist, q, angles.rates).by_joint.items():
        v[robot.velocity_index(name)] = rate
    a = kd.consistent_acceleration(robot, q, v, a, base.constraints)
    return Case(robot, tuple(base.constraints), q, v, a, np.zeros(robot.nv))


def _at(x: float, y: float, z: float) -> kd.Pose:
    return kd.Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), (x, y, z))


def nonholonomic(wheels: bool = True) -> Case:
    """
    Return the shipped differential-drive robot with its 5-joint arm on a planar base.

    With wheel joints 10 speeds and 3 rows; with the wheels locked 8 speeds and no side slip.
    """
    path = share_directory() / 'robots' / 'nonholonomic.urdf'
    robot = read(path, base='planar', locked_joints=() if wheels else WHEELS)
    make = kd.constraints
    rows = make.differential_drive(robot, *WHEELS) if wheels else make.no_side_slip(robot)
    return case(robot, (rows,), path)


def holonomic() -> Case:
    """Return the shipped robot that moves freely on the plane."""
    path = share_directory() / 'robots' / 'holonomic.urdf'
    return case(read(path, base='planar'), path=path)


def tiago() -> Case:
    """Return TIAGo without hand on a planar base with its driven wheels."""
    path = example(_TIAGO)
    robot = read(path, base='planar')
    return case(robot, (kd.constraints.differential_drive(robot, *WHEELS),), path)


def of_speeds(count: int, *, chained: bool = False) -> Case:
    """
    Return a robot on two wheels with so many speeds, 3 rows.

    Up to 104 it is TIAGo with two arms and hands, joints locked from the last on; beyond, or
    where asked for, a chain on the shipped robot.
    """
    path = example(_TIAGO_DUAL)
    whole = read(path, base='planar')
    if count <= whole.nv and not chained:
        free = [name for name in whole.joint_names if name not in ('base', *WHEELS)]
        small = [name for name in free if 'caster' in name or 'suspension' in name]
        hands = [name for name in reversed(free) if name.startswith('hand')]
        locked = [*small, *hands][: whole.nv - count]
        robot, radius = read(path, base='planar', locked_joints=locked), None
    else:
        drive = nonholonomic().robot
        links = kd.serial_chain(count - drive.nv).bodies
        on_drive = replace(links[0], parent='base_footprint')
        robot, radius = kd.Robot(f'chain of {count}', [*drive.bodies, on_drive, *links[1:]]), 0.1
    return case(robot, (kd.constraints.differential_drive(robot, *WHEELS, radius),), path)


def arm(name: str) -> Case:
    """Return an industrial arm on a fixed base."""
    path = example(_ARMS[name])
    return case(read(path), path=path)


def read(path: Path, **options: Any) -> kd.Robot:
    """Return a robot from a URDF without its warnings about small blemishes."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        return kd.load_urdf(path, **options)


def example(path: str) -> Path:
    """Return a URDF of the package example-robot-data."""
    spec = importlib.util.find_spec('cmeel')
    if spec is not None and spec.origin is not None:
        site = Path(spec.origin).parents[1]
        found = site / 'cmeel.prefix/share/example-robot-data/robots' / path
        if found.is_file():
            return found
    raise MissingRobotError(f'{path} is missing: pip install example-robot-data')
