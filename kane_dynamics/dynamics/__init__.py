# SPDX-License-Identifier: Apache-2.0
"""
One interface for the dynamics of a robot under constraints, whatever computes them.

The module is called as its function: ``kane_dynamics.dynamics(robot, constraints)`` gives the
reference engine, the algorithms of the papers in numpy; `kane_dynamics.compile` gives the same
methods as machine code.
"""

import sys
from collections.abc import Sequence
from types import ModuleType

from kane_dynamics.constraints.base import Constraint
from kane_dynamics.dynamics.interface import (
    CompiledSubset,
    ConstraintSubsetDynamics,
    Dynamics,
    RowsFunction,
    checked_dynamics,
    dynamics,
    free_dynamics,
)
from kane_dynamics.robot.robot import Robot

__all__ = [
    'CompiledSubset',
    'ConstraintSubsetDynamics',
    'Dynamics',
    'RowsFunction',
    'checked_dynamics',
    'dynamics',
    'free_dynamics',
]


class _CallableModule(ModuleType):
    """A submodule and a function of one name: the attribute of the package is both."""

    def __call__(
        self,
        robot: Robot,
        constraints: Sequence[Constraint] = (),
        *,
        frames: Sequence[str] | None = None,
    ) -> Dynamics:
        return dynamics(robot, constraints, frames=frames)


sys.modules[__name__].__class__ = _CallableModule
