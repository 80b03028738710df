# SPDX-License-Identifier: Apache-2.0
"""The kernels as PTX for GPUs, one state a thread."""
