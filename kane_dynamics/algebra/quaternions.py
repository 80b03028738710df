# SPDX-License-Identifier: Apache-2.0
"""
Quaternions, scalar first ``(w, x, y, z)``, Hamilton product (Silva et al., section 2).

Numbers live in numpy-quaternion's ``quaternion``. It can hold only floats, so traced scalars live
in `ScalarQuaternion`, which has the same operators. `make_quaternion` chooses; everything above
this file is written once for both. A vector of R^3 is a pure quaternion: its real part is zero.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from typing import Any

from kane_dynamics.algebra.scalars import REAL_NUMBER, Scalar, as_array, sqrt
from kane_dynamics.typing import NDArray

_EXTENSION = 'quaternion.numpy_quaternion'


def _numeric_quaternion() -> Any:
    """Return numpy-quaternion's type from its extension module alone."""
    if _EXTENSION not in sys.modules:
        package = importlib.util.find_spec('quaternion')
        locations = package.submodule_search_locations if package else None
        spec = importlib.machinery.PathFinder.find_spec(_EXTENSION, locations)
        if spec is None or spec.loader is None:
            return importlib.import_module('quaternion').quaternion
        sys.modules[_EXTENSION] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[_EXTENSION])
    return sys.modules[_EXTENSION].quaternion


NumericQuaternion = _numeric_quaternion()
_ROUNDOFF = 1e-15  # a few ulp: a quarter turn must trace into zeros and ones, not into 2e-16
Quaternion = Any
"""``np.quaternion`` or `ScalarQuaternion`."""


