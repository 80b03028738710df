# SPDX-License-Identifier: Apache-2.0
r"""
The largest margin that forces have within bounds and friction cones, of all with one effect.

Rows that repeat each other share their forces in many ways: where :math:`A^T N = 0`, the forces
:math:`\lambda + N z` act alike for every z. Some share lies within all cones where

.. math:: s^* = \max_z \min_k \big(n_k^T z + s_k - |T_k z + t_k|\big) \ge 0 .

This is a second-order cone program in z and s. With :math:`a_k = n_k^T z + s_k - s`, minimisers of

.. math:: -\tau s - \textstyle\sum_k \log\big(a_k^2 - |T_k z + t_k|^2\big)

come within :math:`2 K/\tau` of it for K cones; damped Newton steps stay inside (Nesterov and
Nemirovskii, Interior-point polynomial algorithms, 1994). One cone more bounds z where opposite
contacts may press on each other as hard as they like.
"""

from collections.abc import Sequence

import numpy as np

from kane_dynamics.algorithms.least_distance import ConeRows
from kane_dynamics.typing import Floats, Indices

_FACTOR = 20.0  # of tau, from one barrier to the next
_EXACT, _RELATIVE = 1e-12, 1e-2  # gap to s*, relative to all forces and to s* itself
_CENTRED = 1e-3  # Newton decrement
_STEPS = 500  # some 50 are usual
_SAME = 1e-9  # of all forces: margins that the barriers tell apart by their gap alone
_WITHOUT_EFFECT = 1e-10  # singular value of shares that no cone feels
_FURTHEST = 100.0  # z, relative to all forces


def largest_margin(cones: Sequence[ConeRows]) -> tuple[list[float], Floats]:
    """Return n z + s - |T z + t| of all cones, s* itself where they hold it back, and that z."""
    sizes = np.concatenate([[cone.size, *cone.offset] for cone in cones])
    rows = np.vstack([np.vstack([cone.normal, cone.tangent]) for cone in cones])
    U, values, Vt = np.linalg.svd(rows, full_matrices=False)
    felt = values > _WITHOUT_EFFECT * values[0]
    scale, count = float(np.abs(sizes).max()) or 1.0, int(felt.sum())
    first = np.cumsum([0, *(1 + len(cone.offset) for cone in cones)])  # the last one bounds z
    G = np.zeros((len(rows) + 1 + count, count + 1))  # of y = (values Vt z, s) in units of scale
    G[: len(rows), :-1], G[len(rows) + 1 :, :-1], G[first, -1] = U[:, felt], np.eye(count), -1.0
    y = _central(G, np.concatenate([sizes / scale, [_FURTHEST], np.zeros(count)]), first)
    z = Vt[felt].T @ (scale * y[:-1] / values[felt])
    margins = [-cone.excess(z) for cone in cones]
    least = min(margins)
    return [least if margin <= least + _SAME * scale else margin for margin in margins], z


def _central(G: Floats, g: Floats, first: Indices) -> Floats:
    """Return the y of the largest last entry with G y + g in all cones, which begin at `first`."""
    sign, sizes, tau = -np.ones(len(g)), np.diff([*first, len(g)]), 1.0
    sign[first] = 1.0
    y = np.zeros(G.shape[1])
    y[-1] = (g[first] - np.sqrt(np.add.reduceat(np.square(g) * (sign < 0.0), first))).min() - 1.0
    for _ in range(_STEPS):
        x = sign * (G @ y + g)
        inside = np.add.reduceat(sign * np.square(x), first)
        slopes = np.add.reduceat(x[:, None] * G, first) / inside[:, None]
        gradient = -2.0 * slopes.sum(axis=0)
        gradient[-1] -= tau
        curvature = 4.0 * slopes.T @ slopes - (G.T * (2.0 * sign / np.repeat(inside, sizes))) @ G
        step = np.linalg.solve(curvature, -gradient)
        decrement = float(np.sqrt(max(-gradient @ step, 0.0)))
        y += step / (1.0 + decrement)
        if decrement < _CENTRED:
            if 2.0 * len(first) / tau <= max(_EXACT, _RELATIVE * abs(y[-1])):
                break
            tau *= _FACTOR
    return y
