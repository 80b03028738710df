# SPDX-License-Identifier: Apache-2.0
"""What the README names is there; commands of pages that show robots or fill files work."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / 'README.md').read_text()


VIEW = (ROOT / 'doc' / 'view.md').read_text()


def test_commands_that_show_robots_work(monkeypatch, tmp_path):
    """They run up to where they would wait for a browser."""
    pytest.importorskip('viser', reason='the extra "view" is not installed')
    from kane_dynamics import cli
    from kane_dynamics.view.window import PoseWindow

    commands = re.findall(r'kane-dynamics (view nonholonomic[^`\n]*)', VIEW)
    assert {'--picture' in command for command in commands} == {True, False}
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr(PoseWindow, 'run', lambda window: shown.append(len(window.sliders)))
    for command in commands:
        assert cli.main([*command.split(), '--port', '8511']) == 0
    assert shown == [10] * sum('--picture' not in command for command in commands)
    assert (tmp_path / 'robot.png').is_file()


@pytest.mark.parametrize(
    'command',
    [
        command
        for page in ('feedforward.md', 'retiming.md')
        for command in re.findall(
            r'^kane-dynamics ((?:add-efforts|retime) .*)', (ROOT / 'doc' / page).read_text(), re.M
        )
    ],
)
def test_commands_on_files_work(command, monkeypatch, tmp_path, capsys):
    from kane_dynamics import cli

    monkeypatch.chdir(tmp_path)
    (tmp_path / 'examples').symlink_to(ROOT / 'examples')
    assert cli.main(command.split()) == 0
    assert (tmp_path / command.split()[3]).is_file()
    assert 'arm_1_joint' in capsys.readouterr().out


@pytest.mark.parametrize(
    'script', re.findall(r'python (examples/\S+)', (ROOT / 'doc' / 'examples.md').read_text())
)
def test_examples_exist(script):
    assert (ROOT / script).is_file()


@pytest.mark.parametrize('command', re.findall(r'^make (\w+)', README, flags=re.MULTILINE))
def test_make_targets_exist(command):
    assert re.search(rf'^{command}:', (ROOT / 'Makefile').read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize('link', re.findall(r'\]\(([\w./]+)\)', README))
def test_linked_files_exist(link):
    assert (ROOT / link).is_file()


@pytest.mark.parametrize('launch', re.findall(r'ros2 launch kane_dynamics (\S+)', README))
def test_launch_files_exist(launch):
    assert (ROOT / 'launch' / launch).is_file()


@pytest.mark.parametrize('page', sorted((ROOT / 'doc' / 'tutorials').glob('*.md')))
def test_each_tutorial_runs_something_and_says_what_is_next(page):
    text = page.read_text()
    assert '```python' in text and '**What next**' in text
    assert text.count('\n') < 70  # two screens
