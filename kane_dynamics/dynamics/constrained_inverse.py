# SPDX-License-Identifier: Apache-2.0
r"""
Efforts that produce a motion under constraints: rows of the table, and methods that unpack them.

.. math:: S^T \tau_a + A^T \lambda = M a + C v + g + D v + F \mathrm{sign}(v) - J^T w
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kane_dynamics.algorithms.constrained_inverse import (
    ConstrainedEffort,
    checked_weights,
    term_switches,
)
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.algorithms.task_space_law import FrameEffort, TaskSpaceLaw
from kane_dynamics.algorithms.wrench_law import PUSHED, WrenchLaw
from kane_dynamics.dynamics.constrained import START, ConstrainedMotion
from kane_dynamics.dynamics.rows import efforts, following_efforts, wrench_efforts
from kane_dynamics.dynamics.table import add_row, documented
from kane_dynamics.typing import ArrayLike, Floats

_EFFORT = 'a weights terms time'


def _efforts(d: Any, q: Any, v: Any, *remainder: Any) -> Floats:
    return efforts(d, q, v, None, *remainder)


add_row('constrained_effort', f'q v {_EFFORT}', 'effort', '', _efforts)
add_row('reference_effort', f'q v reference {_EFFORT}', 'effort', '', efforts)
_FOLLOWED = 'q v a wanted gains posture weights terms time'
add_row('frame_effort', _FOLLOWED, 'frame_effort', '', following_efforts)
_PUSHED = 'q v a task task_gains weights terms time'
add_row('wrench_effort', _PUSHED, 'wrench_effort', '', wrench_efforts)
_WITHOUT_FRICTION = np.array([float(name != 'friction') for name in TERMS])


class ConstrainedEfforts(ConstrainedMotion):
    """Inverse dynamics of a robot under its constraints."""

    @documented
    def constrained_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        actuated: Sequence[str],
        weights: ArrayLike | None = None,
        known: Sequence[str] | None = None,
        time: ArrayLike = START,
        *,
        terms: Sequence[str] = TERMS,
        reference: ArrayLike | None = None,
    ) -> ConstrainedEffort:
        """
        Return the efforts of the actuated joints, and the multipliers, that produce `a`.

        `a` must satisfy the constraints. Where there is a `reference` x, `a` is its rate while
        the robot moves at `v`, and the efforts are those of M a + C(q, v) x + g + D x +
        F sign(x), with the C of `coriolis_matrix`, as control by passivity needs them (Slotine
        and Li).

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, a term does not exist, or a weight is not
            positive.
        NameNotFoundError
            If `actuated` or `known` names a speed that does not exist.
        UnreachableAccelerationError
            If `a` violates the constraints, or needs a force that neither actuators nor
            constraints can give; or if `known` leaves something undetermined.
        InconsistentConstraintsError
            If the rows contradict each other, or what is known contradicts them.
        ConstraintError
            If there is a reference, and rows bind accelerations only.

        Examples
        --------
        >>> effort = d.constrained_inverse_dynamics(q, v, a, d.robot.velocity_names).effort
        >>> np.allclose(effort, d.inverse_dynamics(q, v, a))
        True

        """
        # no calls where the defaults are meant: controllers ask this a thousand times a second
        shares = self._ones if weights is None else self._weights(actuated, weights)
        switches = self._every_term if terms is TERMS else np.array(term_switches(terms))
        clock = self._start if time is START else self._at(time)
        if reference is None:
            try:
                efforts = self._efforts[actuated, known]
            except (KeyError, TypeError):  # new, or names are in lists
                efforts = self._efforts_of('constrained_effort', actuated, known)
            numbers = efforts(q, v, a, shares, switches, clock)
        else:
            efforts = self._efforts_of('reference_effort', actuated, known)
            numbers = efforts(q, v, reference, a, shares, switches, clock)
        return ConstrainedEffort(numbers, self.labels)

    def _efforts_of(self, function: str, *names: Any) -> Callable[..., Floats]:
        choices = tuple(tuple(x) if type(x) is list else x for x in names)
        return lambda *state: self._call(function, state, choices)

    def frame_effort(
        self,
        law: TaskSpaceLaw,
        q: ArrayLike,
        v: ArrayLike,
        target: ArrayLike,
        gains: ArrayLike,
        posture: ArrayLike,
        a: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        time: ArrayLike = START,
        *,
        terms: Sequence[str] = TERMS,
    ) -> FrameEffort:
        """
        Return the efforts that let a frame follow a wanted motion, by one call.

        Parameters
        ----------
        law : TaskSpaceLaw
            Which frame follows, by which law, and what moves it.
        q, v : array_like, shapes (nq,), (nv,)
            State.
        target : array_like, shape (19,)
            Position, (w, x, y, z), twist (omega, v) and its rate, in world axes.
        gains : array_like, shape (14,)
            Those of the law for six axes each, and two of the posture; see
            `algorithms.task_space_law.following_motion`.
        posture : array_like, shape (nq,)
            Coordinates; those of actuated joints count that are one number.
        a : array_like, shape (nv,), optional
            Accelerations of the speeds that are held.
        weights, time, terms
            As for `constrained_inverse_dynamics`.

        """
        shares = self._ones if weights is None else self._weights(law.actuated, weights)
        switches = self._every_term if terms is TERMS else np.array(term_switches(terms))
        more = shares, switches, self._at(time)
        motion = q, v, self._still if a is None else a
        numbers = self._call('frame_effort', (*motion, target, gains, posture, *more), (law,))
        return FrameEffort.of(numbers, self.labels)

    def wrench_effort(
        self, law: WrenchLaw, q: ArrayLike, v: ArrayLike, a: ArrayLike, *numbers: Floats
    ) -> tuple[Floats, Floats]:
        """
        Return the numbers of a `ConstrainedEffort` by which a frame does its task, and a report.

        Parameters
        ----------
        law : WrenchLaw
            Which frame it is, and what moves it.
        q, v, a : array_like, shapes (nq,), (nv,), (nv,)
            State, and the accelerations that are wanted where the task leaves them open.
        numbers : ndarray, shapes (25,) and (26,)
            Position, (w, x, y, z), twist, its rate and wrench in the axes of the law; stiffness,
            damping, 1 for axes that move, 1 for those that push, friction speed and period. The
            report is that of `algorithms.wrench_law.WrenchMotion`.

        """
        more = self._ones, _WITHOUT_FRICTION, self._start
        both = self._call('wrench_effort', (q, v, a, *numbers, *more), (law,))
        return both[:-PUSHED], both[-PUSHED:]

    def _weights(self, actuated: Any, weights: ArrayLike) -> Floats:
        columns = speed_indices(self.robot, actuated, 'actuated')
        return checked_weights(self.robot, weights, columns)
