# SPDX-License-Identifier: Apache-2.0
r"""
What turning costs a skid-steer base: the moment of the friction across its tracks.

In a turn with yaw rate :math:`\omega` each wheel at :math:`(x_i, y_i)` slides across its track
with :math:`u + x_i \omega`, and along it with :math:`(f - 1) y_i \omega`, f the track factor.
Friction opposes that (`sliding_friction`). The sideways speed u, or the centre of turning at
:math:`x = -u/\omega`, follows from the balance across the track: the ground gives the side force Y
that the motion asks for. With loads that differ the centre lies near the axle that carries more,
which then holds instead of sliding. The moment is :math:`\sum_i (x_i - x_0) F_i` about the point
:math:`x_0` that the kinematics takes for the centre: its row gives Y there.
"""

from collections.abc import Sequence

import numpy as np

from kane_dynamics.algorithms.constrained_inverse import balance_force
from kane_dynamics.algorithms.projection import speed_indices
from kane_dynamics.analysis.base_effects import TracedRecursion
from kane_dynamics.analysis.contact_builders import base_ground_contacts
from kane_dynamics.analysis.contact_friction import sliding_friction
from kane_dynamics.analysis.normal_forces import normal_forces
from kane_dynamics.bases.motion_rows import wheel_place
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.dynamics.rows import independent_rows
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['SkidFriction']

# Slip below which friction fades out [m/s]: noise of a speed that should be zero is no turn.
_CREEP = 1e-3
_PARTS, _REFINEMENTS = 64, 6  # of the search for the centre of turning: 64^-6 is roundoff


class SkidFriction:
    """
    Friction of a base that skids, for feed-forward.

    Parameters
    ----------
    base : WheeledBase
        From `bases.skid_steer`, of a robot with a planar base.
    friction : float or (float, float)
        mu, or mu along and across the track, > 0.
    actuated : sequence of str, optional
        Speeds whose motors pay for it; the driven wheels where left out.

    Raises
    ------
    ConstraintError
        If the base does not skid, or is not planar.
    InvalidInputError
        If mu is not positive.
    NameNotFoundError
        If a speed does not exist.

    """

    def __init__(
        self, base: WheeledBase, friction: ArrayLike, actuated: Sequence[str] | None = None
    ) -> None:
        robot = base.robot
        if base.kind != 'skid_steer' or robot.base != 'planar':
            raise ConstraintError(
                'friction of skidding needs a skid-steer base of a robot with a planar base, this '
                f'is {base.kind} on a {robot.base} base'
            )
        mu = as_vector('friction', np.ravel(friction) * np.ones(2), 2)
        if not (mu > 0.0).all():
            raise InvalidInputError(f'friction: need mu > 0, got {mu.tolist()}')
        self._robot, self._mu, self._track_factor = robot, mu, base.track_factor
        self._contacts = base_ground_contacts(base, friction=mu)
        wheels = self._contacts.sliding
        self._who = [self._contacts.names.index(joint) for joint in wheels]
        self._places = np.array([wheel_place(robot, one).point[:2] for one in wheels.values()])
        self._centre = float(self._places[:, 0].mean())
        self._reach = float(np.abs(self._places[:, 0] - self._centre).max())
        # wheels that do not steer stand where they stand, seen from the base
        self._polygon = self._contacts.polygon(robot.neutral())
        self._wrench = TracedRecursion(robot)
        self._shares = self._of_a_moment(base, base.driven if actuated is None else actuated)

    def effort(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """
        Return what the motors need beside what a base needs that turns without friction.

        Parameters
        ----------
        q, v, a : ndarray, shapes (nq,), (nv,), (nv,)
            Motion; only the yaw rate counts of the speeds of the base.

        Returns
        -------
        ndarray, shape (nv,)
            Efforts on v [N m or N].

        """
        return -self.moment(q, v, a) * self._shares

    def moment(self, q: Floats, v: Floats, a: Floats) -> float:
        """Return the moment of the ground that resists turning [N m]; parameters as `effort`."""
        rate = float(v[2])
        if rate == 0.0:
            return 0.0
        wrench = self._wrench.at(*(x[None] for x in _from_the_base(q, v, a)))[0, :6]
        loads = normal_forces(self._polygon, wrench, self._contacts.stiffness).forces
        side = float(wrench[4])
        forces = self._side_forces(rate, loads[self._who], side)
        fading = min(1.0, abs(rate) * self._reach / _CREEP)
        return fading * float((self._places[:, 0] - self._centre) @ forces)

    def _side_forces(self, rate: float, loads: Floats, side: float) -> Floats:
        """Return the force across the track of each wheel [N], of which the sum is `side`."""
        x, y = self._places.T
        along = (self._track_factor - 1.0) * rate * y
        # further out all wheels slide to one side, and nearly straight
        reach = np.abs(rate) * (np.ptp(x) + np.abs(x).max()) + 1e3 * np.abs(along).max()
        low, high = -reach, reach
        for _ in range(_REFINEMENTS):
            tried = np.linspace(low, high, _PARTS + 1)[:, None]
            slips = np.stack(np.broadcast_arrays(along, tried + x * rate), axis=-1)
            forces = sliding_friction(slips, loads, self._mu)[..., 1]
            sums = forces.sum(axis=1)  # decreasing
            k = int(np.clip(np.count_nonzero(sums > side) - 1, 0, _PARTS - 1))
            low, high = float(tried[k, 0]), float(tried[k + 1, 0])
        drop = sums[k] - sums[k + 1]
        part = np.clip((sums[k] - side) / drop, 0.0, 1.0) if drop > 0.0 else 0.0
        # a wheel at the centre of turning holds: any force between those of sliding either way
        return np.asarray(forces[k] + part * (forces[k + 1] - forces[k]))

    def _of_a_moment(self, base: WheeledBase, actuated: Sequence[str]) -> Floats:
        """Return the efforts that give the base a yaw moment of 1 N m, shape (nv,)."""
        robot = self._robot
        rows = independent_rows(
            robot, robot.neutral(), (*base.constraints, *base.assumed)
        ).independent
        turning = np.zeros(robot.nv)
        turning[2] = 1.0
        columns = speed_indices(robot, actuated, 'actuated')
        return balance_force(robot, rows.matrix, columns, turning, np.ones(robot.nv))[0]


def _from_the_base(q: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the same motion in axes that stand still where those of the planar base are now."""
    sine, cosine = np.sin(q[2]), np.cos(q[2])
    turn = np.array([[cosine, sine], [-sine, cosine]])
    here = np.r_[np.zeros(3), q[3:]]
    return here, *(np.r_[turn @ x[:2], x[2:]] for x in (v, a))
