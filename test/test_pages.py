# SPDX-License-Identifier: Apache-2.0
"""Pages: all Python runs and prints what is shown, and no command is made up."""

import os
import re
import runpy
import shlex
import sys
from pathlib import Path
from shutil import copyfile

import pytest
import yaml

from kane_dynamics import cli
from kane_dynamics.cli import split

ROOT = Path(__file__).resolve().parents[1]
OUTPUTS = runpy.run_path(str(ROOT / 'doc' / 'update_outputs.py'))
PAGES, BLOCK = OUTPUTS['PAGES'], OUTPUTS['BLOCK']
QUIET = 5.0  # [s] that a block or a command may take without a word
BUSY = 3.0  # times as long where others want the processor

# Where else the Python of a page is run, and its output compared.
RUN_BY = {
    'gpu.md': 'test/compiler/test_compiler_cuda_robot.py',
    'scale.md': 'test/sweep/test_sweep.py',
    'scheduling.md': 'test/ros/test_ros_page_commands.py',
}
SNIPPETS = [
    pytest.param(page, block, id=f'{page.stem}-{number}')
    for page in PAGES
    if page.name not in RUN_BY
    for number, block in enumerate(BLOCK.finditer(page.read_text()))
]
# Output that stands alone: what a command prints, or a formula.
SHOWN = {
    'doc/identification.md': 'test/cli/test_cli_identify.py',
    'doc/own_robot.md': 'test/cli/test_cli_init.py',
    'doc/symbolic.md': 'test/symbolic/test_symbolic_forms.py',
}
FORMULAS = ('doc/events.md', 'doc/wheels.md')
LANGUAGES = {'', 'bash', 'sh', 'python', 'text', 'yaml', 'diff'}
QUICK = ('info',)
# Why other commands are not run as printed, and which test runs each in its own way.
COMPILES, FILES, ROS = 'compiles for seconds to minutes', 'reads files of the reader', 'needs ROS'
WAITS, EMPTIES = 'waits for a browser', "empties the cache of the tests' user"
NOT_RUN = {
    'add-efforts': (COMPILES, 'test/ros/test_ros_planned_efforts.py'),
    'bag': (FILES, 'test/bags/test_bags_command.py'),
    'build': (COMPILES, 'test/deployment/test_deployment_cpp.py'),
    'cache': (EMPTIES, 'test/cli/test_cli_cache.py'),
    'demo': (ROS, 'test/cli/test_cli_own_robot.py'),
    'equations': (FILES, 'test/symbolic/test_symbolic_forms.py'),
    'identify': (FILES, 'test/cli/test_cli_identify.py'),
    'identify plan': (COMPILES, 'test/cli/test_cli_identify_plan.py'),
    'report': (FILES, 'test/cli/test_cli_report.py'),
    'init': (COMPILES, 'test/cli/test_cli_init.py'),
    'retime': (COMPILES, 'test/trajectories/test_trajectories_retime_command.py'),
    'simulate': (COMPILES, 'test/cli/test_cli_simulate.py'),
    'view': (WAITS, 'test/view/test_view_command.py'),
}

