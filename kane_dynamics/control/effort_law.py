# SPDX-License-Identifier: Apache-2.0
r"""
Efforts of the motors: feed-forward at the reference plus proportional-derivative feedback.

The feed-forward is constrained inverse dynamics at the wanted motion: motors and constraints
balance the terms of :math:`h = M a + C v + g + D v + F \mathrm{sign}(v)` that are switched on,
:math:`S^T \tau + A^T \lambda = h`. With all terms that is
`kane_dynamics.constrained_inverse_dynamics`. Nothing here needs rclpy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.algorithms.projection import fit_entries
from kane_dynamics.analysis.skid_friction import SkidFriction
from kane_dynamics.analysis.tracking import to_reference_speeds
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.control.motor_friction import Presliding
from kane_dynamics.control.node_dynamics import (
    Dynamics,
    consistent_reference,
    known_speeds,
    rolling_motion,
)
from kane_dynamics.control.reference import Motors, Reference
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.robot_config.parameters.tables import TermsParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats, Indices

_ROOT = PlanarFrame()


class SkidSteerFeedforward:
    """Motion and friction of one base."""

    def __init__(self, model: RobotModel, base: WheeledBase) -> None:
        self._base, self._actuated = base, model.actuated
        self.wheels = model.v_index((*base.driven, *base.passive))
        self._driven = model.v_index(base.driven)
        # twist of each wheel's unit rate: a base that skids has nothing that changes it
        self._per_rate = base.twist(np.eye(len(base.driven))).twist
        self._friction: SkidFriction | None = None
        self._mu: tuple[float, ...] = ()

    def configure(self, friction: tuple[float, ...]) -> None:
        """Take over mu along and across the track; where one is 0 it is not known."""
        if friction == self._mu:  # other parameters changed; this takes a third of a second
            return
        known, self._mu = all(mu > 0.0 for mu in friction), friction
        self._friction = SkidFriction(self._base, friction, self._actuated) if known else None

    def base_motion(
        self, q: Floats, v: Floats, a: Floats, turning: float | None = None
    ) -> tuple[Floats, Floats]:
        """Return speeds and accelerations of the base, (3,) each, to which its wheels drive it."""
        twist, rate = v[self._driven] @ self._per_rate, a[self._driven] @ self._per_rate
        speeds = _ROOT.root_velocity(q, twist)
        # a twist is of moving axes: its turning is an acceleration too
        yaw = twist[2] if turning is None else turning
        inertial = rate + yaw * np.array([-twist[1], twist[0], 0.0])
        return speeds, _ROOT.root_acceleration(q, speeds, inertial)

    def effort(self, q: Floats, v: Floats, a: Floats) -> Floats | None:
        """Return the efforts on v that friction costs, (nv,); None where it is not known."""
        return None if self._friction is None else self._friction.effort(q, v, a)


class Terms(NamedTuple):
    """Which terms are fed forward, as `kane_dynamics` names them."""

    names: tuple[str, ...] = TERMS
    compensated: tuple[str, ...] = ()  # Motors whose drive compensates gravity itself
    coulomb: float = 1.0  # Part of the Coulomb friction at reference speeds that is fed forward
    presliding: Presliding | None = None  # State of the motors, where it is known

    @classmethod
    def of(cls, parameters: TermsParameters, coulomb: float = 1.0) -> Terms:
        """Return what parameters choose."""
        on = tuple(term for term in TERMS if getattr(parameters, f'terms_{term}'))
        # all of them as TERMS itself: the engine need not check its own tuple
        return cls(TERMS if on == TERMS else on, parameters.gravity_compensated_joints, coulomb)


class BaseState(NamedTuple):
    """How a base moves that follows velocity commands, in the frame of its coordinates."""

    velocity: Floats  # shape (3,): Of base_x, base_y [m/s, m/s^2] and base_yaw [rad/s, rad/s^2]
    acceleration: Floats  # Of base_x, base_y [m/s, m/s^2] and base_yaw [rad/s, rad/s^2]


class Efforts(NamedTuple):
    """Efforts that a motion needs [N m or N]."""

    motors: Floats  # shape (number of motors,): Those that are commanded
    drives: Floats  # shape (number of drives,): Those that the drives of the base will need


class EffortLaw:
    """Efforts of the motors of one robot."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics, model = dynamics, dynamics.model
        self._model, self._robot = model, model.robot
        self.motors = Motors(model)
        self._known: dict[tuple[str, ...], tuple[str, ...] | None] = {}
        self._all = known_speeds(model, model.motors)
        self._actuated, self._drives = model.actuated, model.v_index(model.drives)
        self._places = model.v_index(model.actuated)
        # steering is measured; a motion of the base alone does not say how wheels turn to it
        steered = () if model.base is None else model.base.steering
        self._agreed = model.base.consistent_steering if model.base and steered else None
        self.rolling = model.v_index(tuple(n for n in model.drives if n not in steered))
        skids = model.base is not None and bool(model.base.assumed)
        self.skid_steer = (
            SkidSteerFeedforward(model, model.base) if model.base is not None and skids else None
        )
        self.contradictory_wheels = model.overactuated or skids
        self._nothing = Efforts(np.zeros(len(self.motors.v)), np.zeros(len(self._drives)))

    def feedforward(
        self,
        q: Floats,
        v: Floats,
        reference: Reference,
        terms: Terms,
        base: BaseState | None = None,
    ) -> Efforts:
        """Return the efforts that the wanted motion needs."""
        q, v, a = q.copy(), v.copy(), np.zeros(self._robot.nv)
        q[reference.q_index] = reference.position
        v[reference.v_index] = reference.velocity
        a[reference.v_index] = reference.acceleration
        return self.efforts(q, v, a, reference.motor, terms, base)

    def efforts(
        self,
        q: Floats,
        v: Floats,
        a: Floats,
        motor: Indices,
        terms: Terms,
        base: BaseState | None = None,
        v_ref: Floats | None = None,
        target: Floats | None = None,
    ) -> Efforts:
        """Return the efforts of a motion that is given for some motors."""
        if not terms.names:
            return self._nothing
        q, v = self.with_consistent_steering(q, v)
        result = self._balanced(q, v, a, motor, terms.names, base, v_ref)
        effort = result.effort
        if self.skid_steer is not None and 'friction' in terms.names:
            scrub_effort = self.skid_steer.effort(q, result.velocity, result.acceleration)
            effort = effort if scrub_effort is None else effort + scrub_effort
        return self.with_friction(q, result, effort, target, terms)

    def with_friction(
        self,
        q: Floats,
        motion: kd.ConstrainedEffort,
        effort: Floats,
        target: Floats | None,
        terms: Terms,
    ) -> Efforts:
        """Return efforts of a motion with the friction of wanted speeds and of motors."""
        dynamics, v = self._dynamics, motion.velocity
        if target is not None and 'friction' in terms.names:
            speeds = self._places, q, v, target, terms.coulomb
            effort = effort + to_reference_speeds(dynamics.engine, *speeds)
        state = v, motion.acceleration, terms.presliding
        friction = dynamics.friction.effort(terms.names, *state, target, terms.coulomb)
        motors = self.left_to_drives(effort[self.motors.v] + friction, q, terms)
        return Efforts(motors, effort[self._drives])

    def agreeing(
        self, q: Floats, v: Floats, v_ref: Floats, a: Floats, base: BaseState | None
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return state, reference speeds and rate, such that no motor contradicts another."""
        if not self.contradictory_wheels:
            return q, v, v_ref, a
        d, v_ref, a = self._dynamics, v_ref.copy(), a.copy()
        q, v = self.with_consistent_steering(q, v)
        if base is None and self.skid_steer is None:
            v, _ = rolling_motion(d, q, v, a)
            return q, v, *consistent_reference(d, q, v, v_ref, a, self._places)
        wheels = self.rolling
        if self.skid_steer is not None and base is None:
            wheels = self.skid_steer.wheels
            turned = BaseState(*self.skid_steer.base_motion(q, v, a))
            v, _ = with_base(d, q, v, a, turned, wheels)
            v_ref[:3], a[:3] = self.skid_steer.base_motion(q, v_ref, a, float(v[2]))
        elif base is not None:
            v, _ = with_base(d, q, v, a, base, wheels)
            v_ref[:3], a[:3] = base
        counted = np.setdiff1d(np.arange(len(v)), wheels)  # wheels follow the base
        return q, v, *consistent_reference(d, q, v, v_ref, a, counted)

    def hold(self, q: Floats, terms: Terms) -> Floats:
        """Return the efforts that hold the robot at rest at q against gravity."""
        if 'gravity' not in terms.names:
            return np.zeros(len(self.motors.v))
        q, at_rest = self.with_consistent_steering(q, np.zeros(self._robot.nv))
        result = self._dynamics.engine.constrained_inverse_dynamics(
            q, at_rest, at_rest, self._actuated, None, self._all, terms=('gravity',)
        )
        return self.left_to_drives(result.effort[self.motors.v], q, terms)

    def feedback(self, q: Floats, v: Floats, reference: Reference, p: Floats, d: Floats) -> Floats:
        """Return p (q_ref - q) + d (v_ref - v) on the motors that the reference names."""
        efforts, m = np.zeros(len(self.motors.v)), reference.motor
        error, rate = self.errors(q, v, reference)
        efforts[m] = p[m] * error + d[m] * rate
        return efforts

    def errors(self, q: Floats, v: Floats, reference: Reference) -> tuple[Floats, Floats]:
        """Return wanted minus measured positions and speeds of the motors that are named."""
        error = self.motors.error(reference.motor, reference.position, q[reference.q_index])
        return error, reference.velocity - v[reference.v_index]

    def _balanced(
        self,
        q: Floats,
        v: Floats,
        a: Floats,
        motor: Indices,
        terms: tuple[str, ...],
        base: BaseState | None = None,
        v_ref: Floats | None = None,
    ) -> kd.ConstrainedEffort:
        """Return what moves the whole robot so."""
        agreed = v_ref is not None and self.contradictory_wheels
        if base is not None and v_ref is not None and not agreed:
            v_ref = with_base(self._dynamics, q, v_ref, a, base, self.rolling)[0]
        if base is not None and not agreed:
            v, a = with_base(self._dynamics, q, v, a, base, self.rolling)
        motors = self._model.motors
        named = tuple([motors[i] for i in motor])
        if named not in self._known:
            self._known = {named: known_speeds(self._model, named)}
        if agreed:
            pass
        elif base is None and self.skid_steer is not None:
            turned = BaseState(*self.skid_steer.base_motion(q, v, a))
            v, a = with_base(self._dynamics, q, v, a, turned, self.skid_steer.wheels)
        elif self._model.overactuated:
            v, a = rolling_motion(self._dynamics, q, v, a)
        values = q, v, a, self._actuated, None, self._known[named]
        call = self._dynamics.engine.constrained_inverse_dynamics
        return call(*values, terms=terms, reference=v_ref)

    def with_consistent_steering(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return coordinates and speeds with steering that lets the base move."""
        if self._agreed is None:
            return q, v
        result = self._agreed(q, v)
        return result.q, result.v

    def friction_speeds(self, v: Floats, reference: Reference) -> Floats:
        """Return speeds whose Coulomb friction counts: wanted ones, and those of the drives."""
        speeds = np.zeros(len(v))
        speeds[self._drives] = v[self._drives]
        speeds[reference.v_index] = reference.velocity
        return speeds

    def left_to_drives(self, effort: Floats, q: Floats, terms: Terms) -> Floats:
        """Return efforts without the gravity that drives compensate themselves."""
        if not terms.compensated or 'gravity' not in terms.names:
            return effort
        gravity = self._dynamics.engine.gravity_force(q)
        effort = effort.copy()
        for name in terms.compensated:
            effort[self._model.motors.index(name)] -= gravity[self._robot.velocity_index(name)]
        return effort


def with_base(
    dynamics: Dynamics, q: Floats, v: Floats, a: Floats, base: BaseState, wheels: Indices
) -> tuple[Floats, Floats]:
    """Return speeds and accelerations with those of a base, and of the wheels under it."""
    v, a = v.copy(), a.copy()
    v[:3], a[:3] = base
    if not dynamics.model.constraints:
        return v, a
    rows = dynamics.engine.constraint_rows(q, v)
    v = fit_entries(rows.matrix, rows.velocity, v, wheels)
    rows = dynamics.engine.constraint_rows(q, v)
    return v, fit_entries(rows.matrix, rows.acceleration, a, wheels)


def clamped(effort: Floats, limit: Floats) -> Floats:
    """Return the efforts within plus or minus their limits."""
    return np.clip(effort, -limit, limit)
