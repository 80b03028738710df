# SPDX-License-Identifier: Apache-2.0
"""The validation is a program of the source tree: the root is added to the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
