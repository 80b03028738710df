# SPDX-License-Identifier: Apache-2.0
"""Problems that others published, with their answers; run as ``python -m studies.suites``."""
