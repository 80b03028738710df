# SPDX-License-Identifier: Apache-2.0
"""Imports that a PyPI-only installation may lack; each is ``None`` where it is absent."""

from __future__ import annotations

import importlib
from typing import Any


def try_import(module: str, attribute: str = '') -> Any:
    """Return a module or one of its attributes, or None where it is not installed."""
    try:
        result = importlib.import_module(module)
    except ImportError:
        return None
    return getattr(result, attribute, None) if attribute else result


TFMessage: Any = try_import('tf2_msgs.msg', 'TFMessage')
