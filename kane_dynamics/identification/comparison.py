# SPDX-License-Identifier: Apache-2.0
"""Efforts of all solutions beside those of a recording that none of them has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.identification.result import REFUSE, Identification, relative_error
from kane_dynamics.identification.samples import Samples
from kane_dynamics.typing import Floats

WORSE = 0.5  # points by which a joint gets worse, from which it is told


@dataclass(frozen=True, eq=False)
class Comparison:
    """Efforts along the observed speeds of samples that were left out of the fit."""

    names: tuple[str, ...]  # Of the observed speeds
    time: Floats  # shape (N,)
    v: Floats  # shape (N, n)
    measured: Floats  # shape (N, n): filtered
    raw: Floats  # shape (N, n)
    predicted: Mapping[str, Floats]  # shape (N, n), by solution

    def errors(self, solution: str, raw: bool = False) -> Floats:
        """Return 100 rms / (max - min of measured) of a solution, by speed [%]."""
        measured = self.raw if raw else self.measured
        return relative_error(measured, self.predicted[solution])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return which joints the result predicts worse than the model before with friction."""
        pairs = zip(self.names, self.errors('friction'), self.errors('consistent'), strict=True)
        return tuple(
            f'{name}: {after:.1f} % where the model before, with friction, has {before:.1f} %'
            for name, before, after in pairs
            if after > before + WORSE
        )


def compared(result: Identification, validation: Sequence[Samples]) -> Comparison:
    """Return measured and predicted efforts of samples for a test, one after the other."""
    equations = result.equations

    def joined(parts: Sequence[Floats]) -> Floats:
        return np.concatenate(parts)

    return Comparison(
        equations.speeds.names,
        joined([x.time for x in validation]),
        joined([x.v[:, equations.speeds.indices] for x in validation]),
        joined([equations.efforts(x, x.tau) for x in validation]),
        joined([equations.efforts(x, x.raw) for x in validation]),
        {name: joined([result.efforts(x, name) for x in validation]) for name in result.solutions},
    )


def refusal(result: Identification, comparison: Comparison) -> str:
    """Return why others should not use a result, or ''."""
    if not result.publishable:
        return (
            f'the condition number of the motion is {result.base.condition:.0f}, above {REFUSE:g}'
            ': move more joints, faster, longer'
        )
    before, after = (float(comparison.errors(x).mean()) for x in ('friction', 'consistent'))
    if not after < before:
        return (
            f'on the validation samples its mean error is {after:.2f} %, that of the model '
            f'before, with friction fitted to it, {before:.2f} %'
        )
    return ''
