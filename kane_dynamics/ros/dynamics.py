# SPDX-License-Identifier: Apache-2.0
"""The engine that the nodes call: the reference, or the one compiled for the robot."""

from __future__ import annotations

from collections.abc import Callable

import kane_dynamics as kd
from kane_dynamics.ros.robot_source import BASE_NAMES, RobotModel

Progress = Callable[[str, int, int], None]


class NotCompiledYetError(kd.exceptions.KaneDynamicsError):
    """The machine code of this robot is not in the cache."""


class Dynamics:
    """
    The engine of one model: reference algorithms, until there are compiled ones.

    Parameters
    ----------
    model : RobotModel
        Robot and constraints.

    Attributes
    ----------
    engine : kane_dynamics.Dynamics
        What computes.

    """

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self.engine: kd.Dynamics = kd.dynamics(model.robot, model.constraints)
        self.compiled = False

    def compile(self, progress: Progress = lambda what, done, total: None) -> None:
        """Compile, or load from the cache; takes seconds the first time."""
        self.use(self._made(progress))

    def find(self) -> kd.CompiledRobot | None:
        """Return the compiled algorithms from the cache, or None; `use` puts them to work."""
        try:
            return self._made(_refuse)
        except NotCompiledYetError:
            return None

    def use(self, fast: kd.CompiledRobot) -> None:
        """Go on with compiled algorithms, from the next call on."""
        self.engine, self.compiled = fast, True

    def load(self) -> bool:
        """Use the compiled algorithms if they are in the cache; return whether they were."""
        fast = self.find()
        if fast is not None:
            self.use(fast)
        return fast is not None

    def _made(self, progress: Progress) -> kd.CompiledRobot:
        """Return compiled algorithms, with the efforts of the motors among them."""
        model = self.model
        fast = kd.compile(model.robot, model.constraints, progress=progress)
        fast.prepare_efforts(model.actuated, known_speeds(model, ()))
        return fast


def known_speeds(model: RobotModel, named: tuple[str, ...]) -> tuple[str, ...] | None:
    """
    Return the speeds that are given, where the others follow from the constraints.

    Parameters
    ----------
    model : RobotModel
        The model.
    named : tuple of str
        What a reference names; joints that it does not name are known as measured.

    """
    if not model.constraints:
        return None
    return tuple(
        name for name in model.robot.velocity_names if name not in BASE_NAMES or name in named
    )


def _refuse(what: str, done: int, total: int) -> None:
    """Stop a compilation at its first step."""
    raise NotCompiledYetError('the machine code of this robot is not in the cache')
