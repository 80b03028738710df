# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics init``: the parameter file of a robot of one's own, from its URDF."""

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.prompt import Prompt

import kane_dynamics as kd
from kane_dynamics.cli import printing
from kane_dynamics.cli.printing import console, progress, writable_folder, write_whole
from kane_dynamics.exceptions import InvalidInputError, SingularMassMatrixError
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.text import robot_address, robot_text
from kane_dynamics.robot.urdf.model_warnings import speeds_without_inertia
from kane_dynamics.robot_config.file_text import file_text, proposed_tuning
from kane_dynamics.robot_config.inspection import Answer, Findings, Question, inspect_urdf
from kane_dynamics.robot_config.settings import Setting, settle

ANSWERS = 'base-type roller-angles wheel-radius casters drive lock tool gravity'.split()


def init(options: argparse.Namespace) -> int:
    """Look at a robot, ask what its URDF does not tell, write its file, compile its kernels."""
    from kane_dynamics.robot_config.robot_source import model_of_file

    begin = _processor_time()
    address = robot_address(options.robot)
    if '://' not in address:  # one that means the same file from any folder
        address = str(Path(address).expanduser().resolve())
    text = robot_text(address)
    if options.output.exists() and not options.force:
        raise InvalidInputError(
            f"--output: '{options.output}' exists; --force writes over it, or name another file"
        )
    writable_folder(options.output.parent)
    findings = inspect_urdf(text, str(resolve(address)))
    if not findings.joints:
        raise InvalidInputError(
            f"robot '{findings.robot.name}': no joint moves, so there is no motion to compute; "
            'need a URDF with a joint that is not fixed'
        )
    print_findings(findings)
    asker = Asker(options)
    settings = settle(findings, address, text, asker)
    asker.refuse_missing()
    command = f'kane-dynamics init {shlex.quote(options.robot)}{asker.options()}'
    with tempfile.TemporaryDirectory() as folder:  # the file is written when all is well
        draft = Path(folder) / 'draft.yaml'
        draft.write_text(file_text(findings, command, settings), encoding='utf-8')
        model = model_of_file(draft)
    try:
        with progress('compiling the dynamics') as report:
            compiled = kd.compile(model.robot, model.constraints, progress=report)
            tuning = proposed_tuning(compiled, model.motors)
    except SingularMassMatrixError as error:
        massless = ', '.join(speeds_without_inertia(model.robot)) or 'a joint'
        raise InvalidInputError(
            f'{error}: nothing resists {massless}; give the links an <inertial>, or hold them '
            f'with --lock {massless.replace(" ", "")}'
        ) from error
    write_whole(options.output, file_text(findings, command, settings, tuning))
    model_of_file(options.output)  # as the nodes read it
    _print_next(options.output, settings, _processor_time() - begin)
    return 0


def _processor_time() -> float:
    """Return the processor time of this process and of those that it waited for [s]."""
    return sum(os.times()[:4])


class Asker:
    """Answers questions: from options, on a terminal, or by their proposals."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._answers = {name: getattr(options, name.replace('-', '_')) for name in ANSWERS}
        self._yes = options.yes
        self._terminal = sys.stdin.isatty()
        self._asked: set[str] = set()
        self._missing: list[Question] = []

    def __call__(self, question: Question) -> Answer:
        """Return the answer to a question; without any, its proposal, and note that it lacks."""
        self._asked.add(question.name)
        answer = self._answers[question.name]
        if answer is not None:
            return Answer(answer)
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
        proposed: dict[str, Any] = {'console': console, 'default': question.proposal}
        choices = list(question.choices) or None
        return Answer(Prompt.ask(f'  --{question.name}', choices=choices, **proposed))

    def refuse_missing(self) -> None:
        """Refuse to go on where an answer lacks, or one was given that nobody asked for."""
        for name, value in self._answers.items():
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
        answers = [f' --{n} {shlex.quote(v)}' for n, v in self._answers.items() if v is not None]
        return ''.join(answers) + (' --yes' if self._yes else '')


def print_findings(findings: Findings) -> None:
    """Print the joints of a robot with their roles, and what is unusual about it."""
    frames = findings.frames
    roles = dict.fromkeys(joint.role for joint in findings.joints)
    rows = [
        *((role, findings.named(role)) for role in roles),
        *(('hand', (f'{hand.name}: {len(hand.joints)} joints',)) for hand in findings.hands),
        *(('base frame', (frames.base,)), ('IMU frame', frames.imu), ('tool frame', frames.tools)),
    ]
    title = f"robot '{findings.robot.name}', {findings.mass:.4g} kg in motion"
    named = [(role, ', '.join(names)) for role, names in rows if names]
    printing.table(title, ('role', 'joints'), named)
    printing.print_notes(findings.messages)


def _print_next(path: Path, settings: tuple[Setting, ...], seconds: float) -> None:
    """Print what was guessed, and the lines that come next."""
    guesses = [f'{s.name}: {s.value} ({s.comment})' for s in settings if s.guessed]
    printing.print_notes(guesses, 'guessed')
    file, whole = shlex.quote(str(path)), shlex.quote(str(path.resolve()))
    launch = 'ros2 launch kane_dynamics'
    printing.lines(
        f'wrote {file} in {seconds:.0f} s of processor time',
        f'closed loop, table, plots and animation:\n  kane-dynamics demo {file}',
        f"closed loop in ROS 2:\n  {launch} simulation.launch.py robot:='' params_file:={whole}",
        f'beside your robot:\n  {launch} inverse_dynamics.launch.py params_file:={whole}',
        f'the same with pip alone:\n  kane_inverse_dynamics --ros-args --params-file {whole}',
    )
