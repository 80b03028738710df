# SPDX-License-Identifier: Apache-2.0
"""
Columns of friction and rotor inertia of samples, and what their coefficients keep to.

Friction takes power at every speed, so f_v, f_c, f_c + f_s, f_z and f_a are not below zero. Rotor
inertia belongs to efforts on the motor's side; on torques that are measured behind the gear it
fits a lag, and gets negative.
"""

from collections.abc import Sequence

import numpy as np

from kane_dynamics.analysis.joint_friction import KINDS, FrictionTerm, friction_column
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.checks import as_choice, as_positive
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

LINK_SIDE = tuple(FrictionTerm(kind) for kind in ('viscous', 'coulomb', 'offset'))
"""Terms of efforts that are measured behind the gear."""
MOTOR_SIDE = (*LINK_SIDE, FrictionTerm('rotor_inertia'))
"""Terms of efforts from the currents of motors."""
_TURNING = 'coulomb', 'stribeck'  # what jumps at reversals, as the filter of efforts leaves it


def check_terms(speed: str, terms: Sequence[FrictionTerm]) -> None:
    """Check that the terms of a speed are known and different, and Coulomb's below Stribeck's."""
    kinds = [as_choice(f"friction of '{speed}'", term.kind, KINDS) for term in terms]
    if len(set(terms)) < len(kinds):
        raise InvalidInputError(f"friction of '{speed}': need different terms, got {kinds}")
    if 'stribeck' in kinds and 'coulomb' not in kinds:
        raise InvalidInputError(f"friction of '{speed}': 'stribeck' needs 'coulomb', got {kinds}")
    for kind, scale, smoothing in terms:
        if kind in ('stribeck', 'presliding'):
            as_positive(f"scale of '{kind}' of '{speed}'", scale)
        as_positive(f"smoothing of '{kind}' of '{speed}'", smoothing)


def friction_columns(
    robot: Robot, samples: Samples, speed: str, terms: Sequence[FrictionTerm]
) -> Floats:
    """Return the columns of the terms of a joint, by the name of its speed, shape (N, k)."""
    k, coordinate = robot.velocity_index(speed), robot.coordinate_index(speed)
    v, a = samples.v[:, k], samples.a[:, k]
    columns = np.empty((len(samples), len(terms)))
    for i, (kind, scale, smoothing) in enumerate(terms):
        if kind in _TURNING:
            less, rate, more = _at_noise(samples, k, terms[i])
            # noise bends the mean of a function as much as noise added to it does once more
            columns[:, i] = samples.filtered(2.0 * rate - 0.5 * (less + more))
            continue
        z = samples.presliding(coordinate, scale) if kind == 'presliding' else None
        columns[:, i] = friction_column(kind, v, a, z, scale, smoothing)
    return columns


def noise_columns(
    robot: Robot, samples: Samples, speed: str, terms: Sequence[FrictionTerm]
) -> Floats:
    """Return columns with the moments of the noise of `friction_columns`, shape (N, k)."""
    k, columns = robot.velocity_index(speed), np.zeros((len(samples), len(terms)))
    for i, term in enumerate(terms):
        if term.kind in ('viscous', *_TURNING):
            less, _, more = _at_noise(samples, k, term)
            columns[:, i] = samples.filtered(0.5 * (more - less))
    return columns


def _at_noise(samples: Samples, k: int, term: FrictionTerm) -> list[Floats]:
    """Return a term at the rates less other noise of their size, at the rates, and with it."""
    rates, noise = samples.rates[:, k], samples.noise[:, k]
    speeds = rates - noise, rates, rates + noise
    return [friction_column(term.kind, v, v, None, term.scale, term.smoothing) for v in speeds]


def dissipation_rows(columns: Sequence[tuple[str, FrictionTerm]]) -> Floats:
    """Return G of G f >= 0, what friction and rotors keep to, from speed and term of each f."""
    rows, names = np.eye(len(columns)), [(speed, term.kind) for speed, term in columns]
    for k, (speed, kind) in enumerate(names):
        if kind == 'stribeck':
            rows[k, names.index((speed, 'coulomb'))] = 1.0
    return rows[[kind != 'offset' for _, kind in names]]


def dissipative(columns: Sequence[tuple[str, FrictionTerm]], coefficients: Floats) -> Floats:
    """Return coefficients that keep to it, without the roundoff by which a solver misses it."""
    names = [(speed, term.kind) for speed, term in columns]
    result = dict(zip(names, coefficients.tolist(), strict=True))
    for speed, kind in names:
        if kind != 'offset':
            least = -max(result[speed, 'coulomb'], 0.0) if kind == 'stribeck' else 0.0
            result[speed, kind] = max(result[speed, kind], least)
    return np.array([*result.values()])
