# SPDX-License-Identifier: Apache-2.0
"""
The targets of ``make fuzz`` guided by coverage, where atheris is installed.

``python test/fuzz/guided.py 'URDF text' -max_total_time=60`` draws inputs from what libFuzzer
proposes, and keeps those that reach new branches; the first finding ends it.
"""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import atheris

with atheris.instrument_imports(include=['kane_dynamics']):
    import campaign
    import file_targets


class Proposed(random.Random):
    """A `random.Random` that takes its numbers from bytes; zeros where they end."""

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._given = atheris.FuzzedDataProvider(data)

    def random(self) -> float:
        """Return a number from 0 to below 1."""
        return self._given.ConsumeIntInRange(0, 2**24 - 1) / 2**24

    def getrandbits(self, k: int) -> int:
        """Return an integer of k bits."""
        return self._given.ConsumeIntInRange(0, 2**k - 1) if k <= 63 else 0


def main() -> None:
    """Fuzz one target with the options of libFuzzer."""
    name = sys.argv.pop(1)
    target = next(t for t in file_targets.targets() if t.name == name)
    warnings.simplefilter('ignore')

    def one(data: bytes) -> None:
        with campaign.alarm():
            found = campaign.answer(target, target.draw(Proposed(data)))[2]
        if found:
            raise RuntimeError(found)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == '__main__':
    main()
