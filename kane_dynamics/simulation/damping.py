# SPDX-License-Identifier: Apache-2.0
r"""
Damping that an explicit step cannot follow.

Under viscous damping D alone, :math:`\dot v = -M^{-1} D v` on the speeds that the constraints
leave. The largest rate is the largest eigenvalue of D in the metric M on these speeds. An explicit
step multiplies that part of the motion by a polynomial of h times the rate, by more than 1 where
h is too long, whatever its order.
"""

from __future__ import annotations

import numpy as np
import scipy

from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import DivergedError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

# Largest h times rate at which steps shrink: |1 - z + z^2/2 - z^3/6 + z^4/24| = 1 at z = 2.7853.
STABLE = {'rk4': 2.785}


def fastest_decay(
    robot: Robot, constraints: ConstraintSet, q: Floats, t: float
) -> tuple[float, str]:
    """Return the largest rate of decay by damping [1/s], and the speed that decays most in it."""
    rows = constraints.rows(q, [0.0] * robot.nv, t)
    mass = gauss_mass_matrix(robot, q.tolist())
    free = scipy.linalg.null_space(rows.matrix) if len(rows.labels) else np.eye(robot.nv)
    if not free.shape[1]:
        return 0.0, ''
    damping = free.T @ (robot.damping[:, None] * free)
    last = free.shape[1] - 1
    rates, modes = scipy.linalg.eigh(damping, free.T @ mass @ free, subset_by_index=(last, last))
    losses = robot.damping * (free @ modes[:, 0]) ** 2
    return float(rates[0]), robot.velocity_names[int(np.argmax(losses))]


def is_slow(robot: Robot, integrator: str, q: Floats, t: float, h: float) -> bool:
    """
    Return whether steps of h [s] follow the damping under any constraints, by a factor of two.

    Constraints leave fewer motions, and the largest eigenvalue among fewer is no larger.
    """
    limit = STABLE.get(integrator)
    if limit is None or not robot.damping.any():
        return True
    return 2.0 * fastest_decay(robot, ConstraintSet(robot), q, t)[0] * abs(h) <= limit


def check_damping(
    robot: Robot, constraints: ConstraintSet, integrator: str, q: Floats, t: float, h: float
) -> None:
    """
    Check that damping is not too stiff for steps of h [s] of an explicit integrator.

    Raises
    ------
    DivergedError
        If it is.

    """
    limit = STABLE.get(integrator)
    if limit is None or not robot.damping.any():
        return
    rate, name = fastest_decay(robot, constraints, q, t)
    if rate * abs(h) > limit:
        raise DivergedError(
            f"the damping of '{name}' is too stiff for {integrator!r}: alone it would stop the "
            f'motion in {1.0 / rate:.2g} s, and steps of {h:g} s would diverge; take the '
            "integrator 'semi_implicit' or 'midpoint', which have damping implicit, or steps "
            f'below {limit / rate:.2g} s'
        )
