# SPDX-License-Identifier: Apache-2.0
"""``kane_container``: several nodes in one process, on one thread, for high rates."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.ros.entry import node_class, ros_missing

NAME = 'kane_container'
USAGE = f"""\
usage: {NAME} <node> <node> ... [--ros-args -p <node>:<parameter>:=<value> \
--params-file <file.yaml> -r <node>:<name>:=<name>]

Runs nodes in one process; they stop in the order given, so name controllers before a simulator.
Without `<node>:` a parameter or a name goes to all of them.

nodes: {', '.join(NODES)}
"""


def main(args: Sequence[str] | None = None) -> int:
    """Run the nodes whose executables are named; return the exit code."""
    values = list(sys.argv[1:] if args is None else args)
    names = values[: values.index('--ros-args')] if '--ros-args' in values else values
    if {'-h', '--help'} & set(values):
        sys.stdout.write(USAGE)
        return 0
    unknown = [name for name in names if name not in NODES]
    if unknown or not names:
        sys.stderr.write(f'{NAME}: no such nodes: {unknown}\n{USAGE}' if unknown else USAGE)
        return 2
    if ros_missing(NAME):
        return 1
    from kane_dynamics.ros.runtime import run_together

    return run_together([node_class(name) for name in names], values)


if __name__ == '__main__':
    sys.exit(main())
