# SPDX-License-Identifier: Apache-2.0
"""Many motions of one robot at once, under efforts, gains and loads of their own."""
