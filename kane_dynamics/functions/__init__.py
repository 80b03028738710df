# SPDX-License-Identifier: Apache-2.0
"""Public functions: check the arguments, call the algorithm."""
