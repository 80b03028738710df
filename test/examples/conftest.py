# SPDX-License-Identifier: Apache-2.0
"""The examples are scripts in a folder of their own: it is added to the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'examples'))
