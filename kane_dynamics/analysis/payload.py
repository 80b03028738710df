# SPDX-License-Identifier: Apache-2.0
r"""
Payload identification from measured motions and efforts.

Newton's and Euler's equations of one body are linear in its ten parameters
:math:`\phi = (m, m c, J_{xx}, J_{xy}, J_{xz}, J_{yy}, J_{yz}, J_{zz})` about the origin of a frame
fixed in it (Atkeson, An and Hollerbach 1986): with :math:`a` the acceleration of the origin
without gravity,

.. math:: f = m a + (\dot\omega^\times + \omega^\times \omega^\times) m c, \quad
   \tau = m c \times a + J \dot\omega + \omega \times J \omega

so the efforts are :math:`J_F^T Y \phi`. Sums over samples give least squares.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_lsq_spline

from kane_dynamics.algebra.dual_quaternion import vec6
from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.algorithms.newton_euler_by_moments import BodyMotion, point_acceleration_matrix
from kane_dynamics.algorithms.regressor import body_wrenches
from kane_dynamics.analysis.frame_task import frame_task
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.robot.checks import as_times
from kane_dynamics.robot.inertial_parameters import PARAMETERS, central_tensor
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['PayloadEstimate', 'estimate_payload', 'fitted_payload', 'payload_regressor']

DEGREE = 5
LEAST = 4  # samples for each piece: noise is averaged, and no piece lacks samples


def smoothed(
    times: ArrayLike, samples: ArrayLike, spacing: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return times in the middle of pieces of a spline, and its values and derivatives there."""
    t = checks.as_shaped('times [s]', times, ('B',))
    x = checks.as_shaped('samples', samples, (len(t), 'n'))
    checks.check_increasing('times [s]', t)
    lasts = float(t[-1] - t[0]) if len(t) else 0.0
    pieces = int(lasts / checks.as_positive('spacing [s]', spacing))
    if pieces < 3:
        raise InvalidInputError(
            f'times: need samples over {3 * spacing:g} s, three pieces, got {lasts:.3f} s'
        )
    ends = np.linspace(t[0], t[-1], pieces + 1)
    fewest = int(np.histogram(t, ends)[0].min())
    if fewest < LEAST:
        raise InvalidInputError(
            f'times: need {LEAST} samples in every {spacing:g} s, got {fewest} in one; make '
            'spacing longer'
        )
    knots = np.r_[[ends[0]] * DEGREE, ends, [ends[-1]] * DEGREE]
    spline = make_lsq_spline(t, x, knots, k=DEGREE)
    middles = 0.5 * (ends[1:-2] + ends[2:-1])
    return middles, spline(middles), spline(middles, 1), spline(middles, 2)


SCALE = np.repeat([10.0, 3.0, 1.0], [1, 3, 6])
"""Payloads of arms [kg, kg m, kg m^2]: what is not known better than this is not known at all."""
_SEEN = 0.1  # of `SCALE`: a deviation below it is knowledge that came from the motion
_ROUNDOFF = 1e-9  # of the largest singular value
_TIMES = 0.0, 0.37, 1.91  # [s] at which rows without dependence on time are the same


@dataclass(frozen=True, eq=False, slots=True)
class PayloadEstimate:
    """
    A payload and how well it is known.

    Parameters
    ----------
    parameters : ndarray, shape (10,)
        phi, in the order of `PARAMETERS`.
    covariance : ndarray, shape (10, 10)
        Of phi, from what the fit leaves; what the motion does not show has that of `SCALE`.
    rank : int
        Number of combinations of parameters that the motion shows.

    """

    parameters: Floats
    covariance: Floats
    rank: int

    @property
    def deviations(self) -> Floats:
        """Return the standard deviations of phi, shape (10,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def visible(self) -> tuple[str, ...]:
        """Return the names of the parameters that the motion shows."""
        seen = self.deviations < _SEEN * SCALE
        return tuple(name for name, known in zip(PARAMETERS, seen, strict=True) if known)

    @property
    def mass(self) -> float:
        """Return m [kg]."""
        return float(self.parameters[0])

    @property
    def com(self) -> Floats:
        """Return the centre of mass in the frame, shape (3,) [m]; NaN where there is no mass."""
        return self.parameters[1:4] / (self.mass if self.mass > 0.0 else np.nan)

    @property
    def com_deviations(self) -> Floats:
        """Return the standard deviations of the centre of mass, shape (3,) [m]."""
        change = np.column_stack([-self.com, np.eye(3)]) / self.mass
        return np.asarray(np.sqrt(np.diag(change @ self.covariance[:4, :4] @ change.T)))

    @property
    def inertia(self) -> Floats:
        """Return the inertia about the centre of mass, in the frame's axes, shape (3, 3)."""
        return central_tensor(self.parameters, self.com)


