# SPDX-License-Identifier: Apache-2.0
"""Results whose arrays have one row for each of many motions, or stand for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

_T = TypeVar('_T', bound='Many')


class Many:
    """A dataclass whose arrays all have as many rows; other fields do not depend on the motion."""

    def at(self: _T, k: int) -> _T:
        """Return the result of motion k."""
        return self._mapped(lambda name: getattr(self, name)[k])

    def joined(self: _T, results: Sequence[_T]) -> _T:
        """Return the rows of several results, one after the other."""
        return self._mapped(lambda name: np.concatenate([getattr(r, name) for r in results]))

    def _mapped(self: _T, of: Callable[[str], Any]) -> _T:
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        arrays = {name: of(name) for name, x in values.items() if isinstance(x, np.ndarray)}
        return type(self)(**{**values, **arrays})
