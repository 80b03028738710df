# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders share: robots to try, derivatives, other people's programs."""
