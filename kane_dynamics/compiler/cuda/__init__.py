# SPDX-License-Identifier: Apache-2.0
"""The kernels as CUDA C for graphics cards, one state a thread."""
