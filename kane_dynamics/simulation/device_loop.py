# SPDX-License-Identifier: Apache-2.0
"""
A device and a simulation at two rates: the device meets the simulated robot every n steps.

The device sends its pose and gets a wrench once in its period; in between the pose is held, and
the coupler acts on the robot at every step of the simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_count, as_vector
from kane_dynamics.robot.integration import integrate_coordinates
from kane_dynamics.simulation.simulation import Simulation
from kane_dynamics.simulation.virtual_coupler import CouplerWrenches, VirtualCoupler
from kane_dynamics.typing import Floats

_SAME = 1e-9  # relative difference of two periods that are one but for roundoff


class FrameMotions(Protocol):
    """Where frames are and how they move: `kane_dynamics.Dynamics` of either engine."""

    def frame_pose(self, name: str, q: ArrayLike) -> Floats:
        """Return position and (w, x, y, z), shape (7,)."""

    def frame_jacobian(self, name: str, q: ArrayLike) -> Floats:
        """Return J with twist = J v, shape (6, nv)."""


@dataclass(frozen=True, eq=False)
class DeviceLoop:
    """
    A simulation that somebody touches through a virtual coupler.

    Parameters
    ----------
    simulation : Simulation
        The robot in time.
    dynamics : Dynamics
        Where its frames are, `kd.dynamics(robot)` or `kd.compile(robot)`.
    frame : str
        The frame that the coupler pulls, one of `dynamics.frames`.
    coupler : VirtualCoupler
        Spring and damper.
    substeps : int
        Steps of the simulation in a period of the device.

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    InvalidInputError
        If `substeps` is no whole number above zero, or the coupler was checked for another
        period.

    """

    simulation: Simulation
    dynamics: FrameMotions
    frame: str
    coupler: VirtualCoupler
    substeps: int

    def __post_init__(self) -> None:
        if as_count('substeps', self.substeps) < 1:
            raise InvalidInputError(f'substeps: need at least one, got {self.substeps}')
        checked = self.coupler.period
        if checked is not None and abs(self.period - checked) > _SAME * checked:
            raise InvalidInputError(
                f'the coupler was checked for a period of {checked:.6g} s, but {self.substeps} '
                f'steps of {self.simulation.step_size:.6g} s are {self.period:.6g} s'
            )
        self.dynamics.frame_pose(self.frame, self.simulation.q)

    @property
    def period(self) -> float:
        """Return the period of the device [s]."""
        return self.substeps * self.simulation.step_size

    def exchange(
        self,
        device_pose: ArrayLike | Pose,
        device_twist: ArrayLike,
        tau: ArrayLike | None = None,
    ) -> CouplerWrenches:
        """
        Return the wrenches at this time, and move the robot through one period of the device.

        Parameters
        ----------
        device_pose, device_twist : array_like, shapes (7,), (6,)
            Of the device now, as for `VirtualCoupler.wrenches`.
        tau : array_like, shape (nv,), optional
            Efforts of the robot's motors; zero where left out.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.
        DivergedError, StepError
            As for `Simulation.step`.

        """
        nv = len(self.simulation.v)
        efforts = np.zeros(nv) if tau is None else as_vector('tau', tau, nv)
        first = self._step(device_pose, device_twist, efforts)
        for _ in range(self.substeps - 1):
            self._step(device_pose, device_twist, efforts)
        return first

    def _step(self, pose: ArrayLike | Pose, twist: ArrayLike, efforts: Floats) -> CouplerWrenches:
        v, half = self.simulation.v, 0.5 * self.simulation.step_size
        # a spring that is held over a step gives what it got where it is taken in the middle
        q = integrate_coordinates(self.simulation.robot, self.simulation.q, v, half)
        J, local = (
            self.dynamics.frame_jacobian(self.frame, q),
            self.dynamics.frame_pose(self.frame, q),
        )
        wrenches = self.coupler.wrenches(local, J @ v, pose, twist)
        self.simulation.step(efforts + J.T @ wrenches.on_frame)
        return wrenches
