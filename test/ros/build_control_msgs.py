# SPDX-License-Identifier: Apache-2.0
"""
Builds the action of joint_trajectory_controller where no control_msgs is installed.

Run as ``python build_control_msgs.py FOLDER``; FOLDER is then for PYTHONPATH. PyPI has no
control_msgs, but the generators of its interfaces and their libraries, beside rclpy. The fields of
the action are those of control_msgs that the node reads and passes on.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

NAME = 'control_msgs'
TOLERANCE = 'string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n'
ACTION = """trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
JointTolerance[] path_tolerance
JointTolerance[] goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
---
int32 error_code
int32 SUCCESSFUL = 0
int32 INVALID_GOAL = -1
int32 INVALID_JOINTS = -2
int32 OLD_HEADER_TIMESTAMP = -3
int32 PATH_TOLERANCE_VIOLATED = -4
string error_string
---
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
int32 index
"""
SOURCES = {'msg/JointTolerance.msg': TOLERANCE, 'action/FollowJointTrajectory.action': ACTION}
NEEDED = (
    'trajectory_msgs',
    'std_msgs',
    'builtin_interfaces',
    'action_msgs',
    'unique_identifier_msgs',
    'service_msgs',
    'geometry_msgs',
)
KINDS = ('generator_c', 'generator_py', 'typesupport_c', 'typesupport_fastrtps_c')
LIBRARIES = (
    *(f'{package}__rosidl_{kind}' for package in NEEDED for kind in KINDS),
    'rosidl_runtime_c',
    'rosidl_typesupport_c',
    'rosidl_typesupport_fastrtps_c',
    'rosidl_typesupport_fastrtps_cpp',
    'rcutils',
    'rmw',
    'fastcdr',
)
PREFIX = Path(sys.prefix)


def missing():
    """Return what this needs and is not here, or ''."""
    if not (shutil.which('gcc') and shutil.which('g++')):
        return 'no gcc and g++'
    wanted = [PREFIX / 'share' / 'rosidl_generator_c', PREFIX / 'include' / 'rosidl_runtime_c']
    absent = [str(path) for path in wanted if not path.exists()]
    return f'no generators of interfaces: {absent}' if absent else ''


def generate(folder):
    """Write C and Python sources of the interfaces."""
    from rosidl_cli.command.translate.api import translate
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c import cli as fastrtps

    for file, text in SOURCES.items():
        path = folder / 'interfaces' / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    include = [str(PREFIX / 'share' / package) for package in NEEDED]
    files = [f'{folder / "interfaces"}:{file}' for file in SOURCES]
    idl = translate(
        package_name=NAME,
        interface_files=files,
        include_paths=include,
        output_format='idl',
        output_path=folder / 'idl' / NAME,
    )
    makers = (
        GenerateC('c'),
        GeneratePython('py', typesupport_implementations=['rosidl_typesupport_c']),
        # one implementation is called directly, several would be looked for at run time
        GenerateCTypesupport('ts', typesupport_implementations=['rosidl_typesupport_fastrtps_c']),
        next(
            made('fastrtps')
            for name, made in vars(fastrtps).items()
            if name.startswith('Generate') and made.__module__ == fastrtps.__name__
        ),
    )
    for maker in makers:
        maker.generate(NAME, idl, include, output_path=folder / NAME)
    (folder / NAME / '__init__.py').write_text('')


def compiled(folder):
    """Compile the sources into one extension module."""
    headers = [folder, sysconfig.get_paths()['include'], np.get_include()]
    headers += [PREFIX / 'include', *(PREFIX / 'include').iterdir()]
    options = ['-fPIC', '-O0', '-w', *(f'-I{path}' for path in headers)]
    sources = [path for end in ('c', 'cpp') for path in (folder / NAME).rglob(f'*.{end}')]

    def one(source):
        target = source.with_suffix(source.suffix + '.o')
        compiler = ['gcc'] if source.suffix == '.c' else ['g++', '-std=c++17']
        subprocess.run([*compiler, *options, '-c', source, '-o', target], check=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(one, sources))
    libraries = PREFIX / 'lib'
    linked = [f'-l{name}' for name in LIBRARIES if (libraries / f'lib{name}.so').exists()]
    target = folder / NAME / f'{NAME}_s__rosidl_typesupport_c.so'
    paths = [f'-L{libraries}', f'-Wl,-rpath,{libraries}']
    subprocess.run(['g++', '-shared', '-o', target, *objects, *paths, *linked], check=True)


def build(folder):
    """Build in a process of its own, whose environment finds the generators."""
    environment = {**os.environ, 'AMENT_PREFIX_PATH': str(PREFIX)}
    subprocess.run(
        [sys.executable, __file__, str(folder)], check=True, env=environment, capture_output=True
    )


if __name__ == '__main__':
    given = Path(sys.argv[1]).resolve()
    generate(given)
    compiled(given)
