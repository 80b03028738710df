# SPDX-License-Identifier: Apache-2.0
"""What machine code of a robot is made of, and in which precisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.compiler.fingerprint import fingerprint
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel_names import IN_SINGLE, INPUTS, SOLVES_ROWS
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError, NotFingerprintableError
from kane_dynamics.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Recipe:
    """What machine code is made of."""

    robot: Robot  # The robot
    constraints: ConstraintSet  # Its rows
    plan: RowPlan  # How they are treated
    frames: tuple[str, ...]  # Links of kinematics, and those that may carry a payload
    payloads: tuple[str, ...]  # Links of kinematics, and those that may carry a payload
    use_cache: bool  # Whether code is kept on disk
    precision: str = 'float64'

    def tracer(self, in_single: bool = False) -> Tracer:
        """Return the graphs of the robot."""
        parts = self.robot, self.constraints, self.frames, self.plan
        return Tracer(*parts, payloads=self.payloads, in_single=in_single)

    def key(self, *choices: Any) -> tuple[str | None, str]:
        """Return the key in the cache, None where there is none, and why."""
        if not self.use_cache:
            return None, 'not asked for'
        robot = self.robot.with_gravity(np.zeros(3))  # set when the code runs
        parts = robot, self.constraints.constraints, self.plan, self.frames, self.payloads
        try:
            return fingerprint(*parts, self.precision, *choices), ''
        except NotFingerprintableError as error:
            return None, f'not usable: {error}'

    @property
    def _rows_are_certain(self) -> bool:
        return self.plan.certain and not self.plan.repeated

    def check_steps_in_single(self, integrator: str) -> None:
        """Check that accelerations of steps may be in single precision."""
        if self.precision != 'float32':
            raise InvalidInputError("precision='float32' needs kd.compile(precision='float32')")
        if integrator != 'rk4':
            raise InvalidInputError(
                f"precision='float32' needs integrator 'rk4', whose speeds stay in double, got "
                f'{integrator!r}'
            )
        timed = len(self.tracer().inputs_of_forward_dynamics()) > 3
        if timed or not self._rows_are_certain:
            raise InvalidInputError(
                "precision='float32' is not for constraint rows that repeat others, may drop or "
                'depend on the time: they stay in double'
            )

    def in_single(self, spec: KernelSpec) -> bool:
        """Return whether a kernel has code in single precision."""
        if self.precision != 'float32' or spec.name not in IN_SINGLE:
            return False
        if spec.name in SOLVES_ROWS and not self._rows_are_certain:
            return False
        clock = len(spec.input_sizes) - 1
        return INPUTS[spec.name][clock] != 'time' or not spec.depends_on(clock)
