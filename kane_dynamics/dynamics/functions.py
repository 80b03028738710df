# SPDX-License-Identifier: Apache-2.0
"""
Functions of a robot: ``kd.f(robot, ...)`` is ``kd.dynamics(robot).f(...)`` at one state.

All numbers must be finite here; what is not raises `InvalidInputError`.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from kane_dynamics.algorithms.constrained_inverse import ConstrainedEffort
from kane_dynamics.algorithms.newton_euler import TERMS, ExternalWrenches
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.dynamics.base import Arrays, Choices, Out
from kane_dynamics.dynamics.constrained import GAUSS, START
from kane_dynamics.dynamics.interface import Dynamics, ReferenceDynamics
from kane_dynamics.dynamics.table import FUNCTIONS, complete_docstring, documented
from kane_dynamics.formulations.gauss import (
    acceleration_gradient,
    gauss_measure,
    gauss_measure_gradient,
    gibbs,
)
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.robot.checks import Arguments, as_number, as_output, as_vector
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import GravityAndPayloads, checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats

NAMES = tuple(name for name, row in FUNCTIONS.items() if row.text)
_P = ParamSpec('_P')
_R = TypeVar('_R')
_Function = TypeVar('_Function', bound=Callable[..., Any])


class OneState(ReferenceDynamics):
    """The reference engine for one state of finite numbers."""

    def __init__(
        self,
        robot: Robot,
        constraints: Sequence[Constraint] = (),
        wrenches: ExternalWrenches = None,
    ) -> None:
        super().__init__(GravityAndPayloads(robot), constraints, None)
        self.wrenches = wrenches

    def _call(self, name: str, arrays: Arrays, choices: Choices = (), out: Out = None) -> Any:
        results = self.at_state(name, choices, *_vectors(self._arguments(name), arrays))
        result = as_output(FUNCTIONS[name].shape_of(self), out)
        result[...] = results
        return result if result.ndim or out is not None else float(result)

    def _result(
        self, function: Callable[..., _R], blank: _R, arguments: Arguments, arrays: Sequence[Any]
    ) -> _R:
        return function(*_vectors(arguments, arrays))

    def _at(self, time: ArrayLike) -> Floats:
        return np.array([as_number('time [s]', time)])


def _vectors(arguments: Arguments, arrays: Sequence[Any]) -> list[Floats]:
    both = zip(arguments.names, arrays, arguments.sizes, strict=True)
    return [as_vector(name, x, size) for name, x, size in both]


def of_robot(
    method: Callable[Concatenate[Dynamics, _P], _R],
) -> Callable[Concatenate[Robot, _P], _R]:
    """Return the function of a robot that a method of its dynamics is."""
    name, signature = method.__name__, inspect.signature(method)

    @wraps(method)
    def function(robot: Robot, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        result: _R = getattr(OneState(robot), name)(*args, **kwargs)
        return result

    local, *remainder = signature.parameters.values()
    parameters = [local.replace(name='robot', annotation='Robot'), *remainder]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    as_method(method)(function)
    function.__qualname__ = name  # pickled by it
    function.__doc__ = re.sub(r'\bd\.(\w+)\(', r'kd.\1(d.robot, ', function.__doc__ or '')
    return function  # type: ignore[return-value]  # its first name is robot


def as_method(method: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Return what gives a function the docstring of a method."""

    def document(function: _Function) -> _Function:
        names = inspect.signature(function).parameters
        function.__doc__ = complete_docstring(method.__doc__ or '', names)
        function.__module__ = __name__
        return function

    return document


def _number(
    method: Callable[Concatenate[Dynamics, _P], Floats],
) -> Callable[Concatenate[Robot, _P], float]:
    return of_robot(method)  # type: ignore[arg-type]  # one state has one number


inverse_dynamics = of_robot(Dynamics.inverse_dynamics)
bias_force = of_robot(Dynamics.bias_force)
gravity_force = of_robot(Dynamics.gravity_force)
friction_force = of_robot(Dynamics.friction_force)
mass_matrix = of_robot(Dynamics.mass_matrix)
coriolis_matrix = of_robot(Dynamics.coriolis_matrix)
kinetic_energy = _number(Dynamics.kinetic_energy)
potential_energy = _number(Dynamics.potential_energy)
center_of_mass = of_robot(Dynamics.center_of_mass)
momentum = of_robot(Dynamics.momentum)
momentum_matrix = of_robot(Dynamics.momentum_matrix)


