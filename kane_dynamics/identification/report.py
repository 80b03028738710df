# SPDX-License-Identifier: Apache-2.0
"""What an identification gives, as plain values for YAML and as one page without links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from kane_dynamics.identification.base_parameters import ALONE, IN_SUMS
from kane_dynamics.identification.page import curves, html_page, listing, table
from kane_dynamics.identification.result import REFUSE, Identification
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.inertial_parameters import PARAMETERS

WORSE = 0.5  # points by which a joint gets worse, from which it is told
TIMES, POINTS = 1.5, 2.0  # by which bodies are worse than base parameters
_AFTER = 'least_squares', 'consistent'
_KEY = """m [kg], m c [kg m], J [kg m^2] about the origin of the link below the moving joint, in
its axes, with all that is welded to it. Friction: viscous v + coulomb tanh(v/coulomb_velocity) +
offset + rotor_inertia a + stribeck tanh(v/coulomb_velocity) exp(-|v|/stribeck_velocity) +
presliding z, z of Dahl with presliding_travel."""
_CURVES = 'Efforts on validation samples, residual against speed'


def validation_errors(
    result: Identification, validation: Sequence[Samples]
) -> dict[str, dict[str, float]]:
    """Return errors [%] of each solution on samples that it has not seen, by joint."""
    counts, names = [len(x) for x in validation], result.equations.speeds.names
    errors = {}
    every_error = [result.all_errors(x) for x in validation]
    for solution in result.solutions:
        every = [one[solution] for one in every_error]
        for against in ('filtered', 'raw'):
            mean = np.average([getattr(x, against) for x in every], axis=0, weights=counts)
            errors[f'{solution} {against}'] = dict(zip(names, mean.tolist(), strict=True))
    return errors


def worse_joints(errors: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return which joints the result predicts worse than the model before, or than sums do."""
    before, sums, after = _before(errors), *(errors[f'{x} filtered'] for x in _AFTER)
    worse = [
        f'{name}: {after[name]:.1f} % where the URDF has {before[name]:.1f} %'
        for name in before
        if after[name] > before[name] + WORSE
    ]
    return worse + [
        f'{name}: {after[name]:.1f} % by bodies that can exist, {sums[name]:.1f} % by base '
        'parameters: frames, signs or joint offsets of the model do not match the recording'
        for name in sums
        if after[name] > max(TIMES * sums[name], sums[name] + POINTS)
    ]


def _before(errors: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the errors of the model before, without or with friction fitted to it."""
    without, fitted = (errors[f'{x} filtered'] for x in ('nominal', 'friction'))
    return {name: min(x, fitted[name]) for name, x in without.items()}


def refusal(result: Identification, errors: Mapping[str, Mapping[str, float]]) -> str:
    """Return why others should not use a result, or ''."""
    if not result.publishable:
        return (
            f'the condition number of the motion is {result.base.condition:.0f}, above {REFUSE:g}:'
            ' move more joints, both ways, faster, longer'
        )
    rows = _before(errors), errors['consistent filtered']
    before, after = (float(np.mean([*row.values()])) for row in rows)
    if not after < before:
        return (
            f'on the validation samples its mean error is {after:.2f} %, that of the URDF, '
            f'with or without friction fitted to it, {before:.2f} %'
        )
    return ''


def findings(result: Identification) -> dict[str, Any]:
    """Return values, deviations and status of parameters, friction and base parameters."""
    base, robot = result.base, result.equations.dynamics.robot
    sigmas = np.sqrt(np.diag(result.fit.covariance)).tolist()
    deviations = dict(zip(base.leading.tolist(), sigmas, strict=True))
    owners = [(body.name, kind) for body in robot.bodies for kind in PARAMETERS]
    bodies: dict[str, dict[str, Any]] = {}
    friction: dict[str, dict[str, Any]] = {}
    columns = result.equations.columns
    terms = [(joint, term.kind) for joint, term in columns]
    scales = [dict[str, float]()] * len(owners) + [term.scales for _, term in columns]
    for k, (owner, kind) in enumerate([*owners, *terms]):
        status, sums = base.status[k], [base.sums[i] for i in np.flatnonzero(base.matrix[:, k])]
        row: dict[str, Any] = {
            'value': float(result.solutions['consistent'][k]),
            'before': float(result.solutions['nominal'][k]),
            'sigma': deviations[k] if status == ALONE else None,
            'status': f'{status}: {"; ".join(sums)}' if status == IN_SUMS else status,
            **scales[k],
        }
        (bodies if k < len(owners) else friction).setdefault(owner, {})[kind] = row
    rows = zip(base.sums, result.fit.values.tolist(), sigmas, strict=True)
    return {
        'condition': base.condition,
        'rank': base.rank,
        'key': ' '.join(_KEY.split()),
        'order': list(PARAMETERS),
        'bodies': bodies,
        'friction': friction,
        'base_parameters': {name: {'value': x, 'sigma': sigma} for name, x, sigma in rows},
    }


def page(facts: Mapping[str, Any], result: Identification, samples: Samples) -> str:
    """Return the page; facts are those of the YAML file, samples are drawn."""
    unknowns = {
        f'{owner} {kind}': row
        for part in ('bodies', 'friction')
        for owner, rows in facts[part].items()
        for kind, row in rows.items()
    }
    settings = {key: {'value': value} for key, value in facts['settings'].items()}
    reason, equations = facts['reason'], result.equations
    modelled = result.all_efforts(samples)
    efforts = {
        'measured': equations.efforts(samples, samples.tau),
        'URDF': modelled['nominal'],
        'identified': modelled['consistent'],
    }
    parts = [
        f'<p>{escape(f"No URDF was written: {reason}" if reason else "A URDF was written.")}',
        f'Condition number {facts["condition"]:.1f}, rank {facts["rank"]}.</p>',
        listing('Warnings', facts['warnings']),
        table('Errors on validation samples [% of the range]', facts['errors_percent']),
        curves(_CURVES, samples, equations.speeds, efforts),
        table('Parameters', unknowns, facts['key']),
        table('Base parameters by least squares', facts['base_parameters']),
        table('Settings', settings),
        table('Recordings', facts['recordings']),
    ]
    return html_page(f'Identification of {facts["robot"]}', parts)
