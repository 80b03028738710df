# SPDX-License-Identifier: Apache-2.0
"""The algorithms traced once for a robot and compiled to machine code."""
