# SPDX-License-Identifier: Apache-2.0
"""Machine code of time steps and rollouts."""
