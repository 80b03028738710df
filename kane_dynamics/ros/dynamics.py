# SPDX-License-Identifier: Apache-2.0
"""The algorithms that the nodes call: the reference ones, or those compiled for the robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.ros.robot_source import RobotModel

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]


class NotCompiledYetError(kd.exceptions.KaneDynamicsError):
    """The machine code of this robot is not in the cache."""


class Dynamics:
    """
    Dynamics of one model; the results are the same, compiled or not.

    Parameters
    ----------
    model : RobotModel
        Robot and constraints.

    """

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self._fast: kd.CompiledRobot | None = None

    @property
    def compiled(self) -> bool:
        """Return whether the compiled algorithms are in use."""
        return self._fast is not None

    def compile(self, progress: Progress = lambda what, done, total: None) -> None:
        """Compile, or load from the cache; takes seconds the first time."""
        self._fast = kd.compile(self.model.robot, self.model.constraints, progress=progress)

    def find(self) -> kd.CompiledRobot | None:
        """Return the compiled algorithms from the cache, or None; `use` puts them to work."""
        try:
            return kd.compile(self.model.robot, self.model.constraints, progress=_refuse)
        except NotCompiledYetError:
            return None

    def use(self, fast: kd.CompiledRobot) -> None:
        """Go on with compiled algorithms, from the next call on."""
        self._fast = fast

    def load(self) -> bool:
        """Use the compiled algorithms if they are in the cache; return whether they were."""
        fast = self.find()
        if fast is not None:
            self.use(fast)
        return fast is not None

    def inverse_dynamics(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return `kane_dynamics.inverse_dynamics`, shape (nv,)."""
        if self._fast is not None:
            return np.asarray(self._fast.inverse_dynamics(q, v, a))
        return kd.inverse_dynamics(self.model.robot, q, v, a)

    def bias_force(self, q: Floats, v: Floats) -> Floats:
        """Return `kane_dynamics.bias_force`, shape (nv,)."""
        if self._fast is not None:
            return np.asarray(self._fast.bias_force(q, v))
        return kd.bias_force(self.model.robot, q, v)

    def mass_matrix(self, q: Floats) -> Floats:
        """Return `kane_dynamics.mass_matrix`, shape (nv, nv)."""
        if self._fast is not None:
            return np.asarray(self._fast.mass_matrix(q))
        return kd.mass_matrix(self.model.robot, q)

    def gravity_force(self, q: Floats) -> Floats:
        """Return `kane_dynamics.gravity_force`, shape (nv,)."""
        if self._fast is not None:
            return np.asarray(self._fast.gravity_force(q))
        return kd.gravity_force(self.model.robot, q)

    def friction_force(self, v: Floats) -> Floats:
        """Return `kane_dynamics.friction_force`, shape (nv,)."""
        return kd.friction_force(self.model.robot, v)

    def motion(self, q: Floats, v: Floats, tau: Floats) -> kd.Motion:
        """Return `kane_dynamics.forward_dynamics` under the model's constraints."""
        if self._fast is not None:
            return self._fast.forward_dynamics(q, v, tau)
        return kd.forward_dynamics(self.model.robot, q, v, tau, self.model.constraints)

    def constraint_rows(self, q: Floats, v: Floats) -> kd.constraints.ConstraintRows:
        """Return `kane_dynamics.constraints.constraint_rows` of the model's constraints."""
        if self._fast is not None:
            return self._fast.constraint_rows(q, v)
        robot, constraints = self.model.robot, self.model.constraints
        return kd.constraints.constraint_rows(robot, constraints, q.tolist(), v.tolist(), 0.0)

    def engine(self, integrator: str) -> Any:
        """Return the compiled time steps for `kane_dynamics.Simulation`, or None."""
        return self._fast.engine(integrator) if self._fast is not None else None


def _refuse(what: str, done: int, total: int) -> None:
    """Stop a compilation at its first step."""
    raise NotCompiledYetError('the machine code of this robot is not in the cache')
