# SPDX-License-Identifier: Apache-2.0
"""Robots as frozen trees of bodies, and how their frames move."""
