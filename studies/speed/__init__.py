# SPDX-License-Identifier: Apache-2.0
"""Speed, accuracy and size against Pinocchio and MuJoCo; run as ``python -m studies.speed``."""
