# SPDX-License-Identifier: Apache-2.0
"""The interface of all engines, and the reference engine: the formulas of the table in numpy."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algorithms.newton_euler import external_force
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.base import Arrays, Choices, Out
from kane_dynamics.dynamics.constrained import GAUSS, START
from kane_dynamics.dynamics.kinematics import KinematicFunctions
from kane_dynamics.dynamics.limited_inverse import LimitedEfforts
from kane_dynamics.dynamics.table import FUNCTIONS, documented
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations import ReferenceTerms, solve_by
from kane_dynamics.formulations.problem import Terms as MassTerms
from kane_dynamics.robot.checks import as_count, as_number, as_one, as_positive
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import GravityAndPayloads, checked_coordinates, checked_speeds
from kane_dynamics.simulation.motions import ManyMotions, Trajectory, simulate
from kane_dynamics.simulation.reference import ReferenceEngine
from kane_dynamics.simulation.simulation import EffortLaw, Engine
from kane_dynamics.simulation.step_checks import check_steps
from kane_dynamics.typing import ArrayLike, Floats

RowsFunction = Callable[[Floats, Floats, float], ConstraintRows]


class CompiledSubset(NamedTuple):
    """Compiled steps for a subset of constraints; None where a state is ill-conditioned."""

    step: Callable[..., Floats | None]
    look: Callable[..., Floats | None]


class ConstraintSubsetDynamics:
    """Rows of constraints of which some hold at a time."""

    def __init__(self, constraints: ConstraintSet, rows: RowsFunction) -> None:
        self.constraints, self.rows = constraints, rows

    def on(self, selection: Sequence[int]) -> CompiledSubset | None:
        """Return machine code under the constraints of these numbers, None where there is none."""
        return None


class Dynamics(LimitedEfforts, KinematicFunctions):
    """
    Dynamics of one robot under constraints.

    Every method takes one state, or many as rows of (B, n) arrays; results then have B rows. `out`
    takes the result where it is one array. NaN in a state gives NaN in its results, in its row
    alone; anything else that is wrong raises the errors of the functions of the same name in
    `kane_dynamics`. Examples of the methods go on from the one below.

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

    Examples
    --------
    >>> d = kd.dynamics(kd.serial_chain(2))
    >>> q, v, a, tau = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])
    >>> d.mass_matrix(q).shape, d.mass_matrix([q, q, q]).shape
    ((2, 2), (3, 2, 2))

    """

    effort: Callable[..., Any] | None = None
    gains: tuple[float, ...] = ()
    passive_force: Callable[..., Any] | None = None

    def switched(self, constraints: Sequence[Constraint]) -> ConstraintSubsetDynamics:
        """
        Return what moves this robot under any set of other constraints; kept once made.

        An effort law and a passive force that the dynamics contain do not act in it.
        """
        return self._switched_by(constraints)

    def _switched_by(self, constraints: Sequence[Constraint]) -> ConstraintSubsetDynamics:
        others = ConstraintSet.of(self.robot, constraints)
        return ConstraintSubsetDynamics(others, others.rows)

    def engine(
        self, integrator: str = 'semi_implicit', projection: bool = True, halvings: int = 0
    ) -> Engine:
        """Return the time steps, for `kane_dynamics.Simulation`."""
        check_steps(integrator, projection, halvings)
        return self._engine(integrator, projection and bool(self.constraints), halvings)

    @abstractmethod
    def _engine(self, integrator: str, projection: bool, halvings: int) -> Engine:
        """Return the time steps, by checked arguments."""

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
        check_steps(integrator, projection)
        result = self._motions_by(integrator, projection and bool(self.constraints), precision)
        if result is None and precision == 'float32':
            raise InvalidInputError("precision='float32' needs kd.compile(precision='float32')")
        return result

    def _motions_by(self, *how: Any) -> ManyMotions | None:
        return None

    @documented
    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        step: float = 0.001,
        n: int = 1,
        integrator: str = 'semi_implicit',
        time: float = START,
    ) -> tuple[Floats, Floats]:
        """
        Return q and v after n steps [s] at constant efforts, drift projected away.

        Examples
        --------
        >>> after = d.step(q, v, tau, step=0.001, n=10)
        >>> [x.shape for x in after]
        [(2,), (2,)]

        """
        coordinates = np.array(checked_coordinates(self.robot, q))
        speeds, efforts = (
            np.array(checked_speeds(self.robot, x, name)) for name, x in (('v', v), ('tau', tau))
        )
        h, t = as_positive('step [s]', step), as_number('time [s]', time)
        state = coordinates, speeds, efforts
        return self.engine(integrator).advance(*state, t, h, as_count('n', n))

    @documented
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
        """
        Return the motion from a state over `duration` [s]; see `kane_dynamics.simulate`.

        Examples
        --------
        >>> d.simulate(q, v, 0.02, step=0.01).q.shape
        (3, 2)

        """
        engine = self.engine(integrator, projection, halvings)
        how = {'step': step, 'integrator': integrator, 'projection': projection}
        return self._trajectory(engine, q, v, {'duration': duration, 'effort': effort, **how})

    def _trajectory(
        self, engine: Engine, q: ArrayLike, v: ArrayLike, how: dict[str, Any]
    ) -> Trajectory:
        """Return the motion by an engine."""
        return simulate(self.robot, q, v, constraints=self.constraints, engine=engine, **how)


def checked_dynamics(values: Any) -> Dynamics:
    """Return dynamics of any engine."""
    return as_one(Dynamics, 'dynamics', values, 'what kd.dynamics or kd.compile returns')  # type: ignore[type-abstract]


_AS_LISTS = {'v', 'a', 'reference'}  # recursions are quicker on floats


class ReferenceDynamics(Dynamics):
    """The reference engine: the algorithms of the papers in numpy, state by state."""

    def _call(self, name: str, arrays: Arrays, choices: Choices = (), out: Out = None) -> Floats:
        function = partial(self.at_state, name, choices)
        return self._by_states(name, function, arrays, out)

    def at_state(self, name: str, choices: tuple[Any, ...], *state: Floats) -> Any:
        """Return what a function of the table gives at one state of finite numbers."""
        row = FUNCTIONS[name]
        inputs = [self._scalars(*pair) for pair in zip(row.inputs, state, strict=False)]
        return row.formula(self, *inputs, *choices)

    def _scalars(self, name: str, x: Floats) -> Any:
        if name == 'q':
            return checked_coordinates(self.robot, x)
        if name == 'time':
            return float(x[0])
        return x.tolist() if name in _AS_LISTS else x

    def motion_at(self, q: Floats, v: Floats, tau: Floats, t: float = START, *how: Any) -> Motion:
        """Return the motion at one state of finite numbers, by a method and generalized speeds."""
        method, speeds = how or (GAUSS, None)
        terms = ReferenceTerms(self.robot, self.constraints)
        place = checked_coordinates(self.robot, q)
        efforts = tau + external_force(self.robot, place, self.wrenches)
        state = np.array(place), np.array(v), efforts
        return solve_by(method, self.robot, terms, *state, t, speeds)

    def _rows(self, q: ArrayLike, v: ArrayLike, time: float) -> ConstraintRows:
        t = as_number('time [s]', time)
        state = checked_coordinates(self.robot, q), checked_speeds(self.robot, v)
        return self.constraints.rows(*state, t)

    def _engine(self, integrator: str, projection: bool, halvings: int) -> Engine:
        steps = integrator, projection, self._step_terms(), halvings
        return ReferenceEngine(self._load, self.constraints, *steps)

    def _step_terms(self) -> MassTerms | None:
        """Return where time steps get M and C v + g from, if not from the reference."""
        return None


def dynamics(
    robot: Robot, constraints: Sequence[Constraint] = (), *, frames: Sequence[str] | None = None
) -> Dynamics:
    """Return the dynamics of a robot under constraints by the reference algorithms."""
    return ReferenceDynamics(GravityAndPayloads(robot), constraints, frames)


def free_dynamics(robot: Robot, engine: Dynamics | None) -> Dynamics:
    """Return dynamics of the robot without constraints and forces of its own, else an error."""
    if engine is None:
        return dynamics(robot)
    if checked_dynamics(engine).constraints:
        raise InvalidInputError(
            f'dynamics must be unconstrained (got constraints {list(engine.labels)}); pass them '
            'as constraints='
        )
    if getattr(engine, 'effort', None) is not None:
        raise InvalidInputError(
            'dynamics: need those without an effort law or a passive force; pass efforts to each '
            'step instead'
        )
    if engine.robot.kinematic_key != robot.kinematic_key:
        raise InvalidInputError(f"dynamics: need those of '{robot.name}', got another robot's")
    return engine
