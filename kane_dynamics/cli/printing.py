# SPDX-License-Identifier: Apache-2.0
"""Where commands print: one console for results, one for errors."""

from rich.console import Console

console = Console()
errors = Console(stderr=True)
