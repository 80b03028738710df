# SPDX-License-Identifier: Apache-2.0
r"""
Generalized speeds u that a user of Kane's method chooses: :math:`v = W(q, t) u + X(q, t)`.

The kinematical differential equations of Gillespie ((1), (2)), Roithmayr et al. ((2), (5)) and
Bajodah and Chen (6), with the robot's own speeds v in the place of :math:`\dot q`. They are given
as W and X, or by the definition :math:`u = Y(q, t) v + Z(q, t)`. Fewer u than v build constraints
into the speeds (Parsa (12)). The functions are traced once, so their rates are exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.scalars import expression_matrix, traced_values
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.robot.motion import at_unit_quaternions, rate_along_motion
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats, NDArray

SpeedFunction = Callable[[NDArray, Any], Any] | ArrayLike

REACH_TOLERANCE = 1e-6  # of v - (W u + X), relative to 1 + |v|: above integration drift


class SpeedMap(NamedTuple):
    r"""v = W u + X and vdot = W udot + bias at a state, :math:`\dot W u + \dot X`."""

    u: Floats
    W: Floats
    W_rate: Floats
    X: Floats
    bias: Floats


@dataclass(frozen=True, eq=False)
class GeneralizedSpeeds:
    """
    Generalized speeds of a robot.

    Made by `generalized_speeds` or `generalized_speeds_from_definition`.

    Parameters
    ----------
    robot : Robot
        The robot.
    names : tuple of str
        Names of the speeds.
    values : callable
        (q, t) -> W and X as one matrix [W X], or [Y Z] where `inverse`.
    rates : callable
        (q, v, t) -> its time derivative along v.
    inverse : bool
        Whether the functions define u = Y v + Z.

    """

    robot: Robot
    names: tuple[str, ...]
    values: Callable[..., Any]
    rates: Callable[..., Any]
    inverse: bool

    @property
    def count(self) -> int:
        """Return the number nu of generalized speeds."""
        return len(self.names)

    def velocity(self, q: ArrayLike, u: ArrayLike, t: float = 0.0) -> Floats:
        """
        Return v = W u + X, shape (nv,); errors as for `matrices`.

        Parameters
        ----------
        q, u : array_like, shapes (nq,), (nu,)
            Coordinates and generalized speeds.
        t : float
            Time [s].

        """
        W, X = self.matrices(q, t)
        return W @ checks.as_vector('u', u, self.count) + X

    def matrices(self, q: ArrayLike, t: float = 0.0) -> tuple[Floats, Floats]:
        """
        Return W, shape (nv, nu), and X, shape (nv,).

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, or the speeds are singular at q.

        """
        coordinates = checked_coordinates(self.robot, q)
        arguments = self._finite(self.values(coordinates, checks.as_number('time [s]', t)))
        return self._split(arguments, np.zeros_like(arguments))[:2]

    def speeds(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Floats:
        """
        Return u with v = W u + X, shape (nu,).

        Raises
        ------
        InvalidInputError
            If no u gives v, W is not finite at q or has dependent columns.

        """
        return self.at(q, v, t).u

    def at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> SpeedMap:
        """
        Return W, X and their rates at a state; errors as for `speeds`.

        Parameters
        ----------
        q, v : array_like, shapes (nq,), (nv,)
            State.
        t : float
            Time [s].

        """
        coordinates = checked_coordinates(self.robot, q)
        velocity = np.array(checked_speeds(self.robot, v))
        time = checks.as_number('time [s]', t)
        both = self._finite(self.values(coordinates, time))
        W, X, W_rate, X_rate = self._split(
            both, self._finite(self.rates(coordinates, velocity, time))
        )
        u, _, rank, _ = np.linalg.lstsq(W, velocity - X, rcond=None)
        gap = float(np.linalg.norm(W @ u + X - velocity))
        if rank < self.count:
            raise InvalidInputError(
                f'generalized speeds {list(self.names)}: W has rank {rank} of {self.count} here'
            )
        if gap > REACH_TOLERANCE * (1.0 + float(np.linalg.norm(velocity))):
            raise InvalidInputError(
                f'no generalized speeds {list(self.names)} give this v: nearest is off by {gap}'
            )
        return SpeedMap(np.asarray(u, dtype=float), W, W_rate, X, W_rate @ u + X_rate)

    def _finite(self, values: Any) -> Floats:
        matrix = np.array(values, dtype=float)
        if not np.isfinite(matrix).all():
            raise self._error(f'are singular here: W or X has {checks.not_finite(matrix)}')
        return matrix

    def _error(self, what: str) -> InvalidInputError:
        return InvalidInputError(f'generalized speeds {list(self.names)} {what}')

    def _split(self, both: Floats, rate: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return W, X and their rates."""
        first, first_rate = both[:, :-1], rate[:, :-1]
        second, second_rate = both[:, -1], rate[:, -1]
        if not self.inverse:
            return first, second, first_rate, second_rate
        try:
            W = np.asarray(np.linalg.inv(first), float)  # Gillespie (2): W = Y^-1, X = -Y^-1 Z
        except np.linalg.LinAlgError:
            raise self._error('are singular here: Y has no inverse') from None
        W_rate = -W @ first_rate @ W
        return W, -W @ second, W_rate, -W_rate @ second - W @ second_rate


