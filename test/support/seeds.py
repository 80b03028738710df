# SPDX-License-Identifier: Apache-2.0
"""Seeds of random cases: some for every run, all for `make validate`."""

import pytest


def seeds(few, many):
    """Return the numbers 0 to `many`; those from `few` on are marked thorough."""
    more = [pytest.param(seed, marks=pytest.mark.thorough) for seed in range(few, many)]
    return [*range(few), *more]
