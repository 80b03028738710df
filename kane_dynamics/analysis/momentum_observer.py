# SPDX-License-Identifier: Apache-2.0
r"""
External efforts by the generalized momentum observer.

Forces of wheels, :math:`A^T \lambda`, are not measured. Along the columns of Z with A Z = 0 they
vanish from the equation of motion, :math:`Z^T A^T \lambda = 0`, whatever they are. Rows that
drive the robot, :math:`A v = b_0`, move it along Z u + c; Z does not know of b_0.

With p = M v and dM/dt = C + C', the equation of motion is
:math:`\dot p = \tau + \tau_{ext} + C^T v - g - f + A^T \lambda`, f what friction takes. Along
directions Z that the constraints leave free (`ObservedSpeeds`) the multipliers vanish:

.. math:: r = K \Big( \int Z^T dp - \int \big( Z^T(\tau + C^T v - g - f) + r \big) dt \Big)

so that :math:`\dot r = K (Z^T \tau_{ext} - r)` exactly, whatever M(q): a lag of first order,
without accelerations and without the inverse of M. Without constraints Z = 1 and the first
integral is p - p_0 (De Luca and Mattone 2003).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.projection import complete_entries, speed_indices
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['MomentumObserver']

_STATES, _NEAR = 3, 0.1  # general ones: a coefficient may vanish at neutral, not at all of them
_ROUNDOFF = 1e-12  # of a row


class ObservedSpeeds:
    """Speeds u whose efforts are observed, and the motion of the robot that each of them is."""

    def __init__(self, dynamics: Dynamics, names: Sequence[str] | None = None) -> None:
        robot = checked_dynamics(dynamics).robot
        observed = robot.velocity_names if names is None else names
        self.indices = speed_indices(robot, observed, 'speeds')
        if not self.indices:
            raise InvalidInputError(f'speeds: name some of {list(robot.velocity_names)}')
        self.names = tuple(robot.velocity_names[k] for k in self.indices)
        self._dynamics = dynamics
        self.follow = self._touched()
        self._unit = np.eye(robot.nv)[:, self.indices]
        self.directions(robot.neutral())  # what is wrong, is said now

    def directions(self, q: ArrayLike, v: ArrayLike | None = None, time: float = 0.0) -> Floats:
        """Return Z with A Z = 0, one in the row of each observed speed, shape (nv, n)."""
        if not self.follow:
            return self._unit
        robot = self._dynamics.robot
        rows = self._dynamics.constraint_rows(q, np.zeros(robot.nv) if v is None else v, time)
        still = np.zeros((len(rows), len(self.indices)))
        return complete_entries(robot, rows.matrix, still, self._unit, self.indices)

    def motion(self, q: ArrayLike, v: Floats, time: float = 0.0) -> Floats:
        """Return the speeds of the whole robot: as measured, or as rows and observed ones say."""
        if not self.follow:
            return v
        rows = self._dynamics.constraint_rows(q, v, time)
        return complete_entries(self._dynamics.robot, rows.matrix, rows.velocity, v, self.indices)

    def _touched(self) -> bool:
        """Return whether some row has an observed speed in it, near neutral and at any time."""
        robot, rng = self._dynamics.robot, np.random.default_rng(0)
        for _ in range(_STATES):
            v = rng.uniform(-_NEAR, _NEAR, robot.nv)
            q = integrate_coordinates(robot, robot.neutral(), v, 1.0)
            A = np.abs(self._dynamics.constraint_rows(q, v, rng.uniform()).matrix)
            if (A[:, self.indices] > _ROUNDOFF * A.sum(axis=1, keepdims=True)).any():
                return True
        return False


_PARTS: dict[str, Callable[[Floats], Floats]] = {
    'exact': lambda x: -np.expm1(-x),  # external efforts that stand still in a step
    'implicit': lambda x: x / (1.0 + x),
    'explicit': lambda x: x,
}
RULES = tuple(_PARTS)


class _Sample(NamedTuple):
    directions: Floats
    momentum: Floats
    mass_matrix: Floats
    impressed: Floats


class MomentumObserver:
    """
    External efforts of a robot, sample by sample.

    A payload or gravity that is set otherwise changes the momentum at once: call `reset` then.

    Parameters
    ----------
    dynamics : Dynamics
        Of either engine.
    gains : array_like, shape (n,) or ()
        K of each observed speed [1/s].
    speeds : sequence of str, optional
        Speeds that are observed; parameters and errors as for `ObservedSpeeds`.
    rule : str
        How a step is taken: 'exact' for efforts that stand still in it, 'implicit' or 'explicit'
        Euler (the last needs K step < 2).

    Attributes
    ----------
    speeds : ObservedSpeeds
        What is observed.
    residual : ndarray, shape (n,)
        r, the external efforts as felt at the observed speeds [N m or N].

    Raises
    ------
    InvalidInputError
        If a gain is not above zero or there is no such rule.

    """

    def __init__(
        self,
        dynamics: Dynamics,
        gains: ArrayLike,
        speeds: Sequence[str] | None = None,
        rule: str = 'exact',
    ) -> None:
        self.speeds = ObservedSpeeds(dynamics, speeds)
        count = len(self.speeds.names)
        values = checks.as_numbers('gains [1/s]', gains)
        values = values if values.ndim else np.full(count, values)
        self._gains = checks.as_vector('gains [1/s]', values, count)
        if not (self._gains > 0.0).all():
            raise InvalidInputError(f'gains [1/s] must be > 0, got {checks.describe(gains)}')
        self._rule = checks.as_choice('rule', rule, RULES)
        self._dynamics = dynamics
        self.reset()

    def reset(self, time: float = 0.0) -> None:
        """Begin anew, with the next sample at a time [s] of constraints that depend on it."""
        self._time = checks.as_number('time [s]', time)
        self.residual = np.zeros(len(self._gains))
        self._before: _Sample | None = None
        self._part, self._step = self._gains * 0.0, 0.0

    def update(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, step: float) -> Floats:
        """
        Return the external efforts after one more sample, shape (n,) [N m or N].

        Parameters
        ----------
        q, v, tau : array_like, shapes (nq,), (nv,), (nv,)
            Measured coordinates, speeds and efforts of motors.
        step : float
            Time since the sample before [s]; of no meaning at the first one.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, the step is not above zero, or too long
            for explicit steps.

        """
        robot = self._dynamics.robot
        h = checks.as_positive('step [s]', step)
        part = _PARTS[self._rule](self._gains * h)
        if not (part < 2.0).all():
            raise InvalidInputError(
                f'step [s]: explicit steps need gain times step < 2, got {part.max():g}; observe '
                'more often'
            )
        time = self._time + (0.0 if self._before is None else h)
        now = self._sample(
            checks.as_vector('q', q, robot.nq),
            checks.as_vector('v', v, robot.nv),
            checks.as_vector('tau', tau, robot.nv),
            time,
        )
        before, self._before, self._time = self._before, now, time
        if before is None:
            return self.residual
        middle = 0.5 * (before.directions + now.directions)
        gained = middle.T @ (now.momentum - before.momentum)
        mean_effort = 0.5 * (before.impressed + now.impressed)
        self._part, self._step = part, h
        self.residual = self.residual + part * (gained / h - mean_effort - self.residual)
        return self.residual

    def _sample(self, q: Floats, v: Floats, tau: Floats, time: float) -> _Sample:
        """Return Z, M v, M, and Z'(tau + C'v - g - f) of a measured state."""
        dynamics = self._dynamics
        Z = self.speeds.directions(q, v, time)
        v = self.speeds.motion(q, v, time)
        M = dynamics.mass_matrix(q)
        turned = dynamics.coriolis_matrix(q, v).T @ v
        balance = tau + turned - dynamics.gravity_force(q) - dynamics.friction_force(v)
        return _Sample(Z, M @ v, M, Z.T @ balance)

    def covariance(self, velocity_deviation: float, effort_deviation: float) -> Floats:
        """
        Return the covariance of the residual under steady noise, shape (n, n).

        Parameters
        ----------
        velocity_deviation, effort_deviation : float
            Standard deviations of white noise of the measured speeds [rad/s or m/s] and efforts
            [N m or N]. Positions that are differentiated over a step have sqrt(2) / step times
            the deviation of the encoders.

        Raises
        ------
        InvalidInputError
            If a deviation is not above zero, or there were no two samples yet.

        """
        noise_v = checks.as_positive('velocity_deviation [rad/s or m/s]', velocity_deviation)
        noise_tau = checks.as_positive('effort_deviation [N m or N]', effort_deviation)
        if self._before is None or not self._step:
            raise InvalidInputError('covariance: need two samples before')
        Z, M = self._before.directions, self._before.mass_matrix
        spread = Z.T @ M @ (Z if self.speeds.follow else np.eye(len(M)))
        # r is a lag behind differences of p and means of tau; sums of squared impulse responses
        part, kept = self._part, 1.0 - self._part
        lasting = 1.0 / (1.0 - np.outer(kept, kept))
        of_speeds = np.outer(part, part) * (1.0 + np.outer(part, part) * lasting) / self._step**2
        of_efforts = np.outer(part, part) * (1.0 + np.outer(1.0 + kept, 1.0 + kept) * lasting) / 4
        return np.asarray(
            of_speeds * (spread @ spread.T) * noise_v**2 + of_efforts * (Z.T @ Z) * noise_tau**2
        )
