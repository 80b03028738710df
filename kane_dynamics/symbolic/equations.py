# SPDX-License-Identifier: Apache-2.0
r"""
The equations of motion of small systems as SymPy expressions.

.. math::

    M(q) \dot v + C(q, v) v + g(q) + D v + F \mathrm{sign}(v) = \tau + A^T \lambda, \quad
    A v = b_0, \quad A \dot v = b

The algorithms that compute the numbers are traced into a graph, as for machine code, and the graph
is converted: nothing is derived a second time. SymPy is imported when it is first needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Annotated, Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.traced_scalar import column
from kane_dynamics.algorithms.newton_euler import joint_friction, newton_euler
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.compiler.graphs.traced_state import matrix
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError, NameNotFoundError
from kane_dynamics.robot.motion import coordinate_rates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike, Floats

MOST_SPEEDS = 20  # M alone has 210 different entries; tracing takes seconds and grows as nv^3
MOST_OPERATIONS = 200_000  # written out without simplification: about 400 pages
Symbols = tuple[Any, ...]
Matrix = Annotated[Any, 'sympy.ImmutableMatrix']


@dataclass(frozen=True, eq=False)
class EquationsOfMotion:
    r"""
    The equations of motion in SymPy symbols, SI units.

    Built by `equations_of_motion`. All symbols are real. Matrices are SymPy's immutable ones;
    vectors are columns.

    Parameters
    ----------
    name : str
        Name of the robot.
    q : tuple of Symbol, length nq
        Coordinates, named as in ``robot.coordinate_names``.
    v, vdot, tau : tuple of Symbol, length nv
        Speeds ``v_NAME``, accelerations ``vdot_NAME`` and efforts ``tau_NAME``, where NAME is of
        ``robot.velocity_names``.
    multipliers : tuple of Symbol, length k
        ``lambda_1`` and so on, one for each constraint row.
    t : Symbol
        Time [s].
    mass_matrix : Matrix, shape (nv, nv)
        M, armature included.
    coriolis_matrix : Matrix, shape (nv, nv)
        C with dM/dt - 2 C skew (Silva et al., (47)).
    velocity_force, gravity_force : Matrix, shape (nv, 1)
        C v and g, on the left side.
    friction : Matrix, shape (nv, 1)
        D v + F sign(v), on the left side.
    coordinate_rate : Matrix, shape (nq, 1)
        dq/dt as a function of q and v.
    constraint_matrix : Matrix, shape (k, nv)
        A.
    constraint_velocity, constraint_acceleration : Matrix, shape (k, 1)
        b_0 of A v = b_0 and b of A vdot = b.
    labels : tuple of str
        Names of the constraint rows.

    """

    name: str
    q: Symbols
    v: Symbols
    vdot: Symbols
    tau: Symbols
    multipliers: Symbols
    t: Any
    mass_matrix: Matrix
    coriolis_matrix: Matrix
    velocity_force: Matrix
    gravity_force: Matrix
    friction: Matrix
    coordinate_rate: Matrix
    constraint_matrix: Matrix
    constraint_velocity: Matrix
    constraint_acceleration: Matrix
    labels: tuple[str, ...]

    @property
    def bias_force(self) -> Any:
        """Return C v + g, shape (nv, 1)."""
        return self.velocity_force + self.gravity_force

    def equations(self) -> list[Any]:
        """
        Return nv equations of motion, then one equation A vdot = b for each constraint row.

        They are linear in vdot and in the multipliers.
        """
        sympy = _with_sympy('sympy')
        rate, force, pull = (
            sympy.Matrix(len(x), 1, x) for x in (self.vdot, self.tau, self.multipliers)
        )
        rows = self.constraint_matrix
        left = [*(self.mass_matrix * rate + self.bias_force + self.friction), *(rows * rate)]
        right = [*(force + rows.T * pull), *self.constraint_acceleration]
        return [sympy.Eq(a, b, evaluate=False) for a, b in zip(left, right, strict=True)]

    def lambdify(self, quantity: str) -> Callable[..., Floats]:
        """
        Return a numpy function (q, v, t=0.0) of one of the quantities.

        Parameters
        ----------
        quantity : str
            One of QUANTITIES, the names of the matrices. A column gives an array of one axis.

        Raises
        ------
        NameNotFoundError
            If there is no such quantity.

        """
        if quantity not in QUANTITIES:
            raise NameNotFoundError('quantity', quantity, QUANTITIES)
        sympy = _with_sympy('sympy')
        expressions = getattr(self, quantity)
        compute = sympy.lambdify([self.q, self.v, self.t], expressions.tolist(), 'numpy', cse=True)
        shape = expressions.shape if quantity.endswith('matrix') else expressions.shape[:1]

        def evaluated(q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Floats:
            return np.array(compute(q, v, t), dtype=float).reshape(shape)

        return evaluated

    def text(self, digits: int = 6) -> str:
        """
        Return the equations as lines of text, coefficients with `digits` significant digits.

        Equations of motion, then A v = b_0 and A vdot = b of each constraint row, then dq/dt where
        it is not v.
        """
        return str(_with_sympy().as_text(self, _checked_digits(digits)))

    def latex(self, digits: int = 6) -> str:
        r"""
        Return the same equations as `text` in one ``aligned`` environment of LaTeX.

        Symbols are numbered, :math:`q_1, v_1, \dot v_1, \tau_1, \lambda_1`; comments before it
        say which number has which name.
        """
        return str(_with_sympy().as_latex(self, _checked_digits(digits)))

    def source(self) -> str:
        """Return Python source that makes the symbols and matrices again, with all digits."""
        return str(_with_sympy().as_source(self, QUANTITIES))


QUANTITIES = tuple(field.name for field in fields(EquationsOfMotion) if field.type == Matrix)


def equations_of_motion(
    robot: Robot, constraints: Sequence[Constraint] = (), *, simplify: bool = True
) -> EquationsOfMotion:
    """
    Return the equations of motion of a small system as SymPy expressions.

    The graphs are those of the kernels: M from composite inertias, C by Gauss's principle (Silva
    et al., (47)), C v and g by dual quaternion Newton-Euler (19)-(30), friction, and the rows of
    the constraints, those that repeat others included. Inertias, lengths and gravity are numbers.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Their rows.
    simplify : bool
        True: sines and cosines of whole angles, quaternions of joints taken as unit, equal terms
        together, and the shortest of a few forms. Coefficients are rounded to 14 digits, and left
        out below 1e-13 of the largest one of their matrix. False: as the graph has them, faster
        but much longer; no number is changed.

    Raises
    ------
    MissingPackageError
        If SymPy is not installed.
    InvalidInputError
        If the equations would fill books, or a function of a constraint has no SymPy form.
    ConstraintError
        If a constraint cannot be traced or does not fit the robot.

    Examples
    --------
    >>> equations = kd.equations_of_motion(kd.serial_chain(1))
    >>> equations.q
    (joint_1,)

    """
    constraints = ConstraintSet.of(robot, constraints)
    too_large = f"robot '{robot.name}' is too large to write down"
    sympy, graph = _with_sympy('sympy'), _with_sympy('kane_dynamics.symbolic.graph')
    graph.check_size(too_large, robot.nv, MOST_SPEEDS, 'speeds')
    names = _symbols(sympy, robot, len(constraints.labels))
    function = _traced_quantities(robot, constraints)
    if simplify:
        forms = _with_sympy('kane_dynamics.symbolic.short_forms')
        quaternions = [names['q'][columns] for _, columns in robot.quaternion_slices]
        algebra = forms.ShortAlgebra(quaternions)
    else:
        algebra, count = graph.PlainAlgebra(), graph.written_operations(function)
        graph.check_size(too_large, count, MOST_OPERATIONS, 'operations')
    matrices = graph.converted(function, [names['q'], names['v'], (names['t'],)], algebra)
    quantities = dict(zip(QUANTITIES, matrices, strict=True))
    return EquationsOfMotion(name=robot.name, labels=constraints.labels, **names, **quantities)


def _traced_quantities(robot: Robot, constraints: Sequence[Constraint]) -> ca.Function:
    """Return all QUANTITIES as one function of q, v and t, common subexpressions shared."""
    tracer = Tracer(robot, constraints, (), canonical=False)
    q, v, t = tracer.q, tracer.v, tracer.t
    rows = tracer.rows(q, v, t)
    quantities = [
        function_graph('mass_matrix')(tracer).function(column(q))[0],
        function_graph('coriolis_matrix')(tracer).function(column(q), column(v))[0],
        column(newton_euler(robot, q, v, tracer.at_rest, gravity=0.0)),
        function_graph('gravity_force')(tracer).function(column(q))[0],
        column(joint_friction(robot, v)),
        column(coordinate_rates(robot, q, v)),
        matrix(rows.matrix, robot.nv),
        column(rows.velocity),
        column(rows.acceleration),
    ]
    return ca.Function('equations', [column(q), column(v), t], ca.cse(quantities))


def _symbols(sympy: Any, robot: Robot, rows: int) -> dict[str, Any]:
    """Return all symbols by field; where a name is taken, an underscore is appended."""
    used: set[str] = set()

    def symbol(name: str) -> Any:
        while name in used:
            name += '_'
        used.add(name)
        return sympy.Symbol(name, real=True)

    symbols: dict[str, Any] = {'q': tuple(symbol(name) for name in robot.coordinate_names)}
    for kind in ('v', 'vdot', 'tau'):
        symbols[kind] = tuple(symbol(f'{kind}_{name}') for name in robot.velocity_names)
    symbols['multipliers'] = tuple(symbol(f'lambda_{k + 1}') for k in range(rows))
    symbols['t'] = symbol('t')
    return symbols


def _checked_digits(digits: int) -> int:
    if not (isinstance(digits, int) and 1 <= digits <= 17):
        raise InvalidInputError(f'digits: need a whole number from 1 to 17, got {digits!r}')
    return digits


def _with_sympy(module: str = 'kane_dynamics.symbolic.text') -> Any:
    """Return SymPy, or a module of this folder that needs it."""
    try:
        import_module('sympy')
    except ImportError as error:
        remedy = "pip install 'kane_dynamics[symbolic]'"
        raise MissingPackageError('symbolic equations of motion', 'SymPy', remedy) from error
    return import_module(module)
