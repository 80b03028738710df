# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics init``: the parameter file of a robot of one's own, from its URDF."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path

from rich.markup import escape
from rich.prompt import Prompt

import kane_dynamics as kd
from kane_dynamics.cli.arguments import Commands, writable_folder
from kane_dynamics.cli.printing import console, new_table, print_remarks, progress
from kane_dynamics.exceptions import InvalidInputError, SingularMassMatrixError
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.text import robot_address, robot_text
from kane_dynamics.robot.urdf.remarks import speeds_without_inertia
from kane_dynamics.robot_config.inspection import Findings, inspect_urdf
from kane_dynamics.robot_config.setup import (
    Answer,
    Question,
    Setting,
    file_text,
    proposed_tuning,
    settle,
)

OPTIONS = {
    'base': 'none, planar, diff_drive, skid_steer, mecanum, omni, ackermann or swerve',
    'roller-angles': 'of mecanum wheels [rad], with commas',
    'wheel-radius': 'of the wheels, in place of that of their collision shapes [m]',
    'casters': 'lock or roll',
    'drive': 'what the drives of the base take: effort or velocity',
    'lock': 'joints and hands that stand still, with commas, or none',
    'tool': 'link that is the tool',
    'gravity': 'who holds the arm against gravity: controller or robot',
}


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser('init', help='write the parameter file of your robot')
    parser.add_argument('urdf', help='URDF or xacro file, package:// address, or shipped robot')
    parser.add_argument('--output', type=Path, default=Path('my_robot.yaml'), metavar='FILE')
    parser.add_argument('--force', action='store_true', help='write over the file')
    parser.add_argument('--yes', action='store_true', help='take proposals, marked as guessed')
    for name, help_text in OPTIONS.items():
        parser.add_argument(f'--{name}', metavar='ANSWER', help=help_text)
    parser.set_defaults(run=run)


def run(selection: argparse.Namespace) -> int:
    """Look at a robot, ask what its URDF does not tell, write its file, compile its kernels."""
    from kane_dynamics.robot_config.robot_file import model_of_file

    begin = _processor_time()
    address = _lasting(robot_address(selection.urdf))
    text = robot_text(address)
    if selection.output.exists() and not selection.force:
        raise InvalidInputError(
            f"--output: '{selection.output}' exists; --force writes over it, or name another file"
        )
    writable_folder(selection.output.parent)
    result = inspect_urdf(text, str(resolve(address)))
    if not result.joints:
        raise InvalidInputError(
            f"robot '{result.robot.name}': no joint moves, so there is no motion to compute; need "
            'a URDF with a joint that is not fixed'
        )
    print_findings(result)
    asker = Asker(selection)
    settings = settle(result, address, text, asker)
    asker.refuse_missing()
    command = f'kane-dynamics init {shlex.quote(selection.urdf)}{asker.options()}'
    with tempfile.TemporaryDirectory() as folder:  # the file is written when all is well
        draft = Path(folder) / 'draft.yaml'
        draft.write_text(file_text(result, command, settings), encoding='utf-8')
        model = model_of_file(draft)
    try:
        with progress('compiling the dynamics') as told:
            compiled = kd.compile(model.robot, model.constraints, progress=told)
            tuning = proposed_tuning(compiled, model.motors)
    except SingularMassMatrixError as error:
        massless = ', '.join(speeds_without_inertia(model.robot)) or 'a joint'
        raise InvalidInputError(
            f'{error}: nothing resists {massless}; give the links an <inertial>, or hold them '
            f'with --lock {massless.replace(" ", "")}'
        ) from error
    selection.output.write_text(file_text(result, command, settings, tuning), encoding='utf-8')
    model_of_file(selection.output)  # as the nodes read it
    _print_next(selection.output, settings, _processor_time() - begin)
    return 0


def _processor_time() -> float:
    """Return the processor time of this process and of those that it waited for [s]."""
    return sum(os.times()[:4])


def _lasting(address: str) -> str:
    """Return an address that means the same file from any folder."""
    if '://' in address:
        return address
    return str(Path(address).expanduser().resolve())


