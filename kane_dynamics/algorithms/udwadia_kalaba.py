# SPDX-License-Identifier: Apache-2.0
r"""
Gauss's principle under constraints: the Udwadia-Kalaba equations (Silva et al., (62), (63)).

With :math:`M = L L^T`, :math:`D = A L^{-T}` and :math:`Q` the unconstrained force,

.. math:: M\dot v = Q + Q_c, \qquad Q_c = L D^+ (b - A M^{-1} Q),

the acceleration nearest to the free one in the metric M among all with :math:`A\dot v = b`. The
square root :math:`M^{1/2}` of the paper may be any N with :math:`N N^T = M`; this is Cholesky's.
The rows of A are those that `row_selection` takes, so that D has full rank: :math:`D^+` is that of
its QR factors.

Forces of contacts that slide do not act along the rows that they enforce (`solve_mode`): a normal
force N brings friction :math:`-\mu N s/|s|` with it, so it acts
along :math:`C_n - \mu \hat s^T C_t` while it keeps :math:`C_n \dot v = d`:

.. math:: M (x - x_f) = B^T f, \qquad A x = c.

Rows and directions are the same where nothing slides: Gauss's principle.

`Motion` is the result of every method of forward dynamics,

.. math:: M \dot v = \tau - C v - g - D v - F \mathrm{sign}(v) + J^T w + A^T\lambda, \quad
   A \dot v = b .
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from kane_dynamics.algebra.matrices import solve_lower, solve_squared
from kane_dynamics.algebra.row_space import RowSpace
from kane_dynamics.algorithms.newton_euler import joint_friction
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.exceptions import ContactError, SingularMassMatrixError
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

# Reciprocal condition below which a mass matrix, or a system of rows of unit length, counts as
# singular: above roundoff of a hundred speeds, below the spread of inertias of a robot with
# fingers (1e-11).
SINGULAR = 1e-14


class ConstrainedMotion(NamedTuple):
    """Solution of the constrained equations."""

    acceleration: Floats  # shape (nv,): vdot
    multipliers: Floats  # shape (m,): lambda of the rows that were taken, with Q_c = A_K' lambda
    selection: RowSelection  # The rows that were taken


def cholesky_factor(mass_matrix: Floats) -> Floats:
    """Return the lower triangular L with M = L L'."""
    factor, info = scipy.linalg.lapack.dpotrf(mass_matrix, lower=1, clean=1)
    own_part = np.square(factor.diagonal())
    if info == 0 and (own_part > SINGULAR * mass_matrix.diagonal()).all():
        return np.asarray(factor, dtype=float)
    eigenvalues = np.linalg.eigvalsh(mass_matrix)
    raise SingularMassMatrixError(
        'the mass matrix is not positive definite: eigenvalues from '
        f'{eigenvalues[0]:.3e} to {eigenvalues[-1]:.3e}; a link that moves has no inertia'
    )


def selected_rows(mass_matrix: Floats, rows: ConstraintRows) -> RowSelection:
    """Return which rows are taken where M may be singular."""
    try:
        return select_rows(rows, cholesky_factor(mass_matrix))
    except SingularMassMatrixError:
        return select_rows(rows)


def nearest(factor: Floats, A: Floats, free: Floats, right_side: Floats) -> tuple[Floats, Floats]:
    r"""
    Return the x nearest to `free` in the metric M = L L' with A x = c, and its multipliers.

    Of several columns as of one.

    .. math:: M (x - x_{free}) = A^T \mu, \qquad A x = c
    """
    if not len(A):
        return free, np.zeros((0, *free.shape[1:]))
    return RowSpace(factor, A, A[:0]).nearest(free, right_side, free[:0])


def constrained_motion(
    mass_matrix: Floats, force: Floats, rows: ConstraintRows
) -> ConstrainedMotion:
    """Return the acceleration of least constraint (62)."""
    factor = cholesky_factor(mass_matrix)
    free = solve_squared(factor, force)
    selection = select_rows(rows, factor)
    pivots = selection.independent
    acceleration, multipliers = nearest(factor, pivots.matrix, free, pivots.acceleration)
    return ConstrainedMotion(acceleration, multipliers, selection)


def unit_scaling(sizes: Floats) -> Floats:
    """Return the factors that bring rows of these norms to unit length; zero rows stay zero."""
    largest = float(sizes.max(initial=0.0)) or 1.0
    return 1.0 / np.where(sizes > _NO_ROW * largest, sizes, largest)


def solve_square(system: Floats, right_side: Floats) -> tuple[Floats, int]:
    """Return x with S x = c, and the rank of S with rows of unit length."""
    scaling = unit_scaling(np.linalg.norm(system, axis=1))
    scaled = scaling[:, None] * system, scaling * right_side
    x, _, rank, _ = scipy.linalg.lstsq(*scaled, cond=SINGULAR)
    return x, int(rank)


# Size, relative to the largest row of a linear system, of one that is zero but for roundoff.
_NO_ROW = 1e-12


