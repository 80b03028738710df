# SPDX-License-Identifier: Apache-2.0
"""Hamilton operators: quaternion products as matrices (Silva et al., section 4.1)."""

import numpy as np

from kane_dynamics.algebra import dot, make_quaternion, power, vec4

_BASIS = tuple(make_quaternion(*row) for row in np.eye(4))
# vec6 = PURE_PART vec8: drops the two real parts (33)
PURE_PART = np.delete(np.eye(8), (0, 4), axis=0)
PURE_PART.setflags(write=False)


def hamilton_plus(h):
    """Return H4+(h) with vec4(h b) = H4+(h) vec4(b), shape (4, 4)."""
    return np.column_stack([vec4(h * e) for e in _BASIS])


def hamilton_minus(h):
    """Return H4-(h) with vec4(b h) = H4-(h) vec4(b), shape (4, 4)."""
    return np.column_stack([vec4(e * h) for e in _BASIS])


def dual_hamilton_plus(h):
    """Return H8+(h) with vec8(h b) = H8+(h) vec8(b), shape (8, 8)."""
    return _block(hamilton_plus(h.primary), hamilton_plus(h.dual))


def dual_hamilton_minus(h):
    """Return H8-(h) with vec8(b h) = H8-(h) vec8(b), shape (8, 8)."""
    return _block(hamilton_minus(h.primary), hamilton_minus(h.dual))


def _block(primary, dual):
    return np.block([[primary, np.zeros((4, 4))], [dual, primary]])


def dual_dot(a, b):
    """Return the dual number <a, b> = -(ab + ba)/2 of pure dual quaternions as a pair."""
    return dot(a.primary, b.primary), power(a, b)
