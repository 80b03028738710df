# SPDX-License-Identifier: Apache-2.0
"""Mutants that no law sees, each with its reason."""

SURVIVORS: dict[str, str] = {}
