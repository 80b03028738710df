# SPDX-License-Identifier: Apache-2.0
"""The commit that a figure belongs to."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def commit() -> str:
    """Return the short name of the commit of this source, with a mark where it was changed."""
    command = ['git', '-C', str(ROOT), 'describe', '--always', '--dirty', '--abbrev=12']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or 'unknown'
