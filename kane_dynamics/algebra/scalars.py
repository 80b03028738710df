# SPDX-License-Identifier: Apache-2.0
"""
Elementary functions that work on floats, arrays and traced scalars alike.

A traced scalar (CasADi ``SX``) carries its functions as methods; floats and arrays use numpy.
Branches on traced values go through `where`, never through a Python ``if``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Scalar = Any
"""A real number: float, numpy array of them (batch), or a traced scalar."""
REAL_NUMBER = (float, int, np.floating, np.integer)
"""What numpy-quaternion and float arrays can hold: no batch, no complex and no traced scalar."""


def _elementary(name: str, x: Scalar) -> Scalar:
    method = getattr(x, name, None)
    return method() if method is not None else getattr(np, name)(x)


def sin(x: Scalar) -> Scalar:
    """Return the sine of `x` [rad]."""
    return _elementary('sin', x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of `x` [rad]."""
    return _elementary('cos', x)


def arctan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y) [rad]."""
    if is_number(y) and is_number(x):
        return np.arctan2(y, x)
    import casadi

    return casadi.atan2(y, x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root of `x`."""
    return _elementary('sqrt', x)


def sign(x: Scalar) -> Scalar:
    """Return -1, 0 or 1: the sign of `x`."""
    return _elementary('sign', x)


def where(condition: Any, if_true: Scalar, if_false: Scalar) -> Scalar:
    """
    Return `if_true` where `condition` holds, else `if_false`; both are evaluated.

    A traced condition becomes a multiplexer of the expression graph.
    """
    if isinstance(condition, (bool, np.bool_)):
        return if_true if condition else if_false
    if type(condition).__module__.startswith('casadi'):
        import casadi

        return casadi.if_else(condition, if_true, if_false)
    return np.where(condition, if_true, if_false)


def absolute(x: Scalar) -> Scalar:
    """Return the absolute value of `x`."""
    return _elementary('fabs', x)


def is_number(x: Scalar) -> bool:
    """Return whether `x` is a plain number, not traced."""
    return isinstance(x, REAL_NUMBER)


def is_zero(x: Scalar) -> bool:
    """Return whether `x` is known to be zero, also as a traced scalar."""
    return bool(x == 0.0) if is_number(x) else bool(x.is_zero())