def solve_mode(
    factor: Floats, free: Floats, A: Floats, B: Floats, right_side: Floats
) -> tuple[Floats, Floats]:
    """Return x with A x = c, and the forces along B that make it of `free`."""
    if A is B or np.array_equal(A, B):
        return nearest(factor, A, free, right_side)
    rows = solve_lower(factor, A.T)
    pushes = solve_lower(factor, B.T)
    along, across = np.linalg.norm(rows, axis=0), np.linalg.norm(pushes, axis=0)
    response = (rows / along).T @ (pushes / across)
    if not np.linalg.cond(response) < 1.0 / SINGULAR:
        raise ContactError('the forces of sliding contacts do not move these contacts')
    forces = np.linalg.solve(response, (right_side - A @ free) / along) / across
    step = solve_lower(factor, pushes @ forces, transposed=True)
    return free + step, forces


class Details:
    """Intermediate quantities of a method of forward dynamics."""

    __slots__ = ()


@dataclass(frozen=True, eq=False, slots=True)
class Motion:
    """
    Accelerations of a constrained robot and what the constraints do.

    Of many states, every array has one row, and rank, residuals, taken and details one entry, for
    each.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot [rad/s^2 or m/s^2].
    multipliers : ndarray, shape (k,)
        lambda, one for each row; forces [N] for the wheel rows.
    constraint_force : ndarray, shape (nv,)
        A' lambda on v [N m or N], with the forces of constraints that are built into generalized
        speeds.
    rank : int
        Number of rows that were taken, see `row_selection`.
    residual : float
        Norm of A vdot - b over all rows: where rows nearly repeat others, what is not enforced.
    velocity_violation : ndarray, shape (k,)
        A v - b0: how far the given speeds violate each row.
    position_violation : ndarray, shape (k,)
        Phi of holonomic rows [m or rad], 0 for the others.
    labels : tuple of str
        Names of the rows.
    independent_labels : tuple of str
        Names of the rows that were taken.
    details : object, optional
        Intermediate quantities of the method, such as `GaussSolution`; None where nobody asked
        for them (simulation, compiled motion).

    """

    acceleration: Floats
    multipliers: Floats
    constraint_force: Floats
    rank: int
    residual: float
    velocity_violation: Floats
    position_violation: Floats
    labels: tuple[str, ...]
    independent_labels: tuple[str, ...]
    details: Details | None = None

    @property
    def velocity_residual(self) -> Any:
        """Return the norm of A v - b0; float."""
        norms = np.linalg.norm(self.velocity_violation, axis=-1)
        return float(norms) if norms.ndim == 0 else norms


class MotionAsRead(Motion):
    """Accelerations, and all else of a motion from when something of it is read."""

    __slots__ = ('_motion',)

    def __getattr__(self, name: str) -> Any:
        """Return what no slot has yet."""
        if name not in Motion.__slots__:
            raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')
        function, state = self._motion
        motion = function(*state)
        for slot in Motion.__slots__[1:]:
            object.__setattr__(self, slot, getattr(motion, slot))
        return getattr(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the whole motion."""
        return Motion, tuple(getattr(self, slot) for slot in Motion.__slots__)


def motion_as_read(
    acceleration: Floats, motion: Callable[..., Motion], state: tuple[Any, ...]
) -> Motion:
    """Return a motion whose accelerations are known; all else is that of `motion(*state)`."""
    made = object.__new__(MotionAsRead)
    object.__setattr__(made, 'acceleration', acceleration)
    object.__setattr__(made, '_motion', (motion, state))
    return made


def blank_motion(nv: int, labels: tuple[str, ...]) -> Motion:
    """Return the motion of a state that is not finite."""
    nothing, of_rows = np.full(nv, np.nan), np.full(len(labels), np.nan)
    return Motion(nothing, of_rows, nothing, 0, np.nan, of_rows, of_rows, labels, ())


def motion_of(
    selection: RowSelection,
    v: Floats,
    acceleration: Floats,
    multipliers: Floats,
    details: Details | None = None,
) -> Motion:
    """Return a motion from its accelerations and the multipliers of the rows that were taken."""
    rows = selection.rows
    selection.check_speeds(v)
    selection.check_accelerations(acceleration)
    return Motion(
        acceleration,
        selection.shared(multipliers),
        rows.matrix[selection.independent_indices].T @ multipliers,
        len(selection.independent_indices),
        float(np.linalg.norm(rows.matrix @ acceleration - rows.acceleration)),
        np.asarray(rows.matrix @ v - rows.velocity, dtype=float),
        np.array([phi or 0.0 for phi in rows.positions], dtype=float),
        rows.labels,
        selection.labels,
        details,
    )


def solve_motion(
    robot: Robot, rows: ConstraintRows, mass: Floats, bias: Floats, v: Floats, tau: Floats
) -> Motion:
    """Return the motion under given rows for a known mass matrix and bias force C v + g - J' w."""
    force = tau - bias - joint_friction(robot, v.tolist())
    result = constrained_motion(mass, force, rows)
    return motion_of(result.selection, v, result.acceleration, result.multipliers)
