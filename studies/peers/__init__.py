# SPDX-License-Identifier: Apache-2.0
"""The same robots in Pinocchio and MuJoCo, built from ours."""
