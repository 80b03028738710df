# SPDX-License-Identifier: Apache-2.0
"""Resident memory of the processes of a soak: whether it is flat once it has settled."""

import itertools
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

LIFE = 600.0  # [s]: in a shorter life the heap is still filling, which looks like a leak
WARM_PART = 0.3  # of a life, that does not count either
# percent by which memory may change in a long life; the machine code of a model lost in each
# round would be 1 MB/min, so 3 percent of the shortest
FLAT = 2.0
PAGE = 4096


@dataclass
class Memory:
    """Resident memory of a process that may be started several times."""

    samples: list = field(default_factory=list)

    def take(self, process, now):
        """Take a sample [MB] of a process that lives."""
        try:
            pages = Path(f'/proc/{process.pid}/statm').read_text().split()[1]
        except (OSError, IndexError):
            return
        self.samples.append((process.pid, now, int(pages) * PAGE / 1e6))

    def growth(self):
        """Return the growth [MB/min], the mean of all minutes of long lives, and their number."""
        slopes, lengths = [], []
        for _, life in itertools.groupby(self.samples, key=lambda s: s[0]):
            t, size = np.array([s[1:] for s in life]).T
            t -= t[0]
            if t[-1] >= LIFE:
                settled = t > WARM_PART * t[-1]
                slopes.append(60.0 * np.polyfit(t[settled], size[settled], 1)[0])
                lengths.append(t[-1])
        return (float(np.average(slopes, weights=lengths)) if slopes else math.nan), len(slopes)

    def change(self):
        """Return the largest change [percent] of a long life, once it has settled."""
        changes = [0.0]
        for _, life in itertools.groupby(self.samples, key=lambda s: s[0]):
            t, size = np.array([s[1:] for s in life]).T
            settled = t - t[0] > WARM_PART * (t[-1] - t[0])
            if t[-1] - t[0] >= LIFE:
                slope = np.polyfit(t[settled], size[settled], 1)[0]
                part = slope * np.ptp(t[settled]) / size[settled].mean()
                changes.append(100.0 * float(part))
        return max(changes, key=abs)

    def leaks(self):
        """Return whether it changes; not where all lives were too short to tell."""
        return abs(self.change()) > FLAT

    def figures(self):
        """Return growth, change and one sample in ten seconds."""
        rate, lives = self.growth()
        begin = self.samples[0][1]
        return {
            'mb_per_minute': round(rate, 4),
            'change_percent': round(self.change(), 3),
            'long_lives': lives,
            'samples': [
                (pid, round(t - begin, 1), round(mb, 2)) for pid, t, mb in self.samples[::10]
            ],
        }

    def in_words(self):
        """Return the last sample and the growth."""
        rate, lives = self.growth()
        counted = f'{lives} lives of {LIFE / 60.0:g} min or longer'
        return f'{self.samples[-1][2]:.1f} MB, {rate:+.3f} MB/min in {counted}'
