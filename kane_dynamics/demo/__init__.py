# SPDX-License-Identifier: Apache-2.0
"""The closed-loop demonstration: its motion, its figures and its plots."""
