# SPDX-License-Identifier: Apache-2.0
r"""
Friction and rotor inertia of a joint, linear in their coefficients.

.. math:: \tau_f = f_v v + f_c \tanh\frac{v}{v_0} + f_o + f_a a
   + f_s \tanh\frac{v}{v_0} e^{-|v| / v_s} + f_z z

z is Dahl's presliding state (`samples.presliding_state`), known from positions alone. Friction
takes power at every speed, so f_v, f_c, f_c + f_s, f_z and f_a are not below zero. Rotor inertia
belongs to efforts on the motor's side; on torques that are measured behind the gear it fits a lag,
and gets negative.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.checks import as_choice, as_positive
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

__all__ = ['FrictionTerm']

SMOOTHING = 0.02  # v_0 [rad/s or m/s]


class FrictionTerm(NamedTuple):
    """
    One column of a joint.

    Parameters
    ----------
    kind : str
        'viscous', 'coulomb', 'offset', 'rotor_inertia', 'stribeck' or 'presliding'.
    scale : float
        v_s of 'stribeck' [rad/s or m/s], x_c of 'presliding' [rad or m]; no meaning for others.

    """

    kind: str
    scale: float = 0.0


LINK_SIDE = tuple(FrictionTerm(kind) for kind in ('viscous', 'coulomb', 'offset'))
"""Terms of efforts that are measured behind the gear."""
MOTOR_SIDE = (*LINK_SIDE, FrictionTerm('rotor_inertia'))
"""Terms of efforts from the currents of motors."""
_LINEAR: dict[str, Callable[[Floats, Floats], Floats]] = {
    'viscous': lambda v, a: v,
    'offset': lambda v, a: np.ones(len(v)),
    'rotor_inertia': lambda v, a: a,
}
_FILTERED: dict[str, Callable[[Floats, float], Floats]] = {
    'coulomb': lambda v, scale: np.tanh(v / SMOOTHING),
    'stribeck': lambda v, scale: np.tanh(v / SMOOTHING) * np.exp(-np.abs(v) / scale),
}
KINDS = (*_LINEAR, *_FILTERED, 'presliding')


def check_terms(speed: str, terms: Sequence[FrictionTerm]) -> None:
    """Check that the terms of a speed are known and different, and Coulomb's below Stribeck's."""
    kinds = [as_choice(f"friction of '{speed}'", term.kind, KINDS) for term in terms]
    if len(set(terms)) < len(kinds):
        raise InvalidInputError(f"friction of '{speed}': need different terms, got {kinds}")
    if 'stribeck' in kinds and FrictionTerm('coulomb') not in terms:
        raise InvalidInputError(f"friction of '{speed}': 'stribeck' needs 'coulomb', got {kinds}")
    for kind, scale in terms:
        if kind in ('stribeck', 'presliding'):
            as_positive(f"scale of '{kind}' of '{speed}'", scale)


def friction_columns(
    robot: Robot, samples: Samples, speed: str, terms: Sequence[FrictionTerm]
) -> Floats:
    """Return the columns of the terms of a joint, by the name of its speed, shape (N, k)."""
    k = robot.velocity_index(speed)
    v, a = samples.v[:, k], samples.a[:, k]
    columns = np.empty((len(samples), len(terms)))
    for i, (kind, scale) in enumerate(terms):
        if kind == 'presliding':
            columns[:, i] = samples.presliding(robot.coordinate_index(speed), scale)
        elif kind in _LINEAR:
            columns[:, i] = _LINEAR[kind](v, a)
        else:
            columns[:, i] = samples.filtered(_FILTERED[kind](samples.rates[:, k], scale))
    return columns


def dissipation_rows(columns: Sequence[tuple[str, FrictionTerm]]) -> Floats:
    """Return G of G f >= 0, what friction and rotors keep to, from speed and term of each f."""
    rows = np.eye(len(columns))
    for k, (speed, term) in enumerate(columns):
        if term.kind == 'stribeck':
            rows[k, columns.index((speed, FrictionTerm('coulomb')))] = 1.0
    return rows[[term.kind != 'offset' for _, term in columns]]