# Every other command of a page, by how it begins: which test runs what it runs, or why none does.
READER = 'changes the machine or the shell of the reader'
LONG = 'takes long: not in the tests, but in the Makefile'
OTHERS = {
    'ros2 launch kane_dynamics ': 'test/ros/test_ros_page_commands.py',
    'ros2 bag record ': READER,
    'ros2 run kane_dynamics kane_container ': 'test/ros/test_ros_composition.py',
    'ros2 run kane_dynamics kane_wait_for_states ': 'test/ros/test_ros_first_states.py',
    'ros2 topic pub -r 20 /cmd_vel ': 'test/ros/test_ros_velocity_base.py',
    'ros2 param set /kane_inverse_dynamics payload.': 'test/ros/test_ros_payloads.py',
    'ros2 service call /kane_inverse_dynamics/detach_payloads ': 'test/ros/test_ros_payloads.py',
    'kane_simulator --ros-args ': 'test/ros/test_ros_closed_loop.py',
    'kane_inverse_dynamics --ros-args ': 'test/ros/test_ros_closed_loop.py',
    '.venv/bin/kane-dynamics demo ': 'test/cli/test_cli_own_robot.py',
    'make init ': 'test/cli/test_cli_own_robot.py',
    'python examples/optimal_control/': 'test/examples/test_examples_optimal_control.py',
    'python examples/scenarios/': 'test/examples/test_scenarios.py',
    'python examples/': 'test/examples/test_examples.py',
    'python doc/update_performance.py ': 'test/test_site.py',
    'make demo': LONG,
    'make bench': LONG,
    'python -m studies.speed ': LONG,
    **dict.fromkeys(('cd ', '. ', 'source ', 'git clone ', 'touch ', 'pip install '), READER),
    **dict.fromkeys(('sudo ', 'rosdep ', 'python3 -m venv ', 'python3 -m colcon '), READER),
    'config=$(': 'test/test_packaging.py',
}
SHELLS = {'', 'sh', 'bash'}  # blocks of other languages, and lines that begin otherwise, are text
NAMES = r'make|git|pip|ros2|python3?|cd|\.|source|sudo|touch|rosdep|kane_\w+'
PROGRAM = re.compile(rf'({NAMES}) |\S+=\$|\.venv/')


def fenced(page):
    """Return the text of the code blocks of a page."""
    return re.findall(r'^ *```(\w*)\n(.*?)^ *```', page.read_text(), re.DOTALL | re.MULTILINE)


def lines_of(page):
    """Return the lines of the blocks of a page that may be commands, without comments."""
    text = '\n'.join(text for language, text in fenced(page) if language in SHELLS)
    lines = re.sub(r'\\\n', ' ', text).splitlines()
    return [re.sub(r'\s+#.*', '', line).strip(' $') for line in lines]


def commands(page):
    """Return the commands of a page that are ours."""
    return [line for line in lines_of(page) if line.startswith('kane-dynamics ')]


COMMAND_FILES = {
    name: Path(sys.modules[cli.COMMANDS[name].run.__module__].__file__) for name in NOT_RUN
}
COMMANDS = sorted({command for page in PAGES for command in commands(page)})


def processor_time():
    """Return the time that this process and its children have used [s]."""
    return sum(os.times()[:4])


@pytest.mark.parametrize(('page', 'block'), SNIPPETS)
def test_a_block_runs_by_itself_and_prints_what_the_page_shows(page, block):
    if 'clarabel' in page.read_text().lower():
        pytest.importorskip('clarabel', reason='pip install .[cones]')
    started = processor_time()
    text = OUTPUTS['printed'](block['code'], page.name)
    took = processor_time() - started
    assert text, 'a block prints what it found'
    assert OUTPUTS['agree'](block['output'], text), f'python doc/update_outputs.py: {text}'
    assert took < BUSY * QUIET or 'takes about' in page.read_text(), f'{took:.0f} s'


def test_blocks_of_other_surroundings_are_run_there():
    assert set(OUTPUTS['ELSEWHERE']) == set(RUN_BY)
    for page, test in RUN_BY.items():
        assert page in (ROOT / test).read_text()


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_block_is_run_compared_or_parsed(page):
    """Python that is not run hides behind no other name, and no output stands there unchecked."""
    blocks = fenced(page)
    assert {language for language, _ in blocks} <= LANGUAGES
    for text in [text for language, text in blocks if language == 'yaml']:
        assert yaml.safe_load(text)
    code = re.compile(r'^(import |from \w+ import |\w[\w., ]* = |print\()', re.MULTILINE)
    hidden = [text for language, text in blocks if language in SHELLS and code.search(text)]
    assert hidden == []
    name = page.relative_to(ROOT).as_posix()
    alone = BLOCK.sub('', page.read_text()).count('```text')
    assert not alone or name in {*SHOWN, *FORMULAS}
    if name in SHOWN:
        assert page.name in (ROOT / SHOWN[name]).read_text()


