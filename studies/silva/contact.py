# SPDX-License-Identifier: Apache-2.0
r"""
No side slip in MuJoCo, which has no nonholonomic constraint.

The row of (64) is built from what MuJoCo has: the platform of the benchmark's model stands on a
skid, a thin capsule along the axle, whose contact with the ground has friction along the axle
(coefficient `GRIP`) and next to none along the way (1e-5, the least that MuJoCo takes). MuJoCo's
own solver finds the force; nothing of this package's constraint enters.

Friction in MuJoCo is soft. It asks for the acceleration :math:`A\dot v = -\beta A v` along the
axle, without the term :math:`-\dot A v = b` of the exact row, and so it lets the platform slip
sideways until the damping replaces that term:

.. math:: A v \to -b/\beta = -\dot\phi\,u/\beta, \qquad \beta = 2/(d\,T)

with the time constant T and the impedance d of the contact, the yaw rate :math:`\dot\phi` and the
forward speed u. What is left of the difference between the two accelerations is the rate of that
slip, which vanishes with T; MuJoCo takes no T below two of its steps.

The platform cannot move up or down. How hard it is pressed on the ground follows from how deep
the skid reaches into it and does no work; it only must be enough to hold the skid.
"""

from __future__ import annotations

import numpy as np

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from studies.peers.mujoco_twin import MujocoTwin

TIME_CONSTANT = 5e-4  # T of the contact [s]
IMPEDANCE = 0.999  # d: the part of the wanted force that the regularisation leaves
GRIP = 100.0  # friction coefficient along the axle


def no_slip_model(
    robot: kd.Robot, time_constant: float = TIME_CONSTANT
) -> tuple[MujocoTwin, float]:
    """
    Return a robot whose base MuJoCo keeps from slipping sideways, and the length of a step [s].

    Parameters
    ----------
    robot : Robot
        With a planar base.
    time_constant : float
        T of the contact [s]; the step is half of it.

    """
    step = 0.5 * time_constant
    made = MujocoTwin(robot, skid=True, step=step)
    model = made.model
    model.opt.tolerance = 1e-15  # of the Newton solver
    model.opt.iterations = model.opt.ls_iterations = 200
    model.pair_solref[:] = [time_constant, 1.0]
    model.pair_solimp[:] = [IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0]
    model.pair_friction[:, 0] = GRIP
    return made, step


def rate_of_decay(time_constant: float) -> float:
    """Return beta, at which slip dies away by itself [1/s]."""
    return 2.0 / (IMPEDANCE * time_constant)


def side_slip(q: Floats, v: Floats) -> Floats:
    """Return A v of (64), the sideways speed of a planar base [m/s], for rows of states."""
    return np.cos(q[..., 2]) * v[..., 1] - np.sin(q[..., 2]) * v[..., 0]


def expected_slip(q: Floats, v: Floats, time_constant: float) -> Floats:
    """Return -b / beta, the slip at which MuJoCo's friction gives the exact acceleration [m/s]."""
    forward = np.cos(q[..., 2]) * v[..., 0] + np.sin(q[..., 2]) * v[..., 1]
    return -v[..., 2] * forward / rate_of_decay(time_constant)
