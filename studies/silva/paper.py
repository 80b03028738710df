# SPDX-License-Identifier: Apache-2.0
"""What Silva, Quiroz-Omana and Adorno print in sections 5 and 6."""

from __future__ import annotations

from fractions import Fraction

from studies.silva.waveforms import Statistics

# Table 2, CMC of joint accelerations over the coordinates, by robot and algorithm
CORRELATIONS: dict[str, dict[str, Statistics]] = {
    'serial': {
        'dqGP': Statistics(0.9044, 0.9893, 0.0182, 0.9993),
        'dqNE': Statistics(0.9044, 0.9893, 0.0182, 0.9993),
        'rtNE': Statistics(0.9044, 0.9893, 0.0182, 0.9993),
    },
    'holonomic': {
        'dqGP': Statistics(0.9934, 0.9973, 0.0026, 0.9999),
        'dqNE': Statistics(0.9938, 0.9977, 0.0022, 0.9999),
    },
    'nonholonomic': {'dqGP': Statistics(0.8860, 0.9839, 0.0368, 0.9999)},
}

# Table 3, operations of an n-DoF serial robot; polynomials in n, highest power first
PRODUCTS: dict[str, tuple[Fraction, ...]] = {
    'dqNE': (Fraction(882), Fraction(-48)),
    'classic NE': (Fraction(150), Fraction(-48)),
    'dqGP': (Fraction(4), Fraction(386), Fraction(401), Fraction(0)),
    'classic EL': (Fraction(412), Fraction(-277)),
}
SUMS: dict[str, tuple[Fraction, ...]] = {
    'dqNE': (Fraction(724), Fraction(-40)),
    'classic NE': (Fraction(131), Fraction(-48)),
    'dqGP': (Fraction(16, 3), Fraction(326), Fraction(908, 3), Fraction(0)),
    'classic EL': (Fraction(320), Fraction(-201)),
}

# Section 6: accelerations of the arm of 50 joints [s]
MATLAB_TIME = {'dqNE': 23.17, 'dqGP': 8.73}
EXPECTED_CPP_TIME = {'dqNE': 0.099, 'dqGP': 0.037}
RUNS = 52  # of dqNE for one forward dynamics of 50 joints: n + 2


def formula(coefficients: tuple[Fraction, ...], n: int) -> float:
    """Return the value of a polynomial of Table 3."""
    value = Fraction(0)
    for coefficient in coefficients:
        value = value * n + coefficient
    return float(value)
