# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics of a robot whose base others drive by velocity; no rclpy here."""

from __future__ import annotations

import numpy as np

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.typing import Floats


def driven_motion(
    dynamics: Dynamics, q: Floats, v: Floats, tau: Floats, acceleration: Floats
) -> kd.Motion:
    r"""
    Return the motion of a robot whose drives give its base an acceleration.

    Accelerations are affine in the efforts of the drives, :math:`a = a_0 + G \tau_d`; those of
    least norm bring the base nearest to what it does.
    """
    model, engine = dynamics.model, dynamics.engine
    drives = model.v_index(model.drives)
    trials = np.tile(tau, (len(drives) + 1, 1))
    trials[:, drives] = np.eye(len(drives) + 1)[:, 1:]
    indices, speeds = (np.tile(x, (len(trials), 1)) for x in (q, v))
    caused = np.asarray(engine.acceleration(indices, speeds, trials))[:, :3]
    effect = (caused[1:] - caused[0]).T
    values = trials[0]
    values[drives] = np.linalg.lstsq(effect, acceleration - caused[0], rcond=None)[0]
    return engine.forward_dynamics(q, v, values)
