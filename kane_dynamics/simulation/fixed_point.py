# SPDX-License-Identifier: Apache-2.0
"""
Speeds x = g(x) of an implicit step.

Anderson's acceleration (J. ACM 12, 1965): the next x is g of the last ones, in the mixture whose
changes nearly cancel. Plain iterations are too slow where Coulomb friction stops a light link
within a step: its drag h F/|x| is then many times the inertia. Compiled steps remember fewer
turns, see `kernels.recording`, and hand over to the reference where that does not do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.exceptions import DivergedError, StepError
from kane_dynamics.typing import Floats

# Squared changes of x, relative to 1 + |x|^2 [rad/s, m/s]. Solved: what follows a change of 1e-12
# is smaller still. Enough: roundoff of systems so ill conditioned that they never get there.
SOLVED = 1e-24
ENOUGH = 1e-18
_LIMIT = 100
_MEMORY = 5


def squared_change(new: Iterable[Scalar], old: Iterable[Scalar]) -> Scalar:
    """Return |new - old|^2 / (1 + |new|^2), numbers or traced."""
    change: Scalar = 0.0
    size: Scalar = 1.0
    for a, b in zip(new, old, strict=True):
        change = change + (a - b) * (a - b)
        size = size + a * a
    return change / size


def solve_fixed_point(improve: Callable[[Floats], Floats], start: Floats) -> Floats:
    """
    Return x = improve(x), from a start nearby.

    Raises
    ------
    StepError
        If the changes do not die down.

    """
    x, best, least = start, start, np.inf
    images: list[Floats] = []
    changes: list[Floats] = []
    for turn in range(_LIMIT):
        try:
            image = improve(x)
        except DivergedError:
            if turn == 0:
                raise
            break  # the iterates ran away, not the motion
        change = squared_change(image.tolist(), x.tolist())
        if change <= SOLVED:
            return image
        if change > 4.0 * least:
            images, changes = [], []  # the mixture led astray: plainly on from here
        if change < least:
            best, least = image, change
        images, changes = [*images[-_MEMORY:], image], [*changes[-_MEMORY:], image - x]
        x = _mixture(images, changes)
    if least <= ENOUGH:
        return best
    raise StepError(
        f'the equation of the step was not solved: its speeds still change by {least**0.5:.1e} '
        f'of their size after {turn + 1} iterations; take a shorter step, or ask for halvings'
    )


def _mixture(images: list[Floats], changes: list[Floats]) -> Floats:
    """Return the mixture of images (weights of sum 1) with the least change."""
    if len(images) == 1:
        return images[0]
    steps = np.array([change - changes[-1] for change in changes[:-1]]).T
    weights = np.linalg.lstsq(steps, -changes[-1], rcond=1e-10)[0]
    mixed = images[-1].copy()
    for weight, image in zip(weights.tolist(), images, strict=False):
        mixed += weight * (image - images[-1])
    return mixed
