# SPDX-License-Identifier: Apache-2.0
"""Exact wheels inside MuJoCo: courses, contacts, and other ways to have wheels there."""
