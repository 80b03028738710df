# SPDX-License-Identifier: Apache-2.0
r"""
Terms of the equation of motion and energy: a row of the table and a method each.

.. math:: M(q) a + C(q, v) v + g(q) + D v + F \mathrm{sign}(v) = \tau + J^T w

Gravity stands on the left side; friction acts against :math:`\tau`; armature is part of M.
"""

from typing import Any

from kane_dynamics.algorithms.kinematics import tree_kinetic_energy, tree_potential_energy
from kane_dynamics.algorithms.mass_matrix import gauss_coriolis_matrix, gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import (
    ExternalWrenches,
    joint_friction,
    newton_euler,
    required_effort,
    wrenches_on_bodies,
)
from kane_dynamics.algorithms.regressor import regressor
from kane_dynamics.dynamics.base import DynamicsBase
from kane_dynamics.dynamics.table import AT_START, EFFORT, NUMPY, by_robot, function
from kane_dynamics.typing import ArrayLike, Floats

INERTIA = 'kg m^2, kg m or kg'


def _effort(d: DynamicsBase, q: Any, v: Any, a: Any, wrenches: ExternalWrenches = None) -> Any:
    return required_effort(d.robot, q, v, a, wrenches_on_bodies(d.robot, wrenches))


def _bias(d: DynamicsBase, q: Any, v: Any) -> Any:
    return newton_euler(d.robot, q, v, [0.0] * d.robot.nv)


def _gravity(d: DynamicsBase, q: Any) -> Any:
    return _bias(d, q, [0.0] * d.robot.nv)


class Terms(DynamicsBase):
    """Functions of q, v and a robot alone."""

    @function('q v a', 'nv', EFFORT, _effort, 'effort', AT_START)
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_wrenches: ExternalWrenches = None,
        out: Floats | None = None,
    ) -> Floats:
        r"""
        Return the efforts that produce `a`, shape (nv,) [N m or N].

        :math:`\tau = M a + C v + g + D v + F \mathrm{sign}(v) - J^T w`, by dual quaternion
        Newton-Euler (Silva et al., (19)-(30)).

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.
        NameNotFoundError
            If a wrench names a link that does not exist.

        Examples
        --------
        >>> tau = d.inverse_dynamics(q, v, a)
        >>> terms = d.mass_matrix(q) @ a + d.bias_force(q, v) + d.friction_force(v)
        >>> np.allclose(tau, terms)
        True

        """
        if external_wrenches is None:
            return self._call('inverse_dynamics', (q, v, a), (), out)
        return self._under_wrenches(q, v, a, external_wrenches, out)

    def _under_wrenches(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: object, out: Floats | None
    ) -> Floats:
        """Return inverse dynamics under wrenches on links."""
        return self._call('inverse_dynamics', (q, v, a), (wrenches,), out)

    @function('q v a', 'nv parameters', 'N m or N by unit of each parameter', by_robot(regressor))
    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Floats | None = None
    ) -> Floats:
        r"""
        Return W with :math:`M a + C v + g = W \phi`, shape (nv, 10 bodies).

        Without friction and armature; :math:`\phi` are the `inertial_parameters` of the robot.

        Examples
        --------
        >>> from kane_dynamics.robot.inertial_parameters import inertial_parameters
        >>> efforts = d.inverse_dynamics(q, v, a) - d.friction_force(v) - d.robot.armature * a
        >>> np.allclose(d.regressor(q, v, a) @ inertial_parameters(d.robot), efforts)
        True

        """
        return self._call('regressor', (q, v, a), (), out)

    @function('q v', 'nv', EFFORT, _bias, 'bias', AT_START)
    def bias_force(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return C v + g, shape (nv,) [N m or N]: inverse dynamics at a = 0 without friction.

        Examples
        --------
        >>> np.allclose(d.bias_force(q, v), d.coriolis_matrix(q, v) @ v + d.gravity_force(q))
        True

        """
        return self._call('bias_force', (q, v), (), out)

    @function('q', 'nv', EFFORT, _gravity, 'gravity', AT_START)
    def gravity_force(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return g of M a + C v + g = tau, shape (nv,) [N m or N] (Silva et al., (51)).

        Examples
        --------
        >>> np.allclose(d.gravity_force(q), d.inverse_dynamics(q, 0.0 * v, 0.0 * a))
        True

        """
        return self._call('gravity_force', (q,), (), out)

    @function('v', 'nv', EFFORT, by_robot(joint_friction), '', NUMPY)
    def friction_force(self, v: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return D v + F sign(v), shape (nv,) [N m or N]: what actuators need against friction.

        Examples
        --------
        >>> np.allclose(d.friction_force(-v), -d.friction_force(v))
        True

        """
        return self._call('friction_force', (v,), (), out)

    @function('q', 'nv nv', INERTIA, by_robot(gauss_mass_matrix), 'mass_entries', AT_START)
    def mass_matrix(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return M(q), shape (nv, nv), symmetric, armature included (Silva et al., (46)).

        Examples
        --------
        >>> M = d.mass_matrix(q)
        >>> np.allclose(M, M.T), bool((np.linalg.eigvalsh(M) > 0.0).all())
        (True, True)

        """
        return self._call('mass_matrix', (q,), (), out)

    @function('q v', 'nv nv', 'N m s or N s', by_robot(gauss_coriolis_matrix), '', AT_START)
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return C(q, v), shape (nv, nv), with dM/dt - 2 C skew (Silva et al., (47), (52)).

        Examples
        --------
        >>> h = 1e-6
        >>> rate = (d.mass_matrix(q + h * v) - d.mass_matrix(q - h * v)) / (2.0 * h)
        >>> twice = d.coriolis_matrix(q, v) + d.coriolis_matrix(q, v).T
        >>> np.allclose(rate, twice, atol=1e-6)
        True

        """
        return self._call('coriolis_matrix', (q, v), (), out)

    @function('q v', '', 'J', by_robot(tree_kinetic_energy), 'kinetic', AT_START)
    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return v' M v / 2, shape () [J].

        Examples
        --------
        >>> np.allclose(d.kinetic_energy(q, v), v @ d.mass_matrix(q) @ v / 2.0)
        True

        """
        return self._call('kinetic_energy', (q, v), (), out)

    @function('q', '', 'J', by_robot(tree_potential_energy), 'potential', AT_START)
    def potential_energy(self, q: ArrayLike, out: Floats | None = None) -> Floats:
        """
        Return -sum m_i <gravity, p_i>, shape () [J], zero with all masses at the world origin.

        Examples
        --------
        >>> h = 1e-6
        >>> power = (d.potential_energy(q + h * v) - d.potential_energy(q - h * v)) / (2.0 * h)
        >>> np.allclose(power, d.gravity_force(q) @ v, atol=1e-6)
        True

        """
        return self._call('potential_energy', (q,), (), out)
