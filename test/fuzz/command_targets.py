# SPDX-License-Identifier: Apache-2.0
"""
Targets that take command lines: `kane_dynamics.cli.main`, in this process.

The parser itself tells which commands and options there are. Each input is one command with drawn
values and files; it must end with 0, 1 or 2, and never with a traceback. What would go on until
somebody ends it, the demo and the viewer, is given a robot that there is not.
"""

from __future__ import annotations

import argparse
import io
import os
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import sources
from campaign import Target
from changes import NUMBERS, WORDS, changed
from file_targets import FOLDER, written

from kane_dynamics import cli
from kane_dynamics.exceptions import KaneDynamicsError

CODES = (cli.DONE, cli.REFUSED, cli.USAGE)
FILES = {
    'hinge.urdf': sources.HINGE,
    'hinge.yaml': '/**:\n  ros__parameters:\n    base_type: none\n    urdf_file: hinge.urdf\n',
    'path.json': sources.JSON_PATHS[1].text,
    'path.csv': sources.CSV_PATHS[0].text,
    'twist.csv': 'time,vx,vy,yaw_rate\n0,0,0,0\n1,1,0,0\n',
    'nothing.npz': '',
    'nothing.mcap': '',
}
OTHERS = (
    'no_such.urdf',
    'no_such.yaml',
    'no_such.npz',
    '.',
    '/dev/null',
    'package://no/such.urdf',
)
OUTPUTS = ('out.json', 'out.csv', 'out.npz', 'out', 'no/such/out.json', '/dev/null')
SHIPPED = ('nonholonomic', 'tiago')
ENDLESS = ('demo', 'view')
SLOW = ('bag', 'build', 'cache', 'equations', 'init')  # seconds where all is right
NAMED = ('a=0.1', 'a=1', 'b=0.1', 'a', '=', 'a=nan', 'a=0.1=2', 'no such=1')


class ExitError(AssertionError):
    """A command has ended as none may."""


def commands():
    """Return the options of each command by its name."""
    parser = cli.new_parser()
    (found,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {name: one._actions for name, one in found.choices.items()}


COMMANDS = commands()


def draw(random):
    """Return the arguments of a command, and the files that it may read."""
    name = random.choice(sorted(COMMANDS))
    files, given = dict(FILES), []
    if random.random() < 0.3:
        kept = () if name == 'info' else ('hinge.urdf',)  # one to compile, else
        changing = random.choice(sorted({*FILES} - {*kept}))
        source = sources.Source(FILES[changing])
        files[changing] = changed(random, source) if source.text else random.choice(WORDS)
    for action in COMMANDS[name]:
        wanted = 0.95 if not action.option_strings or action.required else 0.15
        if action.dest in ('help', 'live') or random.random() > wanted:  # live: a node, no end
            continue
        given += [random.choice(action.option_strings)] if action.option_strings else []
        count = 0 if action.nargs == 0 else 1 if action.nargs in (None, '?') else 2
        given += [value(random, name, action) for _ in range(count)]
    if name == 'demo':
        given = ['no such', *(word for word in given if word.startswith('--'))]
    if name == 'simulate':  # seconds of work are no hang
        given += ['--reference', '--duration', '0.01']
    if random.random() < 0.05:
        given.insert(
            random.randrange(len(given) + 1), random.choice((*WORDS, '--', '-h', '--position'))
        )
    lead = random.choice(WORDS) if random.random() < 0.02 else name
    return [lead, *(text.replace('\0', '') for text in given)], files


def value(random, command, action):
    """Return the value of an argument: mostly one of its kind."""
    robot = action.dest in ('robot', 'urdf', 'source', 'bag')
    if robot and (command in ENDLESS or (command in SLOW and random.random() < 0.95)):
        return random.choice(OTHERS)
    if random.random() < 0.1:
        return random.choice((*WORDS, *NUMBERS))
    if action.choices:
        return random.choice(list(action.choices))
    if action.metavar in ('NAME=VALUE',):
        return random.choice(NAMED)
    if action.type not in (None, str) and action.type.__name__ != 'Path':
        return random.choice(('1', '0.01', '0.001', '1.5', *NUMBERS))
    if action.dest in ('target', 'output', 'npz', 'csv', 'plot', 'gif', 'picture'):
        return random.choice(
            ('out.json', 'out.csv', 'out.npz', 'out', 'no/such/out.json', '/dev/null')
        )
    shipped = SHIPPED if command == 'info' else ()  # others would compile them
    return random.choice((*FILES, *OTHERS, *shipped, 'a', 'one'))


def run(given):
    """Run a command in the folder of the files."""
    arguments, files = given
    for name, content in files.items():
        written(name, content)
    before, said = os.getcwd(), io.StringIO()
    private = patch.dict(os.environ, XDG_CACHE_HOME=str(FOLDER / 'cache'))
    os.chdir(FOLDER)
    try:
        with (
            private,
            redirect_stdout(io.StringIO()),
            redirect_stderr(said),
            patch('sys.stdin', io.StringIO()),
        ):
            code = cli.main(arguments)
    except SystemExit as end:  # of argparse
        code = end.code
    finally:
        os.chdir(before)
    words = said.getvalue()
    if code not in CODES or 'Traceback' in words:
        raise ExitError(f'exit code {code}: {words[-300:]}')
    if code:
        if 'error:' not in words:
            raise ExitError(f'exit code {code} without a word: {words[-300:]}')
        raise KaneDynamicsError(words)


def targets():
    """Return the target of this file."""
    return [Target('command line', draw, run, 0.03)]
