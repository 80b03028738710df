# SPDX-License-Identifier: Apache-2.0
"""One description for both worlds: colcon (ament_python) and pip read this file."""

import runpy
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'kane_dynamics'
SHARE = Path('share') / PACKAGE
SHARED_FOLDERS = ('launch', 'config', 'robots')
NODES = runpy.run_path(f'{PACKAGE}/robot_config/nodes.py')['NODES']
SHARED_SUFFIXES = {'.py', '.xml', '.yaml', '.urdf', '.xacro', '.rviz', '.sdf', '.md'}

# PyPI has the ROS 2 wheels (rclpy and its messages) for Linux on x86_64 only.
ROS_PLATFORM = 'sys_platform == "linux" and platform_machine == "x86_64"'
ROS_WHEELS = (
    'ros-rclpy>=9.1',
    'ros-rmw-fastrtps-cpp',
    'ros-diagnostic-msgs',
    'ros-geometry-msgs',
    'ros-nav-msgs',
    'ros-rosgraph-msgs',
    'ros-sensor-msgs',
    'ros-std-msgs',
    'ros-std-srvs',
    'ros-trajectory-msgs',
    'ros-visualization-msgs',
    'xacro',
)
# The library alone is the reference engine. What traces and compiles, what draws, what the command
# needs: 450, 100 and 14 MB.
COMPILE_WHEELS = ['casadi', 'llvmlite>=0.41']
PICTURE_WHEELS = ['matplotlib']
CLI_WHEELS = [*COMPILE_WHEELS, *PICTURE_WHEELS, 'rich']
# Arrays and launches; what CuPy compiles its own operations with; ptxas and libdevice, for kernels
# with exp, tan and the like. Linux and Windows on x86_64.
CUDA_PLATFORM = 'sys_platform != "darwin" and platform_machine in "x86_64 AMD64"'
CUDA_WHEELS = [
    f'cupy-cuda12x>=13.4; {CUDA_PLATFORM}',
    f'cuda-pathfinder>=1.4; {CUDA_PLATFORM}',
    f'nvidia-cuda-nvrtc-cu12>=12.8; {CUDA_PLATFORM}',
    f'nvidia-cuda-nvcc-cu12>=12.8; {CUDA_PLATFORM}',
]

DOCS_WHEELS = [
    'sphinx',
    'furo',
    'myst-parser',
    'sphinx-gallery',
    'sphinx-copybutton',
    'numpydoc',
]


def shared_files():
    """
    Return the data files, one entry per folder, as paths relative to this file.

    Returns
    -------
    list of (str, list of str)
        Target folder below the prefix, files that go into it.

    """
    entries = [
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (SHARE.as_posix(), ['package.xml']),
    ]
    for top in SHARED_FOLDERS:
        for folder in sorted({path.parent for path in Path(top).rglob('*')}):
            if '__pycache__' in folder.parts:
                continue
            files = sorted(
                path.as_posix()
                for path in folder.iterdir()
                if path.is_file() and path.suffix in SHARED_SUFFIXES
            )
            if files:
                entries.append(((SHARE / folder).as_posix(), files))
    return entries


setup(
    name=PACKAGE,
    version='0.2.0',
    description='Dynamics of mobile manipulators in dual quaternion algebra, with exact '
    'nonholonomic constraints, for Python and ROS 2',
    long_description=Path('README.md').read_text() if Path('README.md').is_file() else '',
    long_description_content_type='text/markdown',
    author='kane_dynamics contributors',
    author_email='maintainers@example.com',
    maintainer='kane_dynamics maintainers',
    maintainer_email='maintainers@example.com',
    license='Apache-2.0',
    keywords=['robotics', 'dynamics', 'dual quaternion', 'nonholonomic', 'ROS'],
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        *(f'Programming Language :: Python :: 3.{minor}' for minor in range(10, 14)),
        'Topic :: Scientific/Engineering :: Physics',
        'Typing :: Typed',
    ],
    python_requires='>=3.10',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={
        PACKAGE: [
            'py.typed',
            'deployment/templates/*.in',
            'deployment/kane_dynamics_cpp/**',
            'mujoco/*.c',
        ],
        f'{PACKAGE}.robot_config.parameters': ['*.yaml', '*.pyi'],
    },
    data_files=shared_files(),
    zip_safe=False,
    install_requires=[
        'numpy',
        'scipy',
        'numpy-quaternion',
        'defusedxml',
        'PyYAML',
    ],
    extras_require={
        'compile': COMPILE_WHEELS,
        'pictures': PICTURE_WHEELS,
        'cli': CLI_WHEELS,
        'ros': [*CLI_WHEELS, *(f'{wheel}; {ROS_PLATFORM}' for wheel in ROS_WHEELS)],
        'robots': ['example-robot-data'],
        'symbolic': [*COMPILE_WHEELS, 'sympy'],
        'cones': ['clarabel'],
        'view': [*PICTURE_WHEELS, 'viser'],
        'mujoco': [*COMPILE_WHEELS, 'mujoco'],
        'cuda': [*COMPILE_WHEELS, *CUDA_WHEELS],
        'learn': [*COMPILE_WHEELS, *PICTURE_WHEELS, 'gymnasium'],
        'sweep': [*COMPILE_WHEELS, 'distributed', 'rich'],
        'bag': ['rosbags'],
        'docs': [*CLI_WHEELS, *DOCS_WHEELS],
        'oracle': [
            'pin',
            'mujoco',
            'sympy',
            'mpmath',
            'quadprog',
            'clarabel',
            'toppra',
            'example-robot-data',
            # Its data folder only; has wheels for Python 3.10 and 3.11, and its source needs gcc.
            f'pybullet; python_version < "3.12" and {ROS_PLATFORM}',
        ],
        'test': [
            *CLI_WHEELS,
            'codespell',
            'pytest',
            'pytest-xdist',
            'distributed',
            'gymnasium',
            'rosbags',
            *CUDA_WHEELS,
            *DOCS_WHEELS,
            'viser',
            'hypothesis',
            'ruff',
            'mypy',
            'colcon-common-extensions',
            'catkin_pkg',
            'setuptools>=61',
            'wheel',
        ],
    },
    entry_points={
        'console_scripts': [
            *(f'{name} = {PACKAGE}.ros.entry:{name.removeprefix("kane_")}' for name in NODES),
            'kane_container = kane_dynamics.ros.entry:container',
            'kane_wait_for_states = kane_dynamics.ros.entry:wait_for_states',
            'kane-dynamics = kane_dynamics.__main__:main',
        ],
    },
)
