# SPDX-License-Identifier: Apache-2.0
"""Centre of mass, momentum and frames: a row of the table and a method each."""

from typing import Any

from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.kinematics import (
    frame_bias_table,
    frame_jacobian_table,
    frame_pose_table,
    momentum_columns,
    momentum_rate,
    momentum_vector,
    tree_center_of_mass,
)
from kane_dynamics.dynamics.base import DynamicsBase
from kane_dynamics.dynamics.table import (
    AT_START,
    add_row,
    by_frames,
    by_robot,
    documented,
    function,
)
from kane_dynamics.dynamics.terms import INERTIA
from kane_dynamics.robot.checks import index_of
from kane_dynamics.typing import ArrayLike, Floats


def _touches(d: Any, q: Any) -> list[Any]:
    touches = [wheel.touch(d.robot, q) for wheel in d.constraints.wheels]
    return [row for one in touches for row in (one.point, *one.axes, *one.directions)]


add_row('wheel_touches', 'q', 'touches 3', 'm, -', _touches)


class KinematicFunctions(DynamicsBase):
    """Functions of where the bodies are and how they move."""

    @function('q', '3', 'm', lambda d, q: vec3(tree_center_of_mass(d.robot, q)))
    def center_of_mass(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return the centre of mass in the world, shape (3,) [m].

        Examples
        --------
        >>> d.center_of_mass(q).shape
        (3,)

        """
        return self._call('center_of_mass', (q,), (), out)

    @function('q v', '6', 'N m s, N s', by_robot(momentum_vector))
    def momentum(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return momentum (angular about the centre of mass, linear), world axes, shape (6,).

        In [N m s] and [N s].

        Examples
        --------
        >>> np.allclose(d.momentum(q, v), d.momentum_matrix(q) @ v)
        True

        """
        return self._call('momentum', (q, v), (), out)

    @function('q', '6 nv', INERTIA, by_robot(momentum_columns), 'momentum_slope')
    def momentum_matrix(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return the matrix that makes `momentum` of v, shape (6, nv).

        Examples
        --------
        >>> d.momentum_matrix(q).shape
        (6, 2)

        """
        return self._call('momentum_matrix', (q,), (), out)

    @function('q v a', '6', 'N m, N', by_robot(momentum_rate))
    def centroidal_momentum_rate(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Floats | None = None
    ) -> Floats:
        """
        Return d/dt of `momentum`: all forces on the robot together, world axes, shape (6,).

        In [N m] and [N].

        Examples
        --------
        >>> h = 1e-6
        >>> after, before = (d.momentum(q + s * v, v + s * a) for s in (h, -h))
        >>> np.allclose(d.centroidal_momentum_rate(q, v, a), (after - before) / (2.0 * h))
        True

        """
        return self._call('centroidal_momentum_rate', (q, v, a), (), out)

    @function('q', 'frames 7', 'm, -', by_frames(frame_pose_table), 'pose_rows', AT_START)
    def frame_poses(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return position and (w, x, y, z) of each of `frames` in the world, shape (n, 7) [m, -].

        Examples
        --------
        >>> np.allclose(d.frame_poses(q)[1], d.frame_pose('link_2', q))
        True

        """
        return self._call('frame_poses', (q,), (), out)

    @function('q', 'frames 6 nv', '-, m', by_frames(frame_jacobian_table))
    def frame_jacobians(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return J with twist = J v of each of `frames`, in its axes, shape (n, 6, nv).

        Examples
        --------
        >>> np.allclose(d.frame_jacobians(q)[1], d.frame_jacobian('link_2', q))
        True

        """
        return self._call('frame_jacobians', (q,), (), out)

    @function('q v', 'frames 6', 'rad/s^2, m/s^2', by_frames(frame_bias_table))
    def frame_bias_accelerations(
        self, q: ArrayLike, v: ArrayLike, out: Floats | None = None
    ) -> Floats:
        """
        Return dJ/dt v of each of `frames`: its twist rate at a = 0, shape (n, 6).

        Examples
        --------
        >>> bias = d.frame_bias_acceleration('link_2', q, v)
        >>> np.allclose(d.frame_bias_accelerations(q, v)[1], bias)
        True

        """
        return self._call('frame_bias_accelerations', (q, v), (), out)

    def wheel_touches(self, q: ArrayLike) -> Floats:
        """
        Return where the wheels of the constraints touch the ground, one after the other.

        Rows of the contact point [m], of three axes (along the track, left of it, normal), and of
        the directions of the constraint rows, world axes.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Coordinates.

        """
        return self._call('wheel_touches', (q,))

    @documented
    def frame_pose(self, name: str, q: ArrayLike) -> Floats:
        """
        Return position and (w, x, y, z) of one of `frames` in the world, shape (7,) [m, -].

        Examples
        --------
        >>> d.frame_pose('link_1', q).shape
        (7,)

        """
        pose: Floats = self.frame_poses(q)[..., index_of('frame', name, self.frames), :]
        return pose

    @documented
    def frame_jacobian(self, name: str, q: ArrayLike) -> Floats:
        """
        Return J with twist = J v of one of `frames`, (omega, v) in its axes, (6, nv).

        Examples
        --------
        >>> kinematics = kd.forward_kinematics(d.robot, q, v)
        >>> np.allclose(d.frame_jacobian('link_2', q) @ v, kinematics.twist('link_2'))
        True

        """
        number = index_of('frame', name, self.frames)
        jacobian: Floats = self.frame_jacobians(q)[..., number, :, :]
        return jacobian

    @documented
    def frame_bias_acceleration(self, name: str, q: ArrayLike, v: ArrayLike) -> Floats:
        """
        Return dJ/dt v of one of `frames`, shape (6,) [rad/s^2, m/s^2].

        Examples
        --------
        >>> rate = d.frame_jacobian('link_2', q) @ a + d.frame_bias_acceleration('link_2', q, v)
        >>> kinematics = kd.forward_kinematics(d.robot, q, v, a)
        >>> np.allclose(rate, kinematics.twist_rate('link_2'))
        True

        """
        drift: Floats = self.frame_bias_accelerations(q, v)[
            ..., index_of('frame', name, self.frames), :
        ]
        return drift
