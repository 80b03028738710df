# SPDX-License-Identifier: Apache-2.0
r"""
Efforts of the motors: feed-forward at the reference plus proportional-derivative feedback.

The feed-forward is constrained inverse dynamics at the wanted motion: motors and constraints
balance the terms of :math:`h = M a + C v + g + D v + F \mathrm{sign}(v)` that are switched on,
:math:`S^T \tau + A^T \lambda = h`. With all terms that is
`kane_dynamics.constrained_inverse_dynamics`. Nothing here needs rclpy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.reference import Motors, Reference
from kane_dynamics.ros.row_split import RowSplit, SpeedSplit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Terms:
    """
    Which terms are fed forward.

    Attributes
    ----------
    compensated : tuple of str
        Motors whose drive compensates gravity itself; g is left out there.

    """

    inertia: bool = True
    coriolis: bool = True
    gravity: bool = True
    friction: bool = True
    compensated: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Return whether every term counts for every motor."""
        every = self.inertia and self.coriolis and self.gravity and self.friction
        return every and not self.compensated

    @property
    def empty(self) -> bool:
        """Return whether nothing is fed forward."""
        return not (self.inertia or self.coriolis or self.gravity or self.friction)


class EffortLaw:
    """
    Efforts of the motors of one robot.

    Parameters
    ----------
    dynamics : Dynamics
        Algorithms and model. All results have the order of the model's motors.

    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics, model = dynamics, dynamics.model
        self._model, self._robot = model, model.robot
        self.motors = Motors(model)
        self._splits: dict[tuple[str, ...], SpeedSplit] = {}

    def feedforward(self, q: Floats, v: Floats, reference: Reference, terms: Terms) -> Floats:
        """
        Return the efforts that the wanted motion needs.

        What the reference does not name moves as measured, with zero acceleration; a base without
        motors moves as the constraints say.

        Parameters
        ----------
        q, v : ndarray, shapes (nq,), (nv,)
            Measured state.
        reference : Reference
            Wanted motion.
        terms : Terms
            Which terms count.

        Returns
        -------
        ndarray, shape (number of motors,)
            [N m or N].

        Raises
        ------
        KaneDynamicsError
            If motors and constraints cannot produce the wanted motion.

        """
        if terms.empty:
            return np.zeros(len(self.motors.v))
        rows, wanted_q, wanted_v, wanted_a = self._wanted_motion(q, v, reference)
        return rows.balance(self._force(wanted_q, wanted_v, wanted_a, terms))

    def hold(self, q: Floats, terms: Terms) -> Floats:
        """Return the efforts that hold the robot at rest at q against gravity."""
        if not terms.gravity:
            return np.zeros(len(self.motors.v))
        at_rest = np.zeros(self._robot.nv)
        gravity_only = Terms(False, False, True, False, terms.compensated)
        rows = self._rows(q, at_rest, self._model.motors)
        return rows.balance(self._force(q, at_rest, at_rest, gravity_only))

    def feedback(self, q: Floats, v: Floats, reference: Reference, p: Floats, d: Floats) -> Floats:
        """
        Return p (q_ref - q) + d (v_ref - v) on the motors that the reference names.

        Parameters
        ----------
        q, v : ndarray, shapes (nq,), (nv,)
            Measured state.
        reference : Reference
            Wanted motion; see `Motors.error` for angles.
        p, d : ndarray, shape (number of motors,)
            Gains.

        """
        efforts, m = np.zeros(len(self.motors.v)), reference.motor
        error = self.motors.error(m, reference.position, q[reference.q_index])
        efforts[m] = p[m] * error + d[m] * (reference.velocity - v[reference.v_index])
        return efforts

    def wanted_motion(
        self, q: Floats, v: Floats, reference: Reference
    ) -> tuple[Floats, Floats, Floats]:
        """
        Return q, v, a of the whole robot for a reference, consistent with the constraints.

        Parameters and errors as for `feedforward`.
        """
        _, wanted_q, wanted_v, wanted_a = self._wanted_motion(q, v, reference)
        return wanted_q, wanted_v, wanted_a

    def _wanted_motion(
        self, q: Floats, v: Floats, reference: Reference
    ) -> tuple[RowSplit, Floats, Floats, Floats]:
        """Return the rows at the wanted state, and the wanted q, v, a."""
        q, v, a = q.copy(), v.copy(), np.zeros(self._robot.nv)
        q[reference.q_index] = reference.position
        v[reference.v_index] = reference.velocity
        a[reference.v_index] = reference.acceleration
        rows = self._rows(q, v, tuple(self._model.motors[i] for i in reference.motor))
        v = rows.completed(v, rows.speed)
        return rows, q, v, rows.completed(a, rows.bias(v))

    def _rows(self, q: Floats, v: Floats, named: tuple[str, ...]) -> RowSplit:
        """Return the constraint rows at q, where the speeds of the named motors are given."""
        if named not in self._splits:
            self._splits = {named: SpeedSplit(self._dynamics, named)}
        return RowSplit(self._dynamics, self._splits[named], q, v)

    def _force(self, q: Floats, v: Floats, a: Floats, terms: Terms) -> Floats:
        """Return the sum of the terms that count, shape (nv,)."""
        robot, dynamics = self._robot, self._dynamics
        if terms.complete:
            return dynamics.inverse_dynamics(q, v, a)
        gravity = np.array(dynamics.gravity_force(q))
        friction = dynamics.friction_force(v)
        bias = dynamics.bias_force(q, v)
        total = np.zeros(robot.nv)
        if terms.inertia:
            total += dynamics.inverse_dynamics(q, v, a) - bias - friction
        if terms.coriolis:
            total += bias - gravity
        if terms.friction:
            total += friction
        if terms.gravity:
            for name in terms.compensated:
                gravity[robot.velocity_index(name)] = 0.0
            total += gravity
        return total


def clamped(effort: Floats, limit: Floats) -> Floats:
    """
    Return the efforts within plus or minus their limits.

    Parameters
    ----------
    effort, limit : ndarray, shape (n,)
        [N m or N]; an infinite limit leaves the effort as it is.

    """
    return np.clip(effort, -limit, limit)


def known_limits(limit: Floats) -> Floats:
    """Return effort limits with 0, which URDF writers use for 'unknown', as infinity."""
    return np.where(limit > 0.0, limit, np.inf)
