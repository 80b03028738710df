# SPDX-License-Identifier: Apache-2.0
"""What the function of a sweep is called with: one case and some of its random items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.sweep.parameters import checked_parameters, digest_of


@dataclass(frozen=True, eq=False)
class Job:
    """
    One case of a sweep and some of its items.

    Parameters
    ----------
    parameters : mapping of str to Any
        Of the case: numbers, text, arrays, robots.
    seed : int
        Of the sweep.
    items : range
        Which items of the case.

    """

    parameters: Mapping[str, Any]
    seed: int
    items: range

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, MappingProxyType):  # not one of a sweep, checked there
            object.__setattr__(self, 'parameters', checked_parameters(self.parameters))

    def __len__(self) -> int:
        """Return how many items there are."""
        return len(self.items)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what the job was made of."""
        return type(self), (dict(self.parameters), self.seed, self.items)

    def generators(self) -> Iterator[np.random.Generator]:
        """
        Yield a random generator for each item.

        Its numbers depend on the seed of the sweep, the content of the case and the number of the
        item alone: neither on other cases, nor on how items are grouped, nor on who works.
        """
        case = int(digest_of(self.parameters)[:32], 16)
        of_case = np.random.SeedSequence(self.seed, spawn_key=(case,)).generate_state(4)
        for item in self.items:
            yield np.random.default_rng(np.random.SeedSequence(of_case, spawn_key=(item,)))

    def only(self, item: int) -> Job:
        """
        Return the job of one of the items, to look at what failed.

        Raises
        ------
        InvalidInputError
            If the item is not in the job.

        """
        if item not in self.items:
            raise InvalidInputError(f'item: need one in {self.items}, got {item!r}')
        return Job(self.parameters, self.seed, range(item, item + 1))
