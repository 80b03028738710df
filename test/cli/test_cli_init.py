# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics init`` on the command line: options, terminal, proposals, refusals."""

import re
from pathlib import Path

import pytest
from support.base_urdf import urdf

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.cli import init, printing
from kane_dynamics.robot_config.robot_source import model_of_file

PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'own_robot.md'
TWO = urdf({'l': ((0, 0.2),), 'r': ((0, -0.2),)})


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in a folder of its own that holds a robot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'my.urdf').write_text(TWO, encoding='utf-8')
    # the demo of one's own robot compiles; here the reference engine is soon ready
    monkeypatch.setattr(init.kd, 'compile', lambda robot, rows, progress: kd.dynamics(robot, rows))
    return tmp_path


class Terminal:
    """Stands for standard input."""

    def __init__(self, is_terminal):
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


def said(capsys):
    """Return what was printed, on one line each for output and errors."""
    captured = capsys.readouterr()
    return ' '.join(captured.out.split()), ' '.join(captured.err.split())


def test_proposals_are_written_with_a_mark_and_the_next_lines_printed(here, capsys):
    assert cli.main(['init', 'my.urdf', '--yes', '--drive', 'velocity']) == 0
    output, remarks = said(capsys)
    text = (here / 'my_robot.yaml').read_text()
    assert '# guessed: driven wheels on one axle\n    base_type: diff_drive' in text
    assert '# effort or velocity (cmd_vel)\n      command_interface: velocity' in text
    assert 'written by: kane-dynamics init my.urdf --drive velocity --yes' in text
    assert 'guessed: base_type: diff_drive' in remarks
    assert 'guessed: base.command_interface' not in remarks
    whole = here / 'my_robot.yaml'
    assert 'kane-dynamics demo my_robot.yaml' in output
    assert f"simulation.launch.py robot:='' params_file:={whole}" in output
    assert f'kane_inverse_dynamics --ros-args --params-file {whole}' in output
    assert model_of_file(whole).motors == ('lift_joint',)
    again = cli.main(['init', 'my.urdf', '--yes'])
    assert (again, 'exists; --force writes over it' in said(capsys)[1]) == (1, True)


def test_the_page_shows_what_is_said(here, capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '100')
    assert cli.main(['init', 'nonholonomic', '--yes']) == 0
    said_now = ' '.join(said(capsys))
    shown = re.search(r'```text\n(.*?)```', PAGE.read_text(encoding='utf-8'), re.DOTALL)[1]
    table, *guessed = shown.split('guessed: ')
    for part in (table, *(f'guessed: {one}' for one in guessed)):
        assert ' '.join(part.split()) in said_now


def test_a_terminal_is_asked(here, monkeypatch):
    asked = []

    def answer(prompt, choices, default, **how):
        asked.append(prompt.strip())
        return 'velocity' if 'drive' in prompt else default

    monkeypatch.setattr(init.sys, 'stdin', Terminal(True))
    monkeypatch.setattr(init.Prompt, 'ask', answer)
    assert cli.main(['init', 'my.urdf', '--base-type', 'diff_drive']) == 0
    assert asked == ['--drive', '--gravity']
    text = (here / 'my_robot.yaml').read_text()
    assert '# guessed: driven' not in text
    assert 'command_interface: velocity' in text


def test_without_a_terminal_open_questions_are_listed(here, monkeypatch, capsys):
    monkeypatch.setattr(init.sys, 'stdin', Terminal(False))
    assert cli.main(['init', 'my.urdf', '--drive', 'effort']) == 1
    _, errors = said(capsys)
    assert (
        'there is no terminal to ask on, and questions are open; give --yes to take these'
        in errors
    )
    assert '--base-type diff_drive: Which base' in errors
    assert '--gravity controller: Who' in errors
    assert '--drive' not in errors
    assert not (here / 'my_robot.yaml').exists()


def test_a_question_without_a_proposal_stays_open(here, capsys):
    sunk = TWO.replace('<collision>', '<visual>').replace('</collision>', '</visual>')
    (here / 'my.urdf').write_text(sunk.replace('0.2 0.1"', '0.2 0"'), encoding='utf-8')
    assert cli.main(['init', 'my.urdf', '--yes']) == 1
    _, errors = said(capsys)
    assert 'nobody is asked with --yes, and questions are open; answer them by opt' in errors
    assert '--wheel-radius ...: Radius of the wheels' in errors


@pytest.mark.parametrize(
    ('source', 'options', 'message'),
    [
        ('<robot name="r"><link name="one"/></robot>', [], "robot 'r': no joint moves, so there"),
        ('<sdf/>', [], 'the root element is <sdf>, need <robot>'),
        (TWO, ['--casters', 'roll'], '--casters: has no meaning for this robot, which was asked'),
        (
            TWO,
            ['--base-type', 'omni'],
            '--base-type: need diff_drive or planar or none for this robot',
        ),
        (
            TWO,
            ['--lock', 'wheel'],
            "--lock: no joint or hand named 'wheel'; there are lift_joint, l_wh",
        ),
        (TWO, ['--output', 'my.urdf/my.yaml'], "--output: no files can be written to 'my.urdf'"),
    ],
)
def test_what_is_refused(source, options, message, here, capsys):
    (here / 'my.urdf').write_text(source, encoding='utf-8')
    assert cli.main(['init', 'my.urdf', '--yes', *options]) == 1
    output, errors = said(capsys)
    assert message in errors
    assert 'Traceback' not in output + errors


def test_a_missing_urdf_is_told_before_the_file_that_would_be_written(here, capsys):
    (here / 'my_robot.yaml').write_text('mine', encoding='utf-8')
    assert cli.main(['init', 'nope.urdf', '--yes']) == 1
    assert "URDF 'nope.urdf' is not a file" in said(capsys)[1].replace(f'{here}/', '')


def test_a_camera_without_inertia_is_named_with_the_remedy(here, capsys):
    pan = (
        '<link name="camera"/><joint name="pan" type="continuous"><axis xyz="0 0 1"/>'
        '<parent link="lift"/><child link="camera"/></joint></robot>'
    )
    (here / 'my.urdf').write_text(TWO.replace('</robot>', pan), encoding='utf-8')
    assert cli.main(['init', 'my.urdf', '--yes', '--lock', 'none']) == 1
    assert (
        'nothing resists pan; give the links an <inertial>, or hold them with --lock pan'
        in (said(capsys)[1])
    )


def test_long_work_tells_how_far_it_is(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(printing.time, 'perf_counter', lambda: now[0])
    with printing.progress('compiling') as told:
        told('begins', 0, 8)
        for now[0] in (1.0, 3.0, 3.5, 6.0):
            told('kernels', int(now[0]), 8)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        'compiling: kernels, 3 of 8, 3 s, about 5 s to go',
        'compiling: kernels, 6 of 8, 6 s, about 2 s to go',
        'compiling: 6 s',
    ]
