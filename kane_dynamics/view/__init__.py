# SPDX-License-Identifier: Apache-2.0
"""Drawings of robots, recordings of motions, animations, and a window in the browser."""

from importlib.util import find_spec

from kane_dynamics.exceptions import MissingPackageError

if find_spec('matplotlib') is None:
    raise MissingPackageError('a picture', 'matplotlib', "pip install 'kane_dynamics[pictures]'")