def checked_generalized_speeds(speeds: Any, robot: Robot) -> GeneralizedSpeeds:
    """Return the generalized speeds."""
    needed = 'what generalized_speeds or generalized_speeds_from_definition returns'
    checked = checks.as_one(GeneralizedSpeeds, 'speeds', speeds, needed)
    if checked.robot.velocity_names != robot.velocity_names:
        raise InvalidInputError(
            f'speeds: these are of a robot with {list(checked.robot.velocity_names)}, here are '
            f'{list(robot.velocity_names)}'
        )
    return checked


def generalized_speeds(
    robot: Robot, W: SpeedFunction, X: SpeedFunction | None = None, names: Sequence[str] = ()
) -> GeneralizedSpeeds:
    """
    Return the generalized speeds u with v = W(q, t) u + X(q, t).

    Parameters
    ----------
    robot : Robot
        The robot.
    W : array_like, shape (nv, nu), or callable
        W or W(q, t), nu <= nv, of full rank. Functions take an array of shape (nq,) and the time
        [s]; they must do with operators and numpy functions of single entries, and no branches.
    X : array_like, shape (nv,), or callable, optional
        X or X(q, t); zero where left out.
    names : sequence of str, optional
        Names of u; u1, u2, ... where left out.

    Raises
    ------
    InvalidInputError
        If a shape does not fit the robot or a function cannot be traced.

    """
    return _traced_speeds(robot, W, X, names, inverse=False)


def generalized_speeds_from_definition(
    robot: Robot, Y: SpeedFunction, Z: SpeedFunction | None = None, names: Sequence[str] = ()
) -> GeneralizedSpeeds:
    """
    Return the generalized speeds u = Y(q, t) v + Z(q, t); W = Y^-1 (Gillespie (1), (2)).

    Parameters
    ----------
    robot : Robot
        The robot.
    Y : array_like, shape (nv, nv), or callable
        As W of `generalized_speeds`.
    Z : array_like, shape (nv,), or callable, optional
        Zero where left out.
    names : sequence of str, optional
        Names of u; u1, u2, ... where left out.

    Raises
    ------
    InvalidInputError
        If a shape does not fit the robot or a function cannot be traced.

    """
    return _traced_speeds(robot, Y, Z, names, inverse=True)


def _traced_speeds(
    robot: Robot,
    matrix: SpeedFunction,
    offset: SpeedFunction | None,
    names: Sequence[str],
    inverse: bool,
) -> GeneralizedSpeeds:
    nv, letters = checked_robot(robot).nv, 'YZ' if inverse else 'WX'
    q, v, t = ca.SX.sym('q', robot.nq), ca.SX.sym('v', nv), ca.SX.sym('t')
    arguments = matrix, np.zeros(nv) if offset is None else offset
    left, right = (
        _expressions(x, f, ca.vertsplit(q), t) for x, f in zip(letters, arguments, strict=True)
    )
    right, count = right.reshape(-1, 1), left.shape[1]
    if len(left) != nv or len(right) != nv or not (nv if inverse else 1) <= count <= nv:
        shape = f'({nv}, {nv})' if inverse else f'({nv}, nu), nu <= {nv},'
        raise InvalidInputError(
            f'generalized speeds: need a matrix of shape {shape} and an offset of shape ({nv},), '
            f'got shapes {left.shape} and ({len(right)},)'
        )
    labels = checks.as_names('names', names) or tuple(f'u{k + 1}' for k in range(count))
    if len(labels) != count:
        raise InvalidInputError(
            f'names: need {count}, one of each generalized speed, got {list(labels)}'
        )
    both = ca.densify(expression_matrix(np.hstack([left, right])))
    (rate,) = at_unit_quaternions(robot, [rate_along_motion(robot, both, q, v, t)], q)
    values = ca.Function('values', [q, t], [both])
    rates = ca.Function('rates', [q, v, t], [ca.densify(rate)])
    return GeneralizedSpeeds(robot, labels, values, rates, inverse)


def _expressions(
    name: str, arguments: SpeedFunction, q: Sequence[Any], t: Any
) -> NDArray[np.object_]:
    """Return a matrix, or a function of (q, t) that gives one, as expressions, of two axes."""
    what = f'{name} of the generalized speeds'
    function = (
        checks.as_function(name, arguments, 'q', 't')
        if callable(arguments)
        else lambda q, t: arguments
    )
    array = traced_values(what, function, (q, t), InvalidInputError)
    return array if array.ndim == 2 else array.reshape(-1, 1)
