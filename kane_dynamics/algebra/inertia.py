# SPDX-License-Identifier: Apache-2.0
"""Mass properties of a rigid body, the quaternionic inertia tensor (Silva et al., (11)-(14))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.matrices import matrix_of, skew
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, dot, make_quaternion, pure
from kane_dynamics.algebra.scalars import Scalar, as_array, as_numbers, is_number, is_zero, where
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats, NDArray

UPPER = np.triu_indices(3)  # of a tensor: xx, xy, xz, yy, yz, zz
QuaternionicTensor = tuple[Quaternion, Quaternion, Quaternion]
_SYMMETRY = 1e-9  # relative: what printing six digits of a rotated tensor leaves behind
_ROUNDOFF = 1e-12  # kg m^2 for each kg: what adding up a body of 1 m leaves behind
_TRIANGLE = 1e-6  # relative: URDF files print about six digits


def quaternionic_tensor(matrix: NDArray) -> QuaternionicTensor:
    """
    Return the three pure quaternions (i_x, i_y, i_z), the rows of a (3, 3) tensor (11).

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        Its rows become the quaternions.

    Examples
    --------
    >>> from kane_dynamics.algebra import quaternionic_tensor, vec3
    >>> [vec3(row) for row in quaternionic_tensor(np.diag([1.0, 2.0, 3.0]))]
    [array([1., 0., 0.]), array([0., 2., 0.]), array([0., 0., 3.])]

    """
    i_x, i_y, i_z = (pure(row) for row in matrix)
    return i_x, i_y, i_z


def linear_map3(tensor: QuaternionicTensor, b: Quaternion) -> Quaternion:
    """
    Return L3(A) b = i<a_x, b> + j<a_y, b> + k<a_z, b> of a pure quaternion b (12).

    Parameters
    ----------
    tensor : tuple of quaternion
        The rows of A, as of `quaternionic_tensor`.
    b : quaternion
        Pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import linear_map3, pure, quaternionic_tensor, vec3
    >>> tensor = quaternionic_tensor(np.diag([1.0, 2.0, 3.0]))
    >>> vec3(linear_map3(tensor, pure([1.0, 1.0, 1.0])))
    array([1., 2., 3.])

    """
    a_x, a_y, a_z = tensor
    return make_quaternion(0.0, dot(a_x, b), dot(a_y, b), dot(a_z, b))


@dataclass(frozen=True, eq=False)
class Inertia:
    """
    Mass, centre of mass and central inertia tensor of a body, in the axes of frame B.

    Parameters
    ----------
    mass : float
        [kg], >= 0.
    com : array_like, shape (3,)
        Centre of mass p_BC^B [m].
    tensor : array_like, shape (3, 3)
        Inertia about the centre of mass in the axes of B [kg m^2], symmetric, positive
        semidefinite.

    Raises
    ------
    InvalidInputError
        If anything but real numbers is given, a number is not finite, the mass is negative, or
        the tensor is not symmetric or not positive.

    """

    mass: float
    com: Floats
    tensor: Floats

    def __post_init__(self) -> None:
        mass, com, tensor = (
            np.array(as_numbers(name, x))
            for name, x in (
                ('mass [kg]', self.mass),
                ('centre of mass [m]', self.com),
                ('inertia [kg m^2]', self.tensor),
            )
        )
        if mass.shape != ():
            raise InvalidInputError(f'mass must be one number, got shape {mass.shape}')
        if not (np.isfinite(mass) and mass >= 0.0):
            raise InvalidInputError(f'mass must be finite and >= 0 kg, got {mass}')
        if com.shape != (3,) or not np.isfinite(com).all():
            raise InvalidInputError(f'centre of mass must be 3 finite numbers [m], got {com}')
        if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
            raise InvalidInputError(
                f'inertia must be 3 x 3 finite numbers [kg m^2], got {tensor.tolist()}'
            )
        size = np.abs(tensor).max()
        if np.abs(tensor - tensor.T).max() > _SYMMETRY * size:
            raise InvalidInputError(f'inertia must be symmetric, got {tensor.tolist()}')
        lowest = float(np.linalg.eigvalsh(tensor)[0])
        if lowest < -_TRIANGLE * size - _ROUNDOFF * mass:
            raise InvalidInputError(
                f'inertia must not have a negative principal moment, got {lowest:.6g} kg m^2'
            )
        com.setflags(write=False)
        tensor = 0.5 * (tensor + tensor.T)
        tensor.setflags(write=False)
        vars(self).update(mass=float(mass), com=com, tensor=tensor)

    @staticmethod
    def traced(mass: Scalar, com: Sequence[Scalar], tensor: Sequence[Scalar]) -> Inertia:
        """Return mass properties that are not known yet; the tensor as xx, xy, xz, yy, yz, zz."""
        xx, xy, xz, yy, yz, zz = tensor
        rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        inertia = object.__new__(Inertia)
        # no checks: there are no numbers yet
        vars(inertia).update(mass=mass, com=as_array(com), tensor=matrix_of(rows))
        return inertia

    @staticmethod
    def of(mass: Scalar, com: NDArray, tensor: NDArray) -> Inertia:
        """Return mass properties, checked where they are numbers."""
        if is_number(mass):
            return Inertia(mass, com, tensor)
        return Inertia.traced(mass, com.tolist(), tensor[UPPER].tolist())

    @property
    def is_zero(self) -> bool:
        """Return whether a body has neither mass nor inertia; a traced one has."""
        return all(is_zero(x) for x in (self.mass, *self.tensor.ravel().tolist()))

    @staticmethod
    def zero() -> Inertia:
        """Return the inertia of a massless body."""
        return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))

    def moved(self, x_B_A: Pose) -> Inertia:
        """Return the same body described in A, given the pose of B in A (14)."""
        R = x_B_A.rotation_matrix()
        return Inertia.of(self.mass, x_B_A.position() + R @ self.com, R @ self.tensor @ R.T)

    def __add__(self, other: Inertia) -> Inertia:
        """Return the two bodies welded together (parallel axis theorem)."""
        mass = self.mass + other.mass
        moments = [as_array([part.mass]) * part.com for part in (self, other)]
        # two bodies without mass have their centre at the origin
        com = (moments[0] + moments[1]) / as_array([where(mass > 0.0, mass, 1.0)])
        tensor = self.tensor + other.tensor
        for part in (self, other):
            arm = skew(part.com - com)
            tensor = tensor - as_array([part.mass]) * (arm @ arm)
        return Inertia.of(mass, com, tensor)


def triangle_problem(link: str, tensor: Floats) -> str:
    """Return why no mass distribution has these principal moments, with the numbers, or ''."""
    moments = np.linalg.eigvalsh(tensor)
    if moments[2] <= (moments[0] + moments[1]) * (1.0 + _TRIANGLE):
        return ''
    numbers = ', '.join(f'{moment:.6g}' for moment in moments)
    return (
        f"link '{link}': principal moments {numbers} kg m^2 break the triangle rule "
        '(the largest exceeds the sum of the others)'
    )
