# SPDX-License-Identifier: Apache-2.0
"""What the site needs beside Sphinx's own extensions."""
