# SPDX-License-Identifier: Apache-2.0
"""Margins of one motion of a base."""

import numpy as np

from kane_dynamics.analysis.base_motion import DriveResponse

AT_ONCE = DriveResponse(1.0)  # its rate at first is what lacks, in 1 s


def headrooms_of(rooms, twist, rate):
    """Return the headrooms at a twist and its rate, in the axes of the base."""
    return rooms.after(AT_ONCE, twist, (twist + rate)[None], np.zeros(1), 1.0, np.zeros(1))[0]
