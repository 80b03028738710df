# SPDX-License-Identifier: Apache-2.0
"""What the nodes compute, of the states of a bag: efforts, external efforts, accelerations."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kane_dynamics.analysis.payload import smoothed
from kane_dynamics.bags.files import Recorded, Series
from kane_dynamics.control.contact_observer import ContactObserver
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import JointStateInput, MeasuredState
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.messages.inputs import InputMonitor, RejectedInput
from kane_dynamics.robot_config.parameters.tables import DynamicsNodeParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats

JOINT_STATES, ODOM = 'joint_states', 'odom'
CLOCKS = ('recorded', 'stamps')


class State(NamedTuple):
    """A usable state: stamp [ns], q, v, and efforts of the joints that were asked for or None."""

    stamp: int
    q: Floats
    v: Floats
    effort: Floats | None


class Replay:
    """From recorded messages to states, with the input checks of the nodes."""

    def __init__(
        self,
        model: RobotModel,
        parameters: DynamicsNodeParameters,
        effort_joints: tuple[str, ...],
        effort_needed: bool,
        clock: str = CLOCKS[0],
    ) -> None:
        p = parameters
        self._now, self._by_stamps = 0, clock == 'stamps'
        self._effort_needed, self.unusable = effort_needed, 0
        self.reasons: list[str] = []
        self._state = MeasuredState(
            model, p, lambda name: self._guard(name, getattr(p, f'timeout_{name}'))
        )
        self._effort = JointStateInput(
            effort_joints,
            ('effort',),
            self._guard('efforts of joint_states', p.timeout_joint_states),
            p.allow_partial_joint_states,
        )

    def states(self, messages: Iterable[Recorded]) -> Iterator[State]:
        """Yield the states after each message of joint_states that leaves a usable one."""
        for recorded in messages:
            if not self._accept(recorded):
                continue
            without = self._effort.problem()
            if self._state.problem() or (without and self._effort_needed):
                self.unusable += 1
                continue
            stamp = self._state.assemble()
            effort = None if without else self._effort.values['effort'].copy()
            yield State(stamp, self._state.q.copy(), self._state.v.copy(), effort)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many messages of each input were accepted, and rejected by their kind."""
        efforts = {'efforts': self._effort} if self._effort_needed else {}
        guards = {name: one.guard for name, one in {**self._state.inputs, **efforts}.items()}
        return {name: {'accepted': x.accepted, **x.rejected} for name, x in guards.items()}

    def _guard(self, name: str, max_age: float) -> InputMonitor:
        def now() -> int:
            return self._now

        return InputMonitor(name, max_age, now, steady=now, tell=self.reasons.append)

    def _accept(self, recorded: Recorded) -> bool:
        """Hand a message to its input; return whether it is a new state of the joints."""
        message, source = recorded.message, self._state.inputs.get(recorded.use)
        if isinstance(message, RejectedInput):
            if source is not None:
                source.guard.reject(message)
            return False
        before, self._now = self._now, recorded.time
        if self._by_stamps:
            self._now = max(before, nanoseconds(message.header.stamp))
        if recorded.use == ODOM:
            if source is not None:
                source.take(message)
            return False
        with_effort = (self._effort_needed or len(message.effort)) and self._effort.take(message)
        accepted = self._state.joints.take(message)
        return accepted and (with_effort or not self._effort_needed)  # not with one of before


Row = tuple[int, Floats, Floats, Floats, Floats]
QUANTITIES = ('effort', 'external_effort', 'acceleration')


def external_efforts(
    dynamics: Dynamics, observer: ContactObserver, states: Iterable[State]
) -> Series:
    """Return the external efforts of the observed joints, as ``kane_contact_observer``."""
    model, rows = dynamics.model, list[Row]()
    q_index, v_index = model.q_index(observer.joints), model.v_index(observer.joints)
    for state in states:
        effort = np.asarray(state.effort)
        if observer.update(state.stamp, state.q, state.v, effort):
            external = observer.external.copy()
            rows.append((state.stamp, external, state.q[q_index], state.v[v_index], effort))
    return _series('external_effort', observer.joints, rows)


def accelerations(dynamics: Dynamics, states: Iterable[State]) -> Series:
    """Return the accelerations that the measured efforts cause, as ``kane_forward_dynamics``."""
    model = dynamics.model
    if model.drives:
        raise InvalidInputError(
            "accelerations: base.command_interface 'velocity' leaves the efforts of the base "
            'unknown; compute effort or external_effort instead'
        )
    names = model.robot.velocity_names
    rows, joints = list[Row](), model.v_index(model.joints)
    for state in states:
        tau = np.zeros(model.robot.nv)
        tau[joints] = state.effort
        a = np.asarray(dynamics.engine.acceleration(state.q, state.v, tau))
        rows.append((state.stamp, a, state.q, state.v, tau))
    return _series('acceleration', names, rows)


def efforts(
    dynamics: Dynamics,
    terms: Terms,
    states: Iterable[State],
    measured: Sequence[str],
    spacing: float,
    gap: float,
) -> tuple[Series, list[str]]:
    """Return efforts that the recorded motion takes, by the law of ``kane_inverse_dynamics``."""
    model = dynamics.model
    if model.robot.nq != model.robot.nv:
        raise InvalidInputError(
            'efforts are computed where each speed is the rate of a coordinate'
        )
    law, motors = EffortLaw(dynamics), model.motors
    known, unknown = [motors.index(name) for name in measured], np.full(len(measured), np.nan)
    rows, notes, every = list[Row](), [], np.arange(len(motors))
    q_index, v_index = model.q_index(motors), model.v_index(motors)
    for part in _parts(states, gap):
        times = np.array([state.stamp - part[0].stamp for state in part]) * 1e-9
        q = np.array([state.q for state in part])
        q[:, model.angles] = np.unwrap(q[:, model.angles], axis=0)
        seen = np.array([unknown if s.effort is None else s.effort for s in part])
        try:
            middles, *motion = smoothed(times, q, spacing)
        except InvalidInputError as error:
            notes.append(f'{len(part)} states from {part[0].stamp} ns on not used: {error}')
            continue
        preslid = dynamics.friction.along(times, q[:, q_index])
        for t, q_t, v, a in zip(middles, *motion, strict=True):
            base = BaseState(v[:3], a[:3]) if model.drives else None
            reached = terms._replace(presliding=preslid(t))
            tau = law.efforts(q_t, v, a, every, reached, base).motors
            stamp = part[0].stamp + round(t * 1e9)
            near = np.full(len(motors), np.nan)
            near[known] = [np.interp(t, times, column) for column in seen.T]
            rows.append((stamp, tau, q_t[q_index], v[v_index], near))
    return _series('effort', motors, rows), notes


def _parts(states: Iterable[State], gap: float) -> Iterator[list[State]]:
    """Yield runs of states whose stamps grow, without gaps."""
    part: list[State] = []
    for state in states:
        step = (state.stamp - part[-1].stamp) * 1e-9 if part else 0.0
        if part and step == 0.0:
            continue
        if not 0.0 <= step <= gap:
            yield part
            part = []
        part.append(state)
    if part:
        yield part


def _series(quantity: str, names: Sequence[str], rows: Iterable[Row]) -> Series:
    """Return rows of stamp, values, positions, velocities and measured efforts, in time."""
    ordered = sorted(rows, key=lambda row: row[0])
    stamps = np.array([stamp for stamp, *_ in ordered], dtype=np.int64)
    parts = np.array([row for _, *row in ordered], dtype=float).reshape(-1, 4, len(names))
    return Series(quantity, tuple(names), stamps, *parts.transpose(1, 0, 2))
