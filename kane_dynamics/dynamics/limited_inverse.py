# SPDX-License-Identifier: Apache-2.0
r"""
Efforts within limits, and constraint forces within friction cones, that produce a motion.

.. math:: S^T \tau + A^T \lambda = h, \quad |\tau_k| \le \tau_k^{max}, \quad
   |T \lambda| \le \mu (n^T \lambda + N), \quad \min \textstyle\sum w_k \tau_k^2

The efforts of constrained inverse dynamics are these where they keep all limits; only where they
do not, the rows and M are asked for and the nearest ones are sought.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from kane_dynamics.algebra.scalars import as_numbers
from kane_dynamics.algorithms.constrained_inverse import (
    checked_weights,
)
from kane_dynamics.algorithms.limited_inverse import (
    ForceLimits,
    LimitedEffort,
    force_limits,
)
from kane_dynamics.constraints.closed_contacts import FrictionCone
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.constrained_inverse import ConstrainedEfforts
from kane_dynamics.dynamics.limited_problem import LimitedInverse
from kane_dynamics.dynamics.table import documented
from kane_dynamics.dynamics.terms import Terms
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError
from kane_dynamics.robot.checks import Arguments, as_names, as_several, index_of
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike, Floats


class LimitedEfforts(Terms, ConstrainedEfforts):
    """Inverse dynamics of a robot within limits of its forces."""

    @documented
    def limited_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        actuated: Sequence[str],
        weights: ArrayLike | None = None,
        time: ArrayLike = START,
        *,
        limits: ArrayLike | None = None,
        cones: Sequence[FrictionCone] = (),
        deviation: ArrayLike | None = None,
    ) -> LimitedEffort:
        r"""
        Return the efforts within limits, and multipliers within friction cones, that produce `a`.

        Of all efforts that produce `a`, those with the least :math:`\sum w_k \tau_k^2`: without
        limits in the way, those of `constrained_inverse_dynamics`. Wheels and contacts slip where
        their rows need more than their cones give, so this says what traction allows. `a` must
        satisfy the constraints, but where `deviation` is given. Of many states, every array has
        one row, and residual and binding one entry, for each.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, or a weight or limit is not positive.
        NameNotFoundError
            If `actuated` or a cone has a name that does not exist.
        UnreachableAccelerationError
            If no efforts produce `a` within limits and cones; `names` has those in conflict.
        SingularMassMatrixError
            If some speed moves no mass.
        InconsistentConstraintsError
            If the rows contradict each other.
        MissingPackageError
            If a cone with several tangential rows binds, and Clarabel is not installed.

        Examples
        --------
        >>> held = d.limited_inverse_dynamics(q, 0.0 * v, 0.0 * a, d.robot.joint_names)
        >>> np.allclose(held.effort, d.gravity_force(q))
        True

        """
        robot, labels, nv = self.robot, self.labels, self.robot.nv
        drivers, every, penalty = as_names('actuated', actuated), range(nv), None
        columns, within = checked_limits(robot, drivers, labels, limits, cones)
        shares = self._ones if weights is None else checked_weights(robot, weights, columns)
        if deviation is not None:
            penalty = checked_weights(robot, deviation, every, 'deviation')

        def without_limits(q: Any, v: Any, a: Any, t: Any) -> Floats | None:
            state = q, v, a, shares, self._every_term, t
            try:
                return self._call('constrained_effort', state, (drivers, None))
            except UnreachableAccelerationError:
                if penalty is None:
                    raise
            return None

        def at(q: Any, v: Any, a: Any, t: Any, numbers: Floats | None) -> LimitedEffort:
            unlimited = None
            if numbers is not None:
                forces, a = numbers[: -2 * nv - 3], numbers[-nv - 3 : -3]
                residual = numbers.item(-2)
                excess = within.excess(forces)
                if not (excess > 0.0).any():
                    return within.result(forces, a, a, residual, labels, excess)
                unlimited = forces, residual, excess
            wrenches = () if self.wrenches is None else (self.wrenches,)
            bias = self.inverse_dynamics(q, v, self._still, *wrenches)
            parts = self, (q, v, t), bias, drivers, columns, shares, within
            return LimitedInverse(*parts).effort(a, penalty, unlimited)

        clock = self._at(time)
        one = all(getattr(x, 'ndim', 1) == 1 for x in (q, v, a, clock))
        first = without_limits(q, v, a, clock) if one else None
        if first is not None and first.ndim == 1 and first[0] == first[0]:  # one state, no NaN
            return at(q, v, a, clock, first)
        one = one and first is None  # and nothing gives its accelerations

        def checked(q: Floats, v: Floats, a: Floats, t: Floats) -> LimitedEffort:
            return at(q, v, a, t, None if one else without_limits(q, v, a, t))

        nothing, of_rows = np.full(nv, np.nan), np.full(len(labels), np.nan)
        numbers = nothing, of_rows, nothing, nothing, (), np.full(len(within.friction), np.nan)
        arguments = Arguments('limited_inverse_dynamics', _INPUTS, (robot.nq, nv, nv, 1))
        blank = LimitedEffort(*numbers, np.nan, labels)
        return self._result(checked, blank, arguments, (q, v, a, clock))


_INPUTS = ('q', 'v', 'a', 'time')


def checked_limits(
    robot: Robot,
    actuated: tuple[str, ...],
    labels: tuple[str, ...],
    limits: ArrayLike | None,
    cones: Sequence[FrictionCone],
) -> tuple[list[int], ForceLimits]:
    """Return the indices of actuated speeds, limits of their efforts and cones on named rows."""
    most = robot.effort_limit if limits is None else _limits(robot, limits)
    several = as_several(FrictionCone, 'cones', cones)
    return _placed(robot.velocity_names, actuated, labels, most.tobytes(), several)


@lru_cache(maxsize=64)
def _placed(
    speeds: tuple[str, ...],
    actuated: tuple[str, ...],
    labels: tuple[str, ...],
    most: bytes,
    cones: tuple[FrictionCone, ...],
) -> tuple[list[int], ForceLimits]:
    """Return what a controller asks for a thousand times a second: limits that do not change."""
    columns = [index_of('velocity', name, speeds) for name in dict.fromkeys(actuated)]
    friction = [cone.at(labels) for cone in cones]
    return columns, force_limits(np.frombuffer(most), columns, speeds, len(labels), friction)


def _limits(robot: Robot, limits: ArrayLike) -> Floats:
    most = np.array(as_numbers('limits [N m or N]', limits))
    if most.shape != (robot.nv,):
        raise InvalidInputError(
            f'limits [N m or N]: need shape ({robot.nv},), got shape {most.shape}'
        )
    if not (most >= 0.0).all():
        worst = int(np.argmin(np.nan_to_num(most, nan=-1.0)))
        raise InvalidInputError(
            f'limits [N m or N]: need numbers >= 0, got {most[worst]:g} for '
            f"'{robot.velocity_names[worst]}'"
        )
    return most
