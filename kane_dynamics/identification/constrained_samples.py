# SPDX-License-Identifier: Apache-2.0
"""Samples whose motion is one that the constraints allow."""

from dataclasses import replace

from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.identification.samples import Samples


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
