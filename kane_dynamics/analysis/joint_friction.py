# SPDX-License-Identifier: Apache-2.0
r"""
Friction and rotor inertia of a joint, linear in their coefficients.

.. math:: \tau_f = f_v v + f_c \tanh\frac{v}{v_0} + f_o + f_a a
   + f_s \tanh\frac{v}{v_0} e^{-|v| / v_s} + f_z z

z is Dahl's presliding state, known from positions alone:

.. math:: z_{k+1} = s - (s - z_k) e^{-|\Delta q_k| / x_c}, \quad s = sign(\Delta q_k)

Identification fits the coefficients, laws of motors feed the same terms forward.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.typing import Floats

__all__ = ['FrictionTerm']

SMOOTHING = 0.02  # v_0 [rad/s or m/s]


class FrictionTerm(NamedTuple):
    """
    One term of a joint.

    Parameters
    ----------
    kind : str
        'viscous', 'coulomb', 'offset', 'rotor_inertia', 'stribeck' or 'presliding'.
    scale : float
        v_s of 'stribeck' [rad/s or m/s], x_c of 'presliding' [rad or m]; no meaning for others.
    smoothing : float
        v_0 of 'coulomb' and 'stribeck' [rad/s or m/s]; no meaning for others.

    """

    kind: str
    scale: float = 0.0
    smoothing: float = SMOOTHING

    @property
    def scales(self) -> dict[str, float]:
        """Return the scales that have a meaning, by the names of the parameters of nodes."""
        v0 = {'coulomb_velocity': self.smoothing}
        return {
            'coulomb': v0,
            'stribeck': {'stribeck_velocity': self.scale, **v0},
            'presliding': {'presliding_travel': self.scale},
        }.get(self.kind, {})


_COLUMNS: dict[str, Callable[[Floats, Floats, Any, Any, Any], Floats]] = {
    'viscous': lambda v, a, z, scale, v0: v,
    'coulomb': lambda v, a, z, scale, v0: np.tanh(v / v0),
    'offset': lambda v, a, z, scale, v0: np.ones_like(v),
    'rotor_inertia': lambda v, a, z, scale, v0: a,
    'stribeck': lambda v, a, z, scale, v0: np.tanh(v / v0) * np.exp(-np.abs(v) / scale),
    'presliding': lambda v, a, z, scale, v0: z,
}
KINDS = tuple(_COLUMNS)


def friction_column(
    kind: str, v: Floats, a: Floats, z: Any, scale: Any, smoothing: Any = SMOOTHING
) -> Floats:
    """
    Return what a unit of a term takes, shape (N,).

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    v, a : ndarray, shape (N,)
        Speeds and accelerations, of one joint over time or of many at once.
    z : ndarray, shape (N,), or None
        Presliding states; only of 'presliding'.
    scale, smoothing : float or ndarray, shape (N,)
        As of `FrictionTerm`.

    """
    return _COLUMNS[kind](v, a, z, scale, smoothing)


def moved_state(z: Any, way: Any, travel: Any) -> Any:
    """Return Dahl's state after a way without a turn [rad or m]; of one joint or of many."""
    kept = np.exp(-np.abs(way) / travel)
    return kept * z + np.sign(way) * (1.0 - kept)


def presliding_states(q: Floats, travel: float) -> Floats:
    """
    Return Dahl's state of a joint along positions, 0 at the start, shape (K,).

    Parameters
    ----------
    q : ndarray, shape (K,)
        Positions [rad or m].
    travel : float
        x_c, the way after which friction has nearly its full size [rad or m].

    """
    ways = np.diff(q)
    kept = np.exp(-np.abs(ways) / travel)
    pairs = zip(kept.tolist(), moved_state(0.0, ways, travel).tolist(), strict=True)
    states = accumulate(pairs, lambda z, pair: pair[0] * z + pair[1], initial=0.0)
    return np.fromiter(states, float, len(q))
