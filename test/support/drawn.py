# SPDX-License-Identifier: Apache-2.0
"""Numbers that hypothesis draws for the laws of the algebra; the same in every run."""

import numpy as np
from hypothesis import assume, settings
from hypothesis import strategies as st

from kane_dynamics.algebra import Pose

# Each of the four kinds of number sees the same eight drawn examples.
seeded = settings(derandomize=True, deadline=None, max_examples=8)
DIFFERENT = np.array([0.1, -0.2, 0.3, -0.4]) / np.sqrt(0.3)  # four different numbers, unit


def vectors(size, bound):
    """Draw some numbers within a bound."""
    return st.lists(st.floats(-bound, bound), min_size=size, max_size=size)


@st.composite
def poses(draw):
    """Draw seven numbers: a unit quaternion (w, x, y, z) and a position below 5."""
    wxyz = np.array(draw(vectors(4, 1.0)))
    assume(np.linalg.norm(wxyz) > 1e-2)
    return np.r_[wxyz / np.linalg.norm(wxyz), draw(vectors(3, 5.0))]


def pose_of(seven):
    """Return the pose of seven drawn numbers."""
    return Pose.from_rotation_and_position(seven[:4], seven[4:])
