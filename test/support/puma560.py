# SPDX-License-Identifier: Apache-2.0
"""
The Puma 560 with the parameters of robotics-toolbox-python, models/DH/Puma560.py.

Link frames are those of the standard Denavit-Hartenberg convention; centres of mass and inertias
are given in them. A body frame here is the frame of the joint's motion: the link frame without the
constant part d, a, alpha of its table row.
"""

import numpy as np

import kane_dynamics as kd

# d [m], a [m], alpha / (pi/2)
_GEOMETRY = (
    (0.0, 0.0, 1),
    (0.0, 0.4318, 0),
    (0.15005, 0.0203, -1),
    (0.4318, 0.0, 1),
    (0.0, 0.0, -1),
    (0.0, 0.0, 0),
)
# m [kg], r (3) [m], diagonal of I about the centre of mass [kg m^2]
_LINKS = (
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
# G, Jm [kg m^2], B [N m s/rad] and Tc [N m] (for positive speeds) on the motor's side
_MOTORS = (
    (62.6111, 200e-6, 1.48e-3, 0.395),
    (107.815, 200e-6, 0.817e-3, 0.126),
    (53.7063, 200e-6, 1.38e-3, 0.132),
    (76.0364, 33e-6, 71.2e-6, 11.2e-3),
    (71.923, 33e-6, 82.6e-6, 9.26e-3),
    (76.686, 33e-6, 36.7e-6, 3.96e-3),
)


def puma560(gravity=9.81):
    """Return the robot; `gravity` [m/s^2] along -z of its base frame."""
    bodies, placement = [], kd.Pose.identity()
    for i, (d, a, quarters) in enumerate(_GEOMETRY):
        (mass, com, tensor), (ratio, rotor, viscous, coulomb) = _LINKS[i], _MOTORS[i]
        half = quarters * np.pi / 4
        link = kd.Pose.from_rotation_and_position((np.cos(half), np.sin(half), 0, 0), (a, 0, d))
        joint = kd.Joint(
            f'joint_{i + 1}',
            kd.Revolute((0, 0, 1)),
            armature=ratio**2 * rotor,
            damping=ratio**2 * viscous,
            friction=ratio * coulomb,
        )
        inertia = kd.Inertia(mass, com, np.diag(tensor)).moved(link)
        parent = f'link_{i}' if i else ''
        bodies.append(kd.Body(f'link_{i + 1}', parent, joint, placement, inertia))
        placement = link
    return kd.Robot('puma560', bodies, gravity=(0.0, 0.0, -gravity))
