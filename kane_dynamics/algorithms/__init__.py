# SPDX-License-Identifier: Apache-2.0
"""The algorithms of the papers, one a file."""
