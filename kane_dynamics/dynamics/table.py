# SPDX-License-Identifier: Apache-2.0
"""
The table of functions of dynamics: one row a function, for every engine and the C library.

A row stands above its method in the interface, as a decorator. The reference calls `formula` on
numbers; the compiled engine, CUDA and the C library trace it, or what `traced` names, a cheaper
form of the tracer.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from kane_dynamics.algorithms.limited_inverse import most_bounds
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.task_space_law import GAINS, REPORTED, WANTED
from kane_dynamics.algorithms.wrench_law import PUSHED, TASK, TASK_GAINS
from kane_dynamics.robot.inertial_parameters import PARAMETERS

_Method = TypeVar('_Method', bound=Callable[..., Any])
AT_START, ON_DEMAND, NUMPY = 'at the start', 'on demand', 'numpy'
"""When machine code of a function is made: with the robot's, at its first call, or never."""
PRECISIONS = ('float64', 'float32')
EFFORT, RATE = 'N m or N', 'rad/s^2 or m/s^2'


class Function(NamedTuple):
    """
    One function of dynamics.

    Parameters
    ----------
    name, text : str
        Of the method, and what it returns in one line.
    inputs : tuple of str
        Names of the arrays that it takes, each for one state or many.
    shape : str
        Of its result at one state: numbers and keys of `sizes`.
    unit : str
        Of the result.
    formula : callable
        formula(engine, *inputs, *choices) -> the result at one state; the engine has `robot`,
        `constraints` and `frames`.
    traced : str
        Attribute of the tracer that is the result, where there is a cheaper form of the formula.
    compiled : str
        One of AT_START, ON_DEMAND and NUMPY.
    kernel : str
        Name of its machine code.

    """

    name: str
    text: str
    inputs: tuple[str, ...]
    shape: str
    unit: str
    formula: Callable[..., Any]
    traced: str
    compiled: str
    kernel: str

    def shape_of(self, engine: Any) -> tuple[int, ...]:
        """Return the shape of the result at one state."""
        known = sizes(engine)
        return tuple(int(x) if x.isdigit() else known[x] for x in self.shape.split())

    def sizes_of(self, engine: Any) -> tuple[int, ...]:
        """Return the lengths of the inputs."""
        known = sizes(engine)
        return tuple(known.get(name, known['nv']) for name in self.inputs)


FUNCTIONS: dict[str, Function] = {}
"""Rows by the name of the method."""


def sizes(engine: Any) -> dict[str, int]:
    """Return the lengths that arrays of a robot under constraints have."""
    robot, rows = engine.robot, len(engine.constraints.labels)
    effort = 3 * robot.nv + rows + 3
    known = {'nv': robot.nv, 'rows': rows, 'frames': len(engine.frames)}
    known |= {'parameters': len(PARAMETERS) * len(robot.bodies)}
    known |= {'effort': effort, 'frame_effort': effort + REPORTED, 'terms': len(TERMS)}
    known |= {'wrench_effort': effort + PUSHED, 'task': TASK, 'task_gains': TASK_GAINS}
    known |= {'forces': robot.nv + rows, 'responses': robot.nv + 2 * rows}
    known |= {'touches': sum(4 + len(one.directions) for one in engine.constraints.wheels)}
    known |= {'augmented': robot.nv + 1, 'limited': robot.nv + rows + 1, 'free': robot.nv + rows}
    bounds = most_bounds(robot.nv, rows)
    known |= {'bounds': bounds * known['forces'], 'sides': bounds}
    inputs = {'q': robot.nq, 'posture': robot.nq, 'time': 1, 'wanted': WANTED, 'gains': GAINS}
    return known | inputs


def add_row(
    name: str,
    inputs: str,
    shape: str,
    unit: str,
    formula: Callable[..., Any],
    traced: str = '',
    compiled: str = ON_DEMAND,
    *,
    text: str = '',
    kernel: str = '',
) -> None:
    """Put a function into the table; see `Function`."""
    row = name, text, tuple(inputs.split()), shape, unit, formula, traced, compiled
    FUNCTIONS[name] = Function(*row, kernel or name)


