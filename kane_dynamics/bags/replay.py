# SPDX-License-Identifier: Apache-2.0
"""The measured states of a bag, checked, merged and counted by what the nodes do it with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kane_dynamics.bags.reading import Recorded
from kane_dynamics.control.state_inputs import JointStateInput, MeasuredState
from kane_dynamics.messages.conversions import nanoseconds
from kane_dynamics.messages.input_monitor import InputMonitor, RejectedInput
from kane_dynamics.robot_config.parameters.tables import DynamicsNodeParameters
from kane_dynamics.robot_config.robot_source import RobotModel, base_frame
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
        self._corrupt: Counter[str] = Counter()
        self._state = MeasuredState(
            model,
            ('position', 'velocity'),
            base_frame(p),
            p.allow_partial_joint_states,
            lambda name: self._guard(name, 0.0),
            odom_needed=not model.drives,
        )
        self._state.set_max_age(p.timeout_joint_states, p.timeout_odom)
        self._effort = JointStateInput(
            effort_joints,
            ('effort',),
            lambda name: self._guard(name, p.timeout_joint_states),
            p.allow_partial_joint_states,
            'efforts of joint_states',
        )

    def states(self, messages: Iterable[Recorded]) -> Iterator[State]:
        """Yield the states after each message of joint_states that leaves a usable one."""
        for recorded in messages:
            if self._accept(recorded):
                state = self._present()
                if state is None:
                    self.unusable += 1
                else:
                    yield state

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many messages of each input were accepted, and rejected by their kind."""
        guards = {JOINT_STATES: self._state.joints.guard}
        if self._state.odom is not None:
            guards[ODOM] = self._state.odom.guard
        if self._effort_needed:
            guards['efforts'] = self._effort.guard
        counts = {}
        for name, guard in guards.items():
            report = guard.report()
            corrupt = {'corrupt': self._corrupt[name]} if self._corrupt[name] else {}
            counts[name] = {'accepted': report.accepted, **report.rejected, **corrupt}
        return counts

    def _guard(self, name: str, max_age: float) -> InputMonitor:
        now = self._time
        return InputMonitor(name, max_age, now, steady=now, tell=self._tell)

    def _time(self) -> int:
        return self._now

    def _tell(self, reason: str) -> None:
        self.reasons.append(reason)

    def _accept(self, recorded: Recorded) -> bool:
        """Hand a message to its input; return whether it is a new state of the joints."""
        message = recorded.message
        if isinstance(message, RejectedInput):
            if not self._corrupt[recorded.use]:
                self._tell(str(message))
            self._corrupt[recorded.use] += 1
            return False
        before, self._now = self._now, recorded.time
        if self._by_stamps:
            self._now = max(before, nanoseconds(message.header.stamp))
        if recorded.use == ODOM:
            if self._state.odom is not None:
                self._state.odom.take(message)
            return False
        if self._effort_needed or len(message.effort):
            self._effort.take(message)
        return self._state.joints.take(message)

    def _present(self) -> State | None:
        """Return the present state, None where it cannot be used."""
        without = self._effort.problem()
        if self._state.problem() or (without and self._effort_needed):
            return None
        stamp = self._state.assemble()
        effort = None if without else self._effort.values['effort'].copy()
        return State(stamp, self._state.q.copy(), self._state.v.copy(), effort)
