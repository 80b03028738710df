# SPDX-License-Identifier: Apache-2.0
"""Write the parameter tables of the nodes into nodes.md; run it after a change of a table."""

import re
from pathlib import Path

from kane_dynamics.robot_config.parameters.nodes import TABLES
from kane_dynamics.robot_config.parameters.spec import markdown_table

PAGE = Path(__file__).resolve().parent / 'nodes.md'


def updated(text):
    """Return the page with each generated block renewed."""
    for node, table in TABLES.items():
        block = f'<!-- parameters of {node} -->\n{markdown_table(table)}\n<!-- end -->'
        pattern = rf'<!-- parameters of {node} -->\n.*?<!-- end -->'
        text, count = re.subn(pattern, lambda _, b=block: b, text, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f'{PAGE.name} needs one block for {node}, has {count}')
    return text


if __name__ == '__main__':
    PAGE.write_text(updated(PAGE.read_text()))
