# SPDX-License-Identifier: Apache-2.0
"""Efforts that follow a reference: feed-forward, computed torque, or Slotine and Li; no rclpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.analysis.tracking import (
    COMPUTED,
    FEEDFORWARD,
    PASSIVE,
    commanded_acceleration,
    reference_speeds,
)
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Efforts, Terms
from kane_dynamics.control.reference import Reference
from kane_dynamics.typing import Floats


class Gains(NamedTuple):
    """Two gains of each motor, shape (number of motors,)."""

    position: Floats  # p [N m/rad], K_p [1/s^2] or Lambda [1/s]
    velocity: Floats  # d [N m s/rad], K_d [1/s] or K [N m s/rad]


def tracking_efforts(
    law: EffortLaw,
    name: str,
    gains: Gains,
    q: Floats,
    v: Floats,
    reference: Reference,
    terms: Terms,
    scale: float = 1.0,
    base: BaseState | None = None,
) -> Efforts:
    """Return the efforts that bring the robot to a reference, by one call of the engine."""
    if name == FEEDFORWARD:
        forward, drives = law.feedforward(q, v, reference, terms, base)
        return Efforts(scale * forward + law.feedback(q, v, reference, *gains), drives)
    m, indices, pull = reference.motor, reference.v_index, np.zeros(len(law.motors.v))
    a, v_ref = np.zeros(len(v)), None
    error, rate = law.errors(q, v, reference)
    first, second = gains.position[m], gains.velocity[m]
    if name == COMPUTED:
        a[indices] = commanded_acceleration(reference.acceleration, error, rate, first, second)
    else:
        v_ref = v.copy()
        v_ref[indices], a[indices] = reference_speeds(
            reference.velocity, reference.acceleration, error, rate, first
        )
        q, v, v_ref, a = law.agreeing(q, v, v_ref, a, base)
        pull[m] = second * (v_ref - v)[indices]
    friction_speeds = law.friction_speeds(v, reference)
    result = law.efforts(q, v, a, m, terms, base, v_ref, friction_speeds)
    return Efforts(scale * result.motors + pull, result.drives)


def term_alone(
    law: EffortLaw,
    name: str,
    gains: Gains,
    term: str,
    q: Floats,
    v: Floats,
    reference: Reference,
    base: BaseState | None = None,
    coulomb: float = 1.0,
) -> Floats:
    """Return what one term adds to the efforts of the motors, by one more call of the engine."""
    none = np.zeros(len(law.motors.v))
    pure = gains if name == COMPUTED else Gains(gains.position * (name == PASSIVE), none)
    inertia, coriolis, gravity, friction = (term == one for one in TERMS)
    alone = Terms(inertia, coriolis, gravity, friction, coulomb=coulomb)
    return tracking_efforts(law, name, pure, q, v, reference, alone, base=base).motors
