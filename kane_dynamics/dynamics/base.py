# SPDX-License-Identifier: Apache-2.0
"""What every engine of dynamics has: its robot, its load, and results for one state or many."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from kane_dynamics.algorithms.newton_euler import TERMS, ExternalWrenches
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.table import FUNCTIONS
from kane_dynamics.robot.checks import Arguments, as_finite, as_output, fill_rows, of_rows
from kane_dynamics.robot.robot import POINT, Robot
from kane_dynamics.robot.state import GravityAndPayloads, checked_frames
from kane_dynamics.typing import ArrayLike, Floats

_Result = TypeVar('_Result')
Arrays = Sequence[Any]
Choices = tuple[Any, ...]
Out = Floats | None


class DynamicsBase(ABC):
    """A robot under constraints, gravity and payloads, whose functions an engine computes."""

    wrenches: ExternalWrenches = None  # on links, of functions under constraints

    def __init__(
        self,
        load: GravityAndPayloads,
        constraints: Sequence[Constraint],
        frames: Sequence[str] | None,
    ) -> None:
        self.constraints = ConstraintSet.of(load.robot, constraints)
        self.frames = checked_frames(load.robot, frames)
        self._load = load
        self.labels = self.constraints.labels
        # arguments that most calls leave out
        self._ones, self._still = np.ones(load.robot.nv), np.zeros(load.robot.nv)
        self._start, self._every_term = np.zeros(1), np.ones(len(TERMS))
        self._efforts: dict[Choices, Callable[..., Floats]] = {}  # machine code, by names

    @property
    def robot(self) -> Robot:
        """Return the robot under the present gravity and payloads."""
        return self._load.robot

    def set_gravity(self, vector: ArrayLike) -> None:
        """
        Set the gravity acceleration, until it is set again.

        Parameters
        ----------
        vector : array_like, shape (3,)
            In world axes [m/s^2].

        """
        self._load.set_gravity(vector)
        self._load_changed()

    def set_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> None:
        """
        Set what a frame carries instead of what it carried; mass 0 takes it off.

        Parameters
        ----------
        frame : str
            Its name.
        mass : float
            [kg].
        com : array_like, shape (3,)
            Centre of mass from the frame's origin, in its axes [m].
        inertia : array_like, shape (3, 3)
            About the centre of mass, in the frame's axes [kg m^2].

        Raises
        ------
        NameNotFoundError
            If there is no such frame.
        InvalidInputError
            If the frame was not named when compiling, is part of the world, or anything but real
            numbers is given.
        InvalidInertiaError
            If no body has this mass and inertia.

        """
        self._load.set_payload(frame, mass, com, inertia)
        self._load_changed()

    def _load_changed(self) -> None:
        """Take over gravity and payloads that were set."""
        return

    def load(self) -> GravityAndPayloads:
        """Return a copy of the present gravity and payloads, which can be set by itself."""
        return self._load.copied()

    @property
    def not_compiled(self) -> tuple[str, ...]:
        """Return the functions of a compiled robot that are not machine code, but numpy."""
        return ()

    @property
    def fallback_count(self) -> int:
        """Return how many states machine code left to the reference."""
        return 0

    @abstractmethod
    def _call(self, name: str, arrays: Arrays, choices: Choices = (), out: Out = None) -> Floats:
        """Return what a function of the table gives, for one state or many."""

    def _by_states(
        self, name: str, function: Callable[..., Any], arrays: Sequence[Any], out: Floats | None
    ) -> Floats:
        """Return what `function` gives at one state, or at each of many; NaN where one is not."""
        shape = FUNCTIONS[name].shape_of(self)
        inputs, count = self._arguments(name).gathered(arrays, out)
        if count is None:
            result = as_output(shape, out)
            finite = all(np.isfinite(x).all() for x in inputs)
            result[...] = function(*inputs) if finite else np.nan
            return result
        result = as_output((count, *shape), out)
        full = [np.broadcast_to(x, (count, x.shape[-1])) for x in inputs]
        fill_rows(function, full, result, range(count))
        return result

    def _result(
        self,
        function: Callable[..., _Result],
        blank: _Result,
        arguments: Arguments,
        arrays: Sequence[Any],
    ) -> _Result:
        """Return a result for one state, or one whose entries have a row for each of many."""
        inputs, count = arguments.gathered(arrays, None)
        if count is None:
            for what, x in zip(arguments.names, inputs, strict=True):
                as_finite(what, x)
            return function(*inputs)
        full = [np.broadcast_to(x, (count, x.shape[-1])) for x in inputs]
        return of_rows(function, full, blank)

    def _arguments(self, name: str) -> Arguments:
        row = FUNCTIONS[name]
        return Arguments(name, row.inputs, row.sizes_of(self))
