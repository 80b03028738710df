# SPDX-License-Identifier: Apache-2.0
"""Symbolic equations of motion of a robot: text, LaTeX and SymPy source."""
