# SPDX-License-Identifier: Apache-2.0
"""
One interface for the dynamics of a robot under constraints, whatever computes them.

`kane_dynamics.dynamics` gives the reference engine (`reference_dynamics`), the algorithms of the
papers in numpy; `kane_dynamics.compile` gives the same methods as machine code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.constrained_inverse import (
    ConstrainedEffort,
)
from kane_dynamics.algorithms.forward_dynamics import Motion, blank_motion
from kane_dynamics.algorithms.newton_euler import TERMS, ExternalWrenches
from kane_dynamics.algorithms.task_space_law import GAINS, WANTED, FrameEffort, TaskSpaceLaw
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.robot.checks import (
    Arguments,
    as_count,
    as_number,
    as_one,
    as_output,
    as_positive,
    as_times,
    fill_rows,
    index_of,
    not_finite,
    of_rows,
)
from kane_dynamics.robot.gravity_and_payloads import GravityAndPayloads
from kane_dynamics.robot.robot import POINT, Robot
from kane_dynamics.robot.state import (
    checked_coordinates,
    checked_frames,
    checked_speeds,
)
from kane_dynamics.simulation.motions import ManyMotions, Trajectory, simulate
from kane_dynamics.simulation.simulation import EffortLaw, Engine
from kane_dynamics.typing import Floats

_Result = TypeVar('_Result')
RowsFunction = Callable[[Floats, Floats, float], ConstraintRows]
AT_START = 0.0  # [s]


class CompiledSubset(NamedTuple):
    """
    Compiled steps for a subset of constraints; None where a state is ill-conditioned.

    Parameters
    ----------
    step : callable
        (q, v, tau, t, h) -> q, v and the rank of the rows after a step of rk4, (nq + nv + 1,).
    look : callable
        (q, v, tau, t) -> Phi and A v - b0 of all rows, and lambda, (3, k).

    """

    step: Callable[..., Floats | None]
    look: Callable[..., Floats | None]


class ConstraintSubsetDynamics:
    """
    Rows of constraints of which some hold at a time.

    Parameters
    ----------
    constraints : ConstraintSet
        All of them.
    rows : callable
        (q, v, t) -> all rows.

    """

    def __init__(self, constraints: ConstraintSet, rows: RowsFunction) -> None:
        self.constraints, self.rows = constraints, rows

    def on(self, selection: Sequence[int]) -> CompiledSubset | None:
        """Return machine code under the constraints of these numbers, None where there is none."""
        return None


class Dynamics(ABC):
    """
    Dynamics of one robot under constraints.

    Every method takes one state, or many as rows of (B, n) arrays; results then have B rows. `out`
    takes the result where it is one array. NaN in a state gives NaN in its results, in its row
    alone; anything else that is wrong raises the errors of the functions of the same name in
    `kane_dynamics`.

    Attributes
    ----------
    constraints : ConstraintSet
        All rows, redundant ones included.
    frames : tuple of str
        Links of `frame_poses`.
    labels : tuple of str
        Names of the constraint rows.
    effort : callable or None
        The law that the time steps contain: effort(t, q, v), or effort(t, q, v, gains).
    gains : tuple of float
        Of this law, where it takes any.
    passive_force : callable or None
        What the stages of the time steps contain: passive_force(t, q, v).

    """

    effort: Callable[..., Any] | None = None
    gains: tuple[float, ...] = ()
    passive_force: Callable[..., Any] | None = None

    def __init__(
        self,
        load: GravityAndPayloads,
        constraints: Sequence[Constraint],
        frames: Sequence[str] | None,
    ) -> None:
        self.constraints = ConstraintSet.of(load.robot, constraints)
        self.frames = checked_frames(load.robot, frames)
        self._load = load
        self.labels = self.constraints.labels

    @property
    def robot(self) -> Robot:
        """Return the robot under the present gravity and payloads."""
        return self._load.robot

    def set_gravity(self, vector: ArrayLike) -> None:
        """Set the gravity acceleration in world axes, shape (3,) [m/s^2]."""
        self._load.set_gravity(vector)

    def set_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> None:
        """
        Set what a frame carries instead of what it carried; mass 0 takes it off.

        Parameters
        ----------
        frame : str
            Its name.
        mass : float
            [kg].
        com : array_like, shape (3,)
            Centre of mass from the frame's origin, in its axes [m].
        inertia : array_like, shape (3, 3)
            About the centre of mass, in the frame's axes [kg m^2].

        Raises
        ------
        NameNotFoundError
            If there is no such frame.
        InvalidInputError
            If the frame was not named when compiling, is part of the world, or anything but real
            numbers is given.
        InvalidInputError
            If no body has this mass and inertia.

        """
        self._load.set_payload(frame, mass, com, inertia)

    def load(self) -> GravityAndPayloads:
        """Return a copy of the present gravity and payloads, which can be set by itself."""
        return self._load.copied()

    @property
    def not_compiled(self) -> tuple[str, ...]:
        """Return the functions of a compiled robot that are not machine code, but numpy."""
        return ()

    @property
    def fallback_count(self) -> int:
        """Return how many states machine code left to the reference."""
        return 0

    @abstractmethod
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_wrenches: ExternalWrenches = None,
        out: Floats | None = None,
    ) -> Floats:
        """Return the efforts that produce `a`, friction and armature included, shape (nv,)."""

    def bias_force(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """Return C v + g, shape (nv,) [N m or N]."""
        return self._term('bias_force', (self.robot.nv,), out, q=q, v=v)

    def gravity_force(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """Return g of M a + C v + g = tau, shape (nv,) [N m or N]."""
        return self._term('gravity_force', (self.robot.nv,), out, q=q)

    def friction_force(self, v: ArrayLike, out: Floats | None = None) -> Floats:
        """Return D v + F sign(v), shape (nv,) [N m or N]."""
        return self._term('friction_force', (self.robot.nv,), out, v=v)

    def mass_matrix(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """Return M(q), shape (nv, nv), armature included."""
        return self._term('mass_matrix', (self.robot.nv,) * 2, out, q=q)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """Return C(q, v), shape (nv, nv), with dM/dt - 2 C skew."""
        return self._term('coriolis_matrix', (self.robot.nv,) * 2, out, q=q, v=v)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """Return v' M v / 2, shape () [J]."""
        return self._term('kinetic_energy', (), out, q=q, v=v)

    def potential_energy(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """Return -sum m_i <gravity, p_i>, shape () [J]."""
        return self._term('potential_energy', (), out, q=q)

    def frame_poses(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """Return position and (w, x, y, z) of each of `frames` in the world, shape (n, 7)."""
        return self._term('frame_poses', (len(self.frames), 7), out, q=q)

    def frame_jacobians(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """Return J with twist = J v of each of `frames`, in its axes, shape (n, 6, nv)."""
        return self._term('frame_jacobians', (len(self.frames), 6, self.robot.nv), out, q=q)

    def frame_bias_accelerations(
        self, q: ArrayLike, v: ArrayLike, out: Floats | None = None
    ) -> Floats:
        """Return dJ/dt v of each of `frames`: its twist rate at a = 0, shape (n, 6)."""
        return self._term('frame_bias_accelerations', (len(self.frames), 6), out, q=q, v=v)

    def frame_pose(self, name: str, q: ArrayLike) -> Floats:
        """Return position and (w, x, y, z) of one of `frames` in the world, shape (7,)."""
        place: Floats = self.frame_poses(q)[..., index_of('frame', name, self.frames), :]
        return place

    def frame_jacobian(self, name: str, q: ArrayLike) -> Floats:
        """Return J with twist = J v of one of `frames`, (omega, v) in its axes, (6, nv)."""
        number = index_of('frame', name, self.frames)
        jacobian: Floats = self.frame_jacobians(q)[..., number, :, :]
        return jacobian

    def frame_bias_acceleration(self, name: str, q: ArrayLike, v: ArrayLike) -> Floats:
        """Return dJ/dt v of one of `frames`, shape (6,)."""
        drift: Floats = self.frame_bias_accelerations(q, v)[
            ..., index_of('frame', name, self.frames), :
        ]
        return drift

    def center_of_mass(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """Return the centre of mass in the world, shape (3,) [m]."""
        return self._term('center_of_mass', (3,), out, q=q)

    def momentum(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """Return momentum (angular about the centre of mass, linear), world axes, shape (6,)."""
        return self._term('momentum', (6,), out, q=q, v=v)

    def momentum_matrix(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """Return the matrix that makes momentum of v, shape (6, nv)."""
        return self._term('momentum_matrix', (6, self.robot.nv), out, q=q)

    @abstractmethod
    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = AT_START,
        out: Floats | None = None,
    ) -> Floats:
        """Return the accelerations that efforts cause under the constraints, shape (nv,)."""

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = AT_START,
        method: str = 'gauss',
        *,
        speeds: GeneralizedSpeeds | None = None,
    ) -> Motion:
        """Return accelerations, multipliers, constraint forces, rank and residuals."""

        def at(q: Floats, v: Floats, tau: Floats, t: Floats) -> Motion:
            if method == 'gauss' and speeds is None:
                return self._by_gauss(q, v, tau, float(t[0]))
            return self._by_method(method, speeds, q, v, tau, float(t[0]))

        blank, times = blank_motion(self.robot.nv, self.labels), as_times(time)
        return self._result('forward_dynamics', at, blank, q=q, v=v, tau=tau, time=times)

    @abstractmethod
    def _by_gauss(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        """Return the motion at one state."""

    @abstractmethod
    def _by_method(self, method: str, speeds: GeneralizedSpeeds | None, *state: Any) -> Motion:
        """Return the motion at q, v, tau, t by another method than that of `_by_gauss`."""

    def multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: ArrayLike = AT_START,
        out: Floats | None = None,
    ) -> Floats:
        """Return lambda of all rows under efforts, (k,): forces of wheels and contacts [N]."""

        def forces(q: Floats, v: Floats, tau: Floats, t: Floats) -> Floats:
            return self.forward_dynamics(q, v, tau, t[0]).multipliers

        state = {'q': q, 'v': v, 'tau': tau, 'time': as_times(time)}
        return self._array('multipliers', forces, (len(self.labels),), out, **state)

    @abstractmethod
    def switched(self, constraints: Sequence[Constraint]) -> ConstraintSubsetDynamics:
        """
        Return what moves this robot under any set of other constraints; kept once made.

        An effort law that the dynamics contain does not act in it.
        """

    @abstractmethod
    def constraint_rows(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> ConstraintRows:
        """Return all rows A v = b0, A vdot = b, of one state."""

    @abstractmethod
    def consistent_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
    ) -> Floats:
        """Return speeds with A v = b0: known ones as given, or the nearest to all, (nv,)."""

    @abstractmethod
    def consistent_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
    ) -> Floats:
        """Return accelerations with A a = b: known ones as given, or the nearest to all, (nv,)."""

    @abstractmethod
    def constrained_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        actuated: Sequence[str],
        weights: ArrayLike | None = None,
        known: Sequence[str] | None = None,
        time: ArrayLike = AT_START,
        *,
        terms: Sequence[str] = TERMS,
        reference: ArrayLike | None = None,
    ) -> ConstrainedEffort:
        """Return efforts of the actuated joints, and multipliers, that produce a motion."""

    @abstractmethod
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
        time: ArrayLike = AT_START,
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

    @abstractmethod
    def engine(
        self, integrator: str = 'semi_implicit', projection: bool = True, halvings: int = 0
    ) -> Engine:
        """Return the time steps, for `kane_dynamics.Simulation`."""

    def many_motions(
        self, integrator: str, projection: bool, precision: str = 'float64'
    ) -> ManyMotions | None:
        """
        Return machine code that moves many states at once, None where there is none.

        Raises
        ------
        InvalidInputError
            If there is none in this precision, 'float32'.

        """
        if precision == 'float32':
            raise InvalidInputError("precision='float32' needs kd.compile(precision='float32')")
        return None

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        step: float = 0.001,
        n: int = 1,
        integrator: str = 'semi_implicit',
        time: float = 0.0,
    ) -> tuple[Floats, Floats]:
        """Return q and v after n steps [s] at constant efforts, drift projected away."""
        place, speeds = (np.array(x) for x in self._state(q, v))
        efforts = np.array(checked_speeds(self.robot, tau, 'tau'))
        h, t = as_positive('step [s]', step), as_number('time [s]', time)
        return self.engine(integrator).advance(place, speeds, efforts, t, h, as_count('n', n))

    def simulate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        duration: float,
        *,
        effort: EffortLaw | ArrayLike | None = None,
        step: float = 0.001,
        integrator: str = 'rk4',
        projection: bool = True,
        halvings: int = 0,
    ) -> Trajectory:
        """Return the motion from a state over `duration` [s]; see `kane_dynamics.simulate`."""
        return simulate(
            self.robot,
            q,
            v,
            duration,
            effort=effort,
            constraints=self.constraints,
            step=step,
            integrator=integrator,
            projection=projection,
            engine=self.engine(integrator, projection, halvings),
        )

    @abstractmethod
    def _term(
        self, name: str, shape: tuple[int, ...], out: Floats | None, **state: ArrayLike
    ) -> Floats:
        """Return the term of this name, an array of this shape for one state."""

    def _state(self, q: ArrayLike, v: ArrayLike) -> tuple[list[float], list[float]]:
        return checked_coordinates(self.robot, q), checked_speeds(self.robot, v)

    def _array(
        self,
        name: str,
        function: Callable[..., Any],
        shape: tuple[int, ...],
        out: Floats | None,
        **state: ArrayLike,
    ) -> Floats:
        """Return an array for one state, or one row for each of many."""
        arrays, count = self._arguments(name, state).gathered(state.values(), out)
        if count is None:
            result = as_output(shape, out)
            finite = all(np.isfinite(x).all() for x in arrays)
            result[...] = function(*arrays) if finite else np.nan
            return result
        result = as_output((count, *shape), out)
        full = [np.broadcast_to(x, (count, x.shape[-1])) for x in arrays]
        fill_rows(function, full, result, range(count))
        return result

    def _result(
        self, name: str, function: Callable[..., _Result], blank: _Result, **state: ArrayLike
    ) -> _Result:
        """Return a result for one state, or one whose entries have a row for each of many."""
        arrays, count = self._arguments(name, state).gathered(state.values(), None)
        if count is None:
            for what, x in zip(state, arrays, strict=True):
                if not np.isfinite(x).all():
                    raise InvalidInputError(f'{what}: need finite numbers, got {not_finite(x)}')
            return function(*arrays)
        full = [np.broadcast_to(x, (count, x.shape[-1])) for x in arrays]
        return of_rows(function, full, blank)

    def _arguments(self, name: str, state: Mapping[str, ArrayLike]) -> Arguments:
        nq = self.robot.nq
        known = {'q': nq, 'posture': nq, 'time': 1, 'wanted': WANTED, 'gains': GAINS}
        sizes = tuple(known.get(key, self.robot.nv) for key in state)
        return Arguments(name, tuple(state), sizes)


def checked_dynamics(inputs: Any) -> Dynamics:
    """
    Return dynamics of either engine.

    Raises
    ------
    InvalidInputError
        If they are none.

    """
    return as_one(Dynamics, 'dynamics', inputs, 'what kd.dynamics or kd.compile returns')  # type: ignore[type-abstract]