def payload_regressor(
    dynamics: Dynamics, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> Floats:
    """
    Return Y with efforts = Y phi: what ten parameters of a body at a frame add, shape (nv, 10).

    Parameters
    ----------
    dynamics : Dynamics
        Of either engine; the body that carries the frame must be among its `frames`.
    frame : str
        Name of a frame that is fixed in a moving body.
    q, v, a : array_like, shapes (nq,), (nv,), (nv,)
        Motion.

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    InvalidInputError
        If the frame is part of the world.

    """
    task = frame_task(dynamics, frame, np.asarray(q), np.asarray(v), own_axes=True)
    rate = task.jacobian @ np.asarray(a) + task.drift
    falling = rate[3:] - task.axes @ dynamics.robot.gravity
    omega, alpha, origin = pure(task.velocity[:3]), pure(rate[:3]), pure(falling)
    motion = BodyMotion(omega, alpha, origin, point_acceleration_matrix(omega, alpha))
    W = np.column_stack([vec6(zeta) for zeta in body_wrenches(motion)])  # force above moment
    return np.asarray(task.jacobian.T @ np.roll(W, 3, axis=0))


def estimate_payload(
    dynamics: Dynamics,
    frame: str,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    speeds: ObservedSpeeds | None = None,
    time: ArrayLike | None = None,
) -> PayloadEstimate:
    """
    Return the payload at a frame that explains measured efforts best.

    What the dynamics carry already is not counted. Motions at rest show mass and centre of mass,
    in more than one pose of the frame; quick turns show the inertia.

    Parameters
    ----------
    dynamics : Dynamics
        Of either engine; the body that carries the frame must be among its `frames`.
    frame : str
        Name of the frame.
    q, v, a, tau : array_like, shapes (B, nq), (B, nv), (B, nv), (B, nv)
        Samples of a motion, its efforts as measured.
    speeds : ObservedSpeeds, optional
        Speeds whose efforts count; all where left out.
    time : array_like, shape (B,) or (), optional
        t of constraints that depend on time [s]; such constraints need it.

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    InvalidInputError
        If shapes are wrong, a number is not finite, or there are not more efforts
        than parameters that they show.

    """
    robot = checked_dynamics(dynamics).robot
    if speeds is None:
        speeds = ObservedSpeeds(dynamics)
    observed = checks.as_one(ObservedSpeeds, 'speeds', speeds, 'ObservedSpeeds')
    Q = checks.as_shaped('q', q, ('B', robot.nq))
    count = len(Q)
    V, A, efforts = (
        checks.as_shaped(name, x, (count, robot.nv))
        for name, x in (('v', v), ('a', a), ('tau', tau))
    )
    missing = efforts - np.asarray(dynamics.inverse_dynamics(Q, V, A)).reshape(count, robot.nv)
    if time is None and count and _depends_on_time(observed, Q[0], V[0]):
        raise InvalidInputError(
            f'time [s]: the constraint rows depend on it, need one or {count}, got none'
        )
    instants = as_times(0.0 if time is None else time).ravel().tolist()
    if len(instants) == 1:
        instants *= count
    elif len(instants) != count:
        raise InvalidInputError(f'time [s]: need one or {count}, got {len(instants)}')
    rows, right = [], []
    for row_q, row_v, row_a, lacking, t in zip(Q, V, A, missing, instants, strict=True):
        Z = observed.directions(row_q, row_v, t)
        rows.append(Z.T @ payload_regressor(dynamics, frame, row_q, row_v, row_a))
        right.append(Z.T @ lacking)
    return fitted_payload(np.concatenate(rows), np.concatenate(right))


def fitted_payload(
    regressor: Floats, efforts: Floats, count: int | None = None
) -> PayloadEstimate:
    """
    Return the parameters that fit efforts best; `SCALE` decides where these say nothing.

    Parameters
    ----------
    regressor : ndarray, shape (k, 10)
        Rows of Y.
    efforts : ndarray, shape (k,)
        What the payload causes [N m or N].
    count : int, optional
        How many efforts the rows stand for, where they are a triangle of more.

    Raises
    ------
    InvalidInputError
        If there are not more efforts than parameters that they show.

    """
    scaled = np.zeros((max(len(regressor), len(SCALE)), len(SCALE)))
    scaled[: len(regressor)] = regressor * SCALE
    left, sizes, right = np.linalg.svd(scaled, full_matrices=False)
    floor = _ROUNDOFF * sizes.max(initial=0.0)
    seen, many = int(np.sum(sizes > floor)), len(efforts) if count is None else count
    if many <= seen:
        raise InvalidInputError(
            f'efforts: need more than the {seen} parameters that they show, got {many}; take more '
            'samples'
        )
    left = left[: len(efforts)]
    part = left.T @ efforts
    missed = efforts - left @ part
    noise = max(float(np.sqrt(missed @ missed / (many - seen))), floor)
    # least squares with payloads of the size of SCALE before any sample was taken
    weights = 1.0 / (sizes**2 + noise**2)
    directions = SCALE[:, None] * right.T
    return PayloadEstimate(
        directions @ (weights * sizes * part),
        (directions * (noise**2 * weights)) @ directions.T,
        int(np.sum(sizes > noise)),
    )


def _depends_on_time(observed: ObservedSpeeds, q: Floats, v: Floats) -> bool:
    """Return whether directions without constraint forces change with time at a state."""
    first, *others = (observed.directions(q, v, t) for t in _TIMES)
    return any(not np.allclose(Z, first, rtol=_ROUNDOFF, atol=_ROUNDOFF) for Z in others)
