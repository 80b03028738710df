# SPDX-License-Identifier: Apache-2.0
"""The package as pip, colcon and rosdep see it."""

import ast
import configparser
import importlib
import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from kane_dynamics.robot_config.nodes import NODES

ROOT = Path(__file__).resolve().parents[1]
ROBOTS = sorted((ROOT / 'robots').glob('*.urdf'))
SPDX = 'SPDX-License-Identifier: Apache-2.0'
ROSDEP_KEYS = {
    'numpy': 'python3-numpy',
    'scipy': 'python3-scipy',
    'numpy-quaternion': 'python-numpy-quaternion-pip',
    'defusedxml': 'python3-defusedxml',
    'PyYAML': 'python3-yaml',
    'llvmlite': 'python3-numba',  # rosdep has no key of llvmlite; Debian's numba depends on it
    'casadi': 'casadi-pip',
    'rich': 'python3-rich',
    'matplotlib': 'python3-matplotlib',
}
OPTIONAL_ROS_PACKAGES = {'simulation_interfaces'}  # used where installed, never required


def source_files():
    """Return the files of the tree that git tracks or would track, relative to the root."""
    listing = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0 and listing.stdout:
        paths = [Path(name) for name in listing.stdout.split('\0') if name]
    else:  # an unpacked archive: everything but hidden folders and what tools leave behind
        left_behind = {'build', 'install', 'log', 'dist', '__pycache__'}
        paths = [path.relative_to(ROOT) for path in ROOT.rglob('*')]
        paths = [
            path
            for path in paths
            if not any(part.startswith('.') or part in left_behind for part in path.parts)
        ]
    return sorted({path for path in paths if (ROOT / path).is_file()})


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """Copy the sources, so that no build writes into the checkout."""
    folder = tmp_path_factory.mktemp('sources') / 'kane_dynamics'
    for path in source_files():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, folder / path)
    return folder


@pytest.fixture(scope='module')
def setup_arguments():
    """Return what setup.py hands to setuptools."""
    import setuptools

    captured = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, 'setup', captured.update)
        patch.chdir(ROOT)
        runpy.run_path('setup.py')
    return captured


@pytest.fixture(scope='module')
def manifest():
    """Return package.xml as catkin_pkg reads it; it must not complain."""
    catkin_pkg = pytest.importorskip('catkin_pkg.package')
    warnings = []
    package = catkin_pkg.parse_package(ROOT, warnings=warnings)
    package.validate(warnings=warnings)
    assert warnings == []
    return package


@pytest.fixture(scope='module')
def wheel(tree, tmp_path_factory):
    """Build the wheel with the tools at hand (no download)."""
    target = tmp_path_factory.mktemp('wheel')
    pip('wheel', '--no-deps', '--no-build-isolation', '--wheel-dir', target, tree)
    return next(target.glob('kane_dynamics-*.whl'))


@pytest.fixture(scope='module')
def installed(wheel, tmp_path_factory):
    """Install the wheel into an empty folder."""
    target = tmp_path_factory.mktemp('installed')
    pip('install', '--no-deps', '--no-index', '--target', target, wheel)
    return target


def pip(*arguments):
    run([sys.executable, '-m', 'pip', '--disable-pip-version-check', *map(str, arguments)])


def run(command, **options):
    """Run a command and return its standard output; show everything when it fails."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, **options
    )
    assert done.returncode == 0, f'{command}\n{done.stdout}\n{done.stderr}'
    return done.stdout


def python(code, cwd, **variables):
    """Run code in a new interpreter, with nothing of ROS in its environment but `variables`."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {'AMENT_PREFIX_PATH', 'COLCON_PREFIX_PATH', 'PYTHONPATH'}
    }
    environment.update({name: str(value) for name, value in variables.items()})
    return run([sys.executable, '-c', code], cwd=cwd, env=environment).strip()


