# SPDX-License-Identifier: Apache-2.0
"""Checks at the door: finite numbers of the right shape, or an error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import InvalidInputError


def as_vector(name: str, x: Any, size: int) -> NDArray[np.float64]:
    """
    Return a copy of `x` as a vector of `size` finite floats.

    Raises
    ------
    InvalidInputError
        If it cannot be one; the message says what was expected and what came.

    """
    try:
        vector = np.array(x, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInputError(f'{name}: need {size} numbers, got {x!r}') from None
    if vector.shape != (size,):
        raise InvalidInputError(f'{name}: need shape ({size},), got shape {vector.shape}')
    if not np.isfinite(vector).all():
        raise InvalidInputError(f'{name}: need finite numbers, got {vector}')
    return vector
