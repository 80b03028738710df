# SPDX-License-Identifier: Apache-2.0
"""Figures and plots of motions."""
