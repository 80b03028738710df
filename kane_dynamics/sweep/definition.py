# SPDX-License-Identifier: Apache-2.0
"""A sweep: a function, cases and random items, cut into chunks with names of their content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_count, as_text, describe
from kane_dynamics.sweep.function import NamedFunction, named_function, package_stamp
from kane_dynamics.sweep.job import Job
from kane_dynamics.sweep.parameters import checked_parameters, digest_of


@dataclass(frozen=True)
class Chunk:
    """
    What is computed at once, and kept in one file.

    Parameters
    ----------
    key : str
        Hash of all that its numbers depend on: the name of its file.
    case : int
        Index of its case in the sweep.
    job : Job
        What the function is called with.

    """

    key: str
    case: int
    job: Job


@dataclass(frozen=True, eq=False)
class Sweep:
    """
    A function that is called on each case, for some items of the case at once.

    Parameters
    ----------
    function : callable or str
        function(job) returns arrays by name, whose first index is that of the item in the `Job`.
        It must be importable by name, also on other machines: a function of a module, or
        'package.module:function'. What it returns must follow from the job alone.
    cases : sequence of mapping of str to Any
        Parameters of each case: numbers, text, arrays, robots; see `grid`. A file that is named
        here is not looked into: give the robot, not the path of its URDF.
    items : int
        Number of items of each case, which differ in their random numbers.
    seed : int
        Of all random numbers.
    chunk : int
        Items that are computed at once and lost together; seconds of work.
    version : str, optional
        Of the function; the hash of the file that it is in where left out.

    Raises
    ------
    InvalidInputError
        If the function cannot be imported by name, there is no case or item, two cases are the
        same, or a number is out of range.
    NotFingerprintableError
        If a parameter is neither data nor a robot or another dataclass of this package.

    """

    function: Callable[[Job], Mapping[str, Any]] | str
    cases: Sequence[Mapping[str, Any]] = ({},)
    items: int = 1
    seed: int = 0
    chunk: int = 1000
    version: str | None = None
    named: NamedFunction = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.cases, (Mapping, str)) or not isinstance(self.cases, Iterable):
            remedy = '; put it in a list' if isinstance(self.cases, Mapping) else ''
            raise InvalidInputError(
                f'cases: need a sequence of mappings, got {describe(self.cases)}{remedy}'
            )
        if self.version is not None:
            as_text('version', self.version)
        _set(self, named=named_function(self.function, self.version))
        _set(self, cases=tuple(checked_parameters(case) for case in self.cases))
        _set(self, seed=as_count('seed', self.seed))
        for name in ('items', 'chunk'):
            _set(self, **{name: as_count(name, getattr(self, name), 1)})
        if not self.cases:
            raise InvalidInputError('cases: need at least one, [{}] where there are no parameters')
        if len({digest_of(case) for case in self.cases}) < len(self.cases):
            raise InvalidInputError('cases: two of them are the same; more items repeat a case')

    def __len__(self) -> int:
        """Return the number of items of all cases."""
        return len(self.cases) * self.items

    def chunks(self) -> Iterator[Chunk]:
        """Yield all chunks: case after case, item after item."""
        named = self.named
        for number, case in enumerate(self.cases):
            content = digest_of(package_stamp(), named.name, named.stamp, self.seed, case)
            for start in range(0, self.items, self.chunk):
                items = range(start, min(start + self.chunk, self.items))
                key = digest_of(content, items.start, items.stop)
                yield Chunk(key, number, Job(case, self.seed, items))


def _set(sweep: Sweep, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(sweep, name, value)
