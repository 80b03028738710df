# SPDX-License-Identifier: Apache-2.0
"""Steps of single rollouts by an engine of one state."""

from __future__ import annotations

import numpy as np

from kane_dynamics.algorithms.projection import projected
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.rollouts.inputs import Inputs
from kane_dynamics.rollouts.schedule import Schedule
from kane_dynamics.simulation.reference import ReferenceEngine, check_not_diverged
from kane_dynamics.simulation.simulation import Engine
from kane_dynamics.typing import Floats


class ReferenceSteps:
    """
    Steps of single rollouts.

    Parameters
    ----------
    dynamics : Dynamics
        The robot under its constraints.
    schedule : Schedule
        The steps.
    inputs : Inputs
        What differs between rollouts.
    whole : bool
        Whether all steps are taken here: then by the engine of the dynamics where it may, else
        only those that machine code is not sure of, by the reference.

    """

    def __init__(
        self, dynamics: Dynamics, schedule: Schedule, inputs: Inputs, whole: bool = True
    ) -> None:
        self._dynamics, self._schedule, self._inputs = dynamics, schedule, inputs
        self._by_law = not whole or inputs.loaded or inputs.gains is not None
        self._kept: tuple[int, Engine] | None = None

    @property
    def constrained(self) -> bool:
        """Return whether there are constraints to keep."""
        return bool(self._dynamics.constraints)

    def start(self, row: int, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return a state on the constraints, with projection; errors as for `projected`."""
        constraints = self._dynamics.constraints
        if not (self._schedule.projection and constraints):
            return q, v
        robot = self._inputs.load(self._dynamics, row).robot
        state = projected(robot, constraints, q, v, 0.0)
        return state.q, state.v

    def step(self, row: int, done: int, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """
        Return the state after one step more than were done.

        Raises
        ------
        KaneDynamicsError
            As `Simulation.step` does.

        """
        h, inputs = self._schedule.step, self._inputs
        time, pieces = done * h, inputs.efforts.shape[1]
        tau = inputs.efforts[row, done * pieces // self._schedule.count]
        law = self._dynamics.effort
        if self._by_law and law is not None:
            values = law(time, q, v, *self._gains(row))
            tau = tau + as_vector(f'the effort law at t = {time:g} s', values, len(tau))
        q, v = self._engine(row).advance(q, v, np.ascontiguousarray(tau), time, h, 1)
        check_not_diverged(q, v, time + h)
        return q, v

    def _gains(self, row: int) -> tuple[Floats, ...]:
        known, values = self._dynamics.gains, self._inputs.gains
        if not known:
            return ()
        return (np.array(known) if values is None else values[row],)

    def _engine(self, row: int) -> Engine:
        """Return the engine of a rollout; that of the last one asked for is kept."""
        shared = -1 if not self._inputs.loaded else row
        if self._kept is None or self._kept[0] != shared:
            self._kept = shared, self._new_engine(row)
        return self._kept[1]

    def _new_engine(self, row: int) -> Engine:
        how = self._schedule.integrator, self._schedule.projection
        if not self._by_law:
            return self._dynamics.engine(*how)
        load = self._inputs.load(self._dynamics, row)
        passive = self._dynamics.passive_force
        return ReferenceEngine(load, self._dynamics.constraints, *how, passive_force=passive)
