# SPDX-License-Identifier: Apache-2.0
r"""
Haptic coupling of a device and a simulated robot.

A spring and a damper join the device, at the pose h, and a frame s of the robot:

.. math:: f = K e + B \dot e, \qquad e = R_s^T (p_h - p_s),

the same for the rotation vector of :math:`R_s^T R_h`. The force acts on the frame and its negative
on the device, both at the device's point, so together they give no momentum, and no energy but
what the spring stores: they are the gradient of :math:`\tfrac12 e^T K e` less the damping.

A device that gets a new force only every T seconds is pushed by an old one in between: to be
passive it needs, at a frequency w, the damping b > K T/2 - B cos(w T), and so at the worst one

.. math:: b > K T/2 + |B|

(Colgate and Schenkel, 1997, with the speed from differences of the position).

The device sends its pose and gets a wrench once in its period; in between the pose is held, and
the coupler acts on the robot at every step of the simulation.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kane_dynamics.algebra.pose import Pose, rate_of_turning, rotation_vector
from kane_dynamics.algebra.quaternions import pure, vec3
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_count, as_positive, as_vector
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.state import as_pose
from kane_dynamics.simulation.simulation import Simulation
from kane_dynamics.typing import ArrayLike, Floats

AXES = ('about x', 'about y', 'about z', 'along x', 'along y', 'along z')


@dataclass(frozen=True, eq=False, slots=True)
class CouplerWrenches:
    """
    What the coupler does to its two ends.

    Parameters
    ----------
    on_frame, on_device : ndarray, shape (6,)
        (tau, f) about the end's origin, in its own axes [N m, N].
    energy : float
        What the spring stores [J].

    """

    on_frame: Floats
    on_device: Floats
    energy: float


@dataclass(frozen=True, eq=False)
class VirtualCoupler:
    """
    Spring and damper between a device and a frame.

    Parameters
    ----------
    stiffness : array_like, shape (6,)
        K >= 0, about and along the axes of the frame [N m/rad, N/m].
    damping : array_like, shape (6,)
        B [N m s/rad, N s/m]; below zero it needs damping of the device.
    device_damping : array_like, shape (6,), optional
        b >= 0 of the device, that of the hand left out [N m s/rad, N s/m].
    period : float, optional
        T, from one force on the device to the next [s].

    Raises
    ------
    InvalidInputError
        If a stiffness is negative, only one of the last two is given, or the device has too
        little damping to be passive at this period; the message says what it needs.

    """

    stiffness: ArrayLike
    damping: ArrayLike
    device_damping: ArrayLike | None = None
    period: float | None = None

    def __post_init__(self) -> None:
        K = as_vector('stiffness', self.stiffness, 6)
        B = as_vector('damping', self.damping, 6)
        if (K < 0.0).any():
            raise InvalidInputError(f'stiffness: need numbers >= 0, got {K.tolist()}')
        K.setflags(write=False)
        B.setflags(write=False)
        vars(self).update(stiffness=K, damping=B)
        if (self.device_damping is None) != (self.period is None):
            raise InvalidInputError('give device_damping and period together, or neither')
        if self.device_damping is not None and self.period is not None:
            b, T = as_vector('device_damping', self.device_damping, 6), self.period
            _check_passive(b, needed_damping(K, B, T), as_positive('period [s]', T))

    def wrenches(
        self,
        frame_pose: ArrayLike | Pose,
        frame_twist: ArrayLike,
        device_pose: ArrayLike | Pose,
        device_twist: ArrayLike,
    ) -> CouplerWrenches:
        """
        Return the wrenches on both ends.

        Parameters
        ----------
        frame_pose, device_pose : Pose or array_like, shape (7,)
            In the world, as such or as `Dynamics.frame_pose` returns it.
        frame_twist, device_twist : array_like, shape (6,)
            (omega, v) of the origin, in the end's own axes.

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, or a quaternion is zero.

        """
        s, h = as_pose('frame_pose', frame_pose), as_pose('device_pose', device_pose)
        omega_s, v_s = as_vector('frame_twist', frame_twist, 6).reshape(2, 3)
        relative = s.conjugate() * h
        R, arm = relative.rotation_matrix(), relative.position()
        omega_h, v_h = as_vector('device_twist', device_twist, 6).reshape(2, 3) @ R.T
        angle = rotation_vector(relative.rotation)
        turned = vec3(angle)
        K, B = np.array(self.stiffness).reshape(2, 3), np.array(self.damping).reshape(2, 3)
        spring = vec3(rate_of_turning(-angle, pure(K[0] * turned)))
        couple = spring + B[0] * (omega_h - omega_s)
        force = K[1] * arm + B[1] * (v_h - v_s - np.cross(omega_s, arm))
        return CouplerWrenches(
            np.r_[couple + np.cross(arm, force), force],
            -np.r_[R.T @ couple, R.T @ force],
            0.5 * float(K[0] @ turned**2 + K[1] @ arm**2),
        )


def needed_damping(
    stiffness: ArrayLike, damping: ArrayLike, period: float, frequency: float | None = None
) -> Any:
    """
    Return the damping that a device needs to be passive, K T/2 - B cos(w T).

    Parameters
    ----------
    stiffness, damping : array_like
        K and B of a spring and damper whose force is held for a period.
    period : float
        T [s].
    frequency : float, optional
        w [rad/s]; the worst of all, ``K T/2 + |B|``, where left out.

    """
    K, B = np.asarray(stiffness, dtype=float), np.asarray(damping, dtype=float)
    T = as_positive('period [s]', period)
    if frequency is None:
        return 0.5 * T * K + np.abs(B)
    return 0.5 * T * K - B * np.cos(frequency * T)


def _check_passive(b: Floats, needed: Floats, period: float) -> None:
    lacking = [k for k in range(6) if not b[k] > needed[k]]
    if lacking:
        said = ', '.join(f'{AXES[k]} {needed[k]:.6g} (it has {b[k]:.6g})' for k in lacking)
        raise InvalidInputError(
            f'virtual coupler: at {1.0 / period:.6g} Hz the device needs damping above '
            f'K T/2 + |B|: {said}; make the coupler softer, or its period shorter'
        )


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
        J = self.dynamics.frame_jacobian(self.frame, q)
        frame_pose = self.dynamics.frame_pose(self.frame, q)
        wrenches = self.coupler.wrenches(frame_pose, J @ v, pose, twist)
        self.simulation.step(efforts + J.T @ wrenches.on_frame)
        return wrenches
