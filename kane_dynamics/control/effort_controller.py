# SPDX-License-Identifier: Apache-2.0
"""Measured state and reference to motor efforts by one of the tracking laws; no rclpy here."""

from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.analysis.tracking import (
    COMPUTED,
    FEEDFORWARD,
    PASSIVE,
    commanded_acceleration,
    reference_speeds,
)
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Efforts, Terms, clamped
from kane_dynamics.control.motor_friction import Presliding
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.rate_limits import EffortRateLimiter
from kane_dynamics.control.reference import Reference, ReferenceTracker
from kane_dynamics.control.state_inputs import GuardFactory
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.inputs import Input, RejectedInput
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import EffortControllerParameters
from kane_dynamics.typing import Floats


class Gains(NamedTuple):
    """Two gains of each motor, shape (number of motors,)."""

    position: Floats  # p [N m/rad], K_p [1/s^2] or Lambda [1/s]
    velocity: Floats  # d [N m s/rad], K_d [1/s] or K [N m s/rad]


def tracking_efforts(
    law: EffortLaw,
    name: str,
    gains: Gains,
    q: Floats,
    v: Floats,
    reference: Reference,
    terms: Terms,
    scale: float = 1.0,
    base: BaseState | None = None,
) -> Efforts:
    """Return the efforts that bring the robot to a reference, by one call of the engine."""
    if name == FEEDFORWARD:
        forward, drives = law.feedforward(q, v, reference, terms, base)
        return Efforts(scale * forward + law.feedback(q, v, reference, *gains), drives)
    m, indices, pull = reference.motor, reference.v_index, np.zeros(len(law.motors.v))
    a, v_ref = np.zeros(len(v)), None
    error, rate = law.errors(q, v, reference)
    first, second = gains.position[m], gains.velocity[m]
    if name == COMPUTED:
        a[indices] = commanded_acceleration(reference.acceleration, error, rate, first, second)
    else:
        v_ref = v.copy()
        v_ref[indices], a[indices] = reference_speeds(
            reference.velocity, reference.acceleration, error, rate, first
        )
        q, v, v_ref, a = law.agreeing(q, v, v_ref, a, base)
        pull[m] = second * (v_ref - v)[indices]
    friction_speeds = law.friction_speeds(v, reference)
    result = law.efforts(q, v, a, m, terms, base, v_ref, friction_speeds)
    return Efforts(scale * result.motors + pull, result.drives)


def term_alone(
    law: EffortLaw,
    name: str,
    gains: Gains,
    term: str,
    q: Floats,
    v: Floats,
    reference: Reference,
    terms: Terms,
    base: BaseState | None = None,
) -> Floats:
    """Return what one term adds to the efforts of the motors, by one more call of the engine."""
    none = np.zeros(len(law.motors.v))
    pure = gains if name == COMPUTED else Gains(gains.position * (name == PASSIVE), none)
    alone = terms._replace(names=(term,), compensated=())
    return tracking_efforts(law, name, pure, q, v, reference, alone, base=base).motors


EXCLUDED = ('inertia', 'coriolis', 'friction')  # gravity: gravity_compensated_joints


class SpeedScalingInput(Input):
    """Newest factor by which trajectories are slowed; 1 where there is none, or it is too old."""

    _newest = 1.0

    def accept(self, message: Any) -> None:
        """Check a Float64 and keep it."""
        if not 0.0 <= message.data <= 1.0:  # refuses NaN too
            reason = f'speed_scaling_factor: need 0 to 1, got {message.data:g}'
            raise RejectedInput('range', reason)
        self.guard.admit(0)
        self._newest = float(message.data)

    def value(self) -> float:
        """Return the factor that counts now."""
        return self._newest if self.guard.fresh() else 1.0