def imported_modules(path):
    """Return (line, top-level name) of every absolute import in a file, lazy ones too."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split('.')[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module.split('.')[0]


def is_ros_module(name):
    # PyPI has unrelated packages called launch; only launch files import the one of ROS.
    return name.startswith(('rclpy', 'launch', 'tf2_ros', 'ament_')) or name.endswith(
        ('_msgs', '_srvs', '_interfaces')
    )


# ---- metadata -----------------------------------------------------------------------------


def test_versions_are_equal(manifest, setup_arguments):
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text())
    assert manifest.version == setup_arguments['version'] == citation['version']
    assert (
        f'{manifest.version} ({citation["date-released"]})' in (ROOT / 'CHANGELOG.rst').read_text()
    )
    assert manifest.name == setup_arguments['name']
    assert manifest.licenses == [setup_arguments['license']]
    assert [person.email for person in manifest.maintainers] == [
        setup_arguments['maintainer_email']
    ]


def test_manifest_is_ament_python(manifest):
    assert manifest.package_format == 3
    assert manifest.get_build_type() == 'ament_python'


def test_every_requirement_has_a_rosdep_key(manifest, setup_arguments):
    keys = {dependency.name for dependency in manifest.exec_depends}
    asked = setup_arguments['install_requires'] + setup_arguments['extras_require']['cli']
    names = {re.split('[<>=!~]', wanted)[0] for wanted in asked}
    assert names == set(ROSDEP_KEYS)
    assert set(ROSDEP_KEYS.values()) <= keys


def test_keys_that_rosdep_gives_to_pip_are_told(manifest):
    """On Ubuntu 24.04 rosdep refuses them (PEP 668): they are skipped, and pip has them."""
    keys = sorted(d.name for d in manifest.exec_depends if d.name.endswith('-pip'))
    text = (ROOT / 'doc' / 'installation.md').read_text()
    (skipped,) = re.findall(r"--skip-keys '([^']*)'", text)
    assert sorted(skipped.split()) == keys
    packages = [name for name, key in ROSDEP_KEYS.items() if key in keys]
    (installed,) = re.findall(r'^pip install ([\w -]+) *$', text, re.MULTILINE)
    assert sorted(installed.split()) == sorted(packages)


def test_the_least_llvmlite_is_the_one_that_is_told_and_tested(setup_arguments):
    extra = setup_arguments['extras_require']['compile']
    (wanted,) = [x for x in extra if x.startswith('llvmlite')]
    least = wanted.partition('>=')[2]
    assert f'llvmlite >= {least}' in (ROOT / 'doc' / 'installation.md').read_text()
    assert f"'llvmlite >= {least}'" in (ROOT / 'kane_dynamics/compiler/llvm/native.py').read_text()
    assert f"'{least}." in (ROOT / 'test/platforms/pythons.py').read_text()


def test_workspace_executables_run_in_the_active_environment():
    settings = configparser.ConfigParser()
    settings.read(ROOT / 'setup.cfg')
    assert settings['build_scripts']['executable'] == '/usr/bin/env python3'


def test_every_ros_import_is_a_dependency(manifest):
    keys = {dependency.name for dependency in manifest.exec_depends}
    missing = [
        f'{path}:{line} {name}'
        for path in source_files()
        if path.suffix == '.py' and path.parts[0] in {'kane_dynamics', 'launch'}
        for line, name in imported_modules(ROOT / path)
        if is_ros_module(name) and name not in keys and name not in OPTIONAL_ROS_PACKAGES
    ]
    assert missing == []


def test_changelog_is_in_catkin_format():
    pytest.importorskip('docutils')
    catkin = pytest.importorskip('catkin_pkg.changelog')
    changelog = catkin.get_changelog_from_path(str(ROOT), 'kane_dynamics')
    sections = list(changelog.foreach_version())
    assert [version for version, _, _ in sections] == ['0.1.0', '0.2.0']
    assert all(content for _, _, content in sections)


def test_ci_runs_every_supported_python_and_targets_of_the_makefile():
    ci = yaml.safe_load((ROOT / '.github' / 'workflows' / 'ci.yml').read_text())
    pythons = ci['jobs']['core']['strategy']['matrix']['python']
    supported = runpy.run_path(str(ROOT / 'test' / 'platforms' / 'pythons.py'))['VERSIONS']
    assert tuple(pythons) == supported
    runs = [step.get('run', '') for job in ci['jobs'].values() for step in job['steps']]
    called = {run.removeprefix('make ') for run in runs if run.startswith('make ')}
    assert called >= {'lint', 'test', 'docs'}
    makefile = (ROOT / 'Makefile').read_text()
    assert called <= set(' '.join(re.findall(r'^([\w -]+):', makefile, re.M)).split())
    paths = {part for run in runs for part in run.split() if part.startswith('test/')}
    assert {path for path in paths if not (ROOT / path).exists()} == set()


def test_console_scripts_exist(setup_arguments):
    for script in setup_arguments['entry_points']['console_scripts']:
        module, function = script.split('=')[1].strip().split(':')
        assert callable(getattr(importlib.import_module(module), function)), script


def test_every_source_names_its_licence():
    suffixes = {'.py', '.urdf', '.xacro', '.yaml', '.yml', '.xml', '.toml', '.cfg', '.md', '.rst'}
    unmarked = [
        str(path)
        for path in source_files()
        if path.suffix in suffixes
        and not any(SPDX in line for line in (ROOT / path).read_text().splitlines()[:3])
    ]
    assert unmarked == []


# ---- the wall between core and ROS ---------------------------------------------------------


def test_core_does_not_import_rclpy(tmp_path):
    code = 'import kane_dynamics, sys; print("rclpy" in sys.modules)'
    assert python(code, tmp_path, PYTHONPATH=ROOT) == 'False'


def test_only_the_ros_folder_imports_ros():
    package = ROOT / 'kane_dynamics'
    offenders = [
        f'{path.relative_to(ROOT)}:{line} {name}'
        for path in sorted(package.rglob('*.py'))
        if path.relative_to(package).parts[0] != 'ros'
        and path != package / 'robot' / 'resources.py'
        for line, name in imported_modules(path)
        if is_ros_module(name)
    ]
    assert offenders == []


def test_resources_import_nothing_of_ros():
    names = {name for _, name in imported_modules(ROOT / 'kane_dynamics' / 'robot/resources.py')}
    allowed = set(sys.stdlib_module_names) | {'kane_dynamics', 'xacro'}
    assert names <= allowed


# ---- the shipped robots --------------------------------------------------------------------


def geometry_inertia(collision, mass):
    """Return the inertia [kg m^2] of the solid shape about its centre, in the link's frame."""
    rpy = np.array((collision.find('origin').get('rpy') or '0 0 0').split(), float)
    shape = collision.find('geometry')[0]
    if shape.tag == 'box':
        square = np.array(shape.get('size').split(), float) ** 2
        moments = mass / 12.0 * (square.sum() - square)
    elif shape.tag == 'sphere':
        moments = np.full(3, 0.4 * mass * float(shape.get('radius')) ** 2)
    else:
        radius, length = float(shape.get('radius')), float(shape.get('length'))
        across = mass / 12.0 * (3.0 * radius**2 + length**2)
        moments = np.array([across, across, mass / 2.0 * radius**2])
    assert rpy[1] == rpy[2] == 0.0
    cos, sin = np.cos(rpy[0]), np.sin(rpy[0])
    rotation = np.array([[1, 0, 0], [0, cos, -sin], [0, sin, cos]])
    return rotation @ np.diag(moments) @ rotation.T