class Asker:
    """
    Answers questions: from options, on a terminal, or by their proposals.

    Parameters
    ----------
    selection : Namespace
        The command line.

    """

    def __init__(self, selection: argparse.Namespace) -> None:
        self._given = {name: getattr(selection, name.replace('-', '_')) for name in OPTIONS}
        self._yes = selection.yes
        self._terminal = sys.stdin.isatty()
        self._asked: set[str] = set()
        self._missing: list[Question] = []

    def __call__(self, question: Question) -> Answer:
        """Return the answer to a question; without any, its proposal, and note that it lacks."""
        self._asked.add(question.name)
        values = self._given[question.name]
        if values is not None:
            return Answer(values)
        if not question.open:
            return Answer(question.proposal)
        if self._yes and question.proposal:
            return Answer(question.proposal, guessed=True)
        if self._terminal and not self._yes:
            return self._prompted(question)
        self._missing.append(question)
        return Answer(question.proposal or '1', guessed=True)

    def _prompted(self, question: Question) -> Answer:
        console.print(f'[bold]{escape(question.text)}[/bold]', soft_wrap=True)
        console.print(f'  proposed: {escape(question.proposal)} ({escape(question.why)})')
        choices = list(question.choices) or None
        return Answer(
            Prompt.ask(
                f'  --{question.name}',
                console=console,
                choices=choices,
                default=question.proposal,
            )
        )

    def refuse_missing(self) -> None:
        """
        Refuse to go on where an answer lacks, or one was given that nobody asked for.

        Raises
        ------
        InvalidInputError
            With each question that is open and the options that answer it.

        """
        for name, value in self._given.items():
            if value is not None and name not in self._asked:
                raise InvalidInputError(
                    f'--{name}: has no meaning for this robot, which was asked for '
                    f'{", ".join("--" + asked for asked in sorted(self._asked))}; leave it out'
                )
        if self._missing:
            lines = [
                f'\n  --{q.name} {q.proposal or "..."}: {q.text} ({q.why})' for q in self._missing
            ]
            known = all(question.proposal for question in self._missing)
            ways = 'give --yes to take these proposals, or answer' if known else 'answer'
            why = 'nobody is asked with --yes' if self._yes else 'there is no terminal to ask on'
            raise InvalidInputError(
                f'{why}, and questions are open; {ways} them by options:{"".join(lines)}'
            )

    def options(self) -> str:
        """Return the options that were given, for the head of the file."""
        values = [f' --{n} {shlex.quote(v)}' for n, v in self._given.items() if v is not None]
        return ''.join(values) + (' --yes' if self._yes else '')


def print_findings(result: Findings) -> None:
    """Print the joints of a robot with their roles, and what is unusual about it."""
    title = f"robot '{escape(result.robot.name)}', {result.mass:.4g} kg in motion"
    table = new_table(title, 'role', 'joints')
    for role in dict.fromkeys(joint.role for joint in result.joints):
        table.add_row(role, escape(', '.join(result.named(role))))
    for hand in result.hands:
        table.add_row('hand', escape(f'{hand.name}: {len(hand.joints)} joints'))
    frames = result.frames
    for role, links in (
        ('base frame', (frames.base,)),
        ('IMU frame', frames.imu),
        ('tool frame', frames.tools),
    ):
        if links:
            table.add_row(role, escape(', '.join(links)))
    console.print(table)
    print_remarks(result.notes)


def _print_next(path: Path, settings: tuple[Setting, ...], seconds: float) -> None:
    """Print what was guessed, and the lines that come next."""
    guesses = [f'{s.name}: {s.value} ({s.comment})' for s in settings if s.guessed]
    print_remarks(guesses, 'guessed')
    file = escape(shlex.quote(str(path)))
    whole = escape(shlex.quote(str(path.resolve())))
    console.print(f'wrote {file} in {seconds:.0f} s of processor time', soft_wrap=True)
    for title, line in (
        ('closed loop, table, plots and animation', f'kane-dynamics demo --config {file}'),
        (
            'closed loop in ROS 2',
            f"ros2 launch kane_dynamics simulation.launch.py robot:='' params_file:={whole}",
        ),
        (
            'beside your robot',
            f'ros2 launch kane_dynamics inverse_dynamics.launch.py params_file:={whole}',
        ),
        (
            'the same with pip alone',
            f'kane_inverse_dynamics --ros-args --params-file {whole}',
        ),
    ):
        console.print(f'{title}:\n  {line}', soft_wrap=True)
