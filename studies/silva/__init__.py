# SPDX-License-Identifier: Apache-2.0
"""Evaluation of Silva, Quiroz-Omana and Adorno, done again; see `studies.silva`."""
