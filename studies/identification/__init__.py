# SPDX-License-Identifier: Apache-2.0
"""Identification beside known answers: simulated robots, public recordings, another program."""
