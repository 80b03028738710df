# SPDX-License-Identifier: Apache-2.0
"""What the nodes compute, of the states of a bag: efforts, external efforts, accelerations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.analysis.payload import smoothed
from kane_dynamics.bags.replay import State
from kane_dynamics.control.contact_observer import ContactObserver
from kane_dynamics.control.effort_law import BaseState, EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats

QUANTITIES = ('effort', 'external_effort', 'acceleration')


@dataclass(frozen=True, eq=False)
class Series:
    """One quantity over time."""

    quantity: str  # One of `QUANTITIES`
    names: tuple[str, ...]  # Joints, or speeds of the base
    stamps: np.typing.NDArray[np.int64]  # shape (n,): [ns]
    values: Floats  # shape (n, k): [N m or N], accelerations [rad/s^2 or m/s^2]
    positions: Floats  # shape (n, k): Of the same joints [SI]
    velocities: Floats  # shape (n, k): Of the same joints [SI]
    measured: Floats  # shape (n, k): Measured efforts of the same joints


def external_efforts(
    dynamics: Dynamics, observer: ContactObserver, states: Iterable[State]
) -> Series:
    """Return the external efforts of the observed joints, as ``kane_contact_observer``."""
    model, rows = dynamics.model, _Rows(observer.joints)
    q_index, v_index = model.q_index(observer.joints), model.v_index(observer.joints)
    for state in states:
        effort = np.asarray(state.effort)
        if observer.update(state.stamp, state.q, state.v, effort):
            external = observer.external.copy()
            rows.add(state.stamp, external, state.q[q_index], state.v[v_index], effort)
    return rows.series('external_effort')


def accelerations(dynamics: Dynamics, states: Iterable[State]) -> Series:
    """Return the accelerations that the measured efforts cause, as ``kane_forward_dynamics``."""
    model = dynamics.model
    if model.drives:
        raise InvalidInputError(
            "accelerations: base.command_interface 'velocity' leaves the efforts of the base "
            'unknown; compute effort or external_effort instead'
        )
    names = model.robot.velocity_names
    rows, joints = _Rows(names), model.v_index(model.joints)
    for state in states:
        tau = np.zeros(model.robot.nv)
        tau[joints] = state.effort
        a = np.asarray(dynamics.engine.acceleration(state.q, state.v, tau))
        rows.add(state.stamp, a, state.q, state.v, tau)
    return rows.series('acceleration')


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
    rows, notes, every = _Rows(motors), [], np.arange(len(motors))
    q_index, v_index = model.q_index(motors), model.v_index(motors)
    for part in _parts(states, gap):
        times = np.array([state.stamp - part[0].stamp for state in part]) * 1e-9
        q = np.array([state.q for state in part])
        if model.mobile:
            q[:, 2] = np.unwrap(q[:, 2])
        seen = np.array([unknown if s.effort is None else s.effort for s in part])
        try:
            middles, *motion = smoothed(times, q, spacing)
        except InvalidInputError as error:
            notes.append(f'{len(part)} states from {part[0].stamp} ns on not used: {error}')
            continue
        for t, q_t, v, a in zip(middles, *motion, strict=True):
            base = BaseState(v[:3], a[:3]) if model.drives else None
            tau = law.efforts(q_t, v, a, every, terms, base).motors
            stamp = part[0].stamp + round(t * 1e9)
            near = np.full(len(motors), np.nan)
            near[known] = [np.interp(t, times, column) for column in seen.T]
            rows.add(stamp, tau, q_t[q_index], v[v_index], near)
    return rows.series('effort'), notes


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


class _Rows:
    """Collects the rows of a series."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._stamps: list[int] = []
        self._rows: list[tuple[Floats, ...]] = []

    def add(self, stamp: int, *row: Floats) -> None:
        self._stamps.append(stamp)
        self._rows.append(row)

    def series(self, quantity: str) -> Series:
        """Return what was collected, in the order of time."""
        whole = np.array(self._rows, dtype=float).reshape(len(self._rows), 4, len(self._names))
        order = np.argsort(np.array(self._stamps, dtype=np.int64), kind='stable')
        stamps = np.array(self._stamps, dtype=np.int64)[order]
        return Series(quantity, self._names, stamps, *whole[order].transpose(1, 0, 2))
