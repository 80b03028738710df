# SPDX-License-Identifier: Apache-2.0
"""A sweep: a function, cases and random items, cut into chunks with names of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from itertools import product
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import kane_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.body import content_hash
from kane_dynamics.robot.checks import as_count, as_mapping, as_text, describe


def grid(**values: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """
    Return each combination of values by name, the last name varying fastest.

    Parameters
    ----------
    **values : iterable
        Values of each parameter, e.g. ``robot=[first, second], friction=[0.4, 0.6]``.

    Raises
    ------
    InvalidInputError
        If the values of a parameter are no sequence, or a text.

    Examples
    --------
    >>> from kane_dynamics.sweep import grid
    >>> grid(mass=[1.0, 2.0], friction=[0.3])
    ({'mass': 1.0, 'friction': 0.3}, {'mass': 2.0, 'friction': 0.3})

    """
    for name, choices in values.items():
        if isinstance(choices, (str, bytes)) or not isinstance(choices, Iterable):
            raise InvalidInputError(f'{name}: need a sequence of values, got {describe(choices)}')
    return tuple(dict(zip(values, choice, strict=True)) for choice in product(*values.values()))


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
            vars(self).update(parameters=_frozen_case(self.parameters))

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


@dataclass(frozen=True)
class Chunk:
    """What is computed at once: the name of its file, the index of its case, and its job."""

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

    Attributes
    ----------
    stamp : str
        Hash of the code that numbers come from.

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
    stamp: str = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.cases, (Mapping, str)) or not isinstance(self.cases, Iterable):
            raise InvalidInputError(f'cases: need a list of mappings, got {describe(self.cases)}')
        if self.version is not None:
            as_text('version', self.version)
        least = {'items': 1, 'chunk': 1, 'seed': 0}
        counts = {name: as_count(name, getattr(self, name), n) for name, n in least.items()}
        function, cases = _name_of(self.function), tuple(map(_frozen_case, self.cases))
        stamp = code_stamp(function, self.version)
        vars(self).update(function=function, cases=cases, stamp=stamp, **counts)
        if not self.cases:
            raise InvalidInputError('cases: need at least one, [{}] where there are no parameters')
        if len(set(map(digest_of, self.cases))) < len(self.cases):
            raise InvalidInputError('cases: two of them are the same; more items repeat a case')

    def __len__(self) -> int:
        """Return the number of items of all cases."""
        return len(self.cases) * self.items

    def chunks(self) -> Iterator[Chunk]:
        """Yield all chunks: case after case, item after item."""
        for number, case in enumerate(self.cases):
            content = digest_of(self.stamp, self.seed, case)
            for start in range(0, self.items, self.chunk):
                items = range(start, min(start + self.chunk, self.items))
                key = digest_of(content, items.start, items.stop)
                yield Chunk(key, number, Job(case, self.seed, items))


def imported(name: str) -> Callable[[Job], Any]:
    """Return the function 'package.module:function'."""
    try:
        function = attrgetter(name.partition(':')[2])(import_module(name.partition(':')[0]))
    except (ImportError, AttributeError, ValueError) as error:
        problem = f"function: need 'package.module:function', got {name!r}: {error}"
        raise InvalidInputError(problem) from error
    if not callable(function):
        raise InvalidInputError(f'function: {name} is no function, but {describe(function)}')
    return function  # type: ignore[no-any-return]


def code_stamp(function: Any, version: str | None) -> str:
    """Return a hash of the package, of a function's name, and of its version or its file."""
    module = import_module(function.partition(':')[0])
    try:
        stamp = version or hashlib.sha256(Path(module.__file__ or '').read_bytes()).hexdigest()
    except (OSError, AttributeError):
        problem = f'the file of {module.__name__} cannot be read; give the version of the function'
        raise InvalidInputError(f'function: {problem}') from None
    return digest_of(package_stamp(), function, stamp)


@cache
def package_stamp() -> str:
    """Return a hash of this package, numpy and the compilers, but not of the processor."""
    versions = kane_dynamics.__version__, np.__version__, *map(version_of, ('casadi', 'llvmlite'))
    digest = hashlib.sha256(repr(versions).encode())
    root = Path(kane_dynamics.__file__).parent
    for path in sorted(root.rglob('*.py')):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def digest_of(*content: Any) -> str:
    """Return the hash of data, robots and other dataclasses of this package."""
    return content_hash(content)


def _name_of(function: Any) -> str:
    """Return 'package.module:function' of a function that workers can import."""
    module, name = (getattr(function, key, '') for key in ('__module__', '__qualname__'))
    full = function if isinstance(function, str) else f'{module}:{name}'
    if '<' in full or module == '__main__' or not (isinstance(function, str) or name):
        raise InvalidInputError(
            'function: need one that workers can import by name, so one of a module other than '
            f"the script that is run, or 'package.module:function'; got {describe(function)}"
        )
    if imported(full) is not function and not isinstance(function, str):
        raise InvalidInputError(f'function: {full} is another one than {function!r}')
    return full


def _frozen_case(parameters: Any) -> Mapping[str, Any]:
    """Return the parameters of one case: names and data that nobody can change."""
    named = as_mapping('parameters of a case', parameters)
    checked = MappingProxyType({name: _frozen(name, value) for name, value in named.items()})
    digest_of(checked)
    return checked


def _frozen(name: str, value: Any) -> Any:
    """Return plain data for what numpy has types of its own for."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise InvalidInputError(f'{name}: need an array of numbers, got one of objects')
        value = np.array(value)
        value.setflags(write=False)
    elif isinstance(value, (tuple, list)):
        return tuple(_frozen(name, entry) for entry in value)
    elif isinstance(value, Mapping):
        return {key: _frozen(name, entry) for key, entry in as_mapping(name, value).items()}
    return value
