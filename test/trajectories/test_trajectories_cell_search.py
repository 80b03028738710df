# SPDX-License-Identifier: Apache-2.0
"""What is used of limits between the places at which they are looked at."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.trajectories.cell_search import peaks

PLACES = np.linspace(-1.0, 1.0, 9)


@pytest.mark.parametrize('top', [-0.9, -0.3, 0.0, 0.07, 0.5])
def test_a_parabola_peaks_between_places(top):
    values = 1.2 - 3.0 * (PLACES[:, None] - [top, -top]) ** 2
    assert_allclose(peaks(values), 1.2, rtol=1e-12)


def test_what_rises_or_sags_peaks_at_an_end():
    values = np.stack([PLACES**3 + PLACES, -PLACES, PLACES**2], axis=1)
    assert_allclose(peaks(values), [2.0, 1.0, 1.0], rtol=1e-12)