@pytest.mark.parametrize('path', ROBOTS, ids=lambda path: path.stem)
def test_robot_inertia_is_that_of_its_shape(path):
    """Each link with mass is one solid shape; 1e-5 relative covers the printed digits."""
    links = [
        link
        for link in ElementTree.parse(path).findall('link')
        if link.find('inertial') is not None
    ]
    assert links
    for link in links:
        inertial, collision = link.find('inertial'), link.find('collision')
        printed = {key: float(value) for key, value in inertial.find('inertia').items()}
        tensor = np.array(
            [
                [printed['ixx'], printed['ixy'], printed['ixz']],
                [printed['ixy'], printed['iyy'], printed['iyz']],
                [printed['ixz'], printed['iyz'], printed['izz']],
            ]
        )
        expected = geometry_inertia(collision, float(inertial.find('mass').get('value')))
        assert_allclose(
            tensor, expected, rtol=0, atol=1e-5 * expected.max(), err_msg=link.get('name')
        )
        centre = inertial.find('origin').get('xyz')
        assert (
            centre == collision.find('origin').get('xyz') == link.find('visual/origin').get('xyz')
        )


@pytest.mark.parametrize('path', ROBOTS, ids=lambda path: path.stem)
def test_robot_joints_have_limits_and_damping(path):
    moving = [j for j in ElementTree.parse(path).findall('joint') if j.get('type') != 'fixed']
    assert moving
    for joint in moving:
        assert float(joint.find('limit').get('effort')) > 0.0, joint.get('name')
        assert float(joint.find('limit').get('velocity')) > 0.0, joint.get('name')
        assert float(joint.find('dynamics').get('damping')) > 0.0, joint.get('name')
        assert joint.find('dynamics').get('friction') is None, joint.get('name')


