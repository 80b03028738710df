# SPDX-License-Identifier: Apache-2.0
"""Samples whose motion is one that the constraints allow, and the speeds that they leave free."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import null_space

from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.identification.samples import Samples

_SAME = 1e-8  # singular value of unit directions


def independent_speeds(dynamics: Dynamics, names: Sequence[str]) -> ObservedSpeeds:
    """Return the speeds that follow from none before them: of four mecanum wheels three."""
    robot, independent = dynamics.robot, list[int]()
    rows = dynamics.constraint_rows(robot.neutral(), np.zeros(robot.nv))
    free = null_space(rows.matrix) if len(rows) else np.eye(robot.nv)
    for k in [robot.velocity_index(name) for name in names]:
        if np.linalg.matrix_rank(free[[*independent, k]], tol=_SAME) > len(independent):
            independent.append(k)
    return ObservedSpeeds(dynamics, [robot.velocity_names[k] for k in independent])


def constrained_samples(dynamics: Dynamics, speeds: ObservedSpeeds, samples: Samples) -> Samples:
    """
    Return samples whose speeds and accelerations follow from those of the observed speeds.

    Odometry has noise of its own, and a filter of x, y and yaw does not keep a wheel from
    slipping: that little shows parameters which the motion of a base that rolls does not show.
    """
    if not speeds.follow:
        return samples
    v = dynamics.consistent_velocity(samples.q, samples.v, speeds.names)
    a = dynamics.consistent_acceleration(samples.q, v, samples.a, speeds.names)
    return replace(samples, v=v, a=a)
