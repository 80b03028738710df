# SPDX-License-Identifier: Apache-2.0
"""``python -m kane_dynamics``: the same as the command ``kane-dynamics``."""

import sys

from kane_dynamics.cli import main

sys.exit(main())
