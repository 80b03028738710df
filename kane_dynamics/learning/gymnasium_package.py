# SPDX-License-Identifier: Apache-2.0
"""The one import of gymnasium, with a named error where it is not installed."""

from __future__ import annotations

from kane_dynamics.exceptions import MissingPackageError

try:
    import gymnasium
except ImportError as error:
    raise MissingPackageError(
        'kane_dynamics.learning', 'gymnasium', "pip install 'kane_dynamics[learn]'"
    ) from error

__all__ = ['gymnasium']
