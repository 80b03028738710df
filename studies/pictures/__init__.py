# SPDX-License-Identifier: Apache-2.0
"""The pictures of the README and of the site."""
