# SPDX-License-Identifier: Apache-2.0
"""The one way a user's function is traced: once, on numbers that are not known yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algebra.traced_numbers import UNTRACEABLE, TracedNumber, expression


def traced_values(
    what: str, function: Callable[..., Any], arguments: Sequence[Any], error: type[Exception]
) -> NDArray[np.object_]:
    """
    Return what a user's function makes of symbols, as an array of numbers and expressions.

    Parameters
    ----------
    what : str
        Name of the function, for the message.
    function : callable
        Returns a number or an array_like.
    arguments : sequence of (casadi.SX or sequence of casadi.SX)
        A sequence reaches the function as an array of shape (n,), an expression as a number.
    error : type
        What to raise.

    Raises
    ------
    error
        If the function needs the value of an argument, or gives something else than numbers.

    """
    try:
        values = np.array(function(*[_wrapped(x) for x in arguments]), dtype=object)
        flat = as_array([expression(value) for value in values.ravel()]).astype(object)
    except UNTRACEABLE as cause:
        raise error(
            f'{what} cannot be traced: write with operators and numpy functions of single '
            f'entries, without branches ({cause})'
        ) from cause
    return flat.reshape(values.shape)


def expression_matrix(values: NDArray[np.object_]) -> Any:
    """Return an array of numbers and expressions, shape (k, n), with its zeros structural."""
    import casadi as ca

    rows = [ca.horzcat(*[ca.SX(value) for value in row]) for row in values]
    return ca.sparsify(ca.vertcat(*rows)) if rows else ca.SX(*values.shape)


def _wrapped(argument: Any) -> Any:
    if isinstance(argument, (list, tuple, np.ndarray)):
        return as_array([TracedNumber(x) for x in argument])
    return TracedNumber(argument)