def find_function(name: str) -> Callable[..., Any] | None:
    """Return the function of a robot for a row of the table, None where there is no such row."""
    return of_robot(getattr(Dynamics, name)) if name in NAMES else None


@as_method(Dynamics.forward_dynamics)
def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Sequence[Constraint] = (),
    method: str = GAUSS,
    *,
    speeds: GeneralizedSpeeds | None = None,
    external_wrenches: ExternalWrenches = None,
    time: float = START,
) -> Motion:
    """Return the motion under efforts and constraints; see `Dynamics.forward_dynamics`."""
    dynamics = OneState(robot, constraints, external_wrenches)
    return dynamics.forward_dynamics(q, v, tau, time, method, speeds=speeds)


@as_method(Dynamics.constrained_inverse_dynamics)
def constrained_inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    actuated: Sequence[str],
    weights: ArrayLike | None = None,
    known: Sequence[str] | None = None,
    *,
    external_wrenches: ExternalWrenches = None,
    terms: Sequence[str] = TERMS,
    time: float = START,
    reference: ArrayLike | None = None,
) -> ConstrainedEffort:
    """Return efforts and multipliers of a motion; see the method of `Dynamics`."""
    dynamics = OneState(robot, constraints, external_wrenches)
    choices = actuated, weights, known, time
    return dynamics.constrained_inverse_dynamics(
        q, v, a, *choices, terms=terms, reference=reference
    )


@as_method(Dynamics.consistent_velocity)
def consistent_velocity(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Sequence[Constraint],
    known: Sequence[str] | None = None,
    *,
    time: float = START,
) -> Floats:
    """Return speeds that constraints allow; see `Dynamics.consistent_velocity`."""
    return OneState(robot, constraints).consistent_velocity(q, v, known, time)


@as_method(Dynamics.consistent_acceleration)
def consistent_acceleration(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    known: Sequence[str] | None = None,
    *,
    time: float = START,
) -> Floats:
    """Return accelerations that constraints allow; see the method of `Dynamics`."""
    return OneState(robot, constraints).consistent_acceleration(q, v, a, known, time)


def integrate(robot: Robot, q: ArrayLike, v: ArrayLike, dt: float) -> Floats:
    """
    Return q (+) v dt on the manifold: unit quaternions stay unit.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds, constant in each joint's child frame.
    dt : float
        Time [s], may be negative.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return integrate_coordinates(
        robot, checked_coordinates(robot, q), checked_speeds(robot, v), as_number('dt [s]', dt)
    )


@documented
def gibbs_function(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> float:
    """Return the Gibbs-Appell function S(q, v, a) (54) [W/s]."""
    return float(gibbs(robot, *_checked(robot, q, v, a)))


@documented
def gibbs_gradient(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
    """Return the gradient of S with respect to `a`, M a + C v (55), shape (nv,) [N m or N]."""
    return acceleration_gradient(robot, *_checked(robot, q, v, a))


@documented
def gauss_function(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike
) -> float:
    """
    Return Gauss's function sum_i (a_i - abar_i)' Psi_i (a_i - abar_i)/2 (31), (37).

    Efforts act as opposite wrenches on the two bodies of a joint, gravity and joint friction among
    the impressed forces. Of all accelerations that the constraints allow, the true one has the
    least value.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    SingularMassMatrixError
        If a body has no inertia in some direction: (37) then has no acceleration for it.

    """
    return gauss_measure(robot, *_checked(robot, q, v, a), as_vector('tau', tau, robot.nv))


@documented
def gauss_gradient(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike
) -> Floats:
    """
    Return the gradient of Gauss's function with respect to `a` (39), (61), shape (nv,).

    It is sum_i J_i' Psi_i (a_i - abar_i) = M a + C v + g + friction - tau, and needs no inverse of
    Psi_i.

    """
    return gauss_measure_gradient(
        robot, *_checked(robot, q, v, a), as_vector('tau', tau, robot.nv)
    )


def _checked(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> tuple[list[float], list[float], list[float]]:
    return (checked_coordinates(robot, q), checked_speeds(robot, v), checked_speeds(robot, a, 'a'))
