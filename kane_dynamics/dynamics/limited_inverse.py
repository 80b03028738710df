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
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.matrices import solve_lower, solve_squared, triangle
from kane_dynamics.algebra.scalars import as_numbers
from kane_dynamics.algorithms.constrained_inverse import (
    balance_force,
    check_allowed,
    checked_weights,
)
from kane_dynamics.algorithms.limited_inverse import ForceLimits, LimitedEffort, force_limits
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, nearest
from kane_dynamics.constraints.closed_contacts import FrictionCone
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.constrained_inverse import ConstrainedEfforts
from kane_dynamics.dynamics.rows import independent_rows
from kane_dynamics.dynamics.table import add_row, documented
from kane_dynamics.dynamics.terms import Terms
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError
from kane_dynamics.robot.checks import Arguments, as_names, as_several, index_of
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike, Floats

# Share of the efforts beside the deviation, as squares: they decide only where motions are equal.
_SHARE = 1e-10


def _inner_forces(
    d: Any, q: Any, v: Any, weights: Floats, t: float, actuated: Sequence[str]
) -> Floats:
    """Return the changes of forces that move nothing, orthonormal efforts but for a projection."""
    selection, robot = independent_rows(d.robot, q, d.constraints, v, time=t), d.robot
    columns, A = speed_indices(robot, actuated), selection.independent.matrix
    moves = np.zeros((robot.nv + len(selection.rows), robot.nv))
    for k in columns:
        unit = np.eye(robot.nv)[k]
        effort, multipliers, _, _ = balance_force(robot, A, columns, unit, weights)
        moves[:, k] = np.concatenate([effort - unit, selection.shared(multipliers)])
    return moves / np.sqrt(weights)


def _force_responses(d: Any, q: Any, v: Any, t: float) -> Floats:
    """Return accelerations and multipliers of unit forces, and of b in the last column; A, b."""
    selection = independent_rows(d.robot, q, d.constraints, v, time=t)
    rows, root, nv = selection.independent, selection.root, d.robot.nv
    forces, sides = np.eye(nv, nv + 1), np.zeros((len(rows), nv + 1))
    sides[:, -1] = rows.acceleration
    x, multipliers = nearest(root, rows.matrix, solve_squared(root, forces), sides)
    every = selection.rows
    known = np.column_stack([every.matrix, every.acceleration])
    return np.vstack([x, selection.shared(multipliers), known])


add_row('inner_forces', 'q v weights time', 'forces nv', '', _inner_forces)
add_row('force_responses', 'q v time', 'responses augmented', '', _force_responses)


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


class LimitedInverse(NamedTuple):
    """Inverse dynamics at one state, c = C v + g + friction - J' w, and what limits its forces."""

    dynamics: LimitedEfforts
    state: tuple[Any, Any, Floats]  # q, v and time
    bias: Floats
    actuated: tuple[str, ...]
    columns: Sequence[int]
    weights: Floats
    limits: ForceLimits

    def effort(
        self,
        target: Floats,
        deviation: Floats | None = None,
        unlimited: tuple[Floats, float, Floats] | None = None,
    ) -> LimitedEffort:
        """
        Return efforts for an acceleration, or for the nearest one within limits.

        Forces without limits, what remains of the balance, and by how much the forces exceed the
        limits are computed where they are not known.
        """
        try:
            return self._exact(target, *(unlimited or self._unlimited(target)))
        except UnreachableAccelerationError:
            if deviation is None:
                raise
        return self._nearest(target, deviation)

    def _unlimited(self, target: Floats) -> tuple[Floats, float, Floats]:
        """Return the forces of all rows without limits, the residual, and the excess."""
        d, (q, v, t) = self.dynamics, self.state
        mass = d.mass_matrix(q)
        selection = select_rows(d.constraint_rows(q, v, float(t[0])), cholesky_factor(mass))
        check_allowed(selection, target)
        force, A = mass @ target + self.bias, selection.independent.matrix
        effort, multipliers, _, residual = balance_force(
            d.robot, A, self.columns, force, self.weights
        )
        forces = np.concatenate([effort, selection.shared(multipliers)])
        return forces, residual, self.limits.excess(forces)

    def _exact(
        self, target: Floats, start: Floats, residual: float, excess: Floats
    ) -> LimitedEffort:
        d, (q, v, t), forces, beyond = self.dynamics, self.state, start, excess
        if (excess > 0.0).any():
            moves = d._call('inner_forces', (q, v, self.weights, t), (self.actuated,))
            what = 'the wanted acceleration'
            factor = np.eye(moves.shape[1])
            forces = start + moves @ self.limits.nearest(factor, start, moves, excess, what)
            beyond = self.limits.excess(forces)
        return self.limits.result(forces, target, target, residual, d.labels, beyond)

    def _nearest(self, target: Floats, deviation: Floats) -> LimitedEffort:
        d, driven, nv, count = self.dynamics, self.columns, len(target), len(self.columns)
        whole = d._call('force_responses', self.state)
        end = len(whole) - len(d.labels)  # of accelerations and multipliers; A and b follow
        start, moves = whole[:end, -1] - whole[:end, :-1] @ self.bias, whole[:end, driven]
        stack, weights = np.zeros((nv + count, count + 1)), np.sqrt(deviation)
        stack[:nv, -1] = weights * (target - start[:nv])
        scaled = weights[:, None] * moves[:nv]
        share = self.weights[driven]
        share *= _SHARE * np.vdot(scaled, scaled) / share.sum()
        stack[:nv, :-1], stack[nv:, :-1] = scaled, np.diag(np.sqrt(share))
        R = triangle(stack)
        root, directions = R[:-1, :-1].T, np.concatenate([np.eye(nv)[:, driven], moves[nv:]])
        free = solve_lower(root, R[:-1, -1], transposed=True)
        forces = directions @ free
        forces[nv:] += start[nv:]
        excess, what = self.limits.excess(forces), 'any acceleration'
        x = self.limits.nearest(root, forces, directions, excess, what)
        forces, a = forces + directions @ x, start[:nv] + moves[:nv] @ (free + x)
        values = forces[:nv] + whole[end:, :-1].T @ forces[nv:]
        missed = d.mass_matrix(self.state[0]) @ a + self.bias - values
        residual, excess = float(np.linalg.norm(missed)), self.limits.excess(forces)
        return self.limits.result(forces, a, target, residual, d.labels, excess)


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
