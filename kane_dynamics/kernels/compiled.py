# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics are machine code; made by `kane_dynamics.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algorithms import dynamics
from kane_dynamics.algorithms.forward_dynamics import forward_dynamics, solve_by, solve_motion
from kane_dynamics.algorithms.generalized_speeds import GeneralizedSpeeds
from kane_dynamics.algorithms.kinematics import forward_kinematics
from kane_dynamics.algorithms.methods import Motion
from kane_dynamics.algorithms.udwadia_kalaba import selected_rows
from kane_dynamics.constraints.base import Constraint, ConstraintRows, constraint_rows
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.kernels.build import STEPS, Build, step_name
from kane_dynamics.kernels.derivatives import (
    Derivatives,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from kane_dynamics.kernels.engine import CompiledEngine
from kane_dynamics.kernels.generic import GenericTerms, coriolis_by_columns
from kane_dynamics.kernels.kernel import Kernel
from kane_dynamics.kernels.kernel_spec import LARGEST_INPUT
from kane_dynamics.kernels.method_terms import CompiledTerms
from kane_dynamics.kernels.native import Linker
from kane_dynamics.kernels.parameters import Parameters
from kane_dynamics.kernels.recording import EffortLaw
from kane_dynamics.kernels.selection import RowPlan
from kane_dynamics.model.checks import as_choice, as_number
from kane_dynamics.model.robot import POINT, Robot
from kane_dynamics.model.state import checked_coordinates, checked_speeds
from kane_dynamics.simulation.integrators import INTEGRATORS
from kane_dynamics.simulation.reference import ReferenceEngine, check_halvings
from kane_dynamics.simulation.simulation import Engine, Trajectory, simulate

Floats = NDArray[np.float64]

_INPUTS = {
    'inverse_dynamics': ('q', 'v', 'a'),
    'bias_force': ('q', 'v'),
    'gravity_force': ('q',),
    'mass_matrix': ('q',),
    'coriolis_matrix': ('q', 'v'),
    'kinetic_energy': ('q', 'v'),
    'potential_energy': ('q',),
    'frame_poses': ('q',),
    'forward_dynamics': ('q', 'v', 'tau', 'time'),
    'motion': ('q', 'v', 'tau', 'time'),
    'inertial_effort': ('q', 'a'),
    'coriolis_effort': ('q', 'v', 'x'),
    'balance_derivatives': ('q', 'v', 'a', 'lambda', 'time'),
    'constraint_rows': ('q', 'v', 'time'),
    'gibbs_gradient': ('q', 'v', 'a'),
    'lagrange_terms': ('q', 'v'),
}
_NEVER_SOLVED = (
    'balance_derivatives',
    'constraint_rows',
    'gibbs_gradient',
    'inertial_effort',
    'coriolis_effort',
    'lagrange_terms',
)


class CompiledRobot:
    """
    Dynamics of one robot under fixed constraints as machine code.

    The functions below have the names and results of those of `kane_dynamics`. They take float64
    arrays of one state, or of many states as rows (run on all cores), and write into `out` where
    it is given. NaN in any input gives NaN in every entry of the output, in its row alone; a
    quaternion that is not unit raises InvalidInputError, with the number of the row.

    - ``inverse_dynamics(q, v, a, out=None)``, shape (nv,)
    - ``bias_force(q, v, out=None)``, ``gravity_force(q, out=None)``, shape (nv,)
    - ``mass_matrix(q, out=None)``, ``coriolis_matrix(q, v, out=None)``, shape (nv, nv)
    - ``kinetic_energy(q, v, out=None)``, ``potential_energy(q, out=None)``, shape ()
    - ``frame_poses(q, out=None)``, shape (n, 7): position and (w, x, y, z) of each of `frames`
    - ``forward_dynamics(q, v, tau, out=None)``, shape (nv,): accelerations under the constraints.
      Where a constraint depends on time, ``time`` (an array of one number) follows `tau`.

    Attributes
    ----------
    robot : Robot
        The robot with the present gravity and payloads.
    constraints : tuple of Constraint
        All rows, redundant ones included.
    frames : tuple of str
        Links of `frame_poses`.
    effort : callable or None
        The law that its time steps contain.
    source : str
        'compiled' or 'cache'.
    remark : str
        What the cache on disk said.

    """

    def __init__(
        self,
        parameters: Parameters,
        constraints: Sequence[Constraint],
        plan: RowPlan,
        frames: Sequence[str],
        build: Build,
        effort: EffortLaw | None = None,
    ) -> None:
        self._parameters = parameters
        self._plan = plan
        self.constraints = tuple(constraints)
        self.frames = tuple(frames)
        self.source = build.source
        self.remark = build.remark
        self._build = build
        self.effort = effort
        self._linker = Linker()
        loaded = self._linker, parameters.values
        self._kernels = {
            name: Kernel(name, build.kernels[name], names, self._reference(name), *loaded)
            for name, names in _INPUTS.items()
            if name in build.kernels
        }
        calls = {name: kernel.call for name, kernel in self._kernels.items()}
        self._generic: GenericTerms | None = None
        if 'motion' not in build.kernels:
            self._generic = GenericTerms(parameters, calls['inertial_effort'], calls['bias_force'])
            calls = self._generic.functions(self.constraints) | calls
        if 'coriolis_effort' in calls:
            effort = calls['coriolis_effort']
            calls['coriolis_matrix'] = coriolis_by_columns(parameters.robot, effort)
        calls['constraint_rows'] = self.constraint_rows
        self._terms = CompiledTerms(parameters, self.constraints, calls, self._kernels)
        self.inverse_dynamics = calls['inverse_dynamics']
        self.bias_force = calls['bias_force']
        self.gravity_force = calls['gravity_force']
        self.mass_matrix = calls['mass_matrix']
        self.coriolis_matrix = calls['coriolis_matrix']
        self.kinetic_energy = calls['kinetic_energy']
        self.potential_energy = calls['potential_energy']
        self.frame_poses = calls['frame_poses']
        self.forward_dynamics = calls['forward_dynamics']
        self._engines: dict[tuple[str, bool, int], CompiledEngine] = {}
        self._rows: ConstraintRows | None = None

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._parameters.robot

    def set_gravity(self, vector: ArrayLike) -> None:
        """
        Set the gravity acceleration of all functions, from their next call on.

        Nothing is compiled again. Not while another thread is in a call.

        Parameters
        ----------
        vector : array_like, shape (3,)
            In world axes [m/s^2], less the acceleration of the world frame: a tilted or an
            accelerated base.

        Raises
        ------
        InvalidInputError
            If it is not three finite numbers.

        """
        self._parameters.set_gravity(vector)

    def set_payload(
        self,
        frame: str,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = POINT,
    ) -> None:
        """
        Set what a frame carries, for all functions, from their next call on.

        It takes the place of what the frame carried; mass 0 takes it off. Nothing is compiled
        again. Not while another thread is in a call.

        Parameters
        ----------
        frame : str
            One of the frames that ``payloads`` named when compiling.
        mass : float
            [kg], >= 0.
        com : array_like, shape (3,)
            Its centre of mass from the origin of the frame, in the frame's axes [m].
        inertia : array_like, shape (3, 3)
            Its inertia about the centre of mass, in the frame's axes [kg m^2]; a point mass where
            left out.

        Raises
        ------
        NameNotFoundError
            If there is no such frame.
        InvalidInputError
            If the frame was not named when compiling, or anything but real numbers is given.
        InvalidInertiaError
            If no body has this mass and inertia.

        """
        self._parameters.set_payload(frame, mass, com, inertia)

    @property
    def fallbacks(self) -> int:
        """Return how many states the reference solved, because rows were dependent there."""
        kernels = sum(kernel.fallbacks for kernel in self._kernels.values())
        return kernels + sum(engine.fallbacks for engine in self._engines.values())

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of each kernel's graph."""
        return {name: kernel.instructions for name, kernel in self._kernels.items()}

    def motion(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: float = 0.0,
        *,
        method: str = 'gauss',
        speeds: GeneralizedSpeeds | None = None,
    ) -> Motion:
        """
        Return accelerations with multipliers and constraint forces at one state.

        By Gauss's principle in compiled code; where rows repeat others, the multipliers are shared
        out by the reference. The other methods solve by numpy on compiled terms, for robots that
        were compiled with ``methods=True``.

        Parameters and errors as for `kane_dynamics.forward_dynamics`.
        """
        if method != 'gauss' or speeds is not None:
            return self._by_method(method, q, v, tau, time, speeds)
        if self._generic is not None:
            if 'forward_dynamics' in self._kernels:
                return self._free_motion(q, v, tau)
            return self._generic.motion(self.constraints, q, v, tau, time)
        labels = tuple(label for c in self.constraints for label in c.labels)
        kernel = self._kernels['motion']
        timed = ([time],) if kernel.takes == len(_INPUTS['motion']) else ()
        outputs = kernel.all_outputs(q, v, tau, *timed)
        if outputs is None:
            return forward_dynamics(self.robot, q, v, tau, self.constraints, time=time)
        if self._plan.repeated or not self._plan.certain:  # multipliers must be shared out
            return self._shared_motion(q, v, tau, time)
        acceleration, multipliers, force, residual, slip = outputs
        norms = float(np.linalg.norm(residual)), float(np.linalg.norm(slip))
        return Motion(acceleration, multipliers, force, len(labels), *norms, labels, labels)

    def _free_motion(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Motion:
        """Return a motion without constraints."""
        outputs = self._kernels['forward_dynamics'].all_outputs(q, v, tau)
        if outputs is None:
            return forward_dynamics(self.robot, q, v, tau)
        nothing = np.zeros(0)
        return Motion(outputs[0], nothing, np.zeros(self.robot.nv), 0, 0.0, 0.0, (), ())

    def constraint_rows(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> ConstraintRows:
        """
        Return all constraint rows A v = b0, A vdot = b at one state.

        Parameters and errors as for `kane_dynamics.forward_dynamics`.
        """
        if 'constraint_rows' not in self._kernels:
            state = checked_coordinates(self.robot, q), checked_speeds(self.robot, v)
            return constraint_rows(self.robot, self.constraints, *state, time)
        A, b0, b, phi = self._kernels['constraint_rows'].outputs(q, v, [time])
        if self._rows is None:  # what does not depend on the state: labels, kinds, owners
            state = checked_coordinates(self.robot, q), checked_speeds(self.robot, v)
            self._rows = constraint_rows(self.robot, self.constraints, *state, time)
        known = zip(self._rows.positions, phi.tolist(), strict=True)
        positions = tuple(None if there is None else x for there, x in known)
        return replace(self._rows, matrix=A, velocity=b0, acceleration=b, positions=positions)

    def _shared_motion(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, time: float) -> Motion:
        """Return a motion by numpy on compiled terms."""
        place, speeds = np.array(q, dtype=float), np.array(v, dtype=float)
        mass, bias = self.mass_matrix(place), self.bias_force(place, speeds)
        rows = self.constraint_rows(place, speeds, time)
        return solve_motion(self.robot, rows, mass, bias, speeds, np.array(tau, dtype=float))

    def _by_method(
        self,
        method: str,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        time: float,
        speeds: GeneralizedSpeeds | None,
    ) -> Motion:
        if not self._build.methods:
            raise InvalidInputError(
                f"compile with methods=True for method {method!r}; without it there is 'gauss'"
            )
        place = np.array(checked_coordinates(self.robot, q))
        velocity = np.array(checked_speeds(self.robot, v))
        efforts = np.array(checked_speeds(self.robot, tau, 'tau'))
        return solve_by(method, self.robot, self._terms, place, velocity, efforts, time, speeds)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> Derivatives:
        """
        Return d tau / d(q, v, a), friction and armature included.

        Parameters as for `kane_dynamics.inverse_dynamics`.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, or the robot was compiled without ``derivatives=True``.

        """
        nothing = np.zeros(len(self._plan.order))
        balance = self._derivative('balance_derivatives', q, v, a, nothing, np.zeros(1))
        return of_inverse_dynamics(balance, self.mass_matrix(q))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, time: float = 0.0
    ) -> Derivatives:
        """
        Return d vdot / d(q, v, tau) under the constraints.

        Parameters as for `kane_dynamics.forward_dynamics`.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, or the robot was compiled without ``derivatives=True``.

        """
        t, order = np.array([as_number('time [s]', time)]), list(self._plan.order)
        kernel = self._kernels['motion']
        timed = (t,) if kernel.takes == len(_INPUTS['motion']) else ()
        outputs = kernel.all_outputs(q, v, tau, *timed)
        A = self.constraint_rows(q, v, time).matrix[order]
        mass = self.mass_matrix(q)
        own = ConstraintRows.of(A, np.zeros(len(A)), np.zeros(len(A)))
        if outputs is None or len(selected_rows(mass, own).taken) < len(A):
            raise InvalidInputError(
                'the constraint rows are dependent at this state: vdot has no derivative there'
            )
        multipliers = outputs[1][order]
        balance = self._derivative('balance_derivatives', q, v, outputs[0], multipliers, t)
        return of_forward_dynamics(balance, mass, A)

    def _derivative(self, name: str, *inputs: ArrayLike) -> Floats:
        if name not in self._kernels:
            raise InvalidInputError('compile with derivatives=True for derivatives')
        result = self._kernels[name].call(*inputs)
        if result.ndim != 2:
            raise InvalidInputError('derivatives are of one state, got several')
        return result

    def engine(
        self, integrator: str = 'semi_implicit', projection: bool = True, halvings: int = 0
    ) -> Engine:
        """
        Return compiled time steps, for `kane_dynamics.Simulation`.

        Raises
        ------
        InvalidInputError
            If the integrator is unknown, or `halvings` not a number from 0 to 20.

        """
        as_choice('integrator', integrator, sorted(INTEGRATORS))
        check_halvings(halvings)
        projection = projection and bool(self.constraints)
        if STEPS not in self._build.kernels:
            return ReferenceEngine(
                self._parameters, self.constraints, integrator, projection, self._generic, halvings
            )
        key = integrator, projection, halvings
        if key not in self._engines:
            code = self._build.kernels[STEPS].code
            name = step_name(integrator, projection)
            loaded = self._linker, self._parameters
            self._engines[key] = CompiledEngine(self, name, code, *key, *loaded)
        return self._engines[key]

    def simulate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        duration: float,
        *,
        effort: ArrayLike | None = None,
        step: float = 0.001,
        integrator: str = 'rk4',
        projection: bool = True,
        halvings: int = 0,
    ) -> Trajectory:
        """
        Return the motion from a state over `duration` in one compiled call.

        Parameters
        ----------
        q, v : array_like, shapes (nq,), (nv,)
            State at t = 0.
        duration : float
            [s]; rounded to whole steps.
        effort : array_like, shape (nv,) or (n, nv), optional
            Efforts, constant or one row for each step; zero where left out.
        step : float
            Length of a step [s].
        integrator, projection, halvings
            As for `kane_dynamics.Simulation`.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, or the integrator is unknown.
        DivergedError, StepError
            As for `kane_dynamics.Simulation.step`.

        """
        engine = self.engine(integrator, projection, halvings)
        if isinstance(engine, CompiledEngine):
            return engine.trajectory(q, v, duration, effort, step)
        return simulate(
            self.robot,
            q,
            v,
            duration,
            effort=effort,
            constraints=self.constraints,
            step=step,
            projection=projection,
            engine=engine,
        )

    def _reference(self, name: str) -> Callable[..., Any]:
        load, constraints = self._parameters, self.constraints
        if name in ('forward_dynamics', 'motion'):

            def acceleration(q: Floats, v: Floats, tau: Floats, time: Any = (0.0,)) -> Floats:
                found = forward_dynamics(load.robot, q, v, tau, constraints, time=float(time[0]))
                return found.acceleration

            return acceleration
        if name == 'frame_poses':
            return self._reference_poses
        if name in _NEVER_SOLVED:
            return self._no_reference
        function = getattr(dynamics, name)
        return lambda *arrays: function(load.robot, *arrays)

    def _no_reference(self, q: Floats, *_: Floats) -> Floats:
        """Say why machine code that solves nothing has no answer."""
        checked_coordinates(self.robot, q)
        raise InvalidInputError(f'states must be below {LARGEST_INPUT:g} here, got q = {q}')

    def _reference_poses(self, q: Floats) -> Floats:
        kinematics = forward_kinematics(self.robot, q)
        poses = [kinematics.pose(name) for name in self.frames]
        return np.array([[*x.position(), *x.rotation.components] for x in poses])
