# SPDX-License-Identifier: Apache-2.0
"""Splines through samples: polynomials exactly, noise averaged, gaps told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.analysis.payload import smoothed
from kane_dynamics.exceptions import InvalidInputError

TIMES = np.sort(np.random.default_rng(1).uniform(0.0, 1.0, 200))


def test_polynomials_come_back_with_their_derivatives():
    curve = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.5, -1.5, 0.7])
    samples = np.column_stack([curve(TIMES), -2.0 * curve(TIMES)])
    t, *found = smoothed(TIMES, samples, 0.1)
    assert (np.diff(t) > 0.0).all() and TIMES[0] < t[0] < t[-1] < TIMES[-1]
    for order, values in enumerate(found):
        wanted = curve.deriv(order)(t) if order else curve(t)
        assert_allclose(values, np.column_stack([wanted, -2.0 * wanted]), rtol=0, atol=1e-7)


def test_results_stand_in_the_middle_of_inner_pieces():
    times = np.linspace(5.0, 6.0, 101)
    t = smoothed(times, times[:, None], 0.0999)[0]
    assert_allclose(t, np.arange(5.15, 5.9, 0.1), rtol=1e-12)


def test_noise_is_averaged():
    times = np.linspace(0.0, 2.0, 2001)
    noise = np.random.default_rng(2).normal(0.0, 1.0, (2001, 1))
    _, values, _, _ = smoothed(times, noise, 0.1)
    assert 0.05 < values.std() < 0.3  # a piece has 100 samples


@pytest.mark.parametrize(
    ('times', 'samples', 'spacing', 'said'),
    [
        (TIMES, np.zeros(200), 0.1, r'samples: need shape \(200, n\), got \(200,\)'),
        (TIMES[::-1], np.zeros((200, 1)), 0.1, r'times \[s\] must be finite and increase'),
        (TIMES, np.full((200, 1), np.nan), 0.1, 'samples: need finite numbers'),
        (TIMES, np.zeros((200, 1)), 0.5, 'need samples over 1.5 s'),
        (TIMES, np.zeros((200, 1)), 0.0, 'spacing'),
        (np.r_[TIMES[:100], TIMES[100:] + 5.0], np.zeros((200, 1)), 0.1, 'got 0 in one; make'),
    ],
)
def test_what_cannot_be_smoothed_is_told(times, samples, spacing, said):
    with pytest.raises(InvalidInputError, match=said):
        smoothed(times, samples, spacing)