class ScalarQuaternion:
    """A quaternion over scalars that numpy-quaternion cannot hold, and rows of R if known."""

    __slots__ = ('rows', 'w', 'x', 'y', 'z')
    rows: tuple[tuple[Scalar, ...], ...] | None
    __array_ufunc__ = None  # keep numpy from taking over `array * quaternion`

    def __init__(self, w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> None:
        self.w, self.x, self.y, self.z, self.rows = w, x, y, z, None

    def __repr__(self) -> str:
        return f'ScalarQuaternion({self.w}, {self.x}, {self.y}, {self.z})'

    def __add__(self, b: Quaternion) -> ScalarQuaternion:
        return ScalarQuaternion(self.w + b.w, self.x + b.x, self.y + b.y, self.z + b.z)

    __radd__ = __add__

    def __sub__(self, b: Quaternion) -> ScalarQuaternion:
        return ScalarQuaternion(self.w - b.w, self.x - b.x, self.y - b.y, self.z - b.z)

    def __rsub__(self, b: Quaternion) -> ScalarQuaternion:
        return ScalarQuaternion(b.w - self.w, b.x - self.x, b.y - self.y, b.z - self.z)

    def __neg__(self) -> ScalarQuaternion:
        return ScalarQuaternion(-self.w, -self.x, -self.y, -self.z)

    def __mul__(self, b: Quaternion) -> ScalarQuaternion:
        return _hamilton_product(self, b)

    def __rmul__(self, b: Quaternion) -> ScalarQuaternion:
        return _hamilton_product(b, self)

    def conjugate(self) -> ScalarQuaternion:
        """Return (w, -x, -y, -z)."""
        return ScalarQuaternion(self.w, -self.x, -self.y, -self.z)


def _hamilton_product(a: Quaternion, b: Quaternion) -> ScalarQuaternion:
    """Return a b with i^2 = j^2 = k^2 = ijk = -1."""
    return ScalarQuaternion(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    )


def make_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Quaternion:
    """
    Return the quaternion w + x i + y j + z k in the type that can hold its components.

    Parameters
    ----------
    w, x, y, z : scalar
        Floats, or traced scalars.

    Examples
    --------
    >>> from kane_dynamics.algebra import make_quaternion
    >>> make_quaternion(1.0, 0.0, 0.0, 0.0)
    quaternion(1, 0, 0, 0)

    """
    if isinstance(w + x + y + z, REAL_NUMBER):
        return NumericQuaternion(w, x, y, z)
    return ScalarQuaternion(w, x, y, z)


def pure(vector: Sequence[Scalar] | NDArray) -> Quaternion:
    """
    Return the pure quaternion x i + y j + z k of a vector of three components.

    Parameters
    ----------
    vector : array_like, shape (3,)
        (x, y, z).

    Examples
    --------
    >>> from kane_dynamics.algebra import pure, vec3
    >>> vec3(pure([1.0, 2.0, 3.0]))
    array([1., 2., 3.])

    """
    x, y, z = vector
    return make_quaternion(0.0, x, y, z)


def vec3(a: Quaternion) -> NDArray:
    """
    Return the components (x, y, z) of the imaginary part, shape (3,).

    Parameters
    ----------
    a : quaternion
        Its real part is not read.

    Examples
    --------
    >>> from kane_dynamics.algebra import pure, vec3
    >>> vec3(pure([1.0, 2.0, 3.0]))
    array([1., 2., 3.])

    """
    return a.vec.copy() if isinstance(a, NumericQuaternion) else as_array((a.x, a.y, a.z))


def vec4(a: Quaternion) -> NDArray:
    """
    Return the components (w, x, y, z), shape (4,).

    Parameters
    ----------
    a : quaternion
        Any.

    Examples
    --------
    >>> from kane_dynamics.algebra import make_quaternion, vec4
    >>> vec4(make_quaternion(1.0, 0.0, 0.0, 0.0))
    array([1., 0., 0., 0.])

    """
    return as_array((a.w, a.x, a.y, a.z))


def scale(a: Quaternion, s: Scalar) -> Quaternion:
    """Return s a; the only place where a quaternion meets a scalar."""
    if type(a) is NumericQuaternion and isinstance(s, REAL_NUMBER):
        return a * s
    return ScalarQuaternion(a.w * s, a.x * s, a.y * s, a.z * s)


def dot(a: Quaternion, b: Quaternion) -> Scalar:
    """
    Return the inner product <a, b> = -(ab + ba)/2 of two pure quaternions (12).

    Parameters
    ----------
    a, b : quaternion
        Pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import dot, pure
    >>> float(dot(pure([1.0, 2.0, 3.0]), pure([4.0, 5.0, 6.0])).real)
    32.0

    """
    return a.x * b.x + a.y * b.y + a.z * b.z


def cross(a: Quaternion, b: Quaternion) -> Quaternion:
    """
    Return the cross product (ab - ba)/2 of two pure quaternions (7).

    Parameters
    ----------
    a, b : quaternion
        Pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import cross, pure, vec3
    >>> vec3(cross(pure([1.0, 0.0, 0.0]), pure([0.0, 1.0, 0.0])))
    array([0., 0., 1.])

    """
    if type(a) is type(b) is NumericQuaternion:
        return 0.5 * (a * b - b * a)
    return ScalarQuaternion(
        0.0, a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x
    )


def rotate(r: Quaternion, a: Quaternion) -> Quaternion:
    """
    Return Ad(r) a = r a r* for a unit quaternion r and a pure quaternion a.

    For scalars that cannot fold the real part away the same map is written as the rotation
    matrix of r, so that a traced product stays pure.

    Parameters
    ----------
    r : quaternion
        Unit.
    a : quaternion
        Pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import make_quaternion, pure, rotate, vec3
    >>> quarter = make_quaternion(np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # about z
    >>> np.round(vec3(rotate(quarter, pure([1.0, 0.0, 0.0]))), 12)
    array([0., 1., 0.])

    """
    if type(r) is type(a) is NumericQuaternion:
        return r * a * r.conjugate()
    return _mapped(_traced_rows(r), a)


def rotate_back(r: Quaternion, a: Quaternion) -> Quaternion:
    """Return Ad(r*) a = r* a r, the inverse of `rotate`."""
    if type(r) is type(a) is NumericQuaternion:
        return r.conjugate() * a * r
    return _mapped(tuple(zip(*_traced_rows(r), strict=True)), a)


def _mapped(rows: tuple[tuple[Scalar, ...], ...], a: Quaternion) -> ScalarQuaternion:
    x, y, z = (sum(m * c for m, c in zip(row, (a.x, a.y, a.z), strict=True)) for row in rows)
    return ScalarQuaternion(0.0, x, y, z)


def _traced_rows(r: Quaternion) -> tuple[tuple[Scalar, ...], ...]:
    """Return the rows of R, where they are constant without roundoff."""
    rows = rotation_rows(r)
    if type(r) is NumericQuaternion:
        rows = tuple(tuple(_without_roundoff(m) for m in row) for row in rows)
    return rows


def _without_roundoff(entry: float) -> float:
    """Return an entry of a constant rotation matrix with roundoff around -1, 0 and 1 removed."""
    nearest = float(round(entry))
    return nearest if abs(entry - nearest) < _ROUNDOFF else entry


def rotation_rows(r: Quaternion) -> tuple[tuple[Scalar, ...], ...]:
    """Return the rows of the rotation matrix R of a unit quaternion: R vec3(a) = vec3(r a r*)."""
    if type(r) is ScalarQuaternion and r.rows is not None:
        return r.rows
    w, x, y, z = r.w, r.x, r.y, r.z
    x2, y2, z2 = 2.0 * x, 2.0 * y, 2.0 * z
    return (
        (1.0 - (y * y2 + z * z2), x * y2 - w * z2, x * z2 + w * y2),
        (x * y2 + w * z2, 1.0 - (x * x2 + z * z2), y * z2 - w * x2),
        (x * z2 - w * y2, y * z2 + w * x2, 1.0 - (x * x2 + y * y2)),
    )


def normalised(a: Quaternion) -> Quaternion:
    """Return a / ||a||."""
    return scale(a, 1.0 / sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z))
