# SPDX-License-Identifier: Apache-2.0
r"""
Wrench, impedance or motion of a frame, axis by axis (Silva et al., section 6, as future work).

The accelerations a move the frame as its motion axes ask,
:math:`J a + \dot J v = \ddot x + K e + B \dot e`, keep the constraints, :math:`A a = b`, and are
otherwise the nearest ones (in the metric M) to those that bring the joints to their posture.
The efforts are those of inverse dynamics within limits and friction cones, as if the
environment answered with the opposite of the wrench w that is wanted:

.. math:: S^T \tau + A^T \lambda = M a + C v + g + D v + F v/\max(|v|, v_s) + J^T w

A wall that stands still answers so; a frame that nothing stops is accelerated by w. Where wheels
would have to give more than their friction cones allow, there are no such efforts, and the error
says so. Below the speed v_s only a part of the Coulomb friction is made up for: at rest nobody
knows its sign.

An effort that is held for a period h can take the speed of a light hand, and throw it back: a
damper B acts as :math:`(1 + h B \Lambda^{-1})^{-1} B`, with :math:`\Lambda^{-1}` the accelerations
per wrench, which takes all of the speed in a period at most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.limited_inverse import ForceLimits, LimitedEffort
from kane_dynamics.algorithms.newton_euler import implicit_drag
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.algorithms.wrench_law import WrenchLaw
from kane_dynamics.analysis.frame_task import FrameTask, check_gains, frame_task, task_acceleration
from kane_dynamics.constraints.closed_contacts import FrictionCone
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.dynamics.limited_inverse import checked_limits
from kane_dynamics.dynamics.limited_problem import LimitedInverse
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError
from kane_dynamics.robot import checks
from kane_dynamics.robot.state import pose_numbers
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['WrenchControl', 'WrenchTarget']

MODES = ('wrench', 'impedance', 'motion', 'free')
AXES = ('world', 'frame')
NAMES = ('about x', 'about y', 'about z', 'along x', 'along y', 'along z')
REST = (0.0,) * 6
HERE = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_REACHED = 1e-6  # of accelerations of motion axes, relative


@dataclass(frozen=True, eq=False)
class WrenchTarget:
    """
    What the frame is to do; each axis takes from it what its mode needs.

    Parameters
    ----------
    pose : Pose or array_like, shape (7,), optional
        In the world, as such or as position and (w, x, y, z); needed by impedance and motion axes.
    twist, acceleration : array_like, shape (6,)
        (omega, v) and its rate, in the axes of the control.
    wrench : array_like, shape (6,)
        (tau, f) of the robot on its environment, at the frame's origin, in these axes [N m, N].

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, or the quaternion is zero.

    """

    pose: ArrayLike | Pose | None = None
    twist: ArrayLike = REST
    acceleration: ArrayLike = REST
    wrench: ArrayLike = REST
    numbers: Floats = field(init=False, repr=False)  # shape (25,): All of it

    def __post_init__(self) -> None:
        numbers = np.zeros(25)
        numbers[:7] = HERE if self.pose is None else pose_numbers('pose', self.pose)
        for name, start in (('twist', 7), ('acceleration', 13), ('wrench', 19)):
            part = checks.as_vector(name, getattr(self, name), 6)
            object.__setattr__(self, name, part)
            numbers[start : start + 6] = part
        object.__setattr__(self, 'numbers', numbers)


@dataclass(frozen=True, eq=False)
class WrenchControl:
    """
    The law that turns state and target into efforts.

    Parameters
    ----------
    dynamics : Dynamics
        Robot and constraints (wheels on the ground), of either engine.
    frame : str
        The frame.
    actuated : sequence of str
        Names of the speeds that have motors.
    modes : sequence of str, length 6
        For rotation about x, y, z and translation along them: 'wrench' (the wanted wrench),
        'impedance' (that, and spring and damper to the wanted pose and twist), 'motion' (the
        wanted motion, whatever force that takes) or 'free'.
    stiffness, damping : array_like, shape (6,)
        K, B >= 0 of impedance axes [N m/rad, N/m; N m s/rad, N s/m]; on motion axes of the
        acceleration per error [1/s^2; 1/s]; on wrench axes B alone brakes a frame that nothing
        stops.
    posture : mapping of str to float, optional
        Wanted coordinates of joints [rad or m]; wheels among them hold the base.
    posture_stiffness, posture_damping : float
        Accelerations towards it [1/s^2; 1/s].
    friction_speed : float
        v_s > 0 [rad/s, m/s].
    period : float
        h >= 0, from one state to the next [s]; stiffness needs K h^2 below what moves there [kg].
    limits : array_like, shape (nv,), optional
        Of efforts; those of the URDF where left out.
    cones : sequence of FrictionCone
        Traction of the wheels.
    axes : str
        'world' or 'frame': what x, y, z of modes and targets are.

    Raises
    ------
    NameNotFoundError
        If there is no such frame, speed, coordinate or row.
    InvalidInputError
        If anything else is not as said above.

    """

    dynamics: Dynamics
    frame: str
    actuated: Sequence[str]
    modes: Sequence[str]
    stiffness: ArrayLike
    damping: ArrayLike
    posture: Mapping[str, float] | None = None
    posture_stiffness: float = 25.0
    posture_damping: float = 10.0
    friction_speed: float = 0.05
    period: float = 0.0
    limits: ArrayLike | None = None
    cones: Sequence[FrictionCone] = ()
    axes: str = 'world'
    _columns: list[int] = field(init=False, repr=False)
    _limits: ForceLimits = field(init=False, repr=False)
    _posture_table: tuple[list[int], list[int], Floats] = field(init=False, repr=False)
    _law: WrenchLaw = field(init=False, repr=False)
    _gains: Floats = field(init=False, repr=False)
    _placed: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        robot = checked_dynamics(self.dynamics).robot
        checks.index_of(
            'frame', robot.bodies[robot.moving_body(self.frame)].name, self.dynamics.frames
        )
        modes = checks.as_names('modes', self.modes)
        if len(modes) != 6:
            raise InvalidInputError(f'modes: need six, got {len(modes)}')
        for mode in modes:
            checks.as_choice('modes', mode, MODES)
        checks.as_choice('axes', self.axes, AXES)
        check_gains(self)
        checks.as_nonnegative('period [s]', self.period)
        checks.as_positive('friction_speed', self.friction_speed)
        actuated, labels = checks.as_names('actuated', self.actuated), self.dynamics.labels
        columns, limits = checked_limits(robot, actuated, labels, self.limits, self.cones)
        posture = checks.as_mapping('posture', self.posture or {})
        indices = [robot.coordinate_index(name) for name in posture]
        speeds = [robot.velocity_index(name) for name in posture]
        numbers = np.array(
            [checks.as_number(f'posture of {name}', x) for name, x in posture.items()]
        )
        placed, moving = np.isin(modes, ('impedance', 'motion')), np.isin(modes, 'motion')
        sides = moving, ~moving & ~np.isin(modes, 'free')
        stiffness = np.where(placed, np.asarray(self.stiffness), 0.0)
        held = self.friction_speed, self.period
        gains = np.concatenate([stiffness, self.damping, *sides, held])
        vars(self).update(
            _columns=columns,
            _limits=limits,
            _posture_table=(indices, speeds, numbers),
            _law=WrenchLaw(self.frame, tuple(actuated), self.axes == 'frame'),
            _gains=gains,
            _placed=bool(placed.any()),
        )

    def effort(
        self, q: ArrayLike, v: ArrayLike, target: WrenchTarget, nearest_motion: bool = False
    ) -> LimitedEffort:
        """
        Return the efforts for a target at a state, what they need of the wheels, and what binds.

        Parameters
        ----------
        q, v : array_like, shapes (nq,), (nv,)
            State.
        target : WrenchTarget
            What the frame is to do.
        nearest_motion : bool
            Whether, where limits and traction do not allow it, the robot is to move as nearly as
            they do: for a robot that is to stop, and cannot at once.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, or an axis needs a pose and the target
            has none.
        UnreachableAccelerationError
            If no efforts within limits and friction cones do it; `names` has those in conflict.
        SingularMassMatrixError, InconsistentConstraintsError, MissingPackageError
            As for `kane_dynamics.limited_inverse_dynamics`.

        """
        d, robot = self.dynamics, self.dynamics.robot
        q, v = checks.as_vector('q', q, robot.nq), checks.as_vector('v', v, robot.nv)
        if target.pose is None and self._placed:
            raise InvalidInputError('the target needs a pose for its impedance and motion axes')
        posture = self._to_posture(q, v)
        numbers, report = d.wrench_effort(self._law, q, v, posture, target.numbers, self._gains)
        forces, a = numbers[: -2 * robot.nv - 3], numbers[-robot.nv - 3 : -3]
        excess = self._limits.excess(forces)
        if report[-1] > 0.0 or (excess > 0.0).any() or not forces[0] == forces[0]:
            return self._within_limits(q, v, posture, report, nearest_motion)
        return self._limits.result(forces, a, a, numbers.item(-2), d.labels, excess)

    def _within_limits(
        self, q: Floats, v: Floats, posture: Floats, report: Floats, nearest_motion: bool
    ) -> LimitedEffort:
        """Return efforts near a singular pose, or where the least ones are beyond limits."""
        d, robot, rate, wrench = self.dynamics, self.dynamics.robot, report[:6], report[6:12]
        task = frame_task(d, self.frame, q, v, self.axes == 'frame')
        rows = select_rows(d.constraint_rows(q, v), cholesky_factor(d.mass_matrix(q)))
        a, missed = self._acceleration(rows, task, rate, posture)
        if missed and not nearest_motion:
            ask = f"the robot cannot move '{self.frame}' here as its motion axes ask"
            raise UnreachableAccelerationError(ask, missed, max(missed.values()))
        drag = np.asarray(implicit_drag(robot, v.tolist(), self.friction_speed), dtype=float)
        bias = d.bias_force(q, v) + drag * v + task.jacobian.T @ wrench
        alike = np.ones(robot.nv)
        state = q, v, np.zeros(1)
        problem = LimitedInverse(
            d, state, bias, self._law.actuated, self._columns, alike, self._limits
        )
        return problem.effort(a, alike if nearest_motion else None)

    def _to_posture(self, q: Floats, v: Floats) -> Floats:
        """Return the accelerations that bring the joints to their posture, and others to rest."""
        coordinates, speeds, posture = self._posture_table
        a = -self.posture_damping * v
        a[speeds] += self.posture_stiffness * (posture - q[coordinates])
        return a

    def _acceleration(
        self, rows: RowSelection, task: FrameTask, rate: Floats, posture: Floats
    ) -> tuple[Floats, dict[str, float]]:
        """Return the acceleration nearest to the posture's under rows and task; what it misses."""
        controlled = [k for k, mode in enumerate(self.modes) if mode != 'free']
        a = task_acceleration(
            rows, task.jacobian[controlled], (rate - task.drift)[controlled], posture
        )
        gap = np.abs(task.jacobian @ a + task.drift - rate) / (1.0 + np.abs(rate))
        missed = {
            NAMES[k]: float(gap[k])
            for k in controlled
            if self.modes[k] == 'motion' and gap[k] > _REACHED
        }
        return a, missed
