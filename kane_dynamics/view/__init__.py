# SPDX-License-Identifier: Apache-2.0
"""Drawings of robots, recordings of motions, animations, and a window in the browser."""
