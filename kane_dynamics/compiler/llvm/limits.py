# SPDX-License-Identifier: Apache-2.0
"""Which states machine code answers."""

RCOND_LIMIT = 1e-6  # relative pivots below this go to the reference solve
# Larger states go to the reference: sines of the kernels keep all digits to ten times this.
LARGEST_INPUT = 1e13
# The same in single precision, whose ill and large states go to the double kernel first. Sines
# keep all digits to ten times this, too.
SINGLE_HEALTH_LIMIT = 1e-3
LARGEST_SINGLE_INPUT = 1e4
