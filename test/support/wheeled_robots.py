# SPDX-License-Identifier: Apache-2.0
"""Whole mobile manipulators on two wheels, at states that satisfy their constraints."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import kane_dynamics as kd
from support.machines import DRIVE, differential_drive

ROBOTS = ('drive_with_arm', 'nonholonomic', 'tiago')


def installed(name):
    """Return the URDF file of a robot of example-robot-data."""
    where = importlib.util.find_spec('cmeel')
    if where is None or where.origin is None:
        pytest.skip('example-robot-data is not installed')
    share = Path(where.origin).parents[1] / 'cmeel.prefix/share/example-robot-data/robots'
    (path,) = share.glob(f'*/*/{name}.urdf')
    return path


def load(name):
    """Return a robot with its wheel joints and constraints."""
    drive = kd.constraints.differential_drive
    if name == 'drive_with_arm':
        robot = differential_drive(arm=True, damping=0.4, friction=0.2, armature=0.01)
        return robot, ('left', 'right'), (drive(robot, 'left', 'right', DRIVE['r']),)
    root = Path(__file__).resolve().parents[2]
    shipped = root / 'robots' / 'nonholonomic.urdf'
    path = shipped if name == 'nonholonomic' else installed('tiago_no_hand')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)  # TIAGo's antennas
        robot = kd.load_urdf(path, base='planar')
    wheels = ('wheel_left_joint', 'wheel_right_joint')
    return robot, wheels, (drive(robot, *wheels),)


def wheeled_robot(name, seed=5):
    """
    Return robot, constraints, names of actuated speeds, and q, v, a.

    Both A v = 0 and A a = b hold; wheels and arm are actuated, the base is not.
    """
    robot, _, constraints = load(name)
    rng = np.random.default_rng(seed)
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-1, 1, robot.nv), 1.0)
    v, a = rng.uniform(-1, 1, (2, robot.nv))
    actuated = [n for n in robot.velocity_names if not n.startswith('base_')]
    _, v = kd.simulation.project(robot, constraints, q, v, 0.0)
    a = kd.consistent_acceleration(robot, q, v, a, constraints, actuated)
    return robot, constraints, actuated, q, v, a
