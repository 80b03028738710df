# SPDX-License-Identifier: Apache-2.0
"""Code and commands of the pages: which test runs each, and that no command is made up."""

import re
import shlex
from pathlib import Path
from shutil import copyfile

import pytest

from kane_dynamics import cli
from kane_dynamics.cli.arguments import split

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'doc').rglob('*.md'))]
PAGES = [page for page in PAGES if not {'_build', 'gallery'} & set(page.parts)]

# Where else than in test_readme.py the Python of a page is run.
RUN_BY = {
    'gpu.md': 'test/kernels/test_kernels_cuda_robot.py',
    'own_robot.md': 'test/cli/test_cli_own_robot.py',
    'payload.md': 'test/test_pages.py',
    'nodes.md': 'test/ros/test_ros_composition.py',
    'scale.md': 'test/sweep/test_sweep.py',
}
QUICK = ('check', 'info')
# Why other commands are not run as printed, and which test runs each in its own way.
COMPILES, FILES, ROS = 'compiles for seconds to minutes', 'reads files of the reader', 'needs ROS'
WAITS, EMPTIES = 'waits for a browser', "empties the cache of the tests' user"
NOT_RUN = {
    'annotate': (COMPILES, 'test/ros/test_ros_planned_efforts.py'),
    'bag': (FILES, 'test/bags/test_bags_command.py'),
    'build': (COMPILES, 'test/deployment/test_deployment_ros_package.py'),
    'cache': (EMPTIES, 'test/cli/test_cli_cache.py'),
    'compile': (COMPILES, 'test/cli/test_cli_cache.py'),
    'demo': (ROS, 'test/cli/test_cli_own_robot.py'),
    'equations': (FILES, 'test/symbolic/test_symbolic_forms.py'),
    'init': (COMPILES, 'test/cli/test_cli_init.py'),
    'retime': (COMPILES, 'test/trajectories/test_trajectories_retime_command.py'),
    'simulate': (COMPILES, 'test/cli/test_cli_simulate.py'),
    'view': (WAITS, 'test/view/test_view_command.py'),
}


def fenced(page):
    """Return the text of the code blocks of a page."""
    blocks = re.findall(r'^ *```(\w*)\n(.*?)^ *```', page.read_text(), re.DOTALL | re.MULTILINE)
    return [(language, text) for language, text in blocks]


def commands(page):
    """Return the commands of a page, without comments."""
    text = '\n'.join(text for language, text in fenced(page) if language != 'python')
    lines = re.sub(r'\\\n', ' ', text).splitlines()
    found = [re.sub(r'\s+#.*', '', line).strip(' $') for line in lines]
    return [line for line in found if line.startswith('kane-dynamics ')]


COMMAND_FILES = {
    name: ROOT / 'kane_dynamics' / 'cli' / f'{"compiling" if name == "compile" else name}.py'
    for name in NOT_RUN
}
COMMANDS = sorted({command for page in PAGES for command in commands(page)})


def test_every_python_block_is_run_by_a_test():
    run = (ROOT / 'test' / 'test_readme.py').read_text()
    for page in PAGES:
        if any(language == 'python' for language, _ in fenced(page)):
            named = page.relative_to(ROOT / 'doc').as_posix() if page.parent != ROOT else page.name
            where = RUN_BY.get(named)
            said = f"'{named}'" in run or f"'{Path(named).parent}'" in run  # a page, or its folder
            assert said if where is None else (ROOT / where).is_file(), named


@pytest.mark.parametrize('command', COMMANDS)
def test_every_command_exists_with_its_options(command):
    own, _ = split(shlex.split(command)[1:])
    if '--version' not in own:
        chosen = cli.new_parser().parse_args(own)
        assert chosen.command in {*QUICK, *NOT_RUN}


@pytest.mark.parametrize('name', NOT_RUN)
def test_a_command_that_is_not_run_has_a_true_reason(name):
    reason, file = NOT_RUN[name]
    test = (ROOT / file).read_text()
    assert f"'{name}'" in test, f'{file} does not run it'
    printed = [command.split()[2:] for command in COMMANDS if command.split()[1] == name]
    shipped = {path.stem for path in (ROOT / 'config').rglob('*.yaml')}
    true = {
        COMPILES: re.search(r'compil|deployment', COMMAND_FILES[name].read_text()),
        FILES: all(not (ROOT / words[0]).exists() for words in printed)
        and not shipped & {words[0] for words in printed},
        ROS: "importorskip('rclpy'" in test,
        WAITS: any('--picture' not in words for words in printed),
        EMPTIES: any('--clear' in words for words in printed),
    }
    assert printed and true[reason], f"'{name}' can be run as printed"


@pytest.mark.parametrize('command', [c for c in COMMANDS if c.split()[1] in QUICK])
def test_quick_commands_work_as_printed(command, monkeypatch, tmp_path, capsys):
    """A URDF of the reader is stood in for by one of the package."""
    words = shlex.split(command)[1:]
    (tmp_path / 'robots').symlink_to(ROOT / 'robots')
    for word in words[1:]:
        if word.endswith('.urdf') and not (tmp_path / word).exists():
            copyfile(ROOT / 'robots' / 'nonholonomic.urdf', tmp_path / word)
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 0
    assert capsys.readouterr().out


def test_code_of_the_page_on_payloads_runs():
    """With the reference engine, which needs no compiling."""
    names = {}
    (code,) = [text for language, text in fenced(ROOT / 'doc' / 'payload.md') if language]
    exec(compile(code.replace('kd.compile(', 'kd.dynamics('), 'payload.md', 'exec'), names)
    assert names['external'].shape == (len(names['arm']),)
