# SPDX-License-Identifier: Apache-2.0
"""The simulated robot whose constraints come and go; nothing here needs rclpy."""

from collections.abc import Mapping

import numpy as np

import kane_dynamics as kd
from kane_dynamics.background import BackgroundTask
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import KaneDynamicsError, NameNotFoundError
from kane_dynamics.plant.plant import Plant, Readings
from kane_dynamics.robot_config.declared_constraints import Declared, stops
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.typing import Floats

BASE = 'base'  # the part that holds the constraint of the base


class EventPlant(Plant):
    """A plant with constraints by name, and the events that are new."""

    simulation: kd.EventSimulation

    def __init__(
        self,
        dynamics: Dynamics,
        parameters: SimulatorParameters,
        initial_positions: Floats,
        declared: Mapping[str, Declared],
    ) -> None:
        self.declared = dict(declared)
        self._stop_hits = 0
        self._stop_names = set(stops(dynamics.model.robot)) if parameters.joint_stops else set()
        self._faster: BackgroundTask[kd.EventSimulation] | None = None
        super().__init__(dynamics, parameters, initial_positions)
        if parameters.compiled != 'never':
            self._faster = BackgroundTask(lambda: self._made(compiled=True))
            if parameters.compiled == 'wait':
                self._take_over(self._faster.result())

    def _new_simulation(self) -> kd.EventSimulation:
        return self._made(compiled=False)

    def _made(self, compiled: bool) -> kd.EventSimulation:
        """Return a simulation at the initial state."""
        robot, p = self.model.robot, self._parameters
        parts: dict[str, Constraint | Contact] = {}
        for k, one in enumerate(self.model.constraints):
            parts[BASE if k == 0 else f'{BASE}/{k}'] = one
        if p.joint_stops:
            parts.update(stops(robot))
        engine = kd.compile(robot) if compiled else None
        later = [one.what for one in self.declared.values()]
        simulation = kd.EventSimulation(
            robot, parts, self._start, step=p.step_size, dynamics=engine, precompile=later
        )
        for name, one in self.declared.items():
            if one.active:
                simulation.add(name, one.what, one.limit)
        return simulation

    def reset(self) -> None:
        """Return to the initial state and the first constraints, at time zero."""
        super().reset()
        self._restore({name for name, one in self.declared.items() if one.active})
        self.simulation.take_events()

    def set_state(self, q: Floats, v: Floats) -> None:
        """Go on from another state with the constraints that hold now; errors as for `Plant`."""
        active, before = self.active, (self.simulation.q, self.simulation.v)
        try:
            super().set_state(q, v)
            self._restore(active)
        except KaneDynamicsError:
            super().set_state(*before)
            self._restore(active)
            raise
        finally:
            self.simulation.take_events()

    @property
    def active(self) -> set[str]:
        """Return which of the declared constraints there are now."""
        return {name for name in self.declared if name in self.simulation.states}

    def _restore(self, active: set[str]) -> None:
        for name, one in self.declared.items():
            there = name in self.simulation.states
            if name in active and not there:
                self.simulation.add(name, one.what, one.limit)
            elif there and name not in active:
                self.simulation.remove(name)

    def switch(self, name: str, on: bool) -> kd.Event | None:
        """Add or remove a declared constraint; return what that did, None where it was so."""
        if name not in self.declared:
            raise NameNotFoundError('constraint', name, self.declared)
        if on == (name in self.simulation.states):
            return None
        self._catch_up()
        if not on:
            return self.simulation.remove(name)
        one = self.declared[name]
        return self.simulation.add(name, one.what, one.limit)

    def new_events(self) -> tuple[kd.Event, ...]:
        """Return the events since the last call."""
        new = self.simulation.take_events()
        hits = (not self._stop_names.isdisjoint(event.names) for event in new)
        self._stop_hits += sum(hits)
        return new

    def words(self) -> list[str]:
        """Return each constraint with its state, the declared ones that are off too."""
        now = self.simulation.states
        off = {name: 'off' for name in self.declared if name not in now}
        return [f'{name}: {state}' for name, state in {**now, **off}.items()]

    def readings(self) -> Readings:
        """Return the rows that hold now and their forces, 0 where brakes carry the robot."""
        one, rows = self.simulation, self.simulation.rows
        slip = rows.matrix @ one.v - rows.velocity
        positions = np.array([phi or 0.0 for phi in rows.positions])
        forces = (not self.braked) * one.motion.multipliers
        return Readings(rows.labels, forces, slip, positions)

    def _speed_up(self) -> None:
        """Go on with machine code of its own, where it is complete now."""
        if self._faster is not None and self._faster.done() and not self.trouble:
            self._take_over(self._faster.result())

    def _take_over(self, faster: kd.EventSimulation) -> None:
        """Go on with machine code from the present state."""
        self._faster, before, active = None, self.simulation, self.active
        faster.reset(before.q, before.v, before.time)
        self.simulation = faster
        self._restore(active)
        faster.take_events()

    @property
    def stop_hits(self) -> int:
        """Return how many of the events handed over were of joints at their limits."""
        return self._stop_hits

    @property
    def trouble(self) -> str:
        """Return why machine code could not be made, or ''."""
        if self._faster is None or not self._faster.done():
            return ''
        error = self._faster.error()
        return '' if error is None else f'the reference algorithms stay: {error}'