class EffortController:
    """The effort law with its reference, gains and limits; efforts begin softly."""

    LAW: type[EffortLaw] = EffortLaw

    def __init__(
        self, dynamics: Dynamics, new_guard: GuardFactory, law: str = FEEDFORWARD
    ) -> None:
        model = dynamics.model
        self.follows_by = law
        self.motors, self.drives = model.motors, model.drives
        self.drive_effort = np.zeros(len(self.drives))
        self._law, self._dynamics = self.LAW(dynamics), dynamics
        self._follower = ReferenceTracker(self._law.motors, new_guard('reference'))
        self.reference = self._follower.reference
        self.speed_scaling = SpeedScalingInput(new_guard('speed_scaling_factor'))
        self.reference.scaling = self.speed_scaling.value
        self.inputs: dict[str, Input] = {
            'reference': self.reference,
            'speed_scaling_factor': self.speed_scaling,
        }
        self._limit = np.asarray(model.robot.effort_limit)[self._law.motors.v]
        pairs = zip(self.motors, self._limit, strict=True)
        self.unlimited = tuple(name for name, limit in pairs if not 0.0 < limit < np.inf)
        self._default = 'hold_position' if model.mobile else 'hold_gravity'
        self._clamped: set[str] = set()
        self._rise, self.share = EffortRateLimiter(len(self.motors)), 0.0
        self._presliding: Presliding | None = None

    @property
    def gravity(self) -> Floats:
        """Return the present gravity in the axes of the model's world, shape (3,) [m/s^2]."""
        return np.asarray(self._dynamics.engine.robot.gravity)

    def configure(
        self, parameters: EffortControllerParameters, p: Floats, d: Floats, rate: Floats
    ) -> None:
        """Take over parameters, gains, and limits of the change of efforts (0: none)."""
        self._check('gravity_compensated_joints', parameters.gravity_compensated_joints)
        excluded: dict[str, list[int]] = {}
        for term in EXCLUDED:
            name = f'terms_{term}_excluded_joints'
            names = getattr(parameters, name)
            self._check(name.replace('_', '.', 1), names)
            if names:
                excluded[term] = [self.motors.index(one) for one in names]
        self._excluded = excluded
        self._parameters, self._gains = parameters, Gains(p, d)
        if self._law.skid_steer is not None:
            self._law.skid_steer.configure(parameters.base_friction_coefficient)
        action = parameters.timeout_action
        self.timeout_action = self._default if action == 'auto' else action
        self.reference.ramp = parameters.braking_time
        self.reference.start_tolerance = parameters.reference_start_tolerance
        self._terms = Terms.of(parameters, parameters.friction_compensation)
        self._bound = known_limits(self._limit, parameters.effort_limit_scale)
        self._rise.configure(parameters.ramp_time, rate)

    def _check(self, parameter: str, names: tuple[str, ...]) -> None:
        """Raise InvalidInputError unless a parameter names motors."""
        if missing := [name for name in names if name not in self.motors]:
            known = list(self.motors)
            raise InvalidInputError(f'{parameter}: no motors {missing}; there are {known}')

    def halt(self) -> None:
        """Begin anew with the next state: no effort is out."""
        self._follower.halt()
        self._rise.reset()
        self._presliding = None

    def effort(
        self, time: int, q: Floats, v: Floats, base: BaseState | None = None
    ) -> Floats | None:
        """Return the efforts of the motors, or None where the output shall be silent."""
        self._follower.measure(q, v)
        effort = self._wanted(time, q, v, base)
        if effort is None:
            self.halt()
            return None
        if not np.isfinite(effort).all():
            raise InvalidInputError(f'the efforts are not finite: {effort}')
        result = self._rise.limited(time, self._limited(effort))
        self.share = self._rise.share(time)
        return result

    def _wanted(self, time: int, q: Floats, v: Floats, base: BaseState | None) -> Floats | None:
        """Return the efforts of the motors before they are clamped; note those of the drives."""
        self.drive_effort = np.zeros(len(self.drives))
        result = self.followed(time, q, v, base)
        if result is not None:
            efforts, self.drive_effort = result
            return efforts
        if self.timeout_action == 'hold_gravity':
            return self._parameters.feedforward_scale * self._law.hold(q, self._terms)
        return np.zeros(len(self.motors)) if self.timeout_action == 'zero' else None

    def followed(self, time: int, q: Floats, v: Floats, base: BaseState | None) -> Efforts | None:
        """Return the efforts that follow the reference or hold, None where neither is wanted."""
        p = self._parameters
        reference: Reference | None
        if self.timeout_action == 'hold_position':
            stiff = self._gains.position > 0.0
            reference = self._follower.track_or_hold(time, p.braking_time, stiff)
        else:
            reference = self._follower.follow(time)
        if reference is None:
            return None
        return self.tracked(q, v, reference, base)

    def tracked(
        self, q: Floats, v: Floats, reference: Reference, base: BaseState | None
    ) -> Efforts:
        """Return the efforts that follow a reference by the law, without what is left out."""
        scale, law = self._parameters.feedforward_scale, (self._law, self.follows_by, self._gains)
        self._preslide(q, reference)
        result = tracking_efforts(*law, q, v, reference, self._terms, scale, base)
        for term, motors in self._excluded.items():
            if term in self._terms.names:
                part = term_alone(*law, term, q, v, reference, self._terms, base)
                result.motors[motors] -= scale * part[motors]
        return result

    def _preslide(self, q: Floats, reference: Reference | None = None) -> None:
        """Let presliding friction follow what is wanted; without a reference what is measured."""
        friction = self._dynamics.friction
        if self._terms.presliding is None and 'presliding' not in friction.coefficients:
            return
        position = self._law.motors.positions(q, reference)
        self._presliding = friction.moved(self._presliding, position)
        self._terms = self._terms._replace(presliding=self._presliding)

    def _limited(self, effort: Floats) -> Floats:
        if not self._parameters.enforce_command_limits:
            return effort
        over = np.abs(effort) > self._bound
        if not over.any():
            return effort
        self._clamped.update(name for name, x in zip(self.motors, over, strict=True) if x)
        return clamped(effort, self._bound)

    def pop_saturated(self) -> list[str]:
        """Return the motors whose effort was clamped since the last call."""
        names, self._clamped = sorted(self._clamped), set()
        return names

    def joints_without_gain(self) -> list[str]:
        """Return the motors that 'hold_position' lets go where they like, for lack of a gain."""
        if self.timeout_action != 'hold_position':
            return []
        return [
            name for name, p in zip(self.motors, self._gains.position, strict=True) if p == 0.0
        ]

    def joints_not_held(self) -> list[str]:
        """Return the motors that ought to be held now, and are not."""
        held = {self.motors[i] for i in self._follower.held}
        return [name for name in self.joints_without_gain() if name in held]
