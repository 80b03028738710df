# SPDX-License-Identifier: Apache-2.0
"""Types of arrays, as annotations name them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ['ArrayLike', 'Bools', 'Floats', 'Indices', 'NDArray']

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
