# SPDX-License-Identifier: Apache-2.0
"""Machine code: LLVM text from graphs, its compilation, and what runs it."""
