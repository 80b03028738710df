# SPDX-License-Identifier: Apache-2.0
r"""
Motion under constraints: a row of the table and a method each.

.. math:: M \dot v = \tau - C v - g - D v - F \mathrm{sign}(v) + J^T w + A^T\lambda, \quad
   A v = b_0, \quad A \dot v = b
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from kane_dynamics.algorithms.udwadia_kalaba import Motion, blank_motion
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.dynamics.base import DynamicsBase
from kane_dynamics.dynamics.rows import nearest_acceleration, nearest_velocity
from kane_dynamics.dynamics.table import AT_START, RATE, documented, function
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.robot.checks import Arguments, as_times
from kane_dynamics.typing import ArrayLike, Floats

START = 0.0  # [s]
GAUSS = 'gauss'
_STATE = 'q v tau time'


def _of_motion(name: str) -> Callable[..., Any]:
    """Return the formula of one part of the motion."""
    return lambda d, *state: getattr(d.motion_at(*state), name)


class ConstrainedMotion(DynamicsBase):
    """Functions of a robot under its constraints."""

    @function(
        _STATE, 'nv', RATE, _of_motion('acceleration'), '', AT_START, kernel='forward_dynamics'
    )
    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = START,
        out: Floats | None = None,
    ) -> Floats:
        """
        Return the accelerations under the efforts and all constraints, shape (nv,).

        Examples
        --------
        >>> np.allclose(d.acceleration(q, v, d.inverse_dynamics(q, v, a)), a)
        True

        """
        return self._call('acceleration', (q, v, tau, self._at(time)), (), out)

    @documented
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = START,
        method: str = GAUSS,
        *,
        speeds: GeneralizedSpeeds | None = None,
    ) -> Motion:
        """
        Return accelerations, multipliers, constraint forces, rank and residuals.

        All methods give the same accelerations; `Motion.details` holds what each speaks of.
        Redundant rows change nothing; contradictory rows raise.

        - 'gauss': dqGP and the Udwadia-Kalaba equations (Silva et al., (45)-(51), (62))
        - 'newton_euler': nv + 2 runs of dqNE (Silva et al., section 6), then (62)
        - 'gibbs_appell': the gradient of the Gibbs-Appell function (Silva et al., (53)-(55))
        - 'lagrange': closed form of Lagrange's and Kane's equations (Parsa (38)-(50))
        - 'kane': Kane's equations in independent speeds (Gillespie (44)-(46))
        - 'nonminimal': Kane's equations in all speeds (Roithmayr et al. (9))
        - 'canonical': canonical generalized inversion form (Bajodah and Chen (44))

        Where constraints bind all that has no mass, M may be singular for 'gibbs_appell',
        'lagrange', 'kane' and 'nonminimal'.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, the method is unknown or has no
            generalized speeds, or `speeds` cannot give v.
        NameNotFoundError
            If a wrench names a link that does not exist.
        SingularMassMatrixError
            If some speed moves no mass.
        InconsistentConstraintsError
            If the rows contradict each other.

        Examples
        --------
        >>> motion = d.forward_dynamics(q, v, tau, method='kane')
        >>> np.allclose(motion.acceleration, d.acceleration(q, v, tau)), motion.rank
        (True, 0)

        """
        clock, by_gauss = self._at(time), method == GAUSS and speeds is None
        if by_gauss and clock is self._start:
            motion = self._motion_as_read(q, v, tau)
            if motion is not None:
                return motion

        def at(q: Floats, v: Floats, tau: Floats, t: Floats) -> Motion:
            how = () if by_gauss else (method, speeds)
            return self.motion_at(q, v, tau, float(t[0]), *how)

        blank, nv = blank_motion(self.robot.nv, self.labels), self.robot.nv
        names, sizes = ('q', 'v', 'tau', 'time'), (self.robot.nq, nv, nv, 1)
        arguments = Arguments('forward_dynamics', names, sizes)
        return self._result(at, blank, arguments, (q, v, tau, clock))

    def _motion_as_read(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Motion | None:
        """Return the motion at the start, computed when it is read; None where there is none."""
        return None

    @abstractmethod
    def motion_at(self, q: Floats, v: Floats, tau: Floats, t: float = START, *how: Any) -> Motion:
        """Return the motion at one state of finite numbers, by a method and generalized speeds."""

    @function(_STATE, 'rows', 'N', _of_motion('multipliers'))
    def multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = START,
        out: Floats | None = None,
    ) -> Floats:
        """
        Return lambda of all rows under efforts, (k,): forces of wheels and contacts [N].

        Examples
        --------
        >>> d.multipliers(q, v, tau).shape
        (0,)

        """
        return self._call('multipliers', (q, v, tau, self._at(time)), (), out)

    @documented
    def constraint_rows(self, q: ArrayLike, v: ArrayLike, time: float = START) -> ConstraintRows:
        """
        Return all rows A v = b0, A vdot = b, of one state.

        Examples
        --------
        >>> d.constraint_rows(q, v).matrix.shape
        (0, 2)

        """
        return self._rows(q, v, time)

    @abstractmethod
    def _rows(self, q: ArrayLike, v: ArrayLike, time: float) -> ConstraintRows:
        """Return the rows at a state."""

    @function('q v time', 'nv', 'rad/s or m/s', nearest_velocity)
    def consistent_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = START,
    ) -> Floats:
        """
        Return speeds with A v = b0: known ones as given, or the nearest to all, shape (nv,).

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.
        NameNotFoundError
            If `known` names a speed that does not exist.
        UnreachableAccelerationError
            If the constraints leave an entry undetermined.
        InconsistentConstraintsError
            If the known entries contradict the constraints, or these each other.

        Examples
        --------
        >>> np.allclose(d.consistent_velocity(q, v), v)  # there are no constraints
        True

        """
        known = tuple(known) if isinstance(known, list) else known
        return self._call('consistent_velocity', (q, v, self._at(time)), (known,))

    @function('q v a time', 'nv', RATE, nearest_acceleration)
    def consistent_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = START,
    ) -> Floats:
        """
        Return accelerations with A a = b: known ones as given, or the nearest to all, (nv,).

        Raises
        ------
        InvalidInputError, NameNotFoundError
            As for `consistent_velocity`.
        UnreachableAccelerationError, InconsistentConstraintsError
            As for `consistent_velocity`.

        Examples
        --------
        >>> np.allclose(d.consistent_acceleration(q, v, a), a)  # there are no constraints
        True

        """
        known = tuple(known) if isinstance(known, list) else known
        return self._call('consistent_acceleration', (q, v, a, self._at(time)), (known,))

    def _at(self, time: ArrayLike) -> Floats:
        """Return the time as an array; one that was left out costs nothing."""
        return self._start if time is START else as_times(time)
