# SPDX-License-Identifier: Apache-2.0
"""Measured motion and efforts to contacts and payloads, for one robot; no rclpy here."""

from typing import NamedTuple

import numpy as np

from kane_dynamics.analysis.contacts import CollisionFlags, ContactWrench, contact_wrench
from kane_dynamics.analysis.frame_task import frame_task
from kane_dynamics.analysis.momentum_observer import MomentumObserver, ObservedSpeeds
from kane_dynamics.analysis.payload import PayloadEstimate, estimate_payload, smoothed
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot_config.parameters.tables import ContactObserverParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats

LONGEST = 100_000
"""Samples of a payload estimate; later ones are not taken."""


class _Sample(NamedTuple):
    time: float
    q: Floats
    tau: Floats


class ContactObserver:
    """External efforts, collisions, the wrench on a link, and payloads."""

    def __init__(self, dynamics: Dynamics, parameters: ContactObserverParameters) -> None:
        model = dynamics.model
        self.joints = observed_joints(model, parameters.observed_joints)
        for frame in filter(None, (parameters.frame, parameters.payload_frame)):
            model.robot.moving_body(frame)
        self._dynamics, self._model = dynamics, model
        self._v = model.v_index(self.joints)
        self._samples: list[_Sample] | None = None
        ObservedSpeeds(dynamics.engine, self.joints)  # what is wrong, is said now
        count = len(self.joints)
        self.configure(parameters, np.ones(count), np.ones(count))

    def configure(
        self, parameters: ContactObserverParameters, gains: Floats, thresholds: Floats
    ) -> None:
        """Take over parameters, gains [1/s] and thresholds [N m or N], and begin anew."""
        self._parameters, self._gains = parameters, gains
        self._flags = CollisionFlags(thresholds, parameters.collision_hold)
        self.reset()

    def reset(self) -> None:
        """Begin anew: nothing is known."""
        engine = self._engine = self._dynamics.engine
        self._observer = MomentumObserver(engine, self._gains, self.joints)
        self._flags.reset()
        self._stamp, self.collision = 0, False

    @property
    def external(self) -> Floats:
        """Return the external efforts of the observed joints, shape (n,) [N m or N]."""
        return self._observer.residual

    def update(self, stamp: int, q: Floats, v: Floats, effort: Floats) -> bool:
        """Take a sample; return whether external efforts are known."""
        step = (stamp - self._stamp) * 1e-9
        if step == 0.0:
            return False
        in_time = self._stamp > 0 and 0.0 < step <= self._parameters.timeout_joint_states
        goes_on = in_time and self._engine is self._dynamics.engine
        if not goes_on:
            self.reset()
        self._stamp = stamp
        tau = np.zeros(self._model.robot.nv)
        tau[self._v] = effort
        self._record(stamp, q, tau)
        external = self._observer.update(q, v, tau, step if goes_on else 1.0)
        if goes_on:
            self.collision = self._flags.update(external, step)
        return goes_on

    def wrench(self, q: Floats, v: Floats) -> ContactWrench | None:
        """Return the wrench on the link that explains the efforts; None where none is asked."""
        p = self._parameters
        if not p.frame:
            return None
        task = frame_task(self._dynamics.engine, p.frame, q, v, own_axes=True)
        covariance = self._observer.covariance(p.noise_velocity, p.noise_effort)
        J = task.jacobian @ self._observer.speeds.directions(q, v)
        return contact_wrench(J, self.external, covariance)

    # payloads

    def start_estimate(self) -> None:
        """Collect samples from now on."""
        if not self._parameters.payload_frame:
            raise InvalidInputError("parameter 'payload_frame' names no link")
        self._samples = []

    def finish_estimate(self) -> PayloadEstimate:
        """Return the payload that the samples show."""
        if self._samples is None:
            raise InvalidInputError('start an estimate first')
        samples, self._samples = self._samples, None
        if not samples:
            raise InvalidInputError('no measured state came since the start')
        p, robot = self._parameters, self._model.robot
        times = np.array([sample.time for sample in samples])
        q = np.array([sample.q for sample in samples])
        q[:, self._model.angles] = np.unwrap(q[:, self._model.angles], axis=0)
        tau = np.array([sample.tau for sample in samples])
        _, q, v, a = smoothed(times, q, p.payload_smoothing)
        _, tau, _, _ = smoothed(times, tau, p.payload_smoothing)
        if v.shape[1] != robot.nv:
            raise InvalidInputError('payloads are estimated where each speed is a rate of q')
        speeds = ObservedSpeeds(self._dynamics.engine, self.joints)
        return estimate_payload(self._dynamics.engine, p.payload_frame, q, v, a, tau, speeds)

    def _record(self, stamp: int, q: Floats, tau: Floats) -> None:
        samples = self._samples
        if samples is not None and len(samples) < LONGEST:
            samples.append(_Sample(stamp * 1e-9, q.copy(), tau))


def observed_joints(model: RobotModel, named: tuple[str, ...]) -> tuple[str, ...]:
    """Return the joints that are observed, in the order of v."""
    for name in named:
        index_of('joint', name, model.joints)
    base = model.base
    wheels = () if base is None else (*base.driven, *base.steering, *base.passive)
    selection = tuple(n for n in model.joints if (n in named if named else n not in wheels))
    if not selection:
        raise InvalidInputError('there is no arm to observe: name joints in observed')
    return selection
