# SPDX-License-Identifier: Apache-2.0
"""What the README shows works as printed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / 'README.md').read_text()


def test_python_example_runs(monkeypatch, tmp_path, capsys):
    (code,) = re.findall(r'```python\n(.*?)```', README, flags=re.DOTALL)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    exec(compile(code, 'README.md', 'exec'), {})
    printed = capsys.readouterr().out
    assert 'wheel_left_joint/rolling' in printed
    assert 'np.float64' not in printed  # numbers, not how numpy writes them


METHODS = (ROOT / 'doc' / 'methods.md').read_text()
EXAMPLES = re.findall(r'```python\n(.*?)```', METHODS, flags=re.DOTALL)


@pytest.mark.parametrize('code', EXAMPLES, ids=range(len(EXAMPLES)))
def test_python_examples_of_the_methods_run(code, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(compile(code, 'methods.md', 'exec'), {})
    assert capsys.readouterr().out.count('\n') >= 2


@pytest.mark.parametrize('command', re.findall(r'^make (\w+)', README, flags=re.MULTILINE))
def test_make_targets_exist(command):
    assert re.search(rf'^{command}:', (ROOT / 'Makefile').read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize('link', re.findall(r'\]\(([\w./]+)\)', README))
def test_linked_files_exist(link):
    assert (ROOT / link).is_file()


@pytest.mark.parametrize('launch', re.findall(r'ros2 launch kane_dynamics (\S+)', README))
def test_launch_files_exist(launch):
    assert (ROOT / 'launch' / launch).is_file()
