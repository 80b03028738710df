# SPDX-License-Identifier: Apache-2.0
"""
Many inputs for one reader: which it takes, which it refuses by name, and what it should not do.

A target draws an input from a `random.Random` and hands it to the package. What the package takes
is counted as accepted, an error of its family as refused; anything else, and what takes longer
than `HANG`, is a finding. Three drivers use the same targets: seeds (this file), hypothesis
(test_fuzz.py) and the coverage of atheris (guided.py).
"""

from __future__ import annotations

import random
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kane_dynamics.exceptions import KaneDynamicsError

HANG = 1.0
"""Time of this process [s] that no input may take."""
ALARM = 20.0
"""Wall time [s] after which an input is interrupted."""
TRIES = 3
"""Of an input that takes longer; the shortest counts: on a busy machine any may take long once."""
KEPT = 20
"""Findings of a target that are kept."""


class HangError(BaseException):
    """An input was interrupted; no error of Python, so that no reader can catch it."""


@dataclass(frozen=True)
class Target:
    """
    A reader of the package and what to give it.

    Attributes
    ----------
    name : str
        What is read.
    draw : callable
        draw(random) returns an input: text, bytes, or anything that `run` takes.
    run : callable
        Gives an input to the package.
    share : float
        Part of all inputs that go to this target.
    renew : callable
        Called before the first input and after each finding; for readers that keep a state.

    """

    name: str
    draw: Callable[[random.Random], Any]
    run: Callable[[Any], object]
    share: float
    renew: Callable[[], None] | None = None

    @property
    def keeps_state(self) -> bool:
        """Return whether an answer may depend on the inputs before."""
        return self.renew is not None

    def begin(self) -> None:
        """Forget the inputs before."""
        if self.renew is not None:
            self.renew()


@dataclass
class Outcome:
    """What became of the inputs of one target."""

    name: str
    inputs: int = 0
    refused: int = 0
    accepted: int = 0
    longest_s: float = 0.0
    seconds: float = 0.0
    unhandled: int = 0
    slow: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)

    def as_record(self) -> dict[str, Any]:
        """Return the figures for the report."""
        names = ('name', 'inputs', 'refused', 'accepted', 'longest_s', 'unhandled', 'slow')
        return {**{name: getattr(self, name) for name in names}, 'seconds': self.seconds}


def random_of(target: str, seed: int, number: int) -> random.Random:
    """Return the source of one input; the same one always."""
    return random.Random(f'{target}/{seed}/{number}')


@contextmanager
def alarm():
    """Interrupt what hangs. Only the main thread is interrupted."""

    def ring(number, frame):
        raise HangError(f'more than {ALARM:g} s')

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def answer(target: Target, given: Any) -> tuple[str, float, str]:
    """
    Return what became of an input, the processor time it took [s], and a finding in words.

    It is one of 'accepted', 'refused', 'unhandled' and 'slow'.
    """
    signal.setitimer(signal.ITIMER_REAL, ALARM)
    begin, found = time.process_time(), ''
    try:
        target.run(given)
        kind = 'accepted'
    except KaneDynamicsError as error:
        kind = 'refused'
        if len(str(error)) > 20_000:
            kind, found = 'unhandled', f'a message of {len(str(error))} characters'
    except HangError as error:
        kind, found = 'slow', str(error)
    except Exception as error:  # noqa: BLE001  what must not happen
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f'{last.filename.rpartition("/")[2]}:{last.lineno}'
        kind, found = 'unhandled', f'{type(error).__name__}: {str(error)[:300]} at {place}'
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    took = time.process_time() - begin
    if took > HANG and not found:
        kind, found = 'slow', f'{took:.2f} s'
    return kind, took, found


def best_answer(target: Target, given: Any) -> tuple[str, float, str]:
    """Return the shortest answer, where a slow one is asked again; a state is not to change so."""
    best = answer(target, given)
    for _ in range(TRIES - 1):
        if best[0] == 'slow' and not target.keeps_state:
            best = min(best, answer(target, given), key=lambda found: found[1])
    return best


def run(target: Target, count: int, seed: int = 0, first: int = 0) -> Outcome:
    """Try `count` inputs of a target from the number `first` on."""
    outcome, begin, seen = Outcome(target.name), time.perf_counter(), set()
    with alarm(), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        target.begin()
        for number in range(first, first + count):
            given = target.draw(random_of(target.name, seed, number))
            kind, took, found = best_answer(target, given)
            outcome.inputs += 1
            outcome.longest_s = max(outcome.longest_s, took)
            setattr(outcome, kind, getattr(outcome, kind) + 1)
            if found:
                known = found.partition(':')[0] + found[-40:]
                if known not in seen and len(outcome.findings) < KEPT:
                    seen.add(known)
                    kept = minimised(target, given, found)
                    note = {'number': number, 'seed': seed, 'found': found, 'input': shown(kept)}
                    outcome.findings.append(note)
                target.begin()
    outcome.seconds = time.perf_counter() - begin
    return outcome


def shown(given: Any) -> str:
    """Return an input for the report, long ones in part."""
    text = repr(given)
    return text if len(text) <= 4000 else f'{text[:2000]} ... {text[-2000:]}'


def minimised(target: Target, given: Any, found: str) -> Any:
    """Return the shortest part of a text, or of bytes, that makes the same error."""
    if not isinstance(given, (str, bytes)) or not found.partition(':')[2]:
        return given
    kind = found.partition(':')[0]
    end = time.monotonic() + 5.0
    piece = max(len(given) // 2, 1)
    while piece and time.monotonic() < end:
        place = 0
        while place < len(given) and time.monotonic() < end:
            shorter = given[:place] + given[place + piece :]
            target.begin()
            if answer(target, shorter)[2].partition(':')[0] == kind:
                given = shorter
            else:
                place += piece
        piece //= 2
    return given