def by_robot(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return the formula of an engine that a formula of a robot alone is."""
    return lambda engine, *inputs: formula(engine.robot, *inputs)


def by_frames(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return the formula of an engine that a formula of a robot and its frames is."""
    return lambda engine, *inputs: formula(engine.robot, engine.frames, *inputs)


def function(*row: Any, **more: Any) -> Callable[[_Method], _Method]:
    """Return what puts a method into the table and completes its docstring; see `add_row`."""

    def add(method: _Method) -> _Method:
        text = inspect.cleandoc(method.__doc__ or '').split('\n\n')[0].removeprefix('Return ')
        add_row(method.__name__, *row, text=text, **more)
        return documented(method)

    return add


def shared_parameters() -> dict[str, str]:
    r"""
    Return what the parameters are that functions share, by name.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds.
    a : array_like, shape (nv,)
        Accelerations.
    tau : array_like, shape (nv,)
        Efforts on v [N m or N].
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link, about the link's origin in its axes.
    time : float or array_like, shape (B,)
        Of constraints that depend on it [s].
    method : str
        One of the above.
    speeds : GeneralizedSpeeds, optional
        Generalized speeds in which 'kane', 'nonminimal' and 'canonical' work; v where left out.
    actuated : sequence of str
        Names of the speeds that have actuators (for 1-DoF joints, the joints' names).
    weights : array_like, shape (nv,), optional
        w > 0 of the efforts, where they can be shared in many ways; 1 where left out.
    limits : array_like, shape (nv,), optional
        Of :math:`|\tau|` [N m or N], infinite where there is none; those of the URDF,
        `robot.effort_limit`, where left out.
    cones : sequence of FrictionCone
        Limits of constraint forces.
    deviation : array_like, shape (nv,), optional
        d > 0. Where `a` cannot be produced, the accelerations that can be, with the least
        :math:`\sum d_k (a_k - a_k^{wanted})^2`; where left out, that is an error.
    known : sequence of str, optional
        Names of the speeds that are given; the others follow from the constraints. Where left out
        all are, and what has to change does so least in the metric M.
    terms : sequence of str
        What the efforts make up for, of 'inertia', 'coriolis', 'gravity' and 'friction'.
    reference : array_like, shape (nv,), optional
        Reference speeds, which satisfy the constraints or are completed as `v` is.
    name : str
        One of `frames`.
    step : float
        Length of a step [s].
    n : int
        Number of steps.
    duration : float
        [s]; rounded to whole steps.
    effort : callable or array_like, shape (nv,) or (n, nv), optional
        effort(t, q, v) -> efforts; or efforts that are constant, or one row for each step.
    integrator : str
        'semi_implicit', 'rk4' or 'midpoint'.
    projection : bool
        Whether drift off the constraints is projected away.
    halvings : int
        How often a step that fails is cut in two.
    out : ndarray, optional
        Takes the result.

    """
    _, entries = inspect.cleandoc(shared_parameters.__doc__ or '').split('----------\n')
    return {x.split(' : ')[0]: x.strip() for x in re.split(r'\n(?=\w)', entries)}


_SHARED = shared_parameters()
_RAISES = 'Raises\n------\nInvalidInputError\n    If a shape is wrong or a number is not finite.'


def documented(method: _Method) -> _Method:
    """Return a method whose docstring says what its parameters are, and its usual error."""
    method.__doc__ = complete_docstring(method.__doc__ or '', inspect.signature(method).parameters)
    return method


def complete_docstring(text: str, names: Iterable[str]) -> str:
    """Return a docstring with Parameters of these names, and Raises where it has none."""
    head, *sections = re.split(r'\n\n(?=[A-Z]\w+\n---)', inspect.cleandoc(text))
    result = {'Raises': _RAISES} | {section.split('\n')[0]: section for section in sections}
    if known := [_SHARED[name] for name in names if name in _SHARED]:
        result['Parameters'] = '\n'.join(['Parameters', '----------', *known])
    order = ('Parameters', 'Returns', 'Raises', 'Examples')
    return '\n\n'.join([head, *(result[name] for name in order if name in result)]) + '\n'