@pytest.mark.parametrize('command', COMMANDS)
def test_every_command_exists_with_its_options(command):
    own, _ = split(shlex.split(command)[1:])
    if '--version' not in own:
        chosen = cli.new_parser().parse_args(own)
        assert chosen.command in {*QUICK, *NOT_RUN}


@pytest.mark.parametrize(
    'command', sorted({x for page in PAGES for x in lines_of(page) if PROGRAM.match(x)})
)
def test_every_other_command_is_run_by_a_test_or_has_a_reason(command):
    begins = [start for start in OTHERS if command.startswith(start)]
    assert begins, command
    how = OTHERS[max(begins, key=len)]
    if how == LONG:
        target = command.split()[1] if command.startswith('make ') else 'bench'
        assert re.search(rf'^{target}:', (ROOT / 'Makefile').read_text(), re.MULTILINE)
        pages = [page.read_text() for page in PAGES if command in lines_of(page)]
        assert all(re.search(r'takes? (about|minutes)', text) for text in pages)
    elif how != READER:
        test = (ROOT / how).read_text()
        assert all(name in test for name in re.findall(r'examples/\S*?(\w+)\.py', command))
    for file in re.findall(r'(?:python|params-file) ([\w/.]+\.(?:py|yaml))', command):
        assert (ROOT / file).is_file()


def test_beginnings_of_other_commands_are_printed_somewhere():
    printed = [line for page in PAGES for line in lines_of(page)]
    assert [start for start in OTHERS if not any(x.startswith(start) for x in printed)] == []


@pytest.mark.parametrize('name', NOT_RUN)
def test_a_command_that_is_not_run_has_a_true_reason(name):
    reason, file = NOT_RUN[name]
    test = (ROOT / file).read_text()
    assert f"'{name}'" in test, f'{file} does not run it'
    words = [split(command.split()[1:])[0] for command in COMMANDS]
    printed = [arguments for command, *arguments in words if command == name]
    shipped = {path.stem for path in (ROOT / 'config').rglob('*.yaml')}
    true = {
        COMPILES: re.search(r'compil|deployment', COMMAND_FILES[name].read_text()),
        FILES: all(
            any(not (ROOT / word).exists() and word not in shipped for word in words[:2])
            for words in printed
        ),
        ROS: "importorskip('rclpy'" in test,
        WAITS: any('--picture' not in words for words in printed),
        EMPTIES: any('--clear' in words for words in printed),
    }
    assert printed and true[reason], f"'{name}' can be run as printed"


def compiles_a_shipped_robot(command):
    """Return whether a command needs time alone, and no file of the reader."""
    words = split(shlex.split(command)[1:])[0]
    name = ' '.join(words[:2]) if ' '.join(words[:2]) in NOT_RUN else words[0]
    return NOT_RUN.get(name, ('',))[0] == COMPILES and 'nonholonomic' in words


@pytest.mark.parametrize(
    'command',
    [
        *(c for c in COMMANDS if c.split()[1] in QUICK),
        *(
            pytest.param(c, marks=pytest.mark.thorough)
            for c in COMMANDS
            if compiles_a_shipped_robot(c)
        ),
    ],
)
def test_commands_work_as_printed(command, monkeypatch, tmp_path, capsys):
    """A URDF of the reader is stood in for by one of the package."""
    words = shlex.split(command)[1:]
    for folder in ('robots', 'examples'):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for word in words[1:]:
        if word.endswith('.urdf') and not (tmp_path / word).exists():
            copyfile(ROOT / 'robots' / 'nonholonomic.urdf', tmp_path / word)
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 0
    assert capsys.readouterr().out