def test_wheels_touch_the_floor():
    robot = ElementTree.parse(ROOT / 'robots' / 'nonholonomic.urdf')
    axle = robot.find("joint[@name='base_joint']/origin").get('xyz')
    cylinder = robot.find("link[@name='wheel_left_link']/collision/geometry/cylinder")
    assert axle.split() == ['0', '0', cylinder.get('radius')]


# ---- installed by pip and by colcon --------------------------------------------------------


def test_wheel_is_complete(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert 'kane_dynamics/py.typed' in names
    outside = ('test/', 'studies/', 'examples/')
    assert not any(name.startswith(outside) for name in names)
    share = f'{"-".join(wheel.name.split("-")[:2])}.data/data/share/kane_dynamics/'
    for folder in ('robots', 'config', 'launch'):
        shipped = {name.removeprefix(share) for name in names if f'{share}{folder}/' in name}
        present = {path.as_posix() for path in source_files() if path.parts[0] == folder}
        assert shipped == present
        assert shipped, f'nothing in {folder}/'
    modules = {path.as_posix() for path in source_files() if path.parts[0] == 'kane_dynamics'}
    assert modules == {name for name in names if name.startswith('kane_dynamics/')}


def test_source_archive_is_complete_and_built_in_silence(tree, tmp_path):
    quiet = {k: v for k, v in os.environ.items() if k != 'PYTHONDONTWRITEBYTECODE'}
    command = [
        sys.executable,
        'setup.py',
        '-q',
        'egg_info',
        '-e',
        tmp_path,
        'sdist',
        '-d',
        tmp_path,
    ]
    done = subprocess.run(
        command, cwd=tree, env=quiet, capture_output=True, text=True, check=True, timeout=300
    )
    assert not done.stderr  # colcon would show it to whoever builds a workspace
    with tarfile.open(next(tmp_path.glob('*.tar.gz'))) as archive:
        names = {name.partition('/')[2] for name in archive.getnames()}
    missing = {path.as_posix() for path in source_files()} - names
    assert all(name.startswith('.') for name in missing), missing


def test_installed_wheel_works_without_ros(installed, tmp_path):
    code = """
import sys
sys.modules.update(dict.fromkeys(['rclpy', 'ament_index_python', 'sensor_msgs', 'std_msgs']))
import kane_dynamics as kd
from kane_dynamics.robot.resources import share_directory
robot = kd.load_urdf(share_directory() / 'robots' / 'nonholonomic.urdf', base='planar')
print(kd.__file__, share_directory(), robot.nv, sep='|')
"""
    module, share, nv = python(code, tmp_path, PYTHONPATH=installed).split('|')
    assert Path(module).is_relative_to(installed)
    assert Path(share) == installed / 'share' / 'kane_dynamics'
    assert nv == '10'


def test_the_library_alone_is_the_reference_and_names_extras(installed, tmp_path):
    """Without what the extras bring: dynamics by numpy; all else says what to install."""
    code = """
import sys
sys.modules.update(dict.fromkeys(['casadi', 'llvmlite', 'matplotlib', 'rich']))
import numpy as np
import kane_dynamics as kd
robot = kd.load_robot('nonholonomic')
wheels = kd.constraints.differential_drive(robot, 'wheel_left_joint', 'wheel_right_joint')
q, v = robot.neutral(), np.zeros(robot.nv)
kd.dynamics(robot, [wheels]).simulate(q, v, 0.01)
print(kd.forward_dynamics(robot, q, v, v, [wheels]).rank)
for function in (
    lambda: kd.compile(robot),
    lambda: kd.constraints.pfaffian(robot, lambda q, t: [v]),
    lambda: kd.casadi_function,
    lambda: __import__('kane_dynamics.view.plots'),
):
    try:
        function()
    except kd.exceptions.MissingPackageError as error:
        print(error)
"""
    rank, *errors = python(code, tmp_path, PYTHONPATH=installed).splitlines()
    assert rank == '3'
    extras = ['compile', 'compile', 'compile', 'pictures']
    wanted = [f"pip install 'kane_dynamics[{extra}]'" for extra in extras]
    assert [error.split(': ')[1] for error in errors] == wanted
    code = (
        "import sys; sys.modules['rich'] = None; from kane_dynamics.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, 'PYTHONPATH': str(installed)},
    )
    assert "kane-dynamics needs: pip install 'kane_dynamics[cli]'" in done.stderr


def test_missing_share_directory_lists_where_it_looked(installed, tmp_path):
    lost = tmp_path / 'lost'
    shutil.copytree(installed / 'kane_dynamics', lost / 'kane_dynamics')
    code = f"""
import sys
sys.prefix = {str(tmp_path)!r}
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.robot.resources import share_directory
try:
    share_directory()
except KaneDynamicsError as error:
    print(error)
"""
    message = python(code, tmp_path, PYTHONPATH=lost)
    assert str(tmp_path / 'share' / 'kane_dynamics') in message
    assert str(lost) in message


def test_colcon_build(tree, tmp_path):
    if importlib.util.find_spec('colcon_core') is None:
        pytest.skip('colcon is not installed')
    main = 'import sys; from colcon_core.command import main; sys.exit(main())'
    output = run(
        [
            sys.executable,
            '-c',
            main,
            '--log-base',
            'log',
            'build',
            '--packages-select',
            'kane_dynamics',
            '--base-paths',
            str(tree),
            '--event-handlers',
            'console_direct+',
        ],
        cwd=tmp_path,
    )
    assert 'Summary: 1 package finished' in output
    prefix = tmp_path / 'install' / 'kane_dynamics'
    share = prefix / 'share' / 'kane_dynamics'
    assert (prefix / 'share/ament_index/resource_index/packages/kane_dynamics').is_file()
    assert (share / 'hook' / 'ament_prefix_path.sh').is_file()  # absent if package.xml is bad
    for name in NODES:
        assert os.access(prefix / 'lib' / 'kane_dynamics' / name, os.X_OK)
    site_packages = next(prefix.glob('lib/python*/site-packages'))
    code = 'from kane_dynamics.robot.resources import *; print(share_directory())'
    found = python(code, tmp_path, PYTHONPATH=site_packages, AMENT_PREFIX_PATH=prefix)
    assert Path(found) == share
    assert (share / 'robots' / 'nonholonomic.urdf').is_file()


@pytest.mark.skipif(shutil.which('make') is None, reason='make is not installed')
def test_make_without_venv_says_what_to_install(tmp_path):
    # Debian and Ubuntu leave venv out of python3
    fake = tmp_path / 'python'
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; *) exec {sys.executable} "$@";; esac\n'
    )
    fake.chmod(0o755)
    environment = tmp_path / 'environment'
    made = subprocess.run(
        ['make', '-s', f'PYTHON={fake}', f'VENV={environment}', 'lint'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode != 0
    assert 'apt install python3-venv' in made.stdout
    assert not environment.exists()
