# SPDX-License-Identifier: Apache-2.0
"""Motion with constraints that come and go: how long, how quick, and beside MuJoCo."""
