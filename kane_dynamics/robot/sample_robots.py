# SPDX-License-Identifier: Apache-2.0
"""A made-up robot: a serial arm of any length."""

import numpy as np
from numpy.random import Generator

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.robot.body import Body, Joint
from kane_dynamics.robot.checks import as_count
from kane_dynamics.robot.joint_kinds import Revolute
from kane_dynamics.robot.robot import Robot

_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def serial_chain(n: int, seed: int = 0) -> Robot:
    """
    Return a serial arm of n revolute joints, the same one for the same arguments.

    Axes are coordinate axes, drawn for each joint, in joint frames that are turned at random, as
    in most URDFs. Links are 0.1 to 0.4 m long, weigh 0.5 to 3 kg and are cuboids whose centres of
    mass lie off the joints.

    Parameters
    ----------
    n : int
        Number of joints, >= 1.
    seed : int
        Of the random numbers.

    Returns
    -------
    Robot
        With bodies ``link_1`` ... and joints ``joint_1`` ...; fixed base, no friction.

    Raises
    ------
    InvalidInputError
        If n is not a whole number >= 1.

    Examples
    --------
    >>> kd.serial_chain(3).joint_names
    ('joint_1', 'joint_2', 'joint_3')

    """
    count = as_count('n', n, 1)
    rng = np.random.default_rng(as_count('seed', seed))
    bodies = []
    for i in range(1, count + 1):
        joint = Joint(f'joint_{i}', Revolute(_AXES[rng.integers(3)]))
        parent = '' if i == 1 else f'link_{i - 1}'
        bodies.append(Body(f'link_{i}', parent, joint, _pose(rng), _inertia(rng)))
    return Robot(f'chain_{count}', bodies)


def _pose(rng: Generator) -> Pose:
    """Return a pose with any rotation and 0.1 to 0.4 m of translation."""
    wxyz, direction = rng.normal(size=4), rng.normal(size=3)
    wxyz /= np.linalg.norm(wxyz)
    position = rng.uniform(0.1, 0.4) * direction / np.linalg.norm(direction)
    return Pose.from_rotation_and_position(wxyz.tolist(), position.tolist())


def _inertia(rng: Generator) -> Inertia:
    """Return the inertia of a solid cuboid, turned and shifted at random."""
    mass, sides = rng.uniform(0.5, 3.0), rng.uniform(0.05, 0.4, size=3)
    moments = mass / 12.0 * ((sides**2).sum() - sides**2)
    return Inertia(mass, np.zeros(3), np.diag(moments)).moved(_pose(rng))
