# SPDX-License-Identifier: Apache-2.0
"""Expression graphs of the algorithms for one robot."""
