# SPDX-License-Identifier: Apache-2.0
"""The closed-loop demonstration on live nodes."""
