# SPDX-License-Identifier: Apache-2.0
"""Kernels for graphics cards: what they take of a card, their numbers, their rates."""
