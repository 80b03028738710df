# SPDX-License-Identifier: Apache-2.0
"""``kane_container``: several nodes in one process, on one thread, for high rates."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from kane_dynamics.ros.entry import NODES, ros_missing

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

    return run_together([factory(name) for name in names], values)


def factory(name: str) -> Callable[[], Any]:
    """Return the class of a node by the name of its executable."""
    module = NODES[name][0]
    named = ''.join(word.capitalize() for word in module.split('_'))
    made: Callable[[], Any] = getattr(
        importlib.import_module(f'kane_dynamics.ros.{module}'), named
    )
    return made


if __name__ == '__main__':
    sys.exit(main())
