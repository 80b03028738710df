# SPDX-License-Identifier: Apache-2.0
"""Coulomb's law for several contacts at once, at one instant."""
