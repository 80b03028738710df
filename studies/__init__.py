# SPDX-License-Identifier: Apache-2.0
"""Studies of the package against other programs: speed, accuracy, and the papers' evaluation."""
